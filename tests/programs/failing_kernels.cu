// What kernels do wrong, and what hosts are told: bad addresses, traps, too much shared memory, wrong configurations;
// the context is lost until it is reset, and a process goes on.
#include "check.h"
#include <cstring>

__global__ void store(int *p) { p[threadIdx.x] = 1; }
__global__ void trap(int n) {
  if (threadIdx.x == n)
    __trap();
}
__global__ void sharedBeyond(int n, int *out) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  *out = s[n];
}
__global__ void quits(int *p) {
  if (threadIdx.x % 2)
    asm volatile("exit;");
  __syncthreads();
  p[threadIdx.x] = 5;
}
template <class F> static cudaError_t lost(F f) {
  f();
  cudaError_t error = cudaDeviceSynchronize();
  void *p;
  EXPECT(cudaMalloc(&p, 4) == error || error == cudaSuccess);
  EXPECT(cudaGetLastError() == error);
  EXPECT(cudaDeviceReset() == cudaSuccess);
  EXPECT(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMalloc(&p, 128));
  store<<<1, 32>>>((int *)p);
  CHECK(cudaDeviceSynchronize());
  return error;
}

int main() {
  EXPECT(lost([] { store<<<1, 32>>>(nullptr); }) == cudaErrorIllegalAddress);
  EXPECT(lost([] { store<<<1, 32>>>((int *)0x123456780000ull); }) == cudaErrorIllegalAddress);
  cudaError_t trapped = lost([] { trap<<<2, 64>>>(40); });
  EXPECT(trapped == cudaErrorLaunchFailure || trapped == cudaErrorIllegalInstruction);
  int *p;
  CHECK(cudaMalloc(&p, 4096));
  store<<<0, 32>>>(p);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  store<<<1, 1025>>>(p);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  store<<<dim3(1, 70000), 32>>>(p);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  store<<<1, dim3(8, 8, 65)>>>(p);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  sharedBeyond<<<1, 32, 300000>>>(0, p);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaDeviceSynchronize()); // none of these is sticky
  quits<<<1, 32>>>(p);
  CHECK(cudaDeviceSynchronize());
  std::vector<int> got = toHost(p, 32);
  for (int i = 0; i < 32; i += 2)
    EXPECT(got[i] == 5);
  EXPECT(cudaMemcpy(p, got.data(), 1 << 30, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(p, got.data(), 4, (cudaMemcpyKind)77) == cudaErrorInvalidMemcpyDirection);
  cudaGetLastError();
  EXPECT(cudaStreamSynchronize((cudaStream_t)0x7777) != cudaSuccess);
  cudaGetLastError();
  cudaStream_t s = nullptr;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamDestroy(s));
  EXPECT(cudaLaunchKernel((void *)&failures, dim3(1), dim3(1), nullptr, 0, 0) == cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
  EXPECT(cudaMemset((void *)16, 0, 8) != cudaSuccess);
  cudaGetLastError();
  EXPECT(cudaFuncSetAttribute(store, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) == cudaErrorInvalidValue);
  return (cudaGetLastError(), done());
}
