// nvmlInit, nvmlShutdown, and what every call checks first.
#include <atomic>
#include <cstring>
#include <mutex>

#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"
#include "loader/libnvml/utilisation.h"
#include "loader/machine/device_info.h"

/// What a device's handle points to: handles are compared, never looked into.
struct nvmlDevice_st {};

namespace ptxrun::nvml {

namespace {

nvmlDevice_st devices[machine::kMostDevices];

std::mutex mutex;
unsigned users = 0; ///< nvmlInit* without their nvmlShutdown
/// Read without the mutex, by every call.
std::atomic<bool> isReady{false};
std::atomic<unsigned> shownDevices{0};

/// The first one decides whether there are devices, as NVIDIA's library has it (seen on an H100).
nvmlReturn_t initialise(unsigned flags) {
  return guarded([&] {
    std::lock_guard lock(mutex);
    if (users == 0)
      utilisationMeter().start();
    if (users++ > 0)
      return NVML_SUCCESS;
    shownDevices = flags & NVML_INIT_FLAG_NO_GPUS ? 0 : machine::deviceCount();
    isReady = true;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t shutDown() {
  std::lock_guard lock(mutex);
  if (users == 0)
    return NVML_ERROR_UNINITIALIZED;
  if (--users == 0) {
    isReady = false;
    shownDevices = 0;
  }
  return NVML_SUCCESS;
}

} // namespace

bool isInitialised() { return isReady; }

unsigned deviceCount() { return shownDevices; }

nvmlDevice_t handleOf(unsigned index) { return &devices[index]; }

unsigned indexOf(nvmlDevice_t device) { return static_cast<unsigned>(device - devices); }

nvmlReturn_t checkDevice(nvmlDevice_t device) {
  if (!isInitialised())
    return NVML_ERROR_UNINITIALIZED;
  for (unsigned index = 0; index < deviceCount(); ++index)
    if (device == &devices[index])
      return NVML_SUCCESS;
  return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t copyText(const std::string &text, char *buffer, unsigned length) {
  if (!buffer)
    return NVML_ERROR_INVALID_ARGUMENT;
  if (length <= text.size())
    return NVML_ERROR_INSUFFICIENT_SIZE;
  memcpy(buffer, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

} // namespace ptxrun::nvml

using namespace ptxrun::nvml;

PTXRUN_NVML_API nvmlReturn_t nvmlInitWithFlags(unsigned flags) { return initialise(flags); }
PTXRUN_NVML_API nvmlReturn_t nvmlInit_v2() { return initialise(0); }
PTXRUN_NVML_API nvmlReturn_t nvmlInit() { return initialise(0); }
PTXRUN_NVML_API nvmlReturn_t nvmlShutdown() { return guarded(shutDown); }

PTXRUN_NVML_API const char *nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
#define RESULT(name, value, text)                                                                  \
  case name:                                                                                       \
    return text;
#include "loader/libnvml/results.def"
#undef RESULT
  default:
    return "Unknown Error";
  }
}
