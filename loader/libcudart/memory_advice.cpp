// Hints about where managed memory should live, and what was said of it. 12's plain names take a
// device; its _v2 are 13's plain names.
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

#if PTXRUN_CUDART_MAJOR == 12
constexpr int kCpu = -1;

CUmemLocation locationOf(int device) {
  return {device == kCpu ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
          device == kCpu ? 0 : device};
}
#endif

cudaError_t prefetch(const void *pointer, size_t bytes, CUmemLocation location, unsigned flags,
                     cudaStream_t stream) {
  return perform([&] {
    return cuMemPrefetchAsync(toDevice(pointer), bytes, location, flags, streamOf(stream));
  });
}
cudaError_t advise(const void *pointer, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return perform([&] { return cuMemAdvise(toDevice(pointer), bytes, advice, location); });
}

} // namespace

#if PTXRUN_CUDART_MAJOR == 12
PTXRUN_RUNTIME_STREAM_API(cudaMemPrefetchAsync, _ptsz,
                          (const void *pointer, size_t bytes, int device, cudaStream_t stream),
                          (pointer, bytes, device, stream)) {
  return prefetch(pointer, bytes, locationOf(device), 0, stream);
}
PTXRUN_RUNTIME_STREAM_API(cudaMemPrefetchAsync_v2, _ptsz,
                          (const void *pointer, size_t bytes, CUmemLocation location,
                           unsigned flags, cudaStream_t stream),
                          (pointer, bytes, location, flags, stream)) {
  return prefetch(pointer, bytes, location, flags, stream);
}
PTXRUN_RUNTIME_API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, CUmem_advise advice,
                                             int device) {
  return advise(pointer, bytes, advice, locationOf(device));
}
PTXRUN_RUNTIME_API cudaError_t cudaMemAdvise_v2(const void *pointer, size_t bytes,
                                                CUmem_advise advice, CUmemLocation location) {
  return advise(pointer, bytes, advice, location);
}
#else
PTXRUN_RUNTIME_STREAM_API(cudaMemPrefetchAsync, _ptsz,
                          (const void *pointer, size_t bytes, CUmemLocation location,
                           unsigned flags, cudaStream_t stream),
                          (pointer, bytes, location, flags, stream)) {
  return prefetch(pointer, bytes, location, flags, stream);
}
PTXRUN_RUNTIME_API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, CUmem_advise advice,
                                             CUmemLocation location) {
  return advise(pointer, bytes, advice, location);
}
#endif

PTXRUN_RUNTIME_API cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize,
                                                        CUmem_range_attribute which,
                                                        const void *pointer, size_t bytes) {
  return perform(
      [&] { return cuMemRangeGetAttribute(data, dataSize, which, toDevice(pointer), bytes); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes,
                                                         CUmem_range_attribute *which, size_t count,
                                                         const void *pointer, size_t bytes) {
  return perform([&] {
    return cuMemRangeGetAttributes(data, dataSizes, which, count, toDevice(pointer), bytes);
  });
}

PTXRUN_RUNTIME_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool,
                                                        CUmemLocation *location,
                                                        CUmemAllocationType type) {
  return perform([&] { return cuMemGetDefaultMemPool(pool, location, type); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, CUmemLocation *location,
                                                 CUmemAllocationType type) {
  return perform([&] { return cuMemGetMemPool(pool, location, type); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                                                 cudaMemPool_t pool) {
  return perform([&] { return cuMemSetMemPool(location, type, pool); });
}
