// Two devices: what each has of its own, copies between them, kernels that read the other's memory, events and streams across, a reduction over both.
// environment: PTXRUN_DEVICES=2
#include "check.h"
#include <thread>
// nvcc: -arch=compute_90
__device__ int ownCounter;
__constant__ float factor;

__global__ void fill(float *x, int n, float base) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = (base + i) * factor;
}
__global__ void addFrom(float *x, const float *other, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] += other[i];
}
__global__ void countUp() { atomicAdd(&ownCounter, 1); }
__global__ void partial(const float *x, double *out, int n) {
  __shared__ double part[128];
  double s = 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
    s += x[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int step = 64; step; step /= 2) {
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd_system(out, part[0]);
}

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  if (count < 2) {
    printf("one device only\n");
    return 77;
  }
  const int n = 5000;
  float *memory[2];
  cudaStream_t streams[2];
  for (int d = 0; d < 2; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaMalloc(&memory[d], n * 4));
    CHECK(cudaStreamCreate(&streams[d]));
    float f = float(d + 1);
    CHECK(cudaMemcpyToSymbol(factor, &f, 4));
    for (int i = 0; i <= d; ++i)
      countUp<<<2, 3>>>();
    int can = 0;
    CHECK(cudaDeviceCanAccessPeer(&can, d, 1 - d));
    EXPECT(can == 1);
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, memory[d]));
    EXPECT(a.device == d && a.type == cudaMemoryTypeDevice);
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, d));
    EXPECT(p.unifiedAddressing && p.totalGlobalMem > 0);
  }
  for (int d = 0; d < 2; ++d) {
    CHECK(cudaSetDevice(d));
    int counter = 0;
    CHECK(cudaMemcpyFromSymbol(&counter, ownCounter, 4));
    EXPECT(counter == 6 * (d + 1));
    CHECK(cudaDeviceEnablePeerAccess(1 - d, 0));
    EXPECT(cudaDeviceEnablePeerAccess(1 - d, 0) == cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
    fill<<<(n + 255) / 256, 256, 0, streams[d]>>>(memory[d], n, 10.0f * d);
  }
  cudaEvent_t filled;
  CHECK(cudaSetDevice(1));
  CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
  CHECK(cudaEventRecord(filled, streams[1]));
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamWaitEvent(streams[0], filled, 0));
  addFrom<<<(n + 255) / 256, 256, 0, streams[0]>>>(memory[0], memory[1], n);
  CHECK(cudaStreamSynchronize(streams[0]));
  std::vector<float> got = toHost(memory[0], n);
  for (int i = 0; i < n; ++i)
    EXPECT(got[i] == i + (10.0f + i) * 2);
  CHECK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, n * 4));
  got = toHost(memory[1], n);
  EXPECT(got[7] == 7 + 34);
  CHECK(cudaMemset(memory[0], 0, n * 4));
  CHECK(cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, n * 4, streams[0]));
  CHECK(cudaStreamSynchronize(streams[0]));
  got = toHost(memory[0], n);
  EXPECT(got[n - 1] == n - 1 + (10.0f + n - 1) * 2);
  // a box between devices
  cudaMemcpy3DPeerParms box = {};
  box.srcDevice = 0, box.dstDevice = 1;
  box.srcPtr = make_cudaPitchedPtr(memory[0], 400, 100, 50), box.dstPtr = make_cudaPitchedPtr(memory[1], 400, 100, 50);
  box.dstPos = make_cudaPos(40, 1, 0);
  box.extent = make_cudaExtent(200, 20, 1);
  CHECK(cudaMemcpy3DPeer(&box));
  std::vector<float> boxed = toHost(memory[1], n);
  EXPECT(boxed[100 + 10] == got[0] && boxed[100 + 59] == got[49] && boxed[60 + 100] == got[160 - 0]);
  // a sum over both, each with a host thread of its own
  double *total;
  CHECK(cudaMallocManaged(&total, 8));
  *total = 0;
  std::thread threads[2];
  for (int d = 0; d < 2; ++d)
    threads[d] = std::thread([=] {
      CHECK(cudaSetDevice(d));
      int now = -1;
      CHECK(cudaGetDevice(&now));
      EXPECT(now == d);
      partial<<<8, 128>>>(memory[d], total, n);
      CHECK(cudaDeviceSynchronize());
    });
  double want = 0;
  for (int d = 0; d < 2; ++d)
    threads[d].join();
  for (int i = 0; i < n; ++i)
    want += double(got[i]) + boxed[i];
  EXPECT(fabs(*total - want) < 1e-6 * want);
  // what is wrong
  CHECK(cudaSetDevice(0));
  EXPECT(cudaSetDevice(count) == cudaErrorInvalidDevice);
  cudaGetLastError();
  CHECK(cudaSetDevice(1));
  EXPECT(cudaEventRecord(filled, streams[0]) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  // device 1 is current, the stream is device 0's
  fill<<<1, 32, 0, streams[0]>>>(memory[0], 1, 0.0f);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamSynchronize(streams[0]));
  CHECK(cudaDeviceDisablePeerAccess(0));
  EXPECT(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
  cudaGetLastError();
  for (int d = 0; d < 2; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaFree(memory[d]));
    CHECK(cudaStreamDestroy(streams[d]));
    CHECK(cudaDeviceReset());
  }
  return done();
}
