// Every function of NVML that no other file defines: exported all the same, so that programs link
// and start, and answering NVML_ERROR_NOT_SUPPORTED where library and device are what they should
// be. The definitions are weak: one elsewhere in the library takes their place. Further arguments
// stay where the caller put them.
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "loader/libnvml/library.h"

namespace ptxrun::nvml {
namespace {

/// Under PTXRUN_VERBOSE each function names itself once: monitors ask again every second.
nvmlReturn_t notSupported(const char *name, std::atomic<bool> &isTold) {
  static const bool isVerbose = getenv("PTXRUN_VERBOSE") != nullptr;
  if (isVerbose && !isTold.exchange(true))
    fprintf(stderr, "ptxrun: %s is not supported\n", name);
  return NVML_ERROR_NOT_SUPPORTED;
}

} // namespace
} // namespace ptxrun::nvml

#define FUNCTION(name)                                                                             \
  extern "C" __attribute__((visibility("default"), weak)) nvmlReturn_t name() {                    \
    static std::atomic<bool> isTold{false};                                                        \
    return ptxrun::nvml::isInitialised() ? ptxrun::nvml::notSupported(#name, isTold)               \
                                         : NVML_ERROR_UNINITIALIZED;                               \
  }
#define DEVICE_FUNCTION(name)                                                                      \
  extern "C" __attribute__((visibility("default"), weak)) nvmlReturn_t name(nvmlDevice_t device) { \
    static std::atomic<bool> isTold{false};                                                        \
    const nvmlReturn_t checked = ptxrun::nvml::checkDevice(device);                                \
    return checked == NVML_SUCCESS ? ptxrun::nvml::notSupported(#name, isTold) : checked;          \
  }
#include "loader/libnvml/functions.def"
