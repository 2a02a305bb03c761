// Textures, samplers and surfaces as instructions see them: what is behind a handle.
#pragma once
#include <cstdint>

#include "intrinsics/texture.h"

namespace ptxrun::rt {

/// How a channel lies in memory.
enum class ChannelType : uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };
constexpr uint32_t bytesOf(ChannelType type) {
  return type == ChannelType::u8 || type == ChannelType::s8                                 ? 1
         : type == ChannelType::u32 || type == ChannelType::s32 || type == ChannelType::f32 ? 4
                                                                                            : 2;
}
constexpr bool isFloat(ChannelType type) { return type >= ChannelType::f16; }
constexpr bool isSigned(ChannelType type) {
  return type == ChannelType::s8 || type == ChannelType::s16 || type == ChannelType::s32;
}

/// What the memory is: elements one behind the other (fetched by index alone), or an image.
enum class ImageShape : uint8_t { linear, d1, d2, d3 };

inline constexpr uint32_t kMaxLevels = 18;

/// One level of a mipmap. A layer, face or slice of depth begins `slice` bytes after the one
/// before.
struct ImageLevel {
  uint64_t offset = 0; ///< bytes from Image::base
  uint32_t width = 1, height = 1, depth = 1;
  uint64_t pitch = 0, slice = 0;
};

struct Image {
  char *base = nullptr;
  uint64_t bytes = 0; ///< all that instructions may touch
  ImageShape shape = ImageShape::d2;
  bool isLayered = false, isCube = false;
  bool isPitched = false; ///< rows of linear memory
  ChannelType type = ChannelType::f32;
  uint8_t channels = 1; ///< 1, 2 or 4
  uint8_t samples = 1;  ///< of a multi-sample image: one behind the other
  uint32_t layers = 1;  ///< faces of cubes included
  uint32_t levels = 1;
  ImageLevel level[kMaxLevels];

  uint32_t texelBytes() const { return channels * bytesOf(type); }
};

enum class AddressMode : uint8_t { wrap, mirror, clamp, border };

struct Sampler {
  AddressMode address[3] = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  bool isLinear = false, isMipLinear = false;
  bool isNormalized = false;       ///< coordinates from 0 to 1
  bool forcesUnnormalized = false; ///< of a .samplerref: whatever the texture says
  bool isSeamless = false;         ///< cubes filter across edges
  float bias = 0, minLevel = 0, maxLevel = 0;
  float border[4] = {};
};

/// How texels become numbers.
struct ReadMode {
  bool isNormalizedFloat = false; ///< integers of 8 and 16 bits become 0 to 1, or -1 to 1
  bool isSrgb = false;            ///< and red, green, blue go through the sRGB curve
};

struct Texture {
  Image image;
  ReadMode read;
  Sampler sampler;

  /// Whether texels are fetched as integers, unfiltered.
  bool isInteger() const { return !isFloat(image.type) && !read.isNormalizedFloat; }
};

} // namespace ptxrun::rt
