// An OpenGL without a screen: its functions are exported by the test program, as a library's would
// be, and keep buffers and textures in vectors.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace ptxrun::tests {

struct FakeGl {
  static constexpr unsigned kTexture2d = 0x0DE1, kTextureCube = 0x8513, kTexture3d = 0x806F,
                            kTexture2dArray = 0x8C1A;
  struct Level {
    int width = 0, height = 0, depth = 1;
    std::array<std::vector<uint8_t>, 6> faces; ///< of other textures only the first
  };
  struct Texture {
    unsigned target = 0;
    int internalFormat = 0;
    std::vector<Level> levels;
  };
  bool hasContext = true;
  std::map<unsigned, std::vector<uint8_t>> buffers;
  std::map<unsigned, Texture> textures;
  std::map<unsigned, int> state; ///< bindings and pixel storage, by what glGetIntegerv takes
  unsigned lastFormat = 0, lastType = 0; ///< of the last transfer
  int reads = 0, writes = 0;             ///< transfers of buffers and of images of textures

  unsigned addBuffer(std::vector<uint8_t> contents);
  /// Levels of `width` by `height` by `depth` (halved from level to level) of zeros.
  unsigned addTexture(unsigned target, int internalFormat, unsigned texelBytes, int width,
                      int height, int depth, unsigned levels);
};
extern FakeGl gl;

} // namespace ptxrun::tests
