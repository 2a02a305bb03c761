// The device's memory: half of the machine's, as the driver has it.
#include "loader/libnvml/driver_usage.h"
#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"
#include "loader/machine/memory_size.h"

using namespace ptxrun::nvml;
namespace machine = ptxrun::machine;

namespace {

/// What cuMemGetInfo answers in this process. Memory that the host uses otherwise is used, too.
nvmlMemory_t readMemory(nvmlDevice_t device) {
  const auto usage = driverUsage(indexOf(device));
  const size_t total = machine::totalMemory();
  const size_t free = usage ? usage->free : machine::availableMemory(0);
  return {total, free, total - free};
}

} // namespace

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
  return answerFor(device, [&] {
    if (!memory)
      return NVML_ERROR_INVALID_ARGUMENT;
    *memory = readMemory(device);
    return NVML_SUCCESS;
  });
}

/// Another version of the structure is answered as NVIDIA's library does (seen on an H100), not by
/// ARGUMENT_VERSION_MISMATCH.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
                                                        nvmlMemory_v2_t *memory) {
  return answerFor(device, [&] {
    if (!memory)
      return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != NVML_STRUCT_VERSION(nvmlMemory_v2_t, 2))
      return NVML_ERROR_FUNCTION_NOT_FOUND;
    const nvmlMemory_t read = readMemory(device);
    *memory = {memory->version, read.total, 0, read.free, read.used};
    return NVML_SUCCESS;
  });
}

/// The window through which the host sees device memory: it sees all of it.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device,
                                                         nvmlBAR1Memory_t *memory) {
  return answerFor(device, [&] {
    if (!memory)
      return NVML_ERROR_INVALID_ARGUMENT;
    const nvmlMemory_t read = readMemory(device);
    *memory = {read.total, read.free, read.used};
    return NVML_SUCCESS;
  });
}
