// nvcc: -arch=compute_75 -rdc=true
// Constant, managed, device and texture-free memory in every way hosts reach it: symbols, zero-copy, registered memory, pitches, 3D, prefetch
// and advice, pools, attributes of pointers, peers.
#include "check.h"
#include <cstring>

__constant__ float coefficients[16];
__constant__ struct {
  int a;
  double b;
} settings = {3, 2.5};
__device__ int counters[8] = {1, 2, 3};
__device__ __managed__ int shared[4] = {5, 6, 7, 8};
__device__ float *remote;
__global__ void polynomial(float *x) {
  float v = x[threadIdx.x], r = 0;
  for (int i = 15; i >= 0; --i)
    r = r * v + coefficients[i];
  x[threadIdx.x] = r + settings.a * settings.b;
  atomicAdd(&counters[threadIdx.x % 8], 1);
  if (threadIdx.x < 4)
    shared[threadIdx.x] *= 2;
  if (remote && threadIdx.x == 0)
    remote[1] = 9;
}
__global__ void box(cudaPitchedPtr p, cudaExtent e) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  ((float *)((char *)p.ptr + (z * e.height + y) * p.pitch))[x] += x + 100 * y + 10000 * z;
}
__global__ void increment(int *p, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    ++p[i];
}

int main() {
  float c[16], x[32];
  for (int i = 0; i < 16; ++i)
    c[i] = i == 3 || i == 1 ? i : 0;
  CHECK(cudaMemcpyToSymbol(coefficients, c, sizeof c));
  int seven = 7;
  CHECK(cudaMemcpyToSymbolAsync(counters, &seven, 4, 5 * 4, cudaMemcpyHostToDevice, 0));
  std::vector<float> v(32);
  for (int i = 0; i < 32; ++i)
    v[i] = i * 0.25f;
  float *d = toDevice(v);
  polynomial<<<1, 32>>>(d);
  CHECK(cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i)
    EXPECT(x[i] == 3 * v[i] * v[i] * v[i] + v[i] + 7.5f);
  int got[8];
  CHECK(cudaMemcpyFromSymbol(got, counters, sizeof got));
  EXPECT(got[0] == 5 && got[2] == 7 && got[5] == 11 && got[7] == 4 && shared[3] == 16);
  size_t size = 0;
  float *address;
  CHECK(cudaGetSymbolSize(&size, coefficients));
  CHECK(cudaGetSymbolAddress((void **)&address, coefficients));
  CHECK(cudaMemcpy(x, address + 3, 4, cudaMemcpyDeviceToHost));
  EXPECT(size == 64 && x[0] == 3);
  float *mapped, *onDevice;
  CHECK(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&onDevice, mapped, 0));
  CHECK(cudaMemcpyToSymbol(remote, &onDevice, sizeof onDevice));
  polynomial<<<1, 32>>>(d);
  CHECK(cudaDeviceSynchronize());
  EXPECT(mapped[1] == 9);
  int *ordinary = (int *)aligned_alloc(4096, 8192), *alias;
  memset(ordinary, 0, 8192);
  CHECK(cudaHostRegister(ordinary, 8192, cudaHostRegisterMapped | cudaHostRegisterPortable));
  CHECK(cudaHostGetDevicePointer(&alias, ordinary, 0));
  increment<<<1, 64>>>(alias, 2048);
  CHECK(cudaDeviceSynchronize());
  EXPECT(ordinary[0] == 1 && ordinary[2047] == 1);
  unsigned flags;
  CHECK(cudaHostGetFlags(&flags, mapped));
  EXPECT(flags & cudaHostAllocMapped);
  EXPECT(cudaHostRegister(ordinary, 8192, 0) == cudaErrorHostMemoryAlreadyRegistered);
  cudaGetLastError();
  CHECK(cudaHostUnregister(ordinary));
  EXPECT(cudaHostUnregister(ordinary) == cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();

  cudaPointerAttributes a;
  CHECK(cudaPointerGetAttributes(&a, d + 3));
  EXPECT(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == d + 3);
  CHECK(cudaPointerGetAttributes(&a, mapped));
  EXPECT(a.type == cudaMemoryTypeHost && a.hostPointer == mapped);
  CHECK(cudaPointerGetAttributes(&a, shared));
  EXPECT(a.type == cudaMemoryTypeManaged);
  CHECK(cudaPointerGetAttributes(&a, &a));
  EXPECT(a.type == cudaMemoryTypeUnregistered);

  size_t pitch;
  char *rows;
  CHECK(cudaMallocPitch((void **)&rows, &pitch, 100, 7));
  EXPECT(pitch >= 100 && pitch % 32 == 0);
  std::vector<char> from(100 * 7), to(100 * 7, 1);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = i * 3;
  CHECK(cudaMemcpy2D(rows, pitch, from.data(), 100, 100, 7, cudaMemcpyHostToDevice));
  CHECK(cudaMemset2D(rows + 10, pitch, 0, 5, 3));
  CHECK(cudaMemcpy2DAsync(to.data(), 100, rows, pitch, 100, 7, cudaMemcpyDeviceToHost, 0));
  CHECK(cudaStreamSynchronize(0));
  for (int y = 0; y < 7; ++y)
    for (int i = 0; i < 100; ++i)
      EXPECT(to[y * 100 + i] == (y < 3 && i >= 10 && i < 15 ? 0 : from[y * 100 + i]));
  cudaExtent extent = make_cudaExtent(10 * sizeof(float), 4, 3);
  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, extent));
  CHECK(cudaMemset3D(volume, 0, extent));
  box<<<dim3(4, 3), 10>>>(volume, extent);
  std::vector<float> cube(120);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = volume, copy.dstPtr = make_cudaPitchedPtr(cube.data(), 40, 10, 4), copy.extent = extent, copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  EXPECT(cube[119] == 9 + 300 + 20000 && cube[41] == 10001);

  int *managed;
  CHECK(cudaMallocManaged(&managed, 1 << 20));
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
#if CUDART_VERSION >= 13000
  CHECK(cudaMemAdvise(managed, 1 << 20, cudaMemAdviseSetPreferredLocation, here));
  CHECK(cudaMemAdvise(managed, 1 << 20, cudaMemAdviseSetReadMostly, here));
  CHECK(cudaMemPrefetchAsync(managed, 1 << 20, here, 0, 0));
  increment<<<1, 256>>>(managed, 1 << 18);
  CHECK(cudaMemPrefetchAsync(managed, 1 << 20, host, 0, 0));
#endif
  int where = -7, mostly = -7;
  CHECK(cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributePreferredLocation, managed, 1 << 20));
  CHECK(cudaMemRangeGetAttribute(&mostly, 4, cudaMemRangeAttributeReadMostly, managed, 1 << 20));
  CHECK(cudaDeviceSynchronize());
  EXPECT(where == 0 && mostly == 1 && managed[77] == 1);

  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long keep = ~0ull, used = 1;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  int *p1, *p2;
  CHECK(cudaMallocAsync(&p1, 1000, 0));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used >= 1000);
  CHECK(cudaMallocFromPoolAsync(&p2, 1 << 16, pool, 0));
  CHECK(cudaFreeAsync(p1, 0));
  CHECK(cudaFreeAsync(p2, 0));
  CHECK(cudaStreamSynchronize(0));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  size_t free, total;
  void *tooMuch;
  CHECK(cudaMemGetInfo(&free, &total));
  EXPECT(cudaMalloc(&tooMuch, total * 2) == cudaErrorMemoryAllocation && cudaGetLastError() == cudaErrorMemoryAllocation);
  EXPECT(cudaFree((char *)d + 4) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaFree(nullptr));
  CHECK(cudaFree(d));
  CHECK(cudaFreeHost(mapped));
  CHECK(cudaMemcpy(x, x + 16, 64, cudaMemcpyHostToHost));
  return done();
}
