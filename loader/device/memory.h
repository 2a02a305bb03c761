// Device memory as the driver API sees it: rt's allocator, held to what the machine has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ptxrun::device {

/// At least `bytes` bytes (0 counts as 1), 256-byte aligned, contents undefined; null when memory
/// is exhausted. Thread-safe.
void *allocateMemory(size_t bytes);
/// Frees what allocateMemory returned; false (and nothing happens) for any other address.
bool freeMemory(void *);

struct MemoryRange {
  void *base = nullptr;
  size_t bytes = 0; ///< as asked for
};
/// The allocation that contains `address`.
std::optional<MemoryRange> findAllocation(const void *address);

/// Bytes now allocated, of all devices; what all could still give; the size of one (PTXRUN_MEMORY,
/// or its share of half of what the process may use).
size_t allocatedBytes();
size_t availableMemory();
size_t totalMemory();

/// What malloc in kernels may hold at once (CU_LIMIT_MALLOC_HEAP_SIZE).
void setDeviceHeapLimit(size_t bytes);

} // namespace ptxrun::device
