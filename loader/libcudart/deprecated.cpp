// Names of functions as they were once called, and what came to nothing.
#include "loader/libcudart/registration.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

extern "C" {
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSetLimit(CUlimit, size_t);
cudaError_t cudaDeviceGetLimit(size_t *, CUlimit);
cudaError_t cudaDeviceSetCacheConfig(CUfunc_cache);
cudaError_t cudaDeviceGetCacheConfig(CUfunc_cache *);
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
}

PTXRUN_RUNTIME_API cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
PTXRUN_RUNTIME_API cudaError_t cudaThreadSetLimit(CUlimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
PTXRUN_RUNTIME_API cudaError_t cudaThreadGetLimit(size_t *value, CUlimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
PTXRUN_RUNTIME_API cudaError_t cudaThreadSetCacheConfig(CUfunc_cache config) {
  return cudaDeviceSetCacheConfig(config);
}
PTXRUN_RUNTIME_API cudaError_t cudaThreadGetCacheConfig(CUfunc_cache *config) {
  return cudaDeviceGetCacheConfig(config);
}

/// Devices have had doubles of their own since compute capability 1.3: nothing is converted.
PTXRUN_RUNTIME_API cudaError_t cudaSetDoubleForDevice(double *) {
  return perform([] { return CUDA_SUCCESS; });
}
PTXRUN_RUNTIME_API cudaError_t cudaSetDoubleForHost(double *) {
  return perform([] { return CUDA_SUCCESS; });
}

/// A launch of CUDA 9 to 12 for each of several devices: here for the one there is.
struct cudaLaunchParams {
  void *func;
  dim3 gridDim, blockDim;
  void **args;
  size_t sharedMem;
  cudaStream_t stream;
};

PTXRUN_RUNTIME_API cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams *launches,
                                                                      unsigned count,
                                                                      unsigned flags) {
  constexpr unsigned kFlags = 3; // no synchronisation before, none after
  if (!launches || count == 0 || flags > kFlags)
    return finish(cudaErrorInvalidValue);
  if (count > 1) // each takes a device of its own
    return finish(cudaErrorInvalidDevice);
  const cudaLaunchParams &l = *launches;
  if (!l.stream || l.stream == CU_STREAM_LEGACY || l.stream == CU_STREAM_PER_THREAD)
    return finish(cudaErrorInvalidValue); // the default streams are no device's
  return cudaLaunchCooperativeKernel(l.func, l.gridDim, l.blockDim, l.args, l.sharedMem, l.stream);
}
