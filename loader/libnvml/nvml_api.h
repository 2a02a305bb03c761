/* NVML's functions that are implemented, as programs call them: the unsuffixed names are the oldest
 * signatures. Plain C. Functions that are exported but not listed here answer
 * NVML_ERROR_NOT_SUPPORTED. All but nvmlInit*, nvmlErrorString answer NVML_ERROR_UNINITIALIZED
 * before nvmlInit*; texts go to buffers of `length` bytes, NVML_ERROR_INSUFFICIENT_SIZE where the
 * text and its final zero do not fit. */
#ifndef PTXRUN_LIBNVML_NVML_API_H
#define PTXRUN_LIBNVML_NVML_API_H
#include "loader/libnvml/nvml_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start and end: counted, the last nvmlShutdown ends it. */

nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlInitWithFlags(unsigned flags);
nvmlReturn_t nvmlShutdown(void);
const char *nvmlErrorString(nvmlReturn_t result);

/* The system. */

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length);
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length);
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version);
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length);
nvmlReturn_t nvmlSystemGetHicVersion(unsigned *count, void *entries);
nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned cpu, unsigned *count, nvmlDevice_t *devices);
nvmlReturn_t nvmlUnitGetCount(unsigned *count);
nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned *count);
nvmlReturn_t nvmlGetBlacklistDeviceCount(unsigned *count);

/* Finding devices. */

nvmlReturn_t nvmlDeviceGetCount(unsigned *count);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count);
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_v1_t *uuid, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *id, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device);

/* What a device is. */

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length);
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t *info);
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t *info);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info);
nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_v1_t *info);
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index);
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *number);
nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned *id);
nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned *isMulti);
nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *brand);
nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t *type);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *value);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor);
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *count);

/* How a device is set up. */

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode);
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode);
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t *mode);
nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t *isActive);
nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t *);
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *isMig);
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned *count);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index,
                                                 nvmlDevice_t *mig);
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *info);
/* `info`: nvmlGpuFabricInfo_v2_t or _v3_t, as its `version` says. */
nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, void *info);

/* What a device is doing. */

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory);
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilisation);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned *megahertz);
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                       unsigned *megahertz);
nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id,
                                unsigned *megahertz);
/* Succeeds; each value says by its own nvmlReturn that it is not supported. */
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values);

/* Processes that use a device: `count` holds the array's size, then the number there is;
 * NVML_ERROR_INSUFFICIENT_SIZE where the array is too small. */

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t, unsigned *count,
                                                  nvmlProcessInfo_v1_t *);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t, unsigned *count,
                                                     nvmlProcessInfo_t *);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned *count,
                                                     nvmlProcessInfo_t *);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t, unsigned *count,
                                                   nvmlProcessInfo_v1_t *);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t, unsigned *count,
                                                      nvmlProcessInfo_t *);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t, unsigned *count,
                                                      nvmlProcessInfo_t *);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t, unsigned *count,
                                                     nvmlProcessInfo_v1_t *);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t, unsigned *count,
                                                        nvmlProcessInfo_t *);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t, unsigned *count,
                                                        nvmlProcessInfo_t *);

/* Topology. */

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned words, unsigned long *cpus);
nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned words,
                                                 unsigned long *cpus, nvmlAffinityScope_t scope);
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t peer,
                                    nvmlGpuP2PCapsIndex_t capability, nvmlGpuP2PStatus_t *status);
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other,
                                                 nvmlGpuTopologyLevel_t *level);
nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level,
                                              unsigned *count, nvmlDevice_t *devices);
nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device, nvmlDevice_t other, int *isSame);

/* Events: a device has none to tell of. */

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set);
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set);
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data, unsigned milliseconds);
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned milliseconds);
nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types);
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                      nvmlEventSet_t set);

#ifdef __cplusplus
}
#endif
#endif
