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

/// The one device where it is what was asked for.
nvmlReturn_t storeIf(bool isMeant, nvmlDevice_t *device) {
  if (!isMeant || deviceCount() == 0)
    return NVML_ERROR_NOT_FOUND;
  *device = handleOf(0);
  return NVML_SUCCESS;
}

/// With or without "GPU-", as NVIDIA's library has it (seen on an H100).
bool isUuid(const std::string &text) {
  const std::string uuid = uuidText();
  return text == uuid || text == uuid.substr(strlen("GPU-"));
}

bool isUuid(const unsigned char *bytes) {
  const auto &uuid = machine::deviceInfo().uuid;
  return memcmp(bytes, uuid.data(), uuid.size()) == 0;
}

/// The domain must be there, as NVIDIA's library has it (seen on an H100).
nvmlReturn_t findByPciAddress(const char *id, nvmlDevice_t *device) {
  return answer([&] {
    machine::PciAddress address;
    if (!id || !device || std::count(id, id + strlen(id), ':') != 2 ||
        !machine::readPciAddress(id, address))
      return NVML_ERROR_INVALID_ARGUMENT;
    return storeIf(address == machine::deviceInfo().pci, device);
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
    return storeIf(isUuid(std::string(uuid)), device);
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
      return storeIf(isUuid({uuid->value.str, strnlen(uuid->value.str, sizeof uuid->value.str)}),
                     device);
    case NVML_UUID_TYPE_BINARY:
      return storeIf(isUuid(uuid->value.bytes), device);
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
