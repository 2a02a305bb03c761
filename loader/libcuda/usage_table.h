// What libnvidia-ml.so.1 asks the driver that is loaded in its process: a table of functions that
// cuGetExportTable hands out under an identifier of ours. NVML neither links nor loads the driver,
// and what another vendor's driver answers for this identifier is CUDA_ERROR_NOT_FOUND.
#pragma once
#include <stddef.h>

#include "loader/libcuda/cuda_abi.h"

namespace ptxrun::driver {

struct UsageTable {
  size_t bytes; ///< of this structure
  /// What this process holds of a device's memory and what cuMemGetInfo calls free. False, and
  /// nothing written, before cuInit and in a fork's child. Thread-safe, needs no context.
  ///   machineIndex   of the device (machine::deviceInfo); false for one that this process does not
  ///                  see
  bool (*memory)(unsigned machineIndex, size_t *held, size_t *free);
};

inline constexpr CUuuid kUsageTableId = {
    {'p', 't', 'x', 'r', 'u', 'n', ' ', 'u', 's', 'a', 'g', 'e', ' ', 'v', '2', 0}};

/// The bytes of a device that allocations and physical memory objects of this process hold, and
/// what is left of it.
size_t heldDeviceMemory(CUdevice);
size_t freeDeviceMemory(CUdevice);
/// Tells other processes what this one holds of the device (loader/machine/presence.h): after each
/// change.
void announceHeldMemory(CUdevice);
/// The table, for the process's life.
const UsageTable &usageTable();

} // namespace ptxrun::driver
