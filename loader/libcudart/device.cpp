// Devices and their properties. What devices have in common is asked of the first.
#include <cstring>

#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

int attribute(CUdevice_attribute which) {
  int value = 0;
  cuDeviceGetAttribute(&value, which, 0);
  return value;
}

void fillTextureLimits(cudaDeviceProp &p) {
  const auto fill = [](int *out, int count, int first) {
    for (int i = 0; i < count; ++i)
      out[i] = attribute(static_cast<CUdevice_attribute>(first + i));
  };
  p.maxTexture1D = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
  p.maxTexture1DMipmap = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH);
  fill(p.maxTexture2D, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH);
  fill(p.maxTexture2DMipmap, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH);
  fill(p.maxTexture2DLinear, 3, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH);
  fill(p.maxTexture2DGather, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH);
  fill(p.maxTexture3D, 3, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH);
  fill(p.maxTexture3DAlt, 3, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE);
  p.maxTextureCubemap = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
  fill(p.maxTexture1DLayered, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH);
  fill(p.maxTexture2DLayered, 3, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH);
  fill(p.maxTextureCubemapLayered, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH);
  p.maxSurface1D = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
  fill(p.maxSurface2D, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH);
  fill(p.maxSurface3D, 3, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH);
  fill(p.maxSurface1DLayered, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH);
  fill(p.maxSurface2DLayered, 3, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH);
  p.maxSurfaceCubemap = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH);
  fill(p.maxSurfaceCubemapLayered, 2, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH);
}

void fillSizes(cudaDeviceProp &p) {
  p.sharedMemPerBlock =
      static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  p.regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  p.warpSize = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  p.memPitch = static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH));
  p.maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  for (int axis = 0; axis < 3; ++axis) {
    p.maxThreadsDim[axis] =
        attribute(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis));
    p.maxGridSize[axis] =
        attribute(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis));
  }
  p.totalConstMem = static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY));
  p.textureAlignment = static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
  p.texturePitchAlignment =
      static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT));
  p.surfaceAlignment = static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT));
  p.memoryBusWidth = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  p.l2CacheSize = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  p.maxThreadsPerMultiProcessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  p.sharedMemPerMultiprocessor =
      static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  p.regsPerMultiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  p.sharedMemPerBlockOptin =
      static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  p.maxBlocksPerMultiProcessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  p.reservedSharedMemPerBlock =
      static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
}

void fillAbilities(cudaDeviceProp &p) {
  p.multiProcessorCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p.integrated = attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED);
  p.canMapHostMemory = attribute(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
  p.concurrentKernels = attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
  p.asyncEngineCount = attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  p.unifiedAddressing = attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
  p.streamPrioritiesSupported = attribute(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
  p.globalL1CacheSupported = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
  p.localL1CacheSupported = attribute(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
  p.managedMemory = attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
  p.hostNativeAtomicSupported = attribute(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
  p.pageableMemoryAccess = attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
  p.concurrentManagedAccess = attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
  p.computePreemptionSupported = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
  p.canUseHostPointerForRegisteredMem =
      attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
  p.cooperativeLaunch = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
  p.pageableMemoryAccessUsesHostPageTables =
      attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
  p.directManagedMemAccessFromHost =
      attribute(CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
  p.hostRegisterSupported = attribute(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
  p.hostRegisterReadOnlySupported =
      attribute(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
  p.memoryPoolsSupported = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  p.clusterLaunch = attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
#if PTXRUN_CUDART_MAJOR == 12
  p.clockRate = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  p.memoryClockRate = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  p.deviceOverlap = attribute(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
  p.maxTexture1DLinear = attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
  p.singleToDoublePrecisionPerfRatio =
      attribute(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
#endif
}

cudaError_t getProperties(cudaDeviceProp *properties, int device) {
  return perform([&] {
    if (!properties)
      return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceProp p;
    memset(&p, 0, sizeof p);
    CUresult result = cuDeviceGetName(p.name, sizeof p.name, device);
    if (result == CUDA_SUCCESS)
      result = cuDeviceGetUuid(&p.uuid, device);
    if (result == CUDA_SUCCESS)
      result = cuDeviceTotalMem(&p.totalGlobalMem, device);
    if (result == CUDA_SUCCESS)
      result = cuDeviceComputeCapability(&p.major, &p.minor, device);
    if (result != CUDA_SUCCESS)
      return result;
    const auto ofDevice = [&](CUdevice_attribute which) {
      int value = 0;
      cuDeviceGetAttribute(&value, which, device);
      return value;
    };
    p.pciDomainID = ofDevice(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
    p.pciBusID = ofDevice(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    p.pciDeviceID = ofDevice(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
    fillSizes(p);
    fillAbilities(p);
    fillTextureLimits(p);
    *properties = p;
    return CUDA_SUCCESS;
  });
}

} // namespace

// CUDA 12 gave the grown structure a symbol of its own; 13 went back to the plain name.
#if PTXRUN_CUDART_MAJOR == 12
PTXRUN_RUNTIME_API cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp *properties, int device) {
  return getProperties(properties, device);
}
#else
PTXRUN_RUNTIME_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  return getProperties(properties, device);
}
#endif

PTXRUN_RUNTIME_API cudaError_t cudaGetDeviceCount(int *count) {
  return perform([&] {
    const CUresult result = cuDeviceGetCount(count);
    return result == CUDA_SUCCESS && *count == 0 ? CUDA_ERROR_NO_DEVICE : result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGetDevice(int *device) {
  return perform([&] { return cuCtxGetDevice(device); });
}
PTXRUN_RUNTIME_API cudaError_t cudaSetDevice(int device) { return finish(chooseDevice(device)); }
PTXRUN_RUNTIME_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return perform([&] {
    CUcontext context = nullptr;
    return contextOf(device, context);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaSetValidDevices(int *, int) {
  return perform([] { return CUDA_SUCCESS; });
}
PTXRUN_RUNTIME_API cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) {
  return cudaGetDevice(device);
}
PTXRUN_RUNTIME_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return perform([&] { return cuDevicePrimaryCtxSetFlags(currentDevice(), flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  return perform([&] { return cuCtxGetFlags(flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceSynchronize() {
  return perform([] { return cuCtxSynchronize(); });
}
PTXRUN_RUNTIME_API cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetAttribute(int *value, CUdevice_attribute which,
                                                      int device) {
  return perform([&] { return cuDeviceGetAttribute(value, which, device); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device) {
  return perform([&] { return cuDeviceGetPCIBusId(id, length, device); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) {
  return perform([&] { return cuDeviceGetByPCIBusId(device, id); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceCanAccessPeer(int *canAccess, int device, int peer) {
  return perform([&] { return cuDeviceCanAccessPeer(canAccess, device, peer); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return perform([&] {
    CUcontext context = nullptr;
    if (peer == currentDevice())
      return CUDA_ERROR_INVALID_DEVICE;
    const CUresult found = contextOf(peer, context);
    return found == CUDA_SUCCESS ? cuCtxEnablePeerAccess(context, flags) : found;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return perform([&] {
    CUcontext context = nullptr;
    if (peer == currentDevice())
      return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    const CUresult found = contextOf(peer, context);
    return found == CUDA_SUCCESS ? cuCtxDisablePeerAccess(context) : found;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute which,
                                                         int source, int destination) {
  return perform([&] { return cuDeviceGetP2PAttribute(value, which, source, destination); });
}

PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetHostAtomicCapabilities(
    unsigned *capabilities, const CUatomicOperation *operations, unsigned count, int device) {
  return perform(
      [&] { return cuDeviceGetHostAtomicCapabilities(capabilities, operations, count, device); });
}
PTXRUN_RUNTIME_API cudaError_t
cudaDeviceGetP2PAtomicCapabilities(unsigned *capabilities, const CUatomicOperation *operations,
                                   unsigned count, int source, int destination) {
  return perform([&] {
    return cuDeviceGetP2PAtomicCapabilities(capabilities, operations, count, source, destination);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceRegisterAsyncNotification(
    int device, CUasyncCallback function, void *data, CUasyncCallbackHandle *callback) {
  return perform(
      [&] { return cuDeviceRegisterAsyncNotification(device, function, data, callback); });
}
PTXRUN_RUNTIME_API cudaError_t
cudaDeviceUnregisterAsyncNotification(int device, CUasyncCallbackHandle callback) {
  return perform([&] { return cuDeviceUnregisterAsyncNotification(device, callback); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) {
  return perform([&] { return cuFlushGPUDirectRDMAWrites(target, scope); });
}

PTXRUN_RUNTIME_API cudaError_t cudaDeviceSetLimit(CUlimit limit, size_t value) {
  return perform([&] { return cuCtxSetLimit(limit, value); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetLimit(size_t *value, CUlimit limit) {
  return perform([&] { return cuCtxGetLimit(value, limit); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceSetCacheConfig(CUfunc_cache config) {
  return perform([&] { return cuCtxSetCacheConfig(config); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetCacheConfig(CUfunc_cache *config) {
  return perform([&] { return cuCtxGetCacheConfig(config); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceSetSharedMemConfig(CUsharedconfig config) {
  return perform([&] { return cuCtxSetSharedMemConfig(config); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetSharedMemConfig(CUsharedconfig *config) {
  return perform([&] { return cuCtxGetSharedMemConfig(config); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return perform([&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}
PTXRUN_RUNTIME_API cudaError_t cudaCtxResetPersistingL2Cache() {
  return perform([] { return cuCtxResetPersistingL2Cache(); });
}
PTXRUN_RUNTIME_API cudaError_t cudaProfilerStart() {
  return perform([] { return cuProfilerStart(); });
}
PTXRUN_RUNTIME_API cudaError_t cudaProfilerStop() {
  return perform([] { return cuProfilerStop(); });
}
