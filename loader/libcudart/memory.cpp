// Allocation and questions about pointers.
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

/// Sizes of 0 succeed with a null pointer, as the runtime API has it.
template <class Allocate> cudaError_t allocate(void **pointer, size_t bytes, Allocate call) {
  return perform([&] {
    if (!pointer)
      return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr address = 0;
    const CUresult result = bytes == 0 ? CUDA_SUCCESS : call(&address);
    if (result == CUDA_SUCCESS)
      *pointer = reinterpret_cast<void *>(address);
    return result;
  });
}

constexpr unsigned kWidestElement = 16;

} // namespace

PTXRUN_RUNTIME_API cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  return allocate(pointer, bytes, [&](CUdeviceptr *to) { return cuMemAlloc(to, bytes); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  return allocate(pointer, bytes,
                  [&](CUdeviceptr *to) { return cuMemAllocManaged(to, bytes, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width,
                                               size_t height) {
  return allocate(pointer, width * height, [&](CUdeviceptr *to) {
    return cuMemAllocPitch(to, pitch, width, height, kWidestElement);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaMalloc3D(cudaPitchedPtr *pointer, cudaExtent extent) {
  if (!pointer)
    return finish(cudaErrorInvalidValue);
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                         extent.height * extent.depth);
}
PTXRUN_RUNTIME_API cudaError_t cudaFree(void *pointer) {
  return perform([&] { return cuMemFree(toDevice(pointer)); });
}

PTXRUN_RUNTIME_API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return perform([&] { return cuMemHostAlloc(pointer, bytes, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, 0);
}
PTXRUN_RUNTIME_API cudaError_t cudaFreeHost(void *pointer) {
  return perform([&] { return cuMemFreeHost(pointer); });
}
PTXRUN_RUNTIME_API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
  return perform([&] { return cuMemHostRegister(pointer, bytes, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaHostUnregister(void *pointer) {
  return perform([&] { return cuMemHostUnregister(pointer); });
}
PTXRUN_RUNTIME_API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  return perform([&] {
    CUdeviceptr address = 0;
    const CUresult result = cuMemHostGetDevicePointer(&address, host, flags);
    if (result == CUDA_SUCCESS)
      *device = reinterpret_cast<void *>(address);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer) {
  return perform([&] { return cuMemHostGetFlags(flags, pointer); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemGetInfo(size_t *freeBytes, size_t *totalBytes) {
  return perform([&] { return cuMemGetInfo(freeBytes, totalBytes); });
}

PTXRUN_RUNTIME_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                                        const void *pointer) {
  return perform([&] {
    if (!attributes)
      return CUDA_ERROR_INVALID_VALUE;
    *attributes = {};
    unsigned type = 0, isManaged = 0;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *data[] = {&type, &isManaged, &attributes->device};
    const CUresult result = cuPointerGetAttributes(3, names, data, toDevice(pointer));
    auto *address = const_cast<void *>(pointer);
    attributes->type = type == 0                    ? cudaMemoryTypeUnregistered
                       : isManaged                  ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                    : cudaMemoryTypeDevice;
    if (type != 0)
      attributes->devicePointer = address;
    if (attributes->type != cudaMemoryTypeDevice)
      attributes->hostPointer = address;
    return result;
  });
}

// Stream-ordered allocation, and whom managed memory is for.

PTXRUN_RUNTIME_STREAM_API(cudaStreamAttachMemAsync, _ptsz,
                          (cudaStream_t stream, void *pointer, size_t bytes, unsigned flags),
                          (stream, pointer, bytes, flags)) {
  return perform(
      [&] { return cuStreamAttachMemAsync(streamOf(stream), toDevice(pointer), bytes, flags); });
}

PTXRUN_RUNTIME_STREAM_API(cudaMallocAsync, _ptsz,
                          (void **pointer, size_t bytes, cudaStream_t stream),
                          (pointer, bytes, stream)) {
  return allocate(pointer, bytes,
                  [&](CUdeviceptr *to) { return cuMemAllocAsync(to, bytes, streamOf(stream)); });
}
PTXRUN_RUNTIME_STREAM_API(cudaMallocFromPoolAsync, _ptsz,
                          (void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                          (pointer, bytes, pool, stream)) {
  return allocate(pointer, bytes, [&](CUdeviceptr *to) {
    return cuMemAllocFromPoolAsync(to, bytes, pool, streamOf(stream));
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaFreeAsync, _ptsz, (void *pointer, cudaStream_t stream),
                          (pointer, stream)) {
  return perform([&] { return cuMemFreeAsync(toDevice(pointer), streamOf(stream)); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  return perform([&] { return cuDeviceGetDefaultMemPool(pool, device); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  return perform([&] { return cuDeviceGetMemPool(pool, device); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return perform([&] { return cuDeviceSetMemPool(device, pool); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool,
                                                 const CUmemPoolProps *properties) {
  return perform([&] { return cuMemPoolCreate(pool, properties); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return perform([&] { return cuMemPoolDestroy(pool); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  return perform([&] { return cuMemPoolTrimTo(pool, bytes); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool,
                                                       CUmemPool_attribute which, void *value) {
  return perform([&] { return cuMemPoolSetAttribute(pool, which, value); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool,
                                                       CUmemPool_attribute which, void *value) {
  return perform([&] { return cuMemPoolGetAttribute(pool, which, value); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                                    const CUmemAccessDesc *access, size_t count) {
  return perform([&] { return cuMemPoolSetAccess(pool, access, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolGetAccess(CUmemAccess_flags *flags, cudaMemPool_t pool,
                                                    CUmemLocation *location) {
  return perform([&] { return cuMemPoolGetAccess(flags, pool, location); });
}
