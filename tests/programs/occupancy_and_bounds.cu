// How many blocks fit: occupancy by threads and shared memory, launch bounds, sizes that the runtime suggests, grids that meet and grids too large to.
// nvcc: -arch=compute_90
#include "check.h"
#include <algorithm>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void plain(int *p) { p[0] = 1; }
__global__ void __launch_bounds__(96) bounded(int *p) { p[threadIdx.x] = blockDim.x; }
__global__ void __launch_bounds__(256, 4) twoBounds(int *p) { p[threadIdx.x] = blockDim.x; }
__global__ void withShared(int *p) {
  __shared__ int fixed[1000];
  extern __shared__ int dynamic[];
  fixed[threadIdx.x] = dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  p[threadIdx.x] = fixed[blockDim.x - 1 - threadIdx.x] + dynamic[threadIdx.x];
}
__global__ void meet(int *sum, int *out) {
  auto grid = cg::this_grid();
  atomicAdd(sum, int(grid.thread_rank()));
  grid.sync();
  if (threadIdx.x == 0)
    out[blockIdx.x] = *(volatile int *)sum;
  auto token = grid.barrier_arrive();
  grid.barrier_wait(std::move(token));
  if (grid.thread_rank() == 0)
    *sum = grid.is_valid() ? grid.num_blocks() : -1;
}

int main() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  int *d, *out;
  CHECK(cudaMallocManaged(&d, 4096));
  CHECK(cudaMallocManaged(&out, 65536));
  int blocks = 0;
  for (int threads = 32; threads <= 1024; threads += 32) {
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, threads, 0));
    int most = std::min(p.maxBlocksPerMultiProcessor, p.maxThreadsPerMultiProcessor / threads);
    EXPECT(blocks >= 1 && blocks <= most);
    // shared memory divides the rest
    int fewer = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, plain, threads, 32 * 1024));
    EXPECT(fewer <= blocks && fewer <= int(p.sharedMemPerMultiprocessor / (32 * 1024)) && fewer >= 1);
  }
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, withShared, 128, 40 * 1024));
  EXPECT(blocks >= 1 && blocks <= int(p.sharedMemPerMultiprocessor / (44 * 1024)));
  cudaFuncAttributes a;
  CHECK(cudaFuncGetAttributes(&a, bounded));
  EXPECT(a.maxThreadsPerBlock == 96 && a.sharedSizeBytes == 0);
  CHECK(cudaFuncGetAttributes(&a, twoBounds));
  EXPECT(a.maxThreadsPerBlock == 256);
  CHECK(cudaFuncGetAttributes(&a, withShared));
  EXPECT(a.sharedSizeBytes >= 4000 && a.sharedSizeBytes < 4200 && a.maxDynamicSharedSizeBytes > 40000 && a.maxThreadsPerBlock == 1024);
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded));
  EXPECT(block > 0 && block <= 96 && grid >= p.multiProcessorCount);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 200));
  EXPECT(block > 0 && block <= 200);
  bounded<<<1, 96>>>(d);
  CHECK(cudaDeviceSynchronize());
  EXPECT(d[95] == 96);
  bounded<<<1, 128>>>(d);
  EXPECT(cudaGetLastError() != cudaSuccess);
  withShared<<<1, 256, 1024>>>(d);
  CHECK(cudaDeviceSynchronize());
  EXPECT(d[10] == 255);

  // a grid that meets, as large as it can be, and one block more
  const int threads = 128;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, threads, 0));
  int most = blocks * p.multiProcessorCount;
  EXPECT(p.cooperativeLaunch == 1);
  void *arguments[] = {&d, &out};
  d[0] = 0;
  int some = std::min(most, 24);
  CHECK(cudaLaunchCooperativeKernel((const void *)meet, dim3(some), dim3(threads), arguments, 0, 0));
  CHECK(cudaDeviceSynchronize());
  int n = some * threads;
  for (int i = 0; i < some; ++i)
    EXPECT(out[i] == n * (n - 1) / 2);
  EXPECT(d[0] == some);
  EXPECT(cudaLaunchCooperativeKernel((const void *)meet, dim3(most + 1), dim3(threads), arguments, 0, 0) == cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeCooperative;
  attribute[0].val.cooperative = 1;
  config.gridDim = dim3(most * 2), config.blockDim = dim3(threads), config.attrs = attribute, config.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&config, meet, d, out) == cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  config.gridDim = dim3(some), d[0] = 0;
  CHECK(cudaLaunchKernelEx(&config, meet, d, out));
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[some - 1] == n * (n - 1) / 2);
  return done();
}
