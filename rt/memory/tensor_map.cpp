#include "rt/memory/tensor_map.h"

namespace ptxrun::rt {

namespace {

std::string at(const char *what, uint32_t i) {
  return std::string(what) + "[" + std::to_string(i) + "] ";
}

std::string checkShape(const TensorShape &s) {
  if (s.rank < 1 || s.rank > kMaxTensorRank)
    return "the rank must be 1 to 5";
  if (s.address % (s.interleave == TensorInterleave::bytes32 ? 32 : 16))
    return "the global address is not aligned";
  for (uint32_t i = 0; i < s.rank; ++i) {
    if (s.sizes[i] < 1 || s.sizes[i] > uint64_t{1} << 32)
      return at("globalDim", i) + "must be 1 to 2^32";
    if (s.elementStrides[i] < 1 || s.elementStrides[i] > 8)
      return at("elementStrides", i) + "must be 1 to 8";
  }
  for (uint32_t i = 0; i + 1 < s.rank; ++i)
    if (s.strides[i] % 16 || s.strides[i] >= uint64_t{1} << 40)
      return at("globalStrides", i) + "must be a multiple of 16 below 2^40";
  if (s.interleave != TensorInterleave::none && s.rank < 3)
    return "an interleaved layout needs a rank of 3 or more";
  if (s.fill == TensorFill::nan && !isFloat(s.type))
    return "NaN fill needs a floating-point element type";
  if (s.atomicity != TensorAtomicity::bytes16 && s.swizzle != TensorSwizzle::bytes128)
    return "a swizzle atomicity other than 16 bytes needs the 128-byte swizzle";
  return "";
}

uint32_t swizzleSpan(TensorSwizzle s) {
  switch (s) {
  case TensorSwizzle::none:
    return ~0u;
  case TensorSwizzle::bytes32:
    return 32;
  case TensorSwizzle::bytes64:
    return 64;
  case TensorSwizzle::bytes96:
    return 96;
  case TensorSwizzle::bytes128:
    return 128;
  }
  return ~0u;
}

std::string checkInner(const TensorShape &s, uint64_t bytes) {
  if (s.interleave == TensorInterleave::none && bytes % 16)
    return "the innermost dimension of the box must be a multiple of 16 bytes";
  if (s.interleave == TensorInterleave::none && bytes > swizzleSpan(s.swizzle))
    return "the innermost dimension of the box is larger than the swizzle";
  return "";
}

void fillShape(TensorMap *map, const TensorShape &s) {
  *map = TensorMap{};
  map->rank = static_cast<uint8_t>(s.rank);
  map->type = s.type;
  map->interleave = s.interleave;
  map->swizzle = s.swizzle;
  map->atomicity = s.atomicity;
  map->fill = s.fill;
  map->address = s.address;
  for (uint32_t i = 0; i < s.rank; ++i) {
    map->sizeLess1[i] = static_cast<uint32_t>(s.sizes[i] - 1);
    map->elementStride[i] = static_cast<uint8_t>(s.elementStrides[i]);
    if (i + 1 < s.rank)
      map->stride[i] = s.strides[i];
  }
}

} // namespace

uint32_t elementBytes(TensorType type) {
  switch (type) {
  case TensorType::u8:
    return 1;
  case TensorType::u16:
  case TensorType::f16:
  case TensorType::bf16:
    return 2;
  case TensorType::u64:
  case TensorType::s64:
  case TensorType::f64:
  case TensorType::b4x16:
  case TensorType::b4x16p64:
    return 8;
  case TensorType::b6:
    return 12;
  default:
    return 4;
  }
}

bool isFloat(TensorType type) {
  return type == TensorType::f16 || type == TensorType::bf16 ||
         (type >= TensorType::f32 && type <= TensorType::f64) || type == TensorType::tf32 ||
         type == TensorType::tf32Ftz;
}

std::string encodeTiled(TensorMap *map, const TensorShape &s,
                        const std::array<uint32_t, kMaxTensorRank> &box) {
  if (std::string error = checkShape(s); !error.empty())
    return error;
  for (uint32_t i = 0; i < s.rank; ++i)
    if (box[i] < 1 || box[i] > 256)
      return at("boxDim", i) + "must be 1 to 256";
  bool isPacked = s.type == TensorType::b4x16;
  uint64_t inner = isPacked ? box[0] / 2 : uint64_t{box[0]} * elementBytes(s.type);
  if (std::string error = checkInner(s, inner); !error.empty())
    return error;
  fillShape(map, s);
  for (uint32_t i = 0; i < s.rank; ++i)
    map->box[i] = static_cast<uint16_t>(box[i]);
  return "";
}

std::string encodeIm2col(TensorMap *map, const TensorShape &s, const std::array<int, 3> &lower,
                         const std::array<int, 3> &upper, uint32_t channelsPerPixel,
                         uint32_t pixelsPerColumn) {
  if (std::string error = checkShape(s); !error.empty())
    return error;
  if (s.rank < 3)
    return "im2col needs a rank of 3 to 5";
  if (channelsPerPixel < 1 || channelsPerPixel > 256)
    return "channelsPerPixel must be 1 to 256";
  if (pixelsPerColumn < 1 || pixelsPerColumn > 1024)
    return "pixelsPerColumn must be 1 to 1024";
  int limit = s.rank == 3 ? 1 << 15 : s.rank == 4 ? 1 << 7 : 1 << 4;
  for (uint32_t i = 0; i + 2 < s.rank; ++i)
    if (lower[i] < -limit || lower[i] >= limit || upper[i] < -limit || upper[i] >= limit)
      return at("pixelBoxCorner", i) + "is out of range for this rank";
  if (std::string error = checkInner(s, uint64_t{channelsPerPixel} * elementBytes(s.type));
      !error.empty())
    return error;
  fillShape(map, s);
  map->isIm2col = 1;
  for (uint32_t i = 0; i + 2 < s.rank; ++i) {
    map->lower[i] = static_cast<int16_t>(lower[i]);
    map->upper[i] = static_cast<int16_t>(upper[i]);
  }
  map->channelsPerPixel = static_cast<uint16_t>(channelsPerPixel);
  map->pixelsPerColumn = static_cast<uint16_t>(pixelsPerColumn);
  return "";
}

} // namespace ptxrun::rt
