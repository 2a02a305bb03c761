// suld, sust and sured (PTX ISA 9.7.11.1 to 9.7.11.3), one lane at a time.
#include "rt/texture/surface.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "intrinsics/abi.h"
#include "rt/atomics/reduce.h"

namespace ptxrun::rt {

namespace {

using abi::SurfaceBound;
using abi::TextureAction;
using abi::TextureGeometry;
using abi::TextureOperation;

/// What becomes of an access.
enum class Verdict { access, nothing, trap };

/// Brings a coordinate inside [0, size - extent], or says that it is not.
bool bringInside(int64_t &at, int64_t extent, int64_t size, bool mayClamp) {
  if (at >= 0 && at + extent <= size)
    return true;
  at = std::clamp<int64_t>(at, 0, std::max<int64_t>(size - extent, 0));
  return mayClamp && extent <= size;
}

struct Place {
  Verdict verdict;
  char *address;
};

/// `bytes` at the lane's coordinates; x in units of `unit` bytes.
Place placeOf(const Image &image, const TextureOperation &op, const LaneRows &rows, uint32_t bytes,
              uint32_t unit) {
  const ImageLevel &level = image.level[0];
  const bool isArray = op.geometry == TextureGeometry::a1 || op.geometry == TextureGeometry::a2;
  const bool mayClamp = op.bound == SurfaceBound::clamp;
  const auto coordinate = [&](uint32_t row) { return int64_t{int32_t(rows.word(row))}; };
  int64_t x = coordinate(abi::kRowX) * unit, y = 0, z = 0;
  bool isInside = bringInside(x, bytes, int64_t{level.width} * image.texelBytes(), mayClamp);
  if (op.geometry != TextureGeometry::d1 && op.geometry != TextureGeometry::a1) {
    y = coordinate(abi::kRowX + 1);
    isInside &= bringInside(y, 1, level.height, mayClamp);
  }
  if (op.geometry == TextureGeometry::d3) {
    z = coordinate(abi::kRowX + 2);
    isInside &= bringInside(z, 1, level.depth, mayClamp);
  } else if (isArray) {
    z = rows.word(abi::kRowLayer);
    isInside &= bringInside(z, 1, image.layers, mayClamp);
  }
  if (!isInside)
    return {op.bound == SurfaceBound::trap ? Verdict::trap : Verdict::nothing, nullptr};
  x &= ~int64_t{bytes - 1}; // naturally aligned: low-order bits of others are masked
  const uint64_t offset =
      level.offset + uint64_t(z) * level.slice + uint64_t(y) * level.pitch + uint64_t(x);
  return {Verdict::access, image.base + offset};
}

bool load(const Image &image, const TextureOperation &op, const LaneRows &rows) {
  const uint32_t bytes = op.bytes * op.elements;
  const Place place = placeOf(image, op, rows, bytes, 1);
  uint8_t data[16] = {};
  if (place.verdict == Verdict::access)
    std::memcpy(data, place.address, bytes);
  const uint32_t piece = std::min<uint32_t>(op.bytes, 4);
  for (uint32_t row = 0, at = 0; at < bytes; ++row, at += piece) {
    uint32_t word = 0;
    std::memcpy(&word, data + at, piece);
    rows.result(row) = word;
  }
  return place.verdict != Verdict::trap;
}

bool store(const Image &image, const TextureOperation &op, const LaneRows &rows) {
  const uint32_t bytes = op.bytes * op.elements, piece = std::min<uint32_t>(op.bytes, 4);
  const Place place = placeOf(image, op, rows, bytes, 1);
  if (place.verdict != Verdict::access)
    return place.verdict != Verdict::trap;
  uint8_t data[16];
  for (uint32_t row = 0, at = 0; at < bytes; ++row, at += piece) {
    const uint32_t word = rows.word(abi::kRowData + row);
    std::memcpy(data + at, &word, piece);
  }
  std::memcpy(place.address, data, bytes);
  return true;
}

/// f32 to f16, to nearest even.
uint16_t toHalf(float x) {
  const _Float16 half = static_cast<_Float16>(x);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}

/// A component as the surface's format has it: fractions and floats come as f32, integers as
/// integers of its sign; what does not fit becomes the nearest number that does.
uint32_t formatChannel(const Texture &t, uint32_t word) {
  const ChannelType type = t.image.type;
  float value;
  std::memcpy(&value, &word, 4);
  if (type == ChannelType::f32 || bytesOf(type) == 4)
    return word;
  if (type == ChannelType::f16)
    return toHalf(value);
  const int bits = 8 * static_cast<int>(bytesOf(type));
  const int64_t high = isSigned(type) ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  const int64_t low = isSigned(type) ? -high - 1 : 0;
  if (t.read.isNormalizedFloat) {
    const float limited =
        std::clamp(std::isnan(value) ? 0.0f : value, isSigned(type) ? -1.0f : 0.0f, 1.0f);
    return static_cast<uint32_t>(std::lrint(double{limited} * static_cast<double>(high)));
  }
  const int64_t given = isSigned(type) ? int64_t{int32_t(word)} : int64_t{word};
  return static_cast<uint32_t>(std::clamp(given, low, high));
}

/// Components that the instruction does not have are written as zero ("unpredictable").
bool storeTexel(const Texture &t, const TextureOperation &op, const LaneRows &rows) {
  const uint32_t bytes = bytesOf(t.image.type), texel = t.image.texelBytes();
  const Place place = placeOf(t.image, op, rows, texel, texel);
  if (place.verdict != Verdict::access)
    return place.verdict != Verdict::trap;
  uint8_t data[16] = {};
  for (uint32_t c = 0; c < std::min<uint32_t>(op.elements, t.image.channels); ++c) {
    const uint32_t word = formatChannel(t, rows.word(abi::kRowData + c));
    std::memcpy(data + c * bytes, &word, bytes);
  }
  std::memcpy(place.address, data, texel);
  return true;
}

bool reduce(const Texture &t, const TextureOperation &op, const LaneRows &rows) {
  const bool isTexel = op.action == TextureAction::reduceTexel;
  const Place place = placeOf(t.image, op, rows, op.bytes, isTexel ? op.bytes : 1);
  if (place.verdict != Verdict::access)
    return place.verdict != Verdict::trap;
  const bool hasSign = isTexel ? isSigned(t.image.type) : op.reduceSign != 0;
  const abi::ReduceType type = op.bytes == 8
                                   ? (hasSign ? abi::ReduceType::s64 : abi::ReduceType::u64)
                                   : (hasSign ? abi::ReduceType::s32 : abi::ReduceType::u32);
  const uint64_t value =
      rows.word(abi::kRowData) | (op.bytes == 8 ? uint64_t{rows.word(abi::kRowData + 1)} << 32 : 0);
  reduceArray(static_cast<abi::ReduceOp>(op.reduceOp), type, place.address, &value, op.bytes,
              false);
  return true;
}

} // namespace

bool fits(TextureGeometry geometry, const Image &image) {
  const bool isPlain = !image.isLayered && !image.isCube;
  switch (geometry) {
  case TextureGeometry::d1:
    return image.shape == ImageShape::linear || (image.shape == ImageShape::d1 && isPlain);
  case TextureGeometry::d2:
  case TextureGeometry::ms:
    return image.shape == ImageShape::d2 && isPlain;
  case TextureGeometry::d3:
    return image.shape == ImageShape::d3;
  case TextureGeometry::a1:
    return image.shape == ImageShape::d1 && image.isLayered;
  case TextureGeometry::a2:
    return image.shape == ImageShape::d2 && !isPlain;
  case TextureGeometry::ams:
    return image.shape == ImageShape::d2 && image.isLayered && !image.isCube;
  case TextureGeometry::cube:
    return image.isCube;
  case TextureGeometry::acube:
    return image.isCube && image.isLayered;
  }
  return false;
}

bool accessSurface(const Texture &t, const TextureOperation &op, const LaneRows &rows) {
  switch (op.action) {
  case TextureAction::load:
    return load(t.image, op, rows);
  case TextureAction::store:
    return store(t.image, op, rows);
  case TextureAction::storeTexel:
    return storeTexel(t, op, rows);
  default:
    return reduce(t, op, rows);
  }
}

} // namespace ptxrun::rt
