// What the driver that is loaded in this process, if any, holds of the devices.
#pragma once
#include <cstddef>
#include <optional>

namespace ptxrun::nvml {

struct DriverUsage {
  size_t held = 0; ///< bytes of a device's memory that this process holds
  size_t free = 0; ///< what cuMemGetInfo calls free
};
/// Nothing unless our libcuda.so.1 is loaded, cuInit was called, and the process sees the device.
/// Loads nothing itself.
std::optional<DriverUsage> driverUsage(unsigned index);

} // namespace ptxrun::nvml
