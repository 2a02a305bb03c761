// C = A B^T in f16 with f32 sums in tensor memory (tcgen05), for sm_100a. Pairs of blocks multiply 256 x 128 elements together: each
// copies its 128 rows of A and its 64 rows of B through the tensor memory accelerator, one thread of the first block multiplies for
// both, and each block reads its half of the result out of its own tensor memory. Two mbarriers per stage: `full`, of the first block,
// counts the bytes of both; `empty` of each block is told by a commit. A is m x k, B is n x k, C is m x n, all row by row.
#include <cstdint>
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int kM = 128, kN = 128, kK = 64, kStages = 3;

__device__ uint32_t shared(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t *barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(barrier)), "r"(count) : "memory");
}

__device__ void wait(uint64_t *barrier, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred complete;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
               "@complete bra done;\n"
               "bra again;\n"
               "done:\n"
               "}" ::"r"(shared(barrier)), "r"(parity) : "memory");
}

// The address of the first block's variable of that name.
__device__ uint32_t ofLeader(const void *p) {
  uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(address) : "r"(shared(p)));
  return address;
}

__device__ void copyTile(void *tile, const CUtensorMap &map, int column, int row, uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared(tile)),
               "l"(&map), "r"(column), "r"(row), "r"(barrier)
               : "memory");
}

// A tile of rows of 64 halves, 128 bytes swizzled: 8 rows are 1024 bytes.
__device__ uint64_t describe(const void *tile) {
  return uint64_t((shared(tile) & 0x3ffff) >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 46 | uint64_t(2) << 61;
}

__device__ void commit(uint64_t *barrier) {
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(shared(barrier)),
               "h"(uint16_t(3))
               : "memory");
}

struct Stage {
  alignas(1024) __half a[kM * kK];
  __half b[kN / 2 * kK];
};

// One lane of a warp that is whole.
__device__ bool isElected() {
  uint32_t is;
  asm volatile("{\n"
               ".reg .pred elected;\n"
               "elect.sync _|elected, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, elected;\n"
               "}"
               : "=r"(is));
  return is != 0;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)
    gemm(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, float *c, int n, int k) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Stage *stages = reinterpret_cast<Stage *>((reinterpret_cast<uintptr_t>(memory) + 1023) & ~uintptr_t(1023));
  __shared__ uint64_t full[kStages], empty[kStages], done;
  __shared__ uint32_t accumulators;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const int warp = threadIdx.x / 32, rounds = k / kK;
  const int firstRow = blockIdx.x * kM, firstColumn = blockIdx.y * kN;
  if (warp == 1 && isElected()) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], 1);
    }
    init(&done, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (warp == 0)
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 128;\n"
                 "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::"r"(shared(&accumulators))
                 : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  const uint32_t d = accumulators;

  if (warp == 1 && isElected()) {  // copies
    for (int r = 0; r < rounds; ++r) {
      const int s = r % kStages;
      wait(&empty[s], (r / kStages & 1) ^ 1);  // the first round finds the stages free
      if (rank == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full[s])), "r"(uint32_t(2 * sizeof(Stage)))
                     : "memory");
      copyTile(stages[s].a, mapA, r * kK, firstRow, ofLeader(&full[s]));
      copyTile(stages[s].b, mapB, r * kK, firstColumn + rank * (kN / 2), ofLeader(&full[s]));
    }
  } else if (warp == 0 && rank == 0 && isElected()) {  // multiplies
    constexpr uint32_t kInstruction = 1 << 4 | (kN >> 3) << 17 | (2 * kM >> 4) << 24;  // f32 = f16 * f16
    for (int r = 0; r < rounds; ++r) {
      const int s = r % kStages;
      wait(&full[s], r / kStages & 1);
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
      for (int i = 0; i < kK / 16; ++i)
        asm volatile("{\n"
                     ".reg .pred hasInput;\n"
                     "setp.ne.b32 hasInput, %4, 0;\n"
                     "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, hasInput;\n"
                     "}" ::"r"(d), "l"(describe(stages[s].a) + 2 * i), "l"(describe(stages[s].b) + 2 * i), "r"(kInstruction), "r"(r + i)
                     : "memory");
      commit(&empty[s]);
    }
    commit(&done);
  }
  __syncwarp();
  wait(&done, 0);
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");

  float *to = c + size_t(firstRow + threadIdx.x) * n + firstColumn;
  for (int column = 0; column < kN; column += 8) {
    uint32_t x[8];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
                 "tcgen05.wait::ld.sync.aligned;"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]), "=r"(x[4]), "=r"(x[5]), "=r"(x[6]), "=r"(x[7])
                 : "r"(d + (warp << 21) + column));
    for (int i = 0; i < 8; ++i)
      to[column + i] = __uint_as_float(x[i]);
  }
  asm volatile("tcgen05.fence::before_thread_sync;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (warp == 0)
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 128;" ::"r"(d) : "memory");
}
