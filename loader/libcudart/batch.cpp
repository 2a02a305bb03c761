// Copies, prefetches and discards in batches. 12's copies say which one of them is wrong.
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

namespace {

/// Pointers are what the driver calls addresses.
CUdeviceptr *addresses(const void *const *pointers) {
  static_assert(sizeof(void *) == sizeof(CUdeviceptr));
  return reinterpret_cast<CUdeviceptr *>(const_cast<void **>(pointers));
}

} // namespace

#if PTXRUN_CUDART_MAJOR == 12
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyBatchAsync, _ptsz,
                          (void **to, void **from, size_t *bytes, size_t count,
                           CUmemcpyAttributes *attributes, size_t *firsts, size_t attributeCount,
                           size_t *failed, cudaStream_t stream),
                          (to, from, bytes, count, attributes, firsts, attributeCount, failed,
                           stream)) {
#undef cuMemcpyBatchAsync
  return perform([&] {
    return cuMemcpyBatchAsync(addresses(to), addresses(from), bytes, count, attributes, firsts,
                              attributeCount, failed, streamOf(stream));
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy3DBatchAsync, _ptsz,
                          (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
                           unsigned long long flags, cudaStream_t stream),
                          (count, copies, failed, flags, stream)) {
#undef cuMemcpy3DBatchAsync
  return perform(
      [&] { return cuMemcpy3DBatchAsync(count, copies, failed, flags, streamOf(stream)); });
}
#else
PTXRUN_RUNTIME_STREAM_API(cudaMemcpyBatchAsync, _ptsz,
                          (void *const *to, const void *const *from, const size_t *bytes,
                           size_t count, CUmemcpyAttributes *attributes, size_t *firsts,
                           size_t attributeCount, cudaStream_t stream),
                          (to, from, bytes, count, attributes, firsts, attributeCount, stream)) {
  return perform([&] {
    return cuMemcpyBatchAsync(addresses(to), addresses(from), const_cast<size_t *>(bytes), count,
                              attributes, firsts, attributeCount, streamOf(stream));
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemcpy3DBatchAsync, _ptsz,
                          (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, unsigned long long flags,
                           cudaStream_t stream),
                          (count, copies, flags, stream)) {
  return perform([&] { return cuMemcpy3DBatchAsync(count, copies, flags, streamOf(stream)); });
}
#endif

PTXRUN_RUNTIME_STREAM_API(cudaMemPrefetchBatchAsync, _ptsz,
                          (void **pointers, size_t *bytes, size_t count, CUmemLocation *locations,
                           size_t *firsts, size_t locationCount, unsigned long long flags,
                           cudaStream_t stream),
                          (pointers, bytes, count, locations, firsts, locationCount, flags,
                           stream)) {
  return perform([&] {
    return cuMemPrefetchBatchAsync(addresses(pointers), bytes, count, locations, firsts,
                                   locationCount, flags, streamOf(stream));
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemDiscardBatchAsync, _ptsz,
                          (void **pointers, size_t *bytes, size_t count, unsigned long long flags,
                           cudaStream_t stream),
                          (pointers, bytes, count, flags, stream)) {
  return perform([&] {
    return cuMemDiscardBatchAsync(addresses(pointers), bytes, count, flags, streamOf(stream));
  });
}
PTXRUN_RUNTIME_STREAM_API(cudaMemDiscardAndPrefetchBatchAsync, _ptsz,
                          (void **pointers, size_t *bytes, size_t count, CUmemLocation *locations,
                           size_t *firsts, size_t locationCount, unsigned long long flags,
                           cudaStream_t stream),
                          (pointers, bytes, count, locations, firsts, locationCount, flags,
                           stream)) {
  return perform([&] {
    return cuMemDiscardAndPrefetchBatchAsync(addresses(pointers), bytes, count, locations, firsts,
                                             locationCount, flags, streamOf(stream));
  });
}
