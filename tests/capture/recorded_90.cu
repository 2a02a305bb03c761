// Kernels of recorded_program.cpp for GPUs with clusters. `nvcc -arch=compute_90 -ptx -O3 -o recorded_90.ptx recorded_90.cu` makes the PTX beside
// this file.
#include <cooperative_groups.h>
#define GLOBAL extern "C" __global__ void
namespace cg = cooperative_groups;

GLOBAL __cluster_dims__(4, 1, 1) cluster_sums(unsigned *out, const unsigned *x) { // each block adds up what all of its cluster have
  __shared__ unsigned part[64];
  cg::cluster_group cluster = cg::this_cluster();
  part[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  unsigned sum = 0;
  for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) sum = sum * 3 + cluster.map_shared_rank(part, rank)[threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
GLOBAL cluster_slots(unsigned *out) { // of any cluster shape: who comes first has the first slot of the block of rank 0
  __shared__ unsigned next;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) next = 0;
  cluster.sync();
  const unsigned slot = atomicAdd(cluster.map_shared_rank(&next, 0), 1);
  out[blockIdx.x / cluster.num_blocks() * 1024 + slot] = blockIdx.x * 1000 + threadIdx.x;
  cluster.sync();
}
GLOBAL bulk_copies(unsigned *out, const unsigned *x) { // by the asynchronous proxy, an mbarrier says when
  __shared__ alignas(128) unsigned tile[256];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(at) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(to),
                 "l"(__cvta_generic_to_global(x + blockIdx.x * 256)), "r"(at) : "memory");
  }
  __syncthreads();
  unsigned isDone = 0;
  while (!isDone)
    asm volatile("{ .reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n\tselp.u32 %0, 1, 0, p; }" : "=r"(isDone) : "r"(at) : "memory");
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x] + 1;
}
GLOBAL waits_for_the_one_before(unsigned *x) { // launched while that still runs
  asm volatile("griddepcontrol.wait;" ::: "memory");
  x[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] * 3 + 1;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
