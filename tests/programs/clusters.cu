// nvcc: -arch=compute_90
// Thread block clusters: distributed shared memory, cluster barriers, launch attributes, occupancy of clusters, mapped addresses.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) histogram(const int *in, int n, int *bins) {
  extern __shared__ int part[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 64; i += blockDim.x)
    part[i] = 0;
  cluster.sync();
  for (int i = cluster.thread_rank() + blockIdx.x / 4 * cluster.num_threads(); i < n; i += gridDim.x * blockDim.x) {
    int bin = in[i] & 255;
    atomicAdd(cluster.map_shared_rank(part, bin / 64) + bin % 64, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 64; i += blockDim.x)
    atomicAdd(&bins[cluster.block_rank() * 64 + i], part[i]);
}
__global__ void ring(int *out) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    mine = blockIdx.x * 10;
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(std::move(token));
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int *theirs = cluster.map_shared_rank(&mine, next);
  if (threadIdx.x == 0)
    out[blockIdx.x] = *theirs + cluster.query_shared_rank(theirs) * 1000 + cluster.dim_blocks().x * 100000 + cluster.block_index().x;
  cluster.sync();
}

int main() {
  const int n = 10000;
  std::vector<int> in(n), want(256, 0);
  for (int i = 0; i < n; ++i)
    ++want[(in[i] = i * i % 1009) & 255];
  int *d = toDevice(in), *bins;
  CHECK(cudaMallocManaged(&bins, 1024));
  CHECK(cudaMemset(bins, 0, 1024));
  histogram<<<8, 96, 64 * 4>>>(d, n, bins);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i)
    EXPECT(bins[i] == want[i]);
  for (unsigned size : {2u, 8u, 16u}) {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[2] = {};
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = size, attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    attribute[1].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
    attribute[1].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
    config.gridDim = 32, config.blockDim = 64, config.attrs = attribute, config.numAttrs = 2;
    if (size > 8)
      CHECK(cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    int most = 0, clusters = 0;
    CHECK(cudaOccupancyMaxPotentialClusterSize(&most, ring, &config));
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, ring, &config));
    EXPECT(most >= 8 && clusters > 0);
    CHECK(cudaLaunchKernelEx(&config, ring, bins));
    CHECK(cudaDeviceSynchronize());
    for (unsigned b = 0; b < 32; ++b) {
      unsigned next = (b % size + 1) % size;
      EXPECT(bins[b] == int((b / size * size + next) * 10 + next * 1000 + size * 100000 + b % size));
    }
  }
  cudaLaunchConfig_t bad = {};
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeClusterDimension, a.val.clusterDim.x = 3, a.val.clusterDim.y = a.val.clusterDim.z = 1;
  bad.gridDim = 32, bad.blockDim = 32, bad.attrs = &a, bad.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&bad, ring, bins) != cudaSuccess);
  cudaGetLastError();
  return done();
}
