// Launches: the <<<>>> protocol and the functions that take a host stub.
#include <vector>

#include "loader/libcudart/registration.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

/// What <<<>>> pushed and the stub has not popped yet.
struct CallConfiguration {
  dim3 grid, block;
  size_t sharedBytes;
  cudaStream_t stream;
};
thread_local std::vector<CallConfiguration> callConfigurations;
/// Why the kernel that is about to be launched was not found: stubs go on with a null one.
thread_local cudaError_t lookupError = cudaSuccess;

/// Whether no block or grid of this shape can run on the device, or not of this kernel.
bool isBadShape(CUfunction function, dim3 grid, dim3 block) {
  int most = 0;
  if (cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) != CUDA_SUCCESS)
    return false;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  const auto isBeyond = [](dim3 shape, CUdevice_attribute first) {
    const unsigned sizes[] = {shape.x, shape.y, shape.z};
    for (int axis = 0; axis < 3; ++axis) {
      int limit = 0;
      cuDeviceGetAttribute(&limit, static_cast<CUdevice_attribute>(first + axis), 0);
      if (sizes[axis] == 0 || sizes[axis] > static_cast<unsigned>(limit))
        return true;
    }
    return false;
  };
  return threads > static_cast<uint64_t>(most) ||
         isBeyond(block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) ||
         isBeyond(grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
}

/// A launch refused for its shape is, to the runtime API, an invalid configuration; one refused for
/// its shared memory or its arguments has an invalid value.
CUresult toLaunchResult(CUresult result, CUfunction function, dim3 grid, dim3 block) {
  return result == CUDA_ERROR_INVALID_VALUE && isBadShape(function, grid, block)
             ? static_cast<CUresult>(cudaErrorInvalidConfiguration)
             : result;
}

CUresult launch(CUkernel kernel, dim3 grid, dim3 block, void **arguments, size_t sharedBytes,
                cudaStream_t stream, bool isCooperative) {
  auto *function = reinterpret_cast<CUfunction>(kernel);
  const auto bytes = static_cast<unsigned>(sharedBytes);
  const CUresult result =
      isCooperative ? cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                                block.z, bytes, streamOf(stream), arguments)
                    : cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                     bytes, streamOf(stream), arguments, nullptr);
  return toLaunchResult(result, function, grid, block);
}

cudaError_t launchStub(const void *hostStub, dim3 grid, dim3 block, void **arguments,
                       size_t sharedBytes, cudaStream_t stream, bool isCooperative) {
  return perform([&] {
    CUkernel kernel = nullptr;
    if (const cudaError_t found = findKernel(hostStub, kernel); found != cudaSuccess)
      return static_cast<CUresult>(found);
    return launch(kernel, grid, block, arguments, sharedBytes, stream, isCooperative);
  });
}

} // namespace

PTXRUN_RUNTIME_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t sharedBytes,
                                                        cudaStream_t stream) {
  callConfigurations.push_back({grid, block, sharedBytes, stream});
  return 0;
}

PTXRUN_RUNTIME_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                          size_t *sharedBytes, void *stream) {
  if (callConfigurations.empty())
    return finish(cudaErrorMissingConfiguration);
  const CallConfiguration top = callConfigurations.back();
  callConfigurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *sharedBytes = top.sharedBytes;
  *static_cast<cudaStream_t *>(stream) = top.stream;
  return cudaSuccess;
}

PTXRUN_RUNTIME_API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *hostStub) {
  return perform([&] { return static_cast<CUresult>(findKernel(hostStub, *kernel)); });
}
PTXRUN_RUNTIME_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *hostStub) {
  lookupError = cudaGetKernel(kernel, hostStub);
  return lookupError;
}
PTXRUN_RUNTIME_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *hostStub) {
  return cudaGetKernel(reinterpret_cast<cudaKernel_t *>(function), hostStub);
}

PTXRUN_RUNTIME_STREAM_API(__cudaLaunchKernel, _ptsz,
                          (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                           size_t sharedBytes, cudaStream_t stream),
                          (kernel, grid, block, arguments, sharedBytes, stream)) {
  if (!kernel)
    return finish(lookupError != cudaSuccess ? lookupError : cudaErrorInvalidDeviceFunction);
  return perform(
      [&] { return launch(kernel, grid, block, arguments, sharedBytes, stream, false); });
}

PTXRUN_RUNTIME_STREAM_API(cudaLaunchKernel, _ptsz,
                          (const void *hostStub, dim3 grid, dim3 block, void **arguments,
                           size_t sharedBytes, cudaStream_t stream),
                          (hostStub, grid, block, arguments, sharedBytes, stream)) {
  return launchStub(hostStub, grid, block, arguments, sharedBytes, stream, false);
}
PTXRUN_RUNTIME_STREAM_API(cudaLaunchCooperativeKernel, _ptsz,
                          (const void *hostStub, dim3 grid, dim3 block, void **arguments,
                           size_t sharedBytes, cudaStream_t stream),
                          (hostStub, grid, block, arguments, sharedBytes, stream)) {
  return launchStub(hostStub, grid, block, arguments, sharedBytes, stream, true);
}

PTXRUN_RUNTIME_STREAM_API(cudaLaunchKernelExC, _ptsz,
                          (const cudaLaunchConfig_t *config, const void *hostStub,
                           void **arguments),
                          (config, hostStub, arguments)) {
  return perform([&] {
    CUkernel kernel = nullptr;
    if (!config)
      return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t found = findKernel(hostStub, kernel); found != cudaSuccess)
      return static_cast<CUresult>(found);
    const CUlaunchConfig driver{config->gridDim.x,
                                config->gridDim.y,
                                config->gridDim.z,
                                config->blockDim.x,
                                config->blockDim.y,
                                config->blockDim.z,
                                static_cast<unsigned>(config->dynamicSmemBytes),
                                streamOf(config->stream),
                                config->attrs,
                                config->numAttrs};
    auto *function = reinterpret_cast<CUfunction>(kernel);
    return toLaunchResult(cuLaunchKernelEx(&driver, function, arguments, nullptr), function,
                          config->gridDim, config->blockDim);
  });
}

PTXRUN_RUNTIME_STREAM_API(cudaLaunchHostFunc, _ptsz,
                          (cudaStream_t stream, cudaHostFn_t function, void *data),
                          (stream, function, data)) {
  return perform([&] { return cuLaunchHostFunc(streamOf(stream), function, data); });
}
