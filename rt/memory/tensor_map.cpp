#include "rt/memory/tensor_map.h"

namespace ptxrun::rt {

namespace {

std::string at(const char *what, uint32_t i) {
  return std::string(what) + "[" + std::to_string(i) + "] ";
}

/// The types that are padded in shared memory have rules of their own.
bool isPaddedType(TensorType type) { return unitOf(type).isPadded(); }

std::string checkAddress(TensorType type, TensorInterleave interleave, uint64_t address) {
  bool isWide = interleave == TensorInterleave::bytes32 || isPaddedType(type);
  if (address % (isWide ? 32 : 16))
    return std::string("the global address must be a multiple of ") + (isWide ? "32" : "16");
  return "";
}

std::string checkExtents(const TensorShape &s) {
  uint32_t first = isPaddedType(s.type) ? 128 : s.type == TensorType::b4x16 ? 2 : 1;
  if (s.sizes[0] % first)
    return "globalDim[0] must be a multiple of " + std::to_string(first) + " for this type";
  for (uint32_t i = 0; i < s.rank; ++i) {
    if (s.sizes[i] < 1 || s.sizes[i] > uint64_t{1} << 32)
      return at("globalDim", i) + "must be 1 to 2^32";
    bool isIgnored = i == 0 && s.interleave == TensorInterleave::none;
    if (!isIgnored && (s.elementStrides[i] < 1 || s.elementStrides[i] > 8))
      return at("elementStrides", i) + "must be 1 to 8";
  }
  uint64_t step = s.interleave == TensorInterleave::bytes32 || isPaddedType(s.type) ? 32 : 16;
  for (uint32_t i = 0; i + 1 < s.rank; ++i)
    if (s.strides[i] % step || s.strides[i] >= uint64_t{1} << 40)
      return at("globalStrides", i) + "must be a multiple of " + std::to_string(step) +
             " below 2^40";
  return "";
}

std::string checkSwizzle(const TensorShape &s) {
  if (s.atomicity != TensorAtomicity::bytes16 && s.swizzle != TensorSwizzle::bytes128)
    return "a swizzle atomicity other than 16 bytes needs the 128-byte swizzle";
  if (s.interleave == TensorInterleave::bytes32 && s.swizzle != TensorSwizzle::bytes32)
    return "the 32-byte interleaved layout needs the 32-byte swizzle";
  if (s.swizzle == TensorSwizzle::bytes96 && s.interleave != TensorInterleave::none)
    return "the 96-byte swizzle does not go with an interleaved layout";
  bool isPlainOr128 = (s.swizzle == TensorSwizzle::none || s.swizzle == TensorSwizzle::bytes128) &&
                      s.atomicity != TensorAtomicity::bytes32Flip8;
  if (isPaddedType(s.type) && !isPlainOr128)
    return "this type takes no swizzle or the 128-byte swizzle without flip";
  if (s.type == TensorType::b4x16p64 && s.atomicity == TensorAtomicity::bytes64)
    return "this type does not take the 64-byte swizzle atomicity";
  return "";
}

std::string checkShape(const TensorShape &s) {
  if (s.rank < 1 || s.rank > kMaxTensorRank)
    return "the rank must be 1 to 5";
  if (s.interleave != TensorInterleave::none && s.rank < 3)
    return "an interleaved layout needs a rank of 3 or more";
  if (s.interleave != TensorInterleave::none && s.type == TensorType::b6)
    return "6-bit elements have no interleaved layout";
  if (s.fill == TensorFill::nan && !isFloat(s.type))
    return "NaN fill needs a floating-point element type";
  for (std::string error :
       {checkAddress(s.type, s.interleave, s.address), checkExtents(s), checkSwizzle(s)})
    if (!error.empty())
      return error;
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

/// The innermost extent of the box, `name`, in elements.
std::string checkInner(const TensorShape &s, const char *name, uint32_t elements) {
  if (elements < 1 || elements > 256)
    return std::string(name) + " must be 1 to 256";
  if (isPaddedType(s.type) && elements != 128)
    return std::string(name) + " must be 128 for this type";
  TensorUnit unit = unitOf(s.type);
  if (elements % unit.elements)
    return std::string(name) + " must be a multiple of " + std::to_string(unit.elements);
  if (s.interleave != TensorInterleave::none)
    return "";
  uint32_t bytes = elements / unit.elements * unit.sharedBytes;
  if (bytes % 16)
    return std::string(name) + " must come to a multiple of 16 bytes";
  if (bytes > swizzleSpan(s.swizzle))
    return std::string(name) + " comes to more bytes than the swizzle spans";
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
    bool isIgnored = i == 0 && s.interleave == TensorInterleave::none;
    map->elementStride[i] = isIgnored ? 1 : static_cast<uint8_t>(s.elementStrides[i]);
    if (i + 1 < s.rank)
      map->stride[i] = s.strides[i];
  }
}

/// Corners along the dimensions of an image, W first.
std::string checkCorners(const TensorShape &s, const int *lower, const int *upper, uint32_t count,
                         int limit) {
  for (uint32_t i = 0; i < count; ++i) {
    if (lower[i] < -limit || lower[i] >= limit || upper[i] < -limit || upper[i] >= limit)
      return at("pixelBoxCorner", i) + "is out of range for this rank";
    if (static_cast<int64_t>(s.sizes[i + 1]) + upper[i] - lower[i] <= 0)
      return "the bounding box is empty";
  }
  return "";
}

std::string checkIm2col(const TensorShape &s, uint32_t channelsPerPixel, uint32_t pixelsPerColumn) {
  if (std::string error = checkShape(s); !error.empty())
    return error;
  if (s.rank < 3)
    return "im2col needs a rank of 3 to 5";
  if (pixelsPerColumn < 1 || pixelsPerColumn > 1024)
    return "pixelsPerColumn must be 1 to 1024";
  return checkInner(s, "channelsPerPixel", channelsPerPixel);
}

} // namespace

TensorUnit unitOf(TensorType type) {
  switch (type) {
  case TensorType::u8:
    return {1, 1, 1};
  case TensorType::u16:
  case TensorType::f16:
  case TensorType::bf16:
    return {1, 2, 2};
  case TensorType::u64:
  case TensorType::s64:
  case TensorType::f64:
    return {1, 8, 8};
  case TensorType::b4x16:
    return {2, 1, 1};
  case TensorType::b4x16p64:
    return {16, 8, 16};
  case TensorType::b6:
    return {16, 12, 16};
  default:
    return {1, 4, 4};
  }
}

bool isFloat(TensorType type) { return type >= TensorType::f16 && type <= TensorType::tf32Ftz; }

bool isSubByte(TensorType type) { return type >= TensorType::b4x16; }

uint32_t sliceBytes(TensorInterleave interleave) {
  return interleave == TensorInterleave::none      ? 0
         : interleave == TensorInterleave::bytes16 ? 16
                                                   : 32;
}

std::string encodeTiled(TensorMap *map, const TensorShape &s,
                        const std::array<uint32_t, kMaxTensorRank> &box) {
  if (std::string error = checkShape(s); !error.empty())
    return error;
  if (std::string error = checkInner(s, "boxDim[0]", box[0]); !error.empty())
    return error;
  for (uint32_t i = 1; i < s.rank; ++i)
    if (box[i] < 1 || box[i] > 256)
      return at("boxDim", i) + "must be 1 to 256";
  fillShape(map, s);
  for (uint32_t i = 0; i < s.rank; ++i)
    map->box[i] = static_cast<uint16_t>(box[i]);
  return "";
}

std::string encodeIm2col(TensorMap *map, const TensorShape &s, const std::array<int, 3> &lower,
                         const std::array<int, 3> &upper, uint32_t channelsPerPixel,
                         uint32_t pixelsPerColumn) {
  if (std::string error = checkIm2col(s, channelsPerPixel, pixelsPerColumn); !error.empty())
    return error;
  int limit = s.rank == 3 ? 1 << 15 : s.rank == 4 ? 1 << 7 : 1 << 4;
  if (std::string error = checkCorners(s, lower.data(), upper.data(), s.rank - 2, limit);
      !error.empty())
    return error;
  fillShape(map, s);
  map->kind = TensorKind::im2col;
  for (uint32_t i = 0; i + 2 < s.rank; ++i) {
    map->lower[i] = static_cast<int16_t>(lower[i]);
    map->upper[i] = static_cast<int16_t>(upper[i]);
  }
  map->channelsPerPixel = static_cast<uint16_t>(channelsPerPixel);
  map->pixelsPerColumn = static_cast<uint16_t>(pixelsPerColumn);
  return "";
}

std::string encodeIm2colWide(TensorMap *map, const TensorShape &s, TensorKind kind, int lower,
                             int upper, uint32_t channelsPerPixel, uint32_t pixelsPerColumn) {
  if (kind == TensorKind::im2colW128)
    pixelsPerColumn = 128;
  if (std::string error = checkIm2col(s, channelsPerPixel, pixelsPerColumn); !error.empty())
    return error;
  if (std::string error = checkCorners(s, &lower, &upper, 1, 1 << 15); !error.empty())
    return error;
  if (s.interleave != TensorInterleave::none)
    return "im2col::w and im2col::w::128 have no interleaved layouts";
  bool hasSwizzle =
      s.swizzle == TensorSwizzle::bytes64 ||
      (s.swizzle == TensorSwizzle::bytes128 &&
       (s.atomicity == TensorAtomicity::bytes16 || s.atomicity == TensorAtomicity::bytes32));
  if (!hasSwizzle)
    return "im2col::w and im2col::w::128 take a 64-byte swizzle, or a 128-byte one with 16 or 32 "
           "bytes of atomicity";
  fillShape(map, s);
  map->kind = kind;
  map->lower[0] = static_cast<int16_t>(lower);
  map->upper[0] = static_cast<int16_t>(upper);
  map->channelsPerPixel = static_cast<uint16_t>(channelsPerPixel);
  map->pixelsPerColumn = static_cast<uint16_t>(pixelsPerColumn);
  return "";
}

std::string replaceAddress(TensorMap *map, uint64_t address) {
  if (map->magic != TensorMap::kMagic)
    return "this is no tensor-map";
  if (std::string error = checkAddress(map->type, map->interleave, address); !error.empty())
    return error;
  map->address = address;
  return "";
}

} // namespace ptxrun::rt
