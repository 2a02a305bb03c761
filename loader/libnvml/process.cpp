// Processes that use the device: this one where it initialised the driver, and others of the same
// user (loader/machine/presence.h).
#include <unistd.h>

#include <climits>
#include <vector>

#include "loader/libnvml/driver_usage.h"
#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"
#include "loader/machine/presence.h"

using namespace ptxrun::nvml;

namespace {

std::vector<nvmlProcessInfo_t> computeProcesses(nvmlDevice_t device) {
  std::vector<nvmlProcessInfo_t> all;
  if (const auto usage = driverUsage(indexOf(device)))
    all.push_back({static_cast<unsigned>(getpid()), usage->held, UINT_MAX, UINT_MAX});
  for (const auto &[process, held] : ptxrun::machine::otherProcesses(indexOf(device)))
    all.push_back({static_cast<unsigned>(process), held, UINT_MAX, UINT_MAX});
  return all;
}
std::vector<nvmlProcessInfo_t> noProcesses(nvmlDevice_t) { return {}; }

void write(const nvmlProcessInfo_t &process, nvmlProcessInfo_v1_t &to) {
  to = {process.pid, process.usedGpuMemory};
}
void write(const nvmlProcessInfo_t &process, nvmlProcessInfo_t &to) { to = process; }

/// `count` is the array's size before, and the number of processes after the call.
template <class Info, class List>
nvmlReturn_t storeProcesses(nvmlDevice_t device, unsigned *count, Info *infos, List list) {
  return answerFor(device, [&] {
    if (!count || (*count > 0 && !infos))
      return NVML_ERROR_INVALID_ARGUMENT;
    const std::vector<nvmlProcessInfo_t> processes = list(device);
    const unsigned room = *count;
    *count = static_cast<unsigned>(processes.size());
    if (room < processes.size())
      return NVML_ERROR_INSUFFICIENT_SIZE;
    for (size_t i = 0; i < processes.size(); ++i)
      write(processes[i], infos[i]);
    return NVML_SUCCESS;
  });
}

} // namespace

#define PROCESS_LIST(name, list)                                                                   \
  PTXRUN_NVML_API nvmlReturn_t name(nvmlDevice_t device, unsigned *count,                          \
                                    nvmlProcessInfo_v1_t *infos) {                                 \
    return storeProcesses(device, count, infos, list);                                             \
  }                                                                                                \
  PTXRUN_NVML_API nvmlReturn_t name##_v2(nvmlDevice_t device, unsigned *count,                     \
                                         nvmlProcessInfo_t *infos) {                               \
    return storeProcesses(device, count, infos, list);                                             \
  }                                                                                                \
  PTXRUN_NVML_API nvmlReturn_t name##_v3(nvmlDevice_t device, unsigned *count,                     \
                                         nvmlProcessInfo_t *infos) {                               \
    return storeProcesses(device, count, infos, list);                                             \
  }

PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses, computeProcesses)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses, noProcesses)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses, noProcesses)
