// Which tensor copies are legal (PTX ISA 9.7.9.25.5.1), and whether a map can be trusted: kernels
// may have written it.
#include "rt/sync/tensor_copy.h"

namespace ptxrun::rt {

namespace {

using abi::TensorMode;

bool isWideMode(TensorMode mode) {
  return mode == TensorMode::im2colW || mode == TensorMode::im2colW128;
}

/// Kernels also build maps out of zeros, by tensormap.replace of every field that counts (Triton
/// does): only their magic number stays zero.
bool isSoundMap(const TensorMap &m) {
  if ((m.magic != TensorMap::kMagic && m.magic != 0) || m.rank < 1 || m.rank > kMaxTensorRank ||
      m.kind > TensorKind::im2colW128 || m.type > TensorType::b6 ||
      m.interleave > TensorInterleave::bytes32 || m.swizzle > TensorSwizzle::bytes96 ||
      m.atomicity > TensorAtomicity::bytes64 || m.fill > TensorFill::nan)
    return false;
  for (uint32_t i = 0; i < m.rank; ++i)
    if (m.elementStride[i] < 1 || m.elementStride[i] > 8 || m.box[i] < 1 || m.box[i] > 256)
      return false;
  if (m.kind == TensorKind::tiled)
    return true;
  return m.rank >= 3 && m.channelsPerPixel >= 1 && m.channelsPerPixel <= 256 &&
         m.pixelsPerColumn >= 1 && m.pixelsPerColumn <= 1024;
}

bool isMapFor(TensorKind kind, TensorMode mode) {
  switch (mode) {
  case TensorMode::tile:
  case TensorMode::tile4:
    return kind == TensorKind::tiled;
  case TensorMode::im2col:
  case TensorMode::im2colNoOffsets:
    return kind == TensorKind::im2col;
  case TensorMode::im2colW:
    return kind == TensorKind::im2col || kind == TensorKind::im2colW;
  case TensorMode::im2colW128:
    return kind != TensorKind::tiled;
  }
  return false;
}

const char *checkMode(const TensorRequest &r) {
  const TensorMap &m = *r.map;
  if (r.dimensions && r.dimensions != m.rank)
    return "the instruction's dimensions (.1d to .5d) are not as many as the tensor-map's";
  if (!isMapFor(m.kind, r.mode))
    return "the tensor-map was encoded for another mode (tiled or im2col)";
  if (r.mode == TensorMode::tile4 && (m.rank != 2 || m.box[1] != 1))
    return ".tile::gather4 and .tile::scatter4 need a 2-dimensional tensor-map with boxes of one "
           "row";
  if (m.interleave != TensorInterleave::none && (m.rank < 3 || isWideMode(r.mode)))
    return "the interleaved layouts are for 3 to 5 dimensions, and not for .im2col::w";
  if (isWideMode(r.mode) && m.swizzle == TensorSwizzle::none)
    return ".im2col::w and .im2col::w::128 need a swizzle";
  if (r.mode == TensorMode::im2colW128 && m.swizzle == TensorSwizzle::bytes96)
    return ".im2col::w::128 does not take the 96-byte swizzle";
  return nullptr;
}

/// im2colInfo's documented ranges.
const char *checkOffsets(const TensorRequest &r) {
  if (isWideMode(r.mode)) {
    uint32_t halo = r.mode == TensorMode::im2colW ? 512 : 32;
    if (r.offsets[0] >= halo || r.offsets[1] >= 32)
      return "wHalo or wOffset is out of range";
  } else if (r.mode == TensorMode::im2col) {
    uint32_t limit = r.map->rank == 3 ? 1 << 16 : r.map->rank == 4 ? 1 << 8 : 1 << 5;
    for (uint32_t i = 0; i + 2 < r.map->rank; ++i)
      if (r.offsets[i] >= limit)
        return "an im2col offset is out of range for this rank";
  }
  return nullptr;
}

const char *checkSwizzle(const TensorRequest &r) {
  const TensorMap &m = *r.map;
  bool isPadded = unitOf(m.type).isPadded();
  if (m.swizzle != TensorSwizzle::bytes128 && m.swizzle != TensorSwizzle::none &&
      m.atomicity != TensorAtomicity::bytes16)
    return "only the 128-byte swizzle has other atomicities than 16 bytes";
  if (m.swizzle == TensorSwizzle::bytes96 && (isPadded || m.interleave != TensorInterleave::none))
    return "the 96-byte swizzle goes neither with padded types nor with interleaved layouts";
  bool isFlip =
      m.swizzle == TensorSwizzle::bytes128 && m.atomicity == TensorAtomicity::bytes32Flip8;
  if (isFlip && (r.direction != TensorDirection::load || isWideMode(r.mode) || isPadded))
    return "the swizzle with 8-byte flip is for loads of types without padding, and not for "
           ".im2col::w";
  return nullptr;
}

bool isReducible(abi::ReduceOp op, TensorType type) {
  bool isUnsigned32 = type == TensorType::u32,
       isHalf = type == TensorType::f16 || type == TensorType::bf16;
  bool isWord = isUnsigned32 || type == TensorType::s32;
  bool isLong = type == TensorType::u64 || type == TensorType::s64;
  switch (op) {
  case abi::ReduceOp::add:
    return isWord || isHalf || isLong || type == TensorType::f32 || type == TensorType::f32Ftz ||
           type == TensorType::f64;
  case abi::ReduceOp::min:
  case abi::ReduceOp::max:
    return isWord || isLong || isHalf;
  case abi::ReduceOp::inc:
  case abi::ReduceOp::dec:
    return isUnsigned32;
  case abi::ReduceOp::and_:
  case abi::ReduceOp::or_:
  case abi::ReduceOp::xor_:
    return isWord || isLong;
  }
  return false;
}

const char *checkType(const TensorRequest &r) {
  const TensorMap &m = *r.map;
  if (m.fill == TensorFill::nan && !isFloat(m.type))
    return "NaN fill needs a floating-point element type";
  if (r.direction == TensorDirection::reduce && !isReducible(r.op, m.type))
    return "the tensor's element type does not have this reduction";
  if (r.direction == TensorDirection::store && m.type == TensorType::b4x16p64)
    return ".b4x16_p64 is for loads only";
  int32_t step = !unitOf(m.type).isPadded() ? 1 : r.direction == TensorDirection::store ? 64 : 128;
  if (r.coordinates[0] % step)
    return "the first coordinate must be a multiple of 128 for padded sub-byte types";
  if (m.interleave == TensorInterleave::none && rowBytes(r) % 16)
    return "a row of the box must be a multiple of 16 bytes";
  return nullptr;
}

} // namespace

const char *checkTensorRequest(const TensorRequest &r) {
  if (!isSoundMap(*r.map))
    return "the tensor-map is not one that cuTensorMapEncode made, nor complete";
  for (const char *error : {checkMode(r), checkOffsets(r), checkSwizzle(r), checkType(r)})
    if (error)
      return error;
  if (tensorBytes(r) > uint64_t{1} << abi::kSharedWindowShift)
    return "the box is larger than shared memory";
  uint64_t align = r.map->swizzle == TensorSwizzle::none ? 16 : 128;
  if (reinterpret_cast<uint64_t>(r.shared) % align)
    return "the address in shared memory is not aligned (16 bytes; 128 with a swizzle)";
  return nullptr;
}

} // namespace ptxrun::rt
