// Memory that graphs allocate. A node's address is known from the moment the node is made, so the
// memory exists from then on; whether it counts as allocated is decided when graphs are launched
// and frees are submitted, in the order of the calls.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "loader/libcuda/cuda_abi.h"

namespace ptxrun::driver {

class Context;

/// Owned by nodes, executables and, while it is allocated, by the process.
class GraphAllocation {
 public:
  static CUresult make(Context *, size_t bytes, std::shared_ptr<GraphAllocation> &);
  ~GraphAllocation();
  GraphAllocation(const GraphAllocation &) = delete;
  GraphAllocation &operator=(const GraphAllocation &) = delete;

  const CUdeviceptr address;
  const size_t bytes;

  bool isAllocated() const;
  /// A launch leaves it allocated.
  void allocate();
  /// Somebody frees it; false if it is not allocated.
  bool free();
  /// A launch uses it: it counts as reserved from now on.
  void reserve();

 private:
  GraphAllocation(CUdeviceptr address, size_t bytes) : address(address), bytes(bytes) {}
  bool isAllocated_ = false, isReserved_ = false;
  friend struct GraphMemory;
};

/// The graph allocation that starts at the address; null for any other.
std::shared_ptr<GraphAllocation> findGraphAllocation(CUdeviceptr);
/// A launch that had so many bytes allocated at its peak, beside those that stay.
void noteGraphPeak(size_t bytes);

} // namespace ptxrun::driver
