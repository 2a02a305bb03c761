// Memory pools: of the device and one's own, reuse in a stream and across streams by events, thresholds, statistics, trimming, access of others.
#include "check.h"
#include <cuda.h>

__global__ void write(int *p, int v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = v + i;
}
__global__ void check(const int *p, int v, int n, int *wrong) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && p[i] != v + i)
    atomicAdd(wrong, 1);
}

int main() {
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  cudaMemPool_t standard, current;
  CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
  CHECK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(standard == current);
  cuuint64_t threshold = 0;
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(threshold == 0);
  threshold = ~0ull;
  CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
  cudaStream_t a, b;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  int *wrong;
  CHECK(cudaMallocManaged(&wrong, 4));
  *wrong = 0;
  const int n = 1 << 16;
  // in one stream memory goes round
  void *before = nullptr;
  int same = 0;
  for (int i = 0; i < 20; ++i) {
    int *p;
    CHECK(cudaMallocAsync(&p, n * 4, a));
    same += p == before;
    before = p;
    write<<<n / 256, 256, 0, a>>>(p, i, n);
    check<<<n / 256, 256, 0, a>>>(p, i, n, wrong);
    CHECK(cudaFreeAsync(p, a));
  }
  CHECK(cudaStreamSynchronize(a));
  EXPECT(*wrong == 0 && same > 0);
  cuuint64_t reserved = 0, used = 1, usedHigh = 0, reservedHigh = 0;
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReservedMemCurrent, &reserved));
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &usedHigh));
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReservedMemHigh, &reservedHigh));
  EXPECT(used == 0 && reserved >= n * 4 && usedHigh >= n * 4 && reservedHigh >= usedHigh);
  CHECK(cudaMemPoolTrimTo(standard, 0));
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT(reserved == 0);
  usedHigh = 0;
  CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &usedHigh));
  CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &usedHigh));
  EXPECT(usedHigh == 0);
  // taken in one stream, used and freed in another
  int *p;
  cudaEvent_t ready;
  CHECK(cudaEventCreate(&ready));
  CHECK(cudaMallocAsync(&p, n * 4, a));
  write<<<n / 256, 256, 0, a>>>(p, 5, n);
  CHECK(cudaEventRecord(ready, a));
  CHECK(cudaStreamWaitEvent(b, ready, 0));
  check<<<n / 256, 256, 0, b>>>(p, 5, n, wrong);
  CHECK(cudaFreeAsync(p, b));
  CHECK(cudaStreamSynchronize(b));
  EXPECT(*wrong == 0);
  // of cudaMalloc's, freed in order; of the pool's, freed at once
  int *q;
  CHECK(cudaMalloc(&q, 4096));
  CHECK(cudaFreeAsync(q, a));
  CHECK(cudaMallocAsync(&q, 4096, a));
  CHECK(cudaStreamSynchronize(a));
  CHECK(cudaFree(q));
  EXPECT(cudaFreeAsync(q, a) == cudaErrorInvalidValue);
  cudaGetLastError();
  // a pool of one's own
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.maxSize = 1 << 20;
  cudaMemPool_t own;
  CHECK(cudaMemPoolCreate(&own, &props));
  CHECK(cudaMallocFromPoolAsync((void **)&p, 1000, own, a));
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, p));
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
  int *large = nullptr;
  EXPECT(cudaMallocFromPoolAsync((void **)&large, 64 << 20, own, a) == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  write<<<1, 250, 0, a>>>(p, 9, 250);
  check<<<1, 250, 0, a>>>(p, 9, 250, wrong);
  CHECK(cudaFreeAsync(p, a));
  CHECK(cudaStreamSynchronize(a));
  EXPECT(*wrong == 0);
  CHECK(cudaDeviceSetMemPool(0, own));
  CHECK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == own);
  CHECK(cudaMallocAsync(&p, 2000, a));
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used >= 2000);
  CHECK(cudaFreeAsync(p, a));
  CHECK(cudaStreamSynchronize(a));
  CHECK(cudaDeviceSetMemPool(0, standard));
  cudaMemAccessFlags flags;
  cudaMemLocation where = {cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemPoolGetAccess(&flags, own, &where));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  int reuse = 0;
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT(reuse == 1);
  reuse = 0;
  CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolReuseFollowEventDependencies, &reuse));
  CHECK(cudaMemPoolDestroy(own));
  EXPECT(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  cudaGetLastError();
  return done();
}
