// How a device is set up: no modes to choose from, no display, no instances (MIG), no fabric.
#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"

using namespace ptxrun::nvml;

namespace {

/// All zero: no cluster, and a state of NVML_GPU_FABRIC_STATE_NOT_SUPPORTED.
template <class Info> nvmlReturn_t storeNoFabric(void *info, unsigned version) {
  auto *fabric = static_cast<Info *>(info);
  *fabric = {};
  fabric->version = version;
  return NVML_SUCCESS;
}

} // namespace

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device,
                                                      nvmlComputeMode_t *mode) {
  return storeFor(device, mode, NVML_COMPUTEMODE_DEFAULT);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device,
                                                          nvmlEnableState_t *mode) {
  return storeFor(device, mode, NVML_FEATURE_DISABLED);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device,
                                                      nvmlEnableState_t *mode) {
  return storeFor(device, mode, NVML_FEATURE_DISABLED);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device,
                                                        nvmlEnableState_t *isActive) {
  return storeFor(device, isActive, NVML_FEATURE_DISABLED);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device,
                                                             nvmlGpuVirtualizationMode_t *mode) {
  return storeFor(device, mode, NVML_GPU_VIRTUALIZATION_MODE_NONE);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *isMig) {
  return storeFor(device, isMig, 0);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned *count) {
  return storeFor(device, count, 0);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned,
                                                                 nvmlDevice_t *mig) {
  return answerFor(device,
                   [&] { return mig ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT; });
}

/// No handle is one of an instance.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t,
                                                                          nvmlDevice_t *) {
  return answer([] { return NVML_ERROR_INVALID_ARGUMENT; });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device,
                                                        nvmlGpuFabricInfo_t *info) {
  return answerFor(device, [&] { return store(info, nvmlGpuFabricInfo_t{}); });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, void *info) {
  return answerFor(device, [&] {
    if (!info)
      return NVML_ERROR_INVALID_ARGUMENT;
    const unsigned version = *static_cast<const unsigned *>(info);
    switch (version) {
    case NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v2_t, 2):
      return storeNoFabric<nvmlGpuFabricInfo_v2_t>(info, version);
    case NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v3_t, 3):
      return storeNoFabric<nvmlGpuFabricInfo_v3_t>(info, version);
    default:
      return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
  });
}

/// Counters of links, errors, power: each field says for itself that there is none.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count,
                                                      nvmlFieldValue_t *values) {
  return answerFor(device, [&] {
    if (!values || count <= 0)
      return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; ++i)
      values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    return NVML_SUCCESS;
  });
}
