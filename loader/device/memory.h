// Device memory: host memory, page-aligned and backed by huge pages where it is large, with a map of what is allocated
// so that an address can be traced back to its allocation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ptxrun::device {

/// Every allocation starts at a multiple of this; those of 2 MiB and more at a multiple of 2 MiB.
inline constexpr size_t kAllocationAlignment = 512;

/// At least `bytes` bytes (0 counts as 1), contents undefined; null when memory is exhausted. Thread-safe.
void *allocateMemory(size_t bytes);
/// Frees what allocateMemory returned; false (and nothing happens) for any other address.
bool freeMemory(void *);

struct MemoryRange {
  void *base = nullptr;
  size_t bytes = 0;   ///< as asked for
  uint64_t id = 0;    ///< never reused
};
/// The allocation that contains `address`.
std::optional<MemoryRange> findAllocation(const void *address);

/// Bytes now allocated; what the machine has; what it could still give.
size_t allocatedBytes();
size_t totalMemory();
size_t availableMemory();

}  // namespace ptxrun::device
