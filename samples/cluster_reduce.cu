// Row sums by clusters: the eight blocks of a cluster share a row, each adds up an eighth of it and leaves its sum in its own shared
// memory, where the first block reads it (distributed shared memory). A histogram of the row is spread over the cluster: every block
// owns 32 of the 256 bins and counts for all. For sm_90.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kBlocks = 8, kBins = 256, kBinsPerBlock = kBins / kBlocks;

extern "C" __global__ void __cluster_dims__(kBlocks, 1, 1)
    reduceRows(const unsigned *__restrict__ data, int columns, unsigned *sums, unsigned *histograms) {
  __shared__ unsigned sum, bins[kBinsPerBlock];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), row = blockIdx.x / kBlocks;
  if (threadIdx.x < kBinsPerBlock) bins[threadIdx.x] = 0;
  if (threadIdx.x == 0) sum = 0;
  cluster.sync();

  unsigned mine = 0;
  for (int c = rank * blockDim.x + threadIdx.x; c < columns; c += kBlocks * blockDim.x) {
    const unsigned value = data[row * columns + c], bin = value % kBins;
    mine += value;
    atomicAdd(cluster.map_shared_rank(&bins[bin % kBinsPerBlock], bin / kBinsPerBlock), 1);
  }
  atomicAdd(&sum, mine);
  cluster.sync();

  if (rank == 0 && threadIdx.x == 0) {
    unsigned total = 0;
    for (int b = 0; b < kBlocks; ++b) total += *cluster.map_shared_rank(&sum, b);
    sums[row] = total;
  }
  if (threadIdx.x < kBinsPerBlock) histograms[row * kBins + rank * kBinsPerBlock + threadIdx.x] = bins[threadIdx.x];
  cluster.sync();  // nobody leaves while others may read its memory
}
