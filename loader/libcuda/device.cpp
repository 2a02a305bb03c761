// Devices: the CPU, as often as PTXRUN_DEVICES says. All run on the same processors and see all
// memory; each has its own contexts, variables, pools and size of memory.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/device_info.h"

using namespace ptxrun::driver;
namespace machine = ptxrun::machine;

namespace {

CUresult enterDevice(CUdevice device) {
  PTXRUN_TRY(checkInitialised());
  return checkDevice(device);
}

bool attributeValue(CUdevice number, int attribute, int &value) {
  const machine::DeviceInfo &device = deviceInfo(number);
  switch (attribute) {
#define ATTRIBUTE(name, number, expression)                                                        \
  case number:                                                                                     \
    value = (expression);                                                                          \
    return true;
#include "loader/libcuda/device_attributes.def"
#undef ATTRIBUTE
  default:
    return false;
  }
}

} // namespace

PTXRUN_API CUresult cuDeviceGetCount(int *count) {
  PTXRUN_TRY(checkInitialised());
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = deviceCount();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  PTXRUN_TRY(checkInitialised());
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(checkDevice(ordinal));
  *device = ordinal;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!name || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, static_cast<size_t>(length), "%s", deviceInfo(device).name.c_str());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!uuid)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(uuid->bytes, deviceInfo(device).uuid.data(), sizeof uuid->bytes);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

PTXRUN_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  *bytes = deviceInfo(device).totalMemory;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                         CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!value || !attributeValue(device, attribute, *value))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!major || !minor)
    return CUDA_ERROR_INVALID_VALUE;
  *major = deviceInfo().major;
  *minor = deviceInfo().minor;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!properties)
    return CUDA_ERROR_INVALID_VALUE;
  const auto get = [device](CUdevice_attribute attribute) {
    int value = 0;
    attributeValue(device, attribute, value);
    return value;
  };
  properties->maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  for (int axis = 0; axis < 3; ++axis) {
    properties->maxThreadsDim[axis] =
        get(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis));
    properties->maxGridSize[axis] =
        get(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis));
  }
  properties->sharedMemPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  properties->totalConstantMemory = get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  properties->SIMDWidth = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  properties->memPitch = get(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  properties->regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  properties->clockRate = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  properties->textureAlign = get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!id || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  const machine::PciAddress &pci = deviceInfo(device).pci;
  snprintf(id, static_cast<size_t>(length), "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.slot);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
  PTXRUN_TRY(checkInitialised());
  if (!device || !id)
    return CUDA_ERROR_INVALID_VALUE;
  machine::PciAddress address;
  if (!machine::readPciAddress(id, address))
    return CUDA_ERROR_INVALID_VALUE;
  for (CUdevice i = 0; i < deviceCount(); ++i)
    if (address == deviceInfo(i).pci)
      return cuDeviceGet(device, i);
  return CUDA_ERROR_INVALID_DEVICE;
}

PTXRUN_API CUresult cuDeviceCanAccessPeer(int *canAccess, CUdevice device, CUdevice peer) {
  PTXRUN_TRY(enterDevice(device));
  PTXRUN_TRY(checkDevice(peer));
  if (!canAccess)
    return CUDA_ERROR_INVALID_VALUE;
  *canAccess = device != peer; // a device is no peer of itself
  return CUDA_SUCCESS;
}

/// Two different devices are asked for. Every one reaches all memory, with all atomics.
PTXRUN_API CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute,
                                            CUdevice source, CUdevice destination) {
  PTXRUN_TRY(enterDevice(source));
  PTXRUN_TRY(checkDevice(destination));
  if (value)
    *value = 0;
  if (source == destination)
    return CUDA_ERROR_INVALID_DEVICE;
  if (!value || attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
      attribute > CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED)
    return CUDA_ERROR_INVALID_VALUE;
  *value = attribute != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK; // the best rank is 0
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuDeviceGetExecAffinitySupport(int *isSupported, int, CUdevice device) {
  PTXRUN_TRY(enterDevice(device));
  if (!isSupported)
    return CUDA_ERROR_INVALID_VALUE;
  *isSupported = 0;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuFlushGPUDirectRDMAWrites(int, int) { return checkInitialised(); }
PTXRUN_API CUresult cuProfilerStart() { return checkInitialised(); }
PTXRUN_API CUresult cuProfilerStop() { return checkInitialised(); }
