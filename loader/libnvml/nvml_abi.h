/* NVML's types as programs see them: names, values and layouts of version 13, written down from the
 * public documentation; only what we implement. Plain C, so that host programs can be compiled
 * against it. Structures of which the documentation numbers versions carry the number here too;
 * `version` fields hold NVML_STRUCT_VERSION. */
#ifndef PTXRUN_LIBNVML_NVML_ABI_H
#define PTXRUN_LIBNVML_NVML_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/* Callers may pass any number: without this, looking at one that has no name would be undefined in
 * C++. */
#define PTXRUN_ANY_UNSIGNED : unsigned
extern "C" {
#else
#define PTXRUN_ANY_UNSIGNED
#endif

typedef enum nvmlReturn_t PTXRUN_ANY_UNSIGNED {
#define RESULT(name, value, text) name = value,
#include "loader/libnvml/results.def"
#undef RESULT
} nvmlReturn_t;

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct nvmlEventSet_st *nvmlEventSet_t;

/* What the `version` field of a structure with versions holds: its size and the number. */
#define NVML_STRUCT_VERSION(type, number) ((unsigned)(sizeof(type) | ((number) << 24)))
/* In fields of 64 bits whose value is not known. */
#define NVML_VALUE_NOT_AVAILABLE (-1)

#define NVML_INIT_FLAG_NO_GPUS 1u
#define NVML_INIT_FLAG_NO_ATTACH 2u

/* Device identification. */

#define NVML_DEVICE_UUID_ASCII_LENGTH 41
#define NVML_DEVICE_UUID_BINARY_LENGTH 16
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE 32
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE 16

typedef struct nvmlPciInfo_v2_t {
  char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE]; /* 0000:00:00.0 */
  unsigned domain, bus, device;
  unsigned pciDeviceId, pciSubSystemId;
  unsigned reserved[4];
} nvmlPciInfo_v2_t;

typedef struct nvmlPciInfo_t {
  char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE]; /* 0000:00:00.0 */
  unsigned domain, bus, device;
  unsigned pciDeviceId, pciSubSystemId;
  char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE]; /* 00000000:00:00.0 */
} nvmlPciInfo_t;

typedef struct nvmlPciInfoExt_v1_t {
  unsigned version;
  unsigned domain, bus, device;
  unsigned pciDeviceId, pciSubSystemId;
  unsigned baseClass, subClass;
  char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfoExt_v1_t;

typedef enum nvmlUUIDType_t PTXRUN_ANY_UNSIGNED {
  NVML_UUID_TYPE_NONE = 0,
  NVML_UUID_TYPE_ASCII = 1,
  NVML_UUID_TYPE_BINARY = 2
} nvmlUUIDType_t;

typedef struct nvmlUUID_v1_t {
  unsigned version;
  unsigned type; /* nvmlUUIDType_t */
  union {
    char str[NVML_DEVICE_UUID_ASCII_LENGTH];
    unsigned char bytes[NVML_DEVICE_UUID_BINARY_LENGTH];
  } value;
} nvmlUUID_v1_t;

typedef enum nvmlBrandType_t PTXRUN_ANY_UNSIGNED { NVML_BRAND_UNKNOWN = 0 } nvmlBrandType_t;
typedef enum nvmlBusType_t PTXRUN_ANY_UNSIGNED { NVML_BUS_TYPE_UNKNOWN = 0 } nvmlBusType_t;

typedef enum nvmlDeviceArchitecture_t PTXRUN_ANY_UNSIGNED {
  NVML_DEVICE_ARCH_MAXWELL = 3,
  NVML_DEVICE_ARCH_PASCAL = 4,
  NVML_DEVICE_ARCH_VOLTA = 5,
  NVML_DEVICE_ARCH_TURING = 6,
  NVML_DEVICE_ARCH_AMPERE = 7,
  NVML_DEVICE_ARCH_ADA = 8,
  NVML_DEVICE_ARCH_HOPPER = 9,
  NVML_DEVICE_ARCH_BLACKWELL = 10
} nvmlDeviceArchitecture_t;

/* Device state. */

typedef enum nvmlEnableState_t PTXRUN_ANY_UNSIGNED {
  NVML_FEATURE_DISABLED = 0,
  NVML_FEATURE_ENABLED = 1
} nvmlEnableState_t;

typedef enum nvmlComputeMode_t PTXRUN_ANY_UNSIGNED {
  NVML_COMPUTEMODE_DEFAULT = 0,
  NVML_COMPUTEMODE_COUNT = 4
} nvmlComputeMode_t;

typedef enum nvmlGpuVirtualizationMode_t PTXRUN_ANY_UNSIGNED {
  NVML_GPU_VIRTUALIZATION_MODE_NONE = 0
} nvmlGpuVirtualizationMode_t;

typedef enum nvmlClockType_t PTXRUN_ANY_UNSIGNED {
  NVML_CLOCK_GRAPHICS = 0,
  NVML_CLOCK_SM = 1,
  NVML_CLOCK_MEM = 2,
  NVML_CLOCK_VIDEO = 3,
  NVML_CLOCK_COUNT = 4
} nvmlClockType_t;

typedef enum nvmlClockId_t PTXRUN_ANY_UNSIGNED {
  NVML_CLOCK_ID_CURRENT = 0,
  NVML_CLOCK_ID_COUNT = 4
} nvmlClockId_t;

typedef struct nvmlUtilization_t {
  unsigned gpu, memory; /* per cent */
} nvmlUtilization_t;

typedef struct nvmlMemory_t {
  unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct nvmlMemory_v2_t {
  unsigned version;
  unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;

typedef struct nvmlBAR1Memory_t {
  unsigned long long bar1Total, bar1Free, bar1Used;
} nvmlBAR1Memory_t;

#define NVML_GPU_FABRIC_STATE_NOT_SUPPORTED 0

typedef struct nvmlGpuFabricInfo_t {
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned state;
} nvmlGpuFabricInfo_t;

typedef struct nvmlGpuFabricInfo_v2_t {
  unsigned version;
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned state;
  unsigned healthMask;
} nvmlGpuFabricInfo_v2_t;

typedef struct nvmlGpuFabricInfo_v3_t {
  unsigned version;
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned cliqueId;
  unsigned state;
  unsigned healthMask;
  unsigned char healthSummary;
} nvmlGpuFabricInfo_v3_t;

typedef struct nvmlFieldValue_t {
  unsigned fieldId, scopeId;
  long long timestamp, latencyUsec;
  unsigned valueType;
  nvmlReturn_t nvmlReturn;
  unsigned long long value;
} nvmlFieldValue_t;

/* Processes. */

typedef struct nvmlProcessInfo_v1_t {
  unsigned pid;
  unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

typedef struct nvmlProcessInfo_t {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId; /* UINT_MAX where there are no instances */
} nvmlProcessInfo_t;

/* Topology. */

typedef enum nvmlGpuTopologyLevel_t PTXRUN_ANY_UNSIGNED {
  NVML_TOPOLOGY_INTERNAL = 0,
  NVML_TOPOLOGY_SINGLE = 10,
  NVML_TOPOLOGY_MULTIPLE = 20,
  NVML_TOPOLOGY_HOSTBRIDGE = 30,
  NVML_TOPOLOGY_NODE = 40,
  NVML_TOPOLOGY_SYSTEM = 50
} nvmlGpuTopologyLevel_t;

typedef enum nvmlGpuP2PCapsIndex_t PTXRUN_ANY_UNSIGNED {
  NVML_P2P_CAPS_INDEX_READ = 0,
  NVML_P2P_CAPS_INDEX_WRITE = 1,
  NVML_P2P_CAPS_INDEX_NVLINK = 2,
  NVML_P2P_CAPS_INDEX_ATOMICS = 3,
  NVML_P2P_CAPS_INDEX_PCI = 4,
  NVML_P2P_CAPS_INDEX_UNKNOWN = 5
} nvmlGpuP2PCapsIndex_t;

typedef enum nvmlGpuP2PStatus_t PTXRUN_ANY_UNSIGNED {
  NVML_P2P_STATUS_OK = 0,
  NVML_P2P_STATUS_NOT_SUPPORTED = 5,
  NVML_P2P_STATUS_UNKNOWN = 6
} nvmlGpuP2PStatus_t;

typedef enum nvmlAffinityScope_t PTXRUN_ANY_UNSIGNED {
  NVML_AFFINITY_SCOPE_NODE = 0,
  NVML_AFFINITY_SCOPE_SOCKET = 1
} nvmlAffinityScope_t;

/* Events. */

typedef struct nvmlEventData_t {
  nvmlDevice_t device;
  unsigned long long eventType, eventData;
  unsigned gpuInstanceId, computeInstanceId;
} nvmlEventData_t;

#ifdef __cplusplus
}
#endif
#endif
