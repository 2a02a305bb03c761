// Errors, initialisation, versions.
#include "loader/libcudart/runtime.h"
#include "loader/libcudart/registration.h"

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

CUcontext primaryContext(CUresult &result) {
  static CUresult retained = CUDA_ERROR_NOT_INITIALIZED;
  static const CUcontext context = [] {
    CUcontext made = nullptr;
    retained = cuInit(0);
    if (retained == CUDA_SUCCESS)
      retained = cuDevicePrimaryCtxRetain(&made, 0);
    return made;
  }();
  result = retained;
  return context;
}

} // namespace

CUresult enter() {
  CUresult result = CUDA_SUCCESS;
  CUcontext context = primaryContext(result);
  if (result == CUDA_ERROR_INVALID_DEVICE)
    return CUDA_ERROR_NO_DEVICE;
  if (result != CUDA_SUCCESS)
    return result;
  CUcontext current = nullptr;
  result = cuCtxGetCurrent(&current);
  if (result == CUDA_SUCCESS && !current)
    result = cuCtxSetCurrent(context);
  return result;
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
    const CUresult result = cuDevicePrimaryCtxReset(0);
    loadAfresh();
    return result;
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
