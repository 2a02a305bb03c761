// How the rows of a box lie in shared memory: swizzled and padded (PTX ISA 5.5.1.1, 5.5.7).
#pragma once
#include <cstdint>

#include "rt/memory/tensor_map.h"

namespace ptxrun::rt {

/// Rows of `bytes` each (a multiple of 16), `step` apart in global memory and one behind the other
/// in shared memory.
struct TensorRows {
  char *global;
  uint64_t step;
  char *shared;
  uint32_t count;
  uint32_t bytes;
};

/// Copies rows as they are, but for the map's swizzle.
void moveRows(const TensorMap &, TensorRows, bool isLoad);
/// One row to or from a place that is like global memory.
void toShared(const TensorMap &, char *shared, const char *row, uint32_t bytes);
void fromShared(const TensorMap &, char *row, const char *shared, uint32_t bytes);

/// Sixteen packed elements to the first bytes of every 16 in shared memory, whose others stay as
/// they are (.b4x16_p64, .b6x16_p32).
void padToShared(const TensorMap &, char *shared, const char *row, uint32_t units);
/// Sixteen bytes of 6 bits each to twelve bytes (.b6p2x16).
void packFromShared(const TensorMap &, char *row, const char *shared, uint32_t units);

} // namespace ptxrun::rt
