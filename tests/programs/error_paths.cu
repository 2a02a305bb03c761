// What goes wrong in programs, and the code and the words that each mistake gets: launches, pointers, handles, sticky errors and how a process gets rid of
// them.
#include "check.h"
#include <string>
// nvcc: -arch=compute_90
__global__ void nothing() {}
__global__ void needsShared(int *p) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (p)
    p[threadIdx.x] = s[threadIdx.x];
}
__global__ void __launch_bounds__(64) small(int *p) { p[threadIdx.x] = 1; }
__global__ void writeTo(int *p) { *p = 1; }
__global__ void trap() { __trap(); }
__global__ void misaligned(char *p) { *(int *)(p + 1) = 5; }
__global__ void badStack(int n, int *out) {
  volatile int a[4];
  a[0] = n;
  out[0] = a[0];
}

static void after(cudaError_t got, cudaError_t want, const char *what) {
  if (got != want) {
    printf("%s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
    ++failures;
  }
}
#define AFTER(call, want) after((call), want, #call)
#define LAUNCH(launch, want)                                                                       \
  launch;                                                                                          \
  after(cudaPeekAtLastError(), want, #launch);                                                     \
  after(cudaGetLastError(), want, #launch);                                                        \
  after(cudaGetLastError(), cudaSuccess, "the next")

/// A kernel that spoils the context: the code comes with the next synchronization, stays, and a reset takes it away.
template <class F> static void sticky(F launch, cudaError_t want, const char *what) {
  int *d = nullptr;
  launch();
  after(cudaDeviceSynchronize(), want, what);
  after(cudaMalloc(&d, 4), want, what);
  after(cudaGetLastError(), want, what);
  after(cudaGetLastError(), want, what); // cannot be cleared
  after(cudaDeviceReset(), cudaSuccess, what);
  cudaGetLastError();
  after(cudaMalloc(&d, 4), cudaSuccess, what);
  nothing<<<1, 1>>>();
  after(cudaDeviceSynchronize(), cudaSuccess, what);
}

int main() {
  int *d;
  CHECK(cudaMalloc(&d, 4096));
  LAUNCH((nothing<<<0, 32>>>()), cudaErrorInvalidConfiguration);
  LAUNCH((nothing<<<1, 0>>>()), cudaErrorInvalidConfiguration);
  LAUNCH((nothing<<<1, 1025>>>()), cudaErrorInvalidConfiguration);
  LAUNCH((nothing<<<1, dim3(1, 1, 65)>>>()), cudaErrorInvalidConfiguration);
  LAUNCH((nothing<<<dim3(1, 65536), 1>>>()), cudaErrorInvalidConfiguration);
  LAUNCH((needsShared<<<1, 32, 1 << 20>>>(nullptr)), cudaErrorInvalidValue);
  LAUNCH((needsShared<<<1, 32, 50000>>>(nullptr)), cudaErrorInvalidValue); // more than 48 KiB has to be asked for
  CHECK(cudaFuncSetAttribute(needsShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  LAUNCH((needsShared<<<1, 32, 50000>>>(d)), cudaSuccess);
  CHECK(cudaDeviceSynchronize());
  AFTER(cudaFuncSetAttribute(needsShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20), cudaErrorInvalidValue);
  cudaGetLastError();
  small<<<1, 65>>>(d); // more than its bounds
  EXPECT(cudaGetLastError() != cudaSuccess);
  AFTER(cudaLaunchKernel((const void *)&failures, dim3(1), dim3(1), nullptr, 0, 0), cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes attributes;
  AFTER(cudaFuncGetAttributes(&attributes, (const void *)&failures), cudaErrorInvalidDeviceFunction);
  AFTER(cudaMalloc((void **)nullptr, 4), cudaErrorInvalidValue);
  int *huge;
  AFTER(cudaMalloc(&huge, size_t(1) << 50), cudaErrorMemoryAllocation);
  AFTER(cudaFree((void *)16), cudaErrorInvalidValue);
  AFTER(cudaMemcpy(d, &failures, 8192, cudaMemcpyHostToDevice), cudaErrorInvalidValue); // 4096 are there
  AFTER(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
  AFTER(cudaMemset(d, 0, 5000), cudaErrorInvalidValue);
  AFTER(cudaStreamSynchronize((cudaStream_t)0x1230), cudaErrorInvalidResourceHandle);
  AFTER(cudaEventSynchronize(nullptr), cudaErrorInvalidResourceHandle);
  AFTER(cudaEventCreate(nullptr), cudaErrorInvalidValue);
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamDestroy(s));
  AFTER(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
  cudaEvent_t e1, e2;
  float ms;
  CHECK(cudaEventCreate(&e1));
  CHECK(cudaEventCreate(&e2));
  AFTER(cudaEventElapsedTime(&ms, e1, e2), cudaErrorInvalidResourceHandle); // not recorded
  AFTER(cudaSetDevice(-1), cudaErrorInvalidDevice);
  AFTER(cudaSetDevice(500), cudaErrorInvalidDevice);
  cudaDeviceProp p;
  AFTER(cudaGetDeviceProperties(&p, 99), cudaErrorInvalidDevice);
  AFTER(cudaGetLastError(), cudaErrorInvalidDevice);
  AFTER(cudaGetLastError(), cudaSuccess);
  size_t limit;
  AFTER(cudaDeviceGetLimit(&limit, cudaLimit(77)), cudaErrorUnsupportedLimit);
  AFTER(cudaDeviceGetLimit(&limit, cudaLimitStackSize), cudaSuccess);
  cudaGetLastError();
  EXPECT(limit >= 1024);

  sticky([] { writeTo<<<1, 1>>>((int *)nullptr); }, cudaErrorIllegalAddress, "null");
  sticky([] { writeTo<<<1, 1>>>((int *)0x7000000000ull); }, cudaErrorIllegalAddress, "far");
  sticky([] { trap<<<1, 1>>>(); }, cudaErrorLaunchFailure, "trap");

  EXPECT(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
  EXPECT(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) == "an illegal memory access was encountered");
  EXPECT(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)) == "invalid configuration argument");
  EXPECT(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  EXPECT(std::string(cudaGetErrorString(cudaErrorInvalidDeviceFunction)) == "invalid device function");
  EXPECT(std::string(cudaGetErrorString(cudaErrorLaunchFailure)) == "unspecified launch failure");
  EXPECT(std::string(cudaGetErrorString(cudaErrorCooperativeLaunchTooLarge)) == "too many blocks in cooperative launch");
  EXPECT(std::string(cudaGetErrorString(cudaErrorMisalignedAddress)) == "misaligned address");
  EXPECT(std::string(cudaGetErrorString(cudaError_t(12345))) == "unrecognized error code");
  EXPECT(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
  return done();
}
