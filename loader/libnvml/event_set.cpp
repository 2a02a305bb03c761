// Event sets: made, waited for and freed; the device has no events to put into them.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"

using namespace ptxrun::nvml;

namespace {

/// The sets there are. Handles are numbers that are never given twice, so that a freed one is
/// known to be.
struct EventSets {
  std::mutex mutex;
  std::condition_variable isFreed;
  std::set<uintptr_t> live;
  uintptr_t last = 0;
};

/// Never destroyed: threads may wait when the process ends.
EventSets &eventSets() {
  static auto *sets = new EventSets;
  return *sets;
}

uintptr_t numberOf(nvmlEventSet_t set) { return reinterpret_cast<uintptr_t>(set); }

/// Until the time is over, as nothing else can happen; NVML_ERROR_INVALID_ARGUMENT where the set is
/// freed meanwhile.
nvmlReturn_t waitFor(nvmlEventSet_t set, const nvmlEventData_t *data, unsigned milliseconds) {
  return answer([&] {
    EventSets &sets = eventSets();
    std::unique_lock lock(sets.mutex);
    if (!data || !sets.live.contains(numberOf(set)))
      return NVML_ERROR_INVALID_ARGUMENT;
    const bool isGone = sets.isFreed.wait_for(lock, std::chrono::milliseconds(milliseconds),
                                              [&] { return !sets.live.contains(numberOf(set)); });
    return isGone ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_TIMEOUT;
  });
}

} // namespace

PTXRUN_NVML_API nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set) {
  return answer([&] {
    if (!set)
      return NVML_ERROR_INVALID_ARGUMENT;
    EventSets &sets = eventSets();
    std::lock_guard lock(sets.mutex);
    sets.live.insert(++sets.last);
    *set = reinterpret_cast<nvmlEventSet_t>(sets.last);
    return NVML_SUCCESS;
  });
}

PTXRUN_NVML_API nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  return answer([&] {
    EventSets &sets = eventSets();
    std::lock_guard lock(sets.mutex);
    if (sets.live.erase(numberOf(set)) == 0)
      return NVML_ERROR_INVALID_ARGUMENT;
    sets.isFreed.notify_all();
    return NVML_SUCCESS;
  });
}

PTXRUN_NVML_API nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data,
                                              unsigned milliseconds) {
  return waitFor(set, data, milliseconds);
}
PTXRUN_NVML_API nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
                                                 unsigned milliseconds) {
  return waitFor(set, data, milliseconds);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device,
                                                              unsigned long long *types) {
  return storeFor(device, types, 0);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                                      nvmlEventSet_t set) {
  return answerFor(device, [&] {
    EventSets &sets = eventSets();
    std::lock_guard lock(sets.mutex);
    if (!sets.live.contains(numberOf(set)))
      return NVML_ERROR_INVALID_ARGUMENT;
    return types == 0 ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  });
}
