#include "loader/libcuda/device_info.h"

#include <cstdlib>
#include <cstring>

#include "loader/libcuda/report.h"

namespace ptxrun::driver {

namespace {

/// CUDA_VISIBLE_DEVICES: unset shows the device; a list shows it if its first entry is 0 or our
/// UUID's form.
bool readVisibility() {
  const char *value = getenv("CUDA_VISIBLE_DEVICES");
  if (!value)
    return true;
  while (*value == ' ')
    ++value;
  if (strncmp(value, "GPU-", 4) == 0)
    return true;
  char *end = nullptr;
  const long first = strtol(value, &end, 10);
  return end != value && first == 0;
}

} // namespace

const machine::DeviceInfo &deviceInfo() {
  static const machine::DeviceInfo *const info = [] {
    const machine::DeviceInfo &read = machine::deviceInfo();
    if (!read.complaint.empty())
      report("%s", read.complaint.c_str());
    return &read;
  }();
  return *info;
}

int deviceCount() {
  static const bool isVisible = readVisibility();
  return isVisible ? 1 : 0;
}

CUresult checkDevice(CUdevice device) {
  return device >= 0 && device < deviceCount() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

} // namespace ptxrun::driver
