// What programs advise about managed memory (cuMemAdvise, cuMemPrefetchAsync). All memory is in one
// place, so the advice changes nothing; it is remembered for those who ask
// (cuMemRangeGetAttribute).
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "loader/libcuda/cuda_abi.h"
#include "loader/machine/device_info.h"

namespace ptxrun::driver {

/// Of one range; locations of type CU_MEM_LOCATION_TYPE_INVALID were not given.
struct MemoryAdvice {
  bool isReadMostly = false, isAccessedByHost = false;
  std::bitset<machine::kMostDevices> accessedBy; ///< devices
  CUmemLocation preferred{}, prefetched{};
};

/// Changes what is remembered of [begin, begin + bytes).
void advise(uintptr_t begin, size_t bytes, const std::function<void(MemoryAdvice &)> &change);
/// Nothing was advised about the range, which was freed.
void forget(uintptr_t begin, size_t bytes);
/// Calls `look` with the advice of every part of the range.
void forEachAdvice(uintptr_t begin, size_t bytes,
                   const std::function<void(const MemoryAdvice &)> &look);

} // namespace ptxrun::driver
