#include "tests/driver/fake_gl.h"

#include <stddef.h>

#include <algorithm>
#include <cstring>

namespace ptxrun::tests {

FakeGl gl;

unsigned FakeGl::addBuffer(std::vector<uint8_t> contents) {
  const auto name = static_cast<unsigned>(buffers.size() + 1);
  buffers[name] = std::move(contents);
  return name;
}

unsigned FakeGl::addTexture(unsigned target, int internalFormat, unsigned texelBytes, int width,
                            int height, int depth, unsigned levels) {
  Texture texture{target, internalFormat, {}};
  for (unsigned i = 0; i < levels; ++i) {
    Level level;
    level.width = std::max(width >> i, 1);
    level.height = std::max(height >> i, 1);
    level.depth = target == kTexture3d ? std::max(depth >> i, 1) : depth;
    for (auto &face : level.faces)
      face.resize(static_cast<size_t>(level.width) * level.height * level.depth * texelBytes);
    texture.levels.push_back(level);
  }
  const auto name = static_cast<unsigned>(textures.size() + 1);
  textures[name] = texture;
  return name;
}

namespace {

constexpr unsigned kArrayBuffer = 0x8892;

/// The name under which glGetIntegerv tells what is bound to a target.
unsigned bindingOf(unsigned target) {
  switch (target) {
  case kArrayBuffer:
    return 0x8894;
  case 0x88EB: // pixel pack buffer
    return 0x88ED;
  case 0x88EC: // pixel unpack buffer
    return 0x88EF;
  case FakeGl::kTexture2d:
    return 0x8069;
  case FakeGl::kTextureCube:
    return 0x8514;
  case FakeGl::kTexture3d:
    return 0x806A;
  default: // arrays
    return 0x8C1D;
  }
}

unsigned boundTo(unsigned target) { return static_cast<unsigned>(gl.state[bindingOf(target)]); }
bool isFace(unsigned target) { return target >= 0x8515 && target <= 0x851A; }

std::vector<uint8_t> &boundBuffer(unsigned target) { return gl.buffers.at(boundTo(target)); }
FakeGl::Texture &boundTexture(unsigned target) {
  return gl.textures.at(boundTo(isFace(target) ? FakeGl::kTextureCube : target));
}
std::vector<uint8_t> &pixels(unsigned target, int level) {
  return boundTexture(target)
      .levels.at(static_cast<size_t>(level))
      .faces.at(isFace(target) ? target - 0x8515 : 0);
}
/// Transfers that the program's own state would lead astray fail the test.
bool isPlainTransfer(unsigned bufferTarget, unsigned alignment, unsigned rowLength) {
  return boundTo(bufferTarget) == 0 && gl.state[alignment] == 1 && gl.state[rowLength] == 0;
}

void write(unsigned target, int level, unsigned format, unsigned type, const void *from) {
  gl.lastFormat = format;
  gl.lastType = type;
  ++gl.writes;
  auto &to = pixels(target, level);
  if (isPlainTransfer(0x88EC, 0x0CF5, 0x0CF2))
    memcpy(to.data(), from, to.size());
}

} // namespace
} // namespace ptxrun::tests

using namespace ptxrun::tests;

#define GL_EXPORT extern "C" __attribute__((visibility("default")))

GL_EXPORT const unsigned char *glGetString(unsigned) {
  return gl.hasContext ? reinterpret_cast<const unsigned char *>("fake") : nullptr;
}
GL_EXPORT void glGetIntegerv(unsigned name, int *value) { *value = gl.state[name]; }
GL_EXPORT void glPixelStorei(unsigned name, int value) { gl.state[name] = value; }
GL_EXPORT unsigned char glIsBuffer(unsigned buffer) { return gl.buffers.contains(buffer); }
GL_EXPORT void glBindBuffer(unsigned target, unsigned buffer) {
  gl.state[bindingOf(target)] = static_cast<int>(buffer);
}
GL_EXPORT void glGetBufferParameteriv(unsigned target, unsigned, int *value) {
  *value = static_cast<int>(boundBuffer(target).size());
}
GL_EXPORT void glGetBufferSubData(unsigned target, ptrdiff_t offset, ptrdiff_t bytes, void *to) {
  memcpy(to, boundBuffer(target).data() + offset, static_cast<size_t>(bytes));
  ++gl.reads;
}
GL_EXPORT void glBufferSubData(unsigned target, ptrdiff_t offset, ptrdiff_t bytes,
                               const void *from) {
  memcpy(boundBuffer(target).data() + offset, from, static_cast<size_t>(bytes));
  ++gl.writes;
}
GL_EXPORT unsigned char glIsTexture(unsigned texture) { return gl.textures.contains(texture); }
GL_EXPORT void glBindTexture(unsigned target, unsigned texture) {
  gl.state[bindingOf(target)] = static_cast<int>(texture);
}
GL_EXPORT void glGetTexLevelParameteriv(unsigned target, int level, unsigned name, int *value) {
  const FakeGl::Texture &texture = boundTexture(target);
  if (static_cast<size_t>(level) >= texture.levels.size()) {
    *value = 0;
    return;
  }
  const FakeGl::Level &l = texture.levels[static_cast<size_t>(level)];
  *value = name == 0x1000   ? l.width
           : name == 0x1001 ? l.height
           : name == 0x8071 ? l.depth
                            : texture.internalFormat;
}
GL_EXPORT void glGetTexImage(unsigned target, int level, unsigned format, unsigned type, void *to) {
  gl.lastFormat = format;
  gl.lastType = type;
  ++gl.reads;
  const auto &from = pixels(target, level);
  if (isPlainTransfer(0x88EB, 0x0D05, 0x0D02))
    memcpy(to, from.data(), from.size());
}
GL_EXPORT void glTexSubImage2D(unsigned target, int level, int, int, int, int, unsigned format,
                               unsigned type, const void *from) {
  write(target, level, format, type, from);
}
GL_EXPORT void glTexSubImage3D(unsigned target, int level, int, int, int, int, int, int,
                               unsigned format, unsigned type, const void *from) {
  write(target, level, format, type, from);
}
