// The tensor-map: the 128-byte object that describes a tensor in global memory and the box that
// tensor copies move (PTX ISA 5.5.8). NVIDIA keeps its layout to itself; this one is ours, made by
// encodeTiled and encodeIm2col (cuTensorMapEncode*) and changed by tensormap.replace.
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
  b6
};
enum class TensorInterleave : uint8_t { none, bytes16, bytes32 };
enum class TensorSwizzle : uint8_t { none, bytes32, bytes64, bytes128, bytes96 };
enum class TensorAtomicity : uint8_t { bytes16, bytes32, bytes32Flip8, bytes64 };
enum class TensorFill : uint8_t { zero, nan };

inline constexpr uint32_t kMaxTensorRank = 5;

struct alignas(64) TensorMap {
  static constexpr uint32_t kMagic = 0x544d5854;

  uint32_t magic = kMagic;
  uint8_t isIm2col = 0;
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

  uint64_t size(uint32_t i) const { return uint64_t{sizeLess1[i]} + 1; }
};
static_assert(sizeof(TensorMap) == 128);

/// Bytes of one element in memory (b4x16: of sixteen packed ones).
uint32_t elementBytes(TensorType);
bool isFloat(TensorType);

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

/// Fill *map; "" or what is wrong with the request, by the rules of cuTensorMapEncodeTiled.
std::string encodeTiled(TensorMap *map, const TensorShape &,
                        const std::array<uint32_t, kMaxTensorRank> &box);
/// lower and upper: corners along W, H, D, of which rank - 2 are used.
std::string encodeIm2col(TensorMap *map, const TensorShape &, const std::array<int, 3> &lower,
                         const std::array<int, 3> &upper, uint32_t channelsPerPixel,
                         uint32_t pixelsPerColumn);

} // namespace ptxrun::rt
