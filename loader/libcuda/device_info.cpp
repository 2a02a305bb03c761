#include "loader/libcuda/device_info.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "loader/libcuda/report.h"

namespace ptxrun::driver {

namespace {

/// The device that an entry of CUDA_VISIBLE_DEVICES names: by number, or by the beginning of a
/// UUID. Another machine's UUID names the first device that is not shown yet: schedulers of jobs
/// set them. -1 for anything else.
int namedDevice(const std::string &entry, const std::vector<unsigned> &shown) {
  const int count = static_cast<int>(machine::deviceCount());
  if (!entry.starts_with("GPU-")) {
    char *end = nullptr;
    const long number = strtol(entry.c_str(), &end, 10);
    return end != entry.c_str() && number >= 0 && number < count ? static_cast<int>(number) : -1;
  }
  for (int i = 0; i < count; ++i)
    if (machine::uuidText(machine::deviceInfo(static_cast<unsigned>(i))).starts_with(entry))
      return i;
  for (int i = 0; i < count; ++i)
    if (std::ranges::find(shown, static_cast<unsigned>(i)) == shown.end())
      return i;
  return -1;
}

/// CUDA_VISIBLE_DEVICES: unset shows all devices; a list shows those it names, in its order, up to
/// the first entry that names none. One that is named twice makes the list void.
std::vector<unsigned> readVisibility() {
  std::vector<unsigned> shown;
  const char *value = getenv("CUDA_VISIBLE_DEVICES");
  if (!value) {
    for (unsigned i = 0; i < machine::deviceCount(); ++i)
      shown.push_back(i);
    return shown;
  }
  std::stringstream list(value);
  for (std::string entry; std::getline(list, entry, ',');) {
    entry.erase(0, std::min(entry.find_first_not_of(' '), entry.size()));
    const int device = namedDevice(entry, shown);
    if (device < 0)
      break;
    if (std::ranges::find(shown, static_cast<unsigned>(device)) != shown.end())
      return {};
    shown.push_back(static_cast<unsigned>(device));
  }
  return shown;
}

const std::vector<unsigned> &visibleDevices() {
  static const auto *shown = new std::vector<unsigned>(readVisibility());
  return *shown;
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

const machine::DeviceInfo &deviceInfo(CUdevice device) {
  deviceInfo(); // complains
  return machine::deviceInfo(machineIndexOf(device));
}

unsigned machineIndexOf(CUdevice device) { return visibleDevices()[static_cast<size_t>(device)]; }

int deviceCount() { return static_cast<int>(visibleDevices().size()); }

CUdevice visibleDevice(unsigned machineIndex) {
  const auto found = std::ranges::find(visibleDevices(), machineIndex);
  return found == visibleDevices().end() ? -1
                                         : static_cast<CUdevice>(found - visibleDevices().begin());
}

CUresult checkDevice(CUdevice device) {
  return device >= 0 && device < deviceCount() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

} // namespace ptxrun::driver
