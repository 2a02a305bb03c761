// Kernels: attributes and occupancy.
#include "loader/libcudart/registration.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

template <class Call> cudaError_t withKernel(const void *hostStub, Call call) {
  return perform([&] {
    CUkernel kernel = nullptr;
    if (const cudaError_t found = findKernel(hostStub, kernel); found != cudaSuccess)
      return static_cast<CUresult>(found);
    return call(reinterpret_cast<CUfunction>(kernel));
  });
}

CUresult fillAttributes(cudaFuncAttributes &out, CUfunction function) {
  out = {};
  CUresult result = CUDA_SUCCESS;
  const auto get = [&](CUfunction_attribute which) {
    int value = 0;
    if (const CUresult one = cuFuncGetAttribute(&value, which, function); one != CUDA_SUCCESS)
      result = one;
    return value;
  };
  out.sharedSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  out.constSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  out.localSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  out.maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  out.numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
  out.ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  out.binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  out.maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  out.preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  out.clusterDimMustBeSet = get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  out.requiredClusterWidth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  out.requiredClusterHeight = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  out.requiredClusterDepth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  out.nonPortableClusterSizeAllowed = get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  return result;
}

/// The driver's form of a launch description, for the cluster questions.
CUlaunchConfig toDriver(const cudaLaunchConfig_t &config) {
  return {config.gridDim.x,
          config.gridDim.y,
          config.gridDim.z,
          config.blockDim.x,
          config.blockDim.y,
          config.blockDim.z,
          static_cast<unsigned>(config.dynamicSmemBytes),
          streamOf(config.stream),
          config.attrs,
          config.numAttrs};
}

} // namespace

PTXRUN_RUNTIME_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                     const void *hostStub) {
  if (!attributes)
    return finish(cudaErrorInvalidValue);
  return withKernel(hostStub,
                    [&](CUfunction function) { return fillAttributes(*attributes, function); });
}
PTXRUN_RUNTIME_API cudaError_t cudaFuncSetAttribute(const void *hostStub,
                                                    CUfunction_attribute which, int value) {
  return withKernel(
      hostStub, [&](CUfunction function) { return cuFuncSetAttribute(function, which, value); });
}
PTXRUN_RUNTIME_API cudaError_t cudaFuncSetCacheConfig(const void *hostStub, CUfunc_cache config) {
  return withKernel(hostStub,
                    [&](CUfunction function) { return cuFuncSetCacheConfig(function, config); });
}
PTXRUN_RUNTIME_API cudaError_t cudaFuncSetSharedMemConfig(const void *hostStub,
                                                          CUsharedconfig config) {
  return withKernel(
      hostStub, [&](CUfunction function) { return cuFuncSetSharedMemConfig(function, config); });
}
PTXRUN_RUNTIME_API cudaError_t cudaFuncGetName(const char **name, const void *hostStub) {
  return withKernel(hostStub, [&](CUfunction function) { return cuFuncGetName(name, function); });
}
PTXRUN_RUNTIME_API cudaError_t cudaFuncGetParamInfo(const void *hostStub, size_t index,
                                                    size_t *offset, size_t *bytes) {
  return withKernel(hostStub, [&](CUfunction function) {
    return cuFuncGetParamInfo(function, index, offset, bytes);
  });
}

PTXRUN_RUNTIME_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *hostStub, int blockSize, size_t sharedBytes, unsigned flags) {
  return withKernel(hostStub, [&](CUfunction function) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, blockSize,
                                                                sharedBytes, flags);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                             const void *hostStub,
                                                                             int blockSize,
                                                                             size_t sharedBytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, hostStub, blockSize,
                                                                sharedBytes, 0);
}
PTXRUN_RUNTIME_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes,
                                                                         const void *hostStub,
                                                                         int blocks,
                                                                         int blockSize) {
  return withKernel(hostStub, [&](CUfunction function) {
    return cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, blockSize);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int *size, const void *hostStub, const cudaLaunchConfig_t *config) {
  return withKernel(hostStub, [&](CUfunction function) {
    const CUlaunchConfig driver = toDriver(*config);
    return cuOccupancyMaxPotentialClusterSize(size, function, &driver);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *hostStub,
                                                              const cudaLaunchConfig_t *config) {
  return withKernel(hostStub, [&](CUfunction function) {
    const CUlaunchConfig driver = toDriver(*config);
    return cuOccupancyMaxActiveClusters(clusters, function, &driver);
  });
}
