// The tensor-map: the 128-byte object that describes a tensor in global memory and the box that
// tensor copies move (PTX ISA 5.5.8). NVIDIA keeps its layout to itself; this one is ours
// (README.md has it as a table), made by the encode functions (cuTensorMapEncode*) and changed by
// tensormap.replace.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace ptxrun::rt {

/// Values as in the manual's table 33 (tensormap.replace).
enum class TensorType : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f32Ftz,
  f64,
  bf16,
  tf32,
  tf32Ftz,
  b4x16,
  b4x16p64,
  b6 ///< .b6x16_p32 on the way to shared memory, .b6p2x16 on the way back
};
enum class TensorInterleave : uint8_t { none, bytes16, bytes32 };
enum class TensorSwizzle : uint8_t { none, bytes32, bytes64, bytes128, bytes96 };
enum class TensorAtomicity : uint8_t { bytes16, bytes32, bytes32Flip8, bytes64 };
enum class TensorFill : uint8_t { zero, nan };
/// What the map was encoded for. im2colW and im2colW128: cuTensorMapEncodeIm2colWide.
enum class TensorKind : uint8_t { tiled, im2col, im2colW, im2colW128 };

inline constexpr uint32_t kMaxTensorRank = 5;

struct TensorMap {
  static constexpr uint32_t kMagic = 0x544d5854;

  uint32_t magic = kMagic;
  TensorKind kind = TensorKind::tiled;
  uint8_t rank = 1;
  TensorType type = TensorType::u8;
  TensorInterleave interleave = TensorInterleave::none;
  TensorSwizzle swizzle = TensorSwizzle::none;
  TensorAtomicity atomicity = TensorAtomicity::bytes16;
  TensorFill fill = TensorFill::zero;
  uint8_t reserved = 0;
  uint32_t sizeLess1[kMaxTensorRank] =
      {}; ///< elements along each dimension, innermost first, minus one
  uint64_t address = 0;
  uint64_t stride[kMaxTensorRank - 1] =
      {}; ///< bytes from one element to the next along dimension i + 1
  uint16_t box[kMaxTensorRank] = {1, 1, 1, 1, 1};
  uint8_t elementStride[kMaxTensorRank] = {1, 1, 1, 1, 1};
  int16_t lower[3] = {}, upper[3] = {}; ///< im2col: bounding-box corners along W, H, D
  uint16_t channelsPerPixel = 0, pixelsPerColumn = 0;
  uint8_t unused[24] = {};

  uint64_t size(uint32_t i) const { return uint64_t{sizeLess1[i]} + 1; }
};
static_assert(sizeof(TensorMap) == 128);

/// What a tensor is counted in: one element, or the group of packed ones that moves as a whole.
struct TensorUnit {
  uint32_t elements;    ///< in one unit
  uint32_t globalBytes; ///< of one unit in global memory
  uint32_t sharedBytes; ///< and in shared memory, where padding is added
  bool isPadded() const { return globalBytes != sharedBytes; }
};
TensorUnit unitOf(TensorType);
bool isFloat(TensorType);
bool isSubByte(TensorType);
/// Bytes of a slice of the interleaved layouts; 0 for none.
uint32_t sliceBytes(TensorInterleave);

struct TensorShape {
  TensorType type = TensorType::u8;
  uint32_t rank = 1;
  uint64_t address = 0;
  std::array<uint64_t, kMaxTensorRank> sizes{1, 1, 1, 1, 1};
  std::array<uint64_t, kMaxTensorRank - 1> strides{};
  std::array<uint32_t, kMaxTensorRank> elementStrides{1, 1, 1, 1, 1};
  TensorInterleave interleave = TensorInterleave::none;
  TensorSwizzle swizzle = TensorSwizzle::none;
  TensorAtomicity atomicity = TensorAtomicity::bytes16;
  TensorFill fill = TensorFill::zero;
};

/// These fill *map and return "", or leave it alone and return what is wrong with the request, by
/// the rules of CUDA's functions of these names.
std::string encodeTiled(TensorMap *map, const TensorShape &,
                        const std::array<uint32_t, kMaxTensorRank> &box);
/// lower and upper: corners along W, H, D, of which rank - 2 are used.
std::string encodeIm2col(TensorMap *map, const TensorShape &, const std::array<int, 3> &lower,
                         const std::array<int, 3> &upper, uint32_t channelsPerPixel,
                         uint32_t pixelsPerColumn);
/// kind: im2colW or im2colW128, which does not look at pixelsPerColumn.
std::string encodeIm2colWide(TensorMap *map, const TensorShape &, TensorKind kind, int lower,
                             int upper, uint32_t channelsPerPixel, uint32_t pixelsPerColumn);
/// Changes where the tensor is (cuTensorMapReplaceAddress).
std::string replaceAddress(TensorMap *map, uint64_t address);

} // namespace ptxrun::rt
