// Finding devices: their number, and handles by index, UUID, PCI address and serial number.
#include <algorithm>
#include <cstring>
#include <string>

#include "loader/libnvml/identity.h"
#include "loader/libnvml/library.h"
#include "loader/libnvml/nvml_api.h"
#include "loader/machine/device_info.h"

using namespace ptxrun::nvml;
namespace machine = ptxrun::machine;

namespace {

nvmlReturn_t storeCount(unsigned *count) {
  return answer([&] { return store(count, deviceCount()); });
}

nvmlReturn_t findByIndex(unsigned index, nvmlDevice_t *device) {
  return answer([&] {
    if (!device || index >= deviceCount())
      return NVML_ERROR_INVALID_ARGUMENT;
    *device = handleOf(index);
    return NVML_SUCCESS;
  });
}

/// The first device that is what was asked for.
template <class IsMeant> nvmlReturn_t storeIf(IsMeant isMeant, nvmlDevice_t *device) {
  for (unsigned index = 0; index < deviceCount(); ++index)
    if (isMeant(index)) {
      *device = handleOf(index);
      return NVML_SUCCESS;
    }
  return NVML_ERROR_NOT_FOUND;
}

/// With or without "GPU-", as NVIDIA's library has it (seen on an H100).
nvmlReturn_t findByUuid(const std::string &text, nvmlDevice_t *device) {
  const auto isMeant = [&](unsigned index) {
    const std::string uuid = uuidText(index);
    return text == uuid || text == uuid.substr(strlen("GPU-"));
  };
  return storeIf(isMeant, device);
}

nvmlReturn_t findByUuid(const unsigned char *bytes, nvmlDevice_t *device) {
  const auto isMeant = [&](unsigned index) {
    const auto &uuid = machine::deviceInfo(index).uuid;
    return memcmp(bytes, uuid.data(), uuid.size()) == 0;
  };
  return storeIf(isMeant, device);
}

/// The domain must be there, as NVIDIA's library has it (seen on an H100).
nvmlReturn_t findByPciAddress(const char *id, nvmlDevice_t *device) {
  return answer([&] {
    machine::PciAddress address;
    if (!id || !device || std::count(id, id + strlen(id), ':') != 2 ||
        !machine::readPciAddress(id, address))
      return NVML_ERROR_INVALID_ARGUMENT;
    return storeIf([&](unsigned index) { return address == machine::deviceInfo(index).pci; },
                   device);
  });
}

} // namespace

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetCount(unsigned *count) { return storeCount(count); }
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count) { return storeCount(count); }

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device) {
  return findByIndex(index, device);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
  return findByIndex(index, device);
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
  return answer([&] {
    if (!uuid || !device)
      return NVML_ERROR_INVALID_ARGUMENT;
    return findByUuid(std::string(uuid), device);
  });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_v1_t *uuid,
                                                        nvmlDevice_t *device) {
  return answer([&] {
    if (!uuid || !device)
      return NVML_ERROR_INVALID_ARGUMENT;
    if (uuid->version != NVML_STRUCT_VERSION(nvmlUUID_v1_t, 1))
      return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    switch (uuid->type) {
    case NVML_UUID_TYPE_ASCII:
      return findByUuid(
          std::string(uuid->value.str, strnlen(uuid->value.str, sizeof uuid->value.str)), device);
    case NVML_UUID_TYPE_BINARY:
      return findByUuid(uuid->value.bytes, device);
    default:
      return NVML_ERROR_INVALID_ARGUMENT;
    }
  });
}

PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *id, nvmlDevice_t *device) {
  return findByPciAddress(id, device);
}
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id,
                                                              nvmlDevice_t *device) {
  return findByPciAddress(id, device);
}

/// The device has no serial number.
PTXRUN_NVML_API nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device) {
  return answer(
      [&] { return serial && device ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT; });
}
