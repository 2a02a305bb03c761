#include "loader/libcuda/usage_table.h"

#include "loader/libcuda/api.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/virtual_memory.h"
#include "loader/machine/memory_size.h"
#include "loader/machine/presence.h"

namespace ptxrun::driver {

size_t heldDeviceMemory(CUdevice device) {
  return heldBytes(device) + createdPhysicalBytes(device);
}

size_t freeDeviceMemory(CUdevice device) {
  return machine::availableMemory(heldDeviceMemory(device));
}

void announceHeldMemory(CUdevice device) {
  machine::announceMemory(machineIndexOf(device), heldDeviceMemory(device));
}

const UsageTable &usageTable() {
  static constexpr UsageTable table{
      sizeof(UsageTable), [](unsigned machineIndex, size_t *held, size_t *free) {
        const CUdevice device =
            checkInitialised() == CUDA_SUCCESS ? visibleDevice(machineIndex) : -1;
        if (device < 0)
          return false;
        *held = heldDeviceMemory(device);
        *free = freeDeviceMemory(device);
        return true;
      }};
  return table;
}

} // namespace ptxrun::driver
