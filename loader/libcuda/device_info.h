// The devices as this process may see them.
#pragma once
#include "loader/libcuda/cuda_abi.h"
#include "loader/machine/device_info.h"

namespace ptxrun::driver {

/// What all devices have in common: those of the first. Read once from the machine and the
/// environment; what was not understood there is reported.
const machine::DeviceInfo &deviceInfo();
/// Of a device that checkDevice() takes.
const machine::DeviceInfo &deviceInfo(CUdevice device);
/// CUDA_ERROR_INVALID_DEVICE unless `device` is one of those there are.
CUresult checkDevice(CUdevice device);
/// PTXRUN_DEVICES, as far as CUDA_VISIBLE_DEVICES shows them.
int deviceCount();
/// The number among visible devices of the machine's device; -1 where it is hidden.
CUdevice visibleDevice(unsigned machineIndex);
/// The inverse, of a visible device.
unsigned machineIndexOf(CUdevice);

} // namespace ptxrun::driver
