// What the driver that is loaded in this process, if any, holds of the device.
#pragma once
#include <cstddef>
#include <optional>

namespace ptxrun::nvml {

struct DriverUsage {
  size_t held = 0; ///< bytes of the device's memory that this process holds
  size_t free = 0; ///< what cuMemGetInfo calls free
};
/// Nothing unless our libcuda.so.1 is loaded and cuInit was called. Loads nothing itself.
std::optional<DriverUsage> driverUsage();

} // namespace ptxrun::nvml
