#include "tests/texture/image_maker.h"

#include <algorithm>
#include <cstring>

namespace ptxrun::texture_test {

using abi::TextureGeometry;
using rt::ChannelType;

namespace {

/// f16 bits of a multiple of 1/16 below 8.
uint16_t halfOf(int sixteenths) {
  if (sixteenths == 0)
    return 0;
  const bool isNegative = sixteenths < 0;
  auto magnitude = static_cast<uint32_t>(isNegative ? -sixteenths : sixteenths);
  int exponent = 31 - __builtin_clz(magnitude);
  const uint32_t mantissa = (magnitude << (10 - exponent)) & 1023;
  return static_cast<uint16_t>(isNegative << 15 | (exponent - 4 + 15) << 10 | int(mantissa));
}

} // namespace

void fillTexels(char *memory, size_t bytes, ChannelType type, std::mt19937 &random) {
  for (size_t at = 0; at + rt::bytesOf(type) <= bytes; at += rt::bytesOf(type)) {
    const int number = static_cast<int>(random() % 256) - 128;
    const float f = static_cast<float>(number) / 16;
    const uint16_t h = halfOf(number);
    const uint32_t i = random();
    if (type == ChannelType::f32)
      std::memcpy(memory + at, &f, 4);
    else if (type == ChannelType::f16)
      std::memcpy(memory + at, &h, 2);
    else
      std::memcpy(memory + at, &i, rt::bytesOf(type));
  }
}

OwnImage makeImage(rt::ImageShape shape, bool isLayered, bool isCube, uint32_t width,
                   uint32_t height, uint32_t depth, uint32_t levels, ChannelType type,
                   uint32_t channels, uint32_t samples, uint32_t seed) {
  OwnImage own;
  rt::Image &image = own.image;
  image.shape = shape;
  image.isLayered = isLayered;
  image.isCube = isCube;
  image.type = type;
  image.channels = static_cast<uint8_t>(channels);
  image.samples = static_cast<uint8_t>(samples);
  image.layers = isLayered || isCube ? depth : 1;
  image.levels = levels;
  uint64_t next = 0;
  for (uint32_t i = 0; i < levels; ++i) {
    rt::ImageLevel &level = image.level[i];
    level.offset = next;
    level.width = std::max(width >> i, 1u);
    level.height = std::max(height >> i, 1u);
    level.depth = shape == rt::ImageShape::d3 ? std::max(depth >> i, 1u) : 1;
    level.pitch = (uint64_t{level.width} * samples * image.texelBytes() + 15) / 16 * 16;
    level.slice = level.pitch * level.height;
    next += level.slice * std::max(level.depth, image.layers);
  }
  image.bytes = next;
  own.memory.resize(next);
  std::mt19937 random(seed);
  fillTexels(own.memory.data(), own.memory.size(), type, random);
  image.base = own.memory.data();
  return own;
}

Operands makeOperands(const rt::Texture &t, const abi::TextureOperation &op, bool isNormalized,
                      std::mt19937 &random) {
  Operands in{};
  const rt::ImageLevel &level = t.image.level[0];
  const uint32_t size[3] = {level.width, level.height, level.depth};
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const bool isCube = op.geometry == TextureGeometry::cube || op.geometry == TextureGeometry::acube;
  in[abi::kRowLayer] = below(t.image.layers + 2);
  for (uint32_t d = 0; d < 3; ++d) {
    const auto step = [&](double span) { // multiples of 1/1024
      return static_cast<float>(double(int(below(uint32_t(span * 3072))) - int(span * 1024)) /
                                1024);
    };
    if (op.hasIntegerCoordinates)
      in[abi::kRowX + d] = static_cast<uint32_t>(int(below(3 * size[d] + 8)) - int(size[d]) - 4);
    else
      in[abi::kRowX + d] = bitsOf(step(isNormalized ? 1 : size[d]));
  }
  const uint32_t major = below(3);
  if (isCube) {
    for (uint32_t d = 0; d < 3; ++d) {
      const int minor = int(below(257)) - 128;
      in[abi::kRowX + d] = bitsOf(d == major ? (below(2) ? 2.0f : -2.0f) : float(minor) / 64);
    }
  }
  if (op.geometry == TextureGeometry::ms || op.geometry == TextureGeometry::ams)
    in[abi::kRowSample] = below(t.image.samples);
  if (op.level == abi::TextureLevel::given)
    in[abi::kRowLevel] = op.hasIntegerCoordinates ? below(t.image.levels + 2) - 1
                                                  : bitsOf(float(int(below(1400)) - 200) / 200);
  if (op.level == abi::TextureLevel::gradient) { // the longer one is a power of two in texels
    // Of a cube, along one of the minor axes.
    const uint32_t axis =
        isCube
            ? (major + 1) % 3
            : below(op.geometry == TextureGeometry::d1 || op.geometry == TextureGeometry::a1 ? 1
                                                                                             : 2);
    const float length =
        float(1u << below(4)) / (isNormalized ? float(size[isCube ? 0 : axis]) : 1.0f);
    in[abi::kRowDx + axis] = bitsOf(below(2) ? length : -length);
    in[abi::kRowDy + axis] = bitsOf(length / 4);
  }
  if (op.hasOffsets)
    in[abi::kRowOffsets] = below(4096);
  if (op.hasCompare)
    in[abi::kRowCompare] = bitsOf(float(int(below(256)) - 128) / 16);
  return in;
}

} // namespace ptxrun::texture_test
