// The device as this process may see it.
#pragma once
#include "loader/libcuda/cuda_abi.h"
#include "loader/machine/device_info.h"

namespace ptxrun::driver {

/// Read once from the machine and the environment; what was not understood there is reported.
const machine::DeviceInfo &deviceInfo();
/// CUDA_ERROR_INVALID_DEVICE unless `device` is the one there is.
CUresult checkDevice(CUdevice device);
/// 1, or 0 where CUDA_VISIBLE_DEVICES hides the device.
int deviceCount();

} // namespace ptxrun::driver
