#include "loader/libcuda/usage_table.h"

#include <algorithm>

#include "loader/device/memory.h"
#include "loader/libcuda/api.h"
#include "loader/libcuda/virtual_memory.h"

namespace ptxrun::driver {

size_t heldDeviceMemory() { return device::allocatedBytes() + createdPhysicalBytes(); }

size_t freeDeviceMemory() {
  const size_t available = device::availableMemory();
  return available - std::min(available, createdPhysicalBytes());
}

const UsageTable &usageTable() {
  static constexpr UsageTable table{sizeof(UsageTable), [](size_t *held, size_t *free) {
                                      if (checkInitialised() != CUDA_SUCCESS)
                                        return false;
                                      *held = heldDeviceMemory();
                                      *free = freeDeviceMemory();
                                      return true;
                                    }};
  return table;
}

} // namespace ptxrun::driver
