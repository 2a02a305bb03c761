// Tensor copies between global memory, seen as a tensor of up to five dimensions, and shared
// memory, seen as rows one behind the other (PTX ISA 5.5, 9.7.9.25.5).
#pragma once
#include <cstdint>

#include "intrinsics/abi.h"
#include "rt/memory/tensor_map.h"

namespace ptxrun::rt {

enum class TensorDirection : uint8_t { load, store, reduce };

struct TensorRequest {
  const TensorMap *map = nullptr;
  abi::TensorMode mode = abi::TensorMode::tile;
  TensorDirection direction = TensorDirection::load;
  abi::ReduceOp op = abi::ReduceOp::add;
  uint32_t dimensions = 0; ///< what the instruction says (`.2d`); 0: as many as the map has
  int32_t coordinates[kMaxTensorRank] = {};
  uint16_t offsets[3] = {}; ///< im2col: along W, H, D; im2col::w: wHalo, wOffset
  char *shared = nullptr;   ///< swizzle patterns follow the bits of this address
};

/// Null, or why this request cannot be executed (a bad map, a mode, type or swizzle that do not go
/// together).
const char *checkTensorRequest(const TensorRequest &);
/// Bytes of one row in shared memory, where rows are not interleaved slices.
uint32_t rowBytes(const TensorRequest &);
/// Bytes the box takes in shared memory.
uint64_t tensorBytes(const TensorRequest &);
/// Bytes that an mbarrier is told of: those without the padding of .b4x16_p64 and .b6x16_p32.
uint64_t tensorTransaction(const TensorRequest &);
void performTensorCopy(const TensorRequest &);

} // namespace ptxrun::rt
