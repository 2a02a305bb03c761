// What a device is: the facts of loader/machine, which the driver answers from, too.
#include "loader/libnvml/identity.h"

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"
#include "loader/machine/device_info.h"

namespace ptxrun::nvml {

std::string uuidText(unsigned index) { return machine::uuidText(machine::deviceInfo(index)); }

std::string pciText(unsigned index, int domainDigits) {
  const machine::PciAddress &pci = machine::deviceInfo(index).pci;
  char text[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
  snprintf(text, sizeof text, "%0*X:%02X:%02X.0", domainDigits, pci.domain, pci.bus, pci.slot);
  return text;
}

namespace {

/// By the compute capability that the device shows.
nvmlDeviceArchitecture_t architecture() {
  switch (machine::deviceInfo().major) {
  case 5:
    return NVML_DEVICE_ARCH_MAXWELL;
  case 6:
    return NVML_DEVICE_ARCH_PASCAL;
  case 7:
    return machine::deviceInfo().minor < 5 ? NVML_DEVICE_ARCH_VOLTA : NVML_DEVICE_ARCH_TURING;
  case 8:
    return machine::deviceInfo().minor < 9 ? NVML_DEVICE_ARCH_AMPERE : NVML_DEVICE_ARCH_ADA;
  case 9:
    return NVML_DEVICE_ARCH_HOPPER;
  default:
    return NVML_DEVICE_ARCH_BLACKWELL;
  }
}

/// The fields that all versions of the structure have; the rest becomes zero. The device has
/// neither device nor subsystem number.
template <class Info> Info pciInfo(unsigned index) {
  Info info{};
  const machine::PciAddress &pci = machine::deviceInfo(index).pci;
  info.domain = pci.domain;
  info.bus = pci.bus;
  info.device = pci.slot;
  return info;
}

nvmlPciInfo_v2_t pciInfoOfVersion2(unsigned index) {
  auto info = pciInfo<nvmlPciInfo_v2_t>(index);
  pciText(index, 4).copy(info.busId, sizeof info.busId - 1);
  return info;
}

} // namespace

} // namespace ptxrun::nvml

using namespace ptxrun::nvml;
namespace machine = ptxrun::machine;

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length) {
  return answerFor(device, [&] { return copyText(machine::deviceInfo().name, name, length); });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length) {
  return answerFor(device, [&] { return copyText(uuidText(indexOf(device)), uuid, length); });
}

/// The first version ends before the subsystem's number.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t *info) {
  return answerFor(device, [&] {
    if (!info)
      return NVML_ERROR_INVALID_ARGUMENT;
    const nvmlPciInfo_v2_t read = pciInfoOfVersion2(indexOf(device));
    memcpy(info, &read, offsetof(nvmlPciInfo_v2_t, pciSubSystemId));
    return NVML_SUCCESS;
  });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t *info) {
  return answerFor(device, [&] { return store(info, pciInfoOfVersion2(indexOf(device))); });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info) {
  return answerFor(device, [&] {
    auto read = pciInfo<nvmlPciInfo_t>(indexOf(device));
    pciText(indexOf(device), 4).copy(read.busIdLegacy, sizeof read.busIdLegacy - 1);
    pciText(indexOf(device), 8).copy(read.busId, sizeof read.busId - 1);
    return store(info, read);
  });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device,
                                                     nvmlPciInfoExt_v1_t *info) {
  return answerFor(device, [&] {
    if (!info)
      return NVML_ERROR_INVALID_ARGUMENT;
    if (info->version != NVML_STRUCT_VERSION(nvmlPciInfoExt_v1_t, 1))
      return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    auto read = pciInfo<nvmlPciInfoExt_v1_t>(indexOf(device));
    read.version = info->version;
    pciText(indexOf(device), 8).copy(read.busId, sizeof read.busId - 1);
    return store(info, read);
  });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index) {
  return answerFor(device, [&] { return store(index, indexOf(device)); });
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *number) {
  return answerFor(device, [&] { return store(number, indexOf(device)); });
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned *id) {
  return answerFor(device, [&] { return store(id, indexOf(device)); });
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned *isMulti) {
  return storeFor(device, isMulti, 0);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *brand) {
  return storeFor(device, brand, NVML_BRAND_UNKNOWN);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t *type) {
  return storeFor(device, type, NVML_BUS_TYPE_UNKNOWN);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device,
                                                       nvmlDeviceArchitecture_t *value) {
  return answerFor(device, [&] { return store(value, architecture()); });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major,
                                                                int *minor) {
  return answerFor(device, [&] {
    if (!major || !minor)
      return NVML_ERROR_INVALID_ARGUMENT;
    *major = machine::deviceInfo().major;
    *minor = machine::deviceInfo().minor;
    return NVML_SUCCESS;
  });
}

/// As many as multiprocessors.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *count) {
  return answerFor(device, [&] { return store(count, machine::deviceInfo().multiprocessors); });
}
