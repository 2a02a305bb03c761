// Where a device stands: among the processors that it is made of, which all are.
#include <algorithm>

#include "loader/libnvml/affinity.h"
#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"

using namespace ptxrun::nvml;

namespace {

nvmlReturn_t storeAffinity(nvmlDevice_t device, unsigned words, unsigned long *cpus) {
  return answerFor(device, [&] {
    if (!cpus || words == 0)
      return NVML_ERROR_INVALID_ARGUMENT;
    const ProcessorSet set = usableProcessors();
    if (set.empty())
      return NVML_ERROR_NOT_SUPPORTED;
    std::fill_n(cpus, words, 0);
    std::copy_n(set.begin(), std::min<size_t>(words, set.size()), cpus);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t checkPair(nvmlDevice_t device, nvmlDevice_t other) {
  const nvmlReturn_t checked = checkDevice(device);
  return checked == NVML_SUCCESS ? checkDevice(other) : checked;
}

} // namespace

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned words,
                                                      unsigned long *cpus) {
  return storeAffinity(device, words, cpus);
}

/// The same in both scopes: the device is these processors, wherever they are.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device,
                                                                 unsigned words,
                                                                 unsigned long *cpus,
                                                                 nvmlAffinityScope_t scope) {
  if (isInitialised() && scope > NVML_AFFINITY_SCOPE_SOCKET)
    return NVML_ERROR_INVALID_ARGUMENT;
  return storeAffinity(device, words, cpus);
}

PTXRUN_NVML_API nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned cpu, unsigned *count,
                                                         nvmlDevice_t *devices) {
  return answer([&] {
    if (!count)
      return NVML_ERROR_INVALID_ARGUMENT;
    const unsigned room = *count;
    *count = contains(usableProcessors(), cpu) ? deviceCount() : 0;
    for (unsigned index = 0; devices && index < std::min(room, *count); ++index)
      devices[index] = handleOf(index);
    return NVML_SUCCESS;
  });
}

/// A device is no peer of itself; all others reach all memory, with all atomics, and with none of
/// NVIDIA's links.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t peer,
                                                    nvmlGpuP2PCapsIndex_t capability,
                                                    nvmlGpuP2PStatus_t *status) {
  if (const nvmlReturn_t checked = checkPair(device, peer); checked != NVML_SUCCESS)
    return checked;
  if (capability >= NVML_P2P_CAPS_INDEX_UNKNOWN)
    return NVML_ERROR_INVALID_ARGUMENT;
  const bool isReached = device != peer && capability != NVML_P2P_CAPS_INDEX_NVLINK &&
                         capability != NVML_P2P_CAPS_INDEX_PCI;
  return store(status, isReached ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device,
                                                                 nvmlDevice_t other,
                                                                 nvmlGpuTopologyLevel_t *level) {
  const nvmlReturn_t checked = checkPair(device, other);
  return checked == NVML_SUCCESS ? store(level, NVML_TOPOLOGY_INTERNAL) : checked;
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device,
                                                              nvmlGpuTopologyLevel_t level,
                                                              unsigned *count,
                                                              nvmlDevice_t *devices) {
  if (isInitialised() && level > NVML_TOPOLOGY_SYSTEM)
    return NVML_ERROR_INVALID_ARGUMENT;
  return answerFor(device, [&] {
    if (!count)
      return NVML_ERROR_INVALID_ARGUMENT;
    // Every other device is the same processors.
    const unsigned room = *count, others = level == NVML_TOPOLOGY_INTERNAL ? deviceCount() - 1 : 0;
    *count = others;
    for (unsigned index = 0, at = 0; devices && index < deviceCount(); ++index)
      if (handleOf(index) != device && at < std::min(room, others))
        devices[at++] = handleOf(index);
    return NVML_SUCCESS;
  });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device, nvmlDevice_t other,
                                                   int *isSame) {
  const nvmlReturn_t checked = checkPair(device, other);
  return checked == NVML_SUCCESS ? store(isSame, 1) : checked;
}
