// The one device: what the machine is, and the compute capability it shows.
#pragma once
#include <cstddef>
#include <string>

#include "loader/libcuda/cuda_abi.h"

namespace ptxrun::driver {

struct DeviceInfo {
  std::string name;         ///< "ptxrun CPU (<model>)"
  int major = 9, minor = 0; ///< PTXRUN_SM: "9.0", "90", "8.6", "12.0"
  int workers = 1;          ///< hardware threads this process may use
  int clockKilohertz = 0;
  int lastLevelCacheBytes = 0;
  int sharedPerBlockOptin = 0; ///< as the compute capability has it
  int threadsPerMultiprocessor = 2048;
  CUuuid uuid{};
  size_t totalMemory = 0;
  bool isVisible = true; ///< CUDA_VISIBLE_DEVICES may hide it

  int architecture() const { return major * 10 + minor; }
};

/// Read once from the machine and the environment.
const DeviceInfo &deviceInfo();
/// CUDA_ERROR_INVALID_DEVICE unless `device` is the one there is.
CUresult checkDevice(CUdevice device);
int deviceCount();

} // namespace ptxrun::driver
