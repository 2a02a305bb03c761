// Errors, initialisation, versions.
#include <algorithm>
#include <mutex>
#include <vector>

#include "loader/libcudart/runtime.h"

namespace ptxrun::runtime {

namespace {

thread_local cudaError_t lastError = cudaSuccess;

struct ErrorText {
  cudaError_t error;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
#define ERROR(name, value, text) {name, #name, text},
#include "loader/libcudart/errors.def"
#undef ERROR
};

const ErrorText *findError(cudaError_t error) {
  for (const ErrorText &entry : kErrors)
    if (entry.error == error)
      return &entry;
  return nullptr;
}

/// Errors of kernels stay until the device is reset.
bool isSticky(cudaError_t error) {
  return error == cudaErrorIllegalAddress || error == cudaErrorLaunchFailure ||
         error == cudaErrorAssert || error == cudaErrorLaunchTimeout ||
         error == cudaErrorIllegalInstruction;
}

/// The device that the calling thread chose; -1 before it has.
thread_local CUdevice chosenDevice = -1;

/// The devices' primary contexts, retained when first asked for.
CUresult primaryContext(CUdevice device, CUcontext &context) {
  static std::mutex mutex;
  static std::vector<CUcontext> known; // by device
  std::lock_guard lock(mutex);
  int count = 0;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS)
    result = cuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS && count == 0)
    result = CUDA_ERROR_NO_DEVICE;
  if (result == CUDA_SUCCESS && (device < 0 || device >= count))
    result = CUDA_ERROR_INVALID_DEVICE;
  if (result != CUDA_SUCCESS)
    return result;
  known.resize(static_cast<size_t>(count), nullptr);
  CUcontext &found = known[static_cast<size_t>(device)];
  if (!found)
    result = cuDevicePrimaryCtxRetain(&found, device);
  context = found;
  return result;
}

} // namespace

CUresult enter() {
  CUcontext current = nullptr;
  if (chosenDevice >= 0 && cuCtxGetCurrent(&current) == CUDA_SUCCESS && current)
    return CUDA_SUCCESS;
  CUcontext context = nullptr;
  const CUdevice device = std::max(chosenDevice, 0);
  CUresult result = primaryContext(device, context);
  if (result != CUDA_SUCCESS)
    return result;
  chosenDevice = device;
  result = cuCtxGetCurrent(&current);
  if (result == CUDA_SUCCESS && !current)
    result = cuCtxSetCurrent(context);
  return result;
}

CUresult chooseDevice(CUdevice device) {
  CUcontext context = nullptr;
  if (const CUresult result = primaryContext(device, context); result != CUDA_SUCCESS)
    return result;
  chosenDevice = device;
  return cuCtxSetCurrent(context);
}

CUresult contextOf(CUdevice device, CUcontext &context) { return primaryContext(device, context); }

CUdevice currentDevice() {
  CUdevice device = 0;
  return cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : 0;
}

cudaError_t finish(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady)
    lastError = error;
  return error;
}

cudaError_t finish(CUresult result) { return finish(static_cast<cudaError_t>(result)); }

} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API const char *cudaGetErrorName(cudaError_t error) {
  const ErrorText *entry = findError(error);
  return entry ? entry->name : "unrecognized error code";
}
PTXRUN_RUNTIME_API const char *cudaGetErrorString(cudaError_t error) {
  const ErrorText *entry = findError(error);
  return entry ? entry->text : "unrecognized error code";
}

PTXRUN_RUNTIME_API cudaError_t cudaPeekAtLastError() { return lastError; }
PTXRUN_RUNTIME_API cudaError_t cudaGetLastError() {
  const cudaError_t error = lastError;
  if (!isSticky(error))
    lastError = cudaSuccess;
  return error;
}

PTXRUN_RUNTIME_API cudaError_t cudaRuntimeGetVersion(int *version) {
  if (!version)
    return finish(cudaErrorInvalidValue);
  *version = PTXRUN_CUDART_MAJOR == 12 ? 12090 : 13000;
  return cudaSuccess;
}
PTXRUN_RUNTIME_API cudaError_t cudaDriverGetVersion(int *version) {
  return finish(cuDriverGetVersion(version));
}

PTXRUN_RUNTIME_API cudaError_t cudaDeviceReset() {
  return perform([] {
    lastError = cudaSuccess;
    return cuDevicePrimaryCtxReset(currentDevice());
  });
}

PTXRUN_RUNTIME_API cudaError_t cudaGetExportTable(const void **table, const CUuuid *) {
  if (table)
    *table = nullptr;
  return cudaErrorNotSupported;
}

PTXRUN_RUNTIME_API cudaError_t
cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                 unsigned long long flags, CUdriverProcAddressQueryResult *status) {
  return perform([&] {
    CUdriverProcAddressQueryResult found{};
    const CUresult result =
        cuGetProcAddress(name, function, static_cast<int>(version), flags, &found);
    if (status)
      *status = found;
    return result == CUDA_SUCCESS && found != CU_GET_PROC_ADDRESS_SUCCESS && !status
               ? CUDA_ERROR_NOT_FOUND
               : result;
  });
}
namespace {

/// Programs compiled for per-thread default streams get such variants unless they say otherwise.
unsigned long long perThreadUnlessSaid(unsigned long long flags) {
  return flags == CU_GET_PROC_ADDRESS_DEFAULT ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                              : flags;
}

} // namespace

PTXRUN_RUNTIME_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char *name, void **function, unsigned version, unsigned long long flags,
    CUdriverProcAddressQueryResult *status) {
  return cudaGetDriverEntryPointByVersion(name, function, version, perThreadUnlessSaid(flags),
                                          status);
}
PTXRUN_RUNTIME_API cudaError_t cudaGetDriverEntryPoint(const char *name, void **function,
                                                       unsigned long long flags,
                                                       CUdriverProcAddressQueryResult *status) {
  return cudaGetDriverEntryPointByVersion(name, function, PTXRUN_CUDART_MAJOR * 1000, flags,
                                          status);
}
PTXRUN_RUNTIME_API cudaError_t
cudaGetDriverEntryPoint_ptsz(const char *name, void **function, unsigned long long flags,
                             CUdriverProcAddressQueryResult *status) {
  return cudaGetDriverEntryPoint(name, function, perThreadUnlessSaid(flags), status);
}
