// What every file of libnvidia-ml shares: how a function is exported, the checks at its head, and
// what keeps exceptions inside.
#pragma once
#include <new>
#include <string>

#include "loader/libnvml/nvml_abi.h"

#define PTXRUN_NVML_API extern "C" __attribute__((visibility("default")))

namespace ptxrun::nvml {

/// Between the first nvmlInit* and the last nvmlShutdown.
bool isInitialised();
/// PTXRUN_DEVICES; 0 before nvmlInit* and where the first of them was given NVML_INIT_FLAG_NO_GPUS.
unsigned deviceCount();
/// The handle of the device with this index, below deviceCount().
nvmlDevice_t handleOf(unsigned index);
/// Of a handle that checkDevice() takes.
unsigned indexOf(nvmlDevice_t);
/// NVML_ERROR_UNINITIALIZED, or NVML_ERROR_INVALID_ARGUMENT for what is no device's handle.
nvmlReturn_t checkDevice(nvmlDevice_t);

/// The text and its final zero to a program's buffer; NVML_ERROR_INVALID_ARGUMENT,
/// NVML_ERROR_INSUFFICIENT_SIZE.
nvmlReturn_t copyText(const std::string &text, char *buffer, unsigned length);

/// A function's body, with what it throws made a result.
template <class Body> nvmlReturn_t guarded(Body &&body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return NVML_ERROR_MEMORY;
  } catch (...) {
    return NVML_ERROR_UNKNOWN;
  }
}

/// The same where the library is initialised.
template <class Body> nvmlReturn_t answer(Body &&body) noexcept {
  return isInitialised() ? guarded(body) : NVML_ERROR_UNINITIALIZED;
}

/// The same where `device` is a device.
template <class Body> nvmlReturn_t answerFor(nvmlDevice_t device, Body &&body) noexcept {
  const nvmlReturn_t checked = checkDevice(device);
  return checked == NVML_SUCCESS ? guarded(body) : checked;
}

/// A value that costs nothing to know.
template <class Result, class Value> nvmlReturn_t store(Result *result, Value value) noexcept {
  if (!result)
    return NVML_ERROR_INVALID_ARGUMENT;
  *result = static_cast<Result>(value);
  return NVML_SUCCESS;
}
template <class Result, class Value>
nvmlReturn_t storeFor(nvmlDevice_t device, Result *result, Value value) noexcept {
  const nvmlReturn_t checked = checkDevice(device);
  return checked == NVML_SUCCESS ? store(result, value) : checked;
}

} // namespace ptxrun::nvml
