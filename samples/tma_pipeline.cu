// y = A x by a warp-specialised pipeline: warp 0 copies tiles of A through the tensor memory accelerator (cp.async.bulk.tensor) into a
// ring of stages, four warps multiply. Two mbarriers per stage: `full` counts the tile's bytes, `empty` the warps that are done with it.
// One block computes 32 rows; a tile is 32 rows of 64 floats. For sm_90.
#include <cstdint>
#include <cuda.h>

constexpr int kRows = 32, kColumns = 64, kStages = 3, kConsumers = 4;

__device__ uint32_t shared(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t *barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(barrier)), "r"(count) : "memory");
}

__device__ void wait(uint64_t *barrier, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred complete;\n"
               "again:\n"
               "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 complete, [%0], %1;\n"
               "@complete bra done;\n"
               "bra again;\n"
               "done:\n"
               "}" ::"r"(shared(barrier)), "r"(parity) : "memory");
}

__device__ void arrive(uint64_t *barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared(barrier)) : "memory");
}

__device__ void expectBytes(uint64_t *barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(barrier)), "r"(bytes) : "memory");
}

__device__ void copyTile(void *tile, const CUtensorMap &map, int column, int row, uint64_t *barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared(tile)),
               "l"(&map), "r"(column), "r"(row), "r"(shared(barrier))
               : "memory");
}

extern "C" __global__ void __launch_bounds__(32 * (1 + kConsumers))
    multiply(const __grid_constant__ CUtensorMap map, const float *__restrict__ x, float *y, int columns) {
  __shared__ alignas(128) float tiles[kStages][kRows][kColumns];
  __shared__ uint64_t full[kStages], empty[kStages];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, firstRow = blockIdx.x * kRows;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], kConsumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  const int tileCount = columns / kColumns;
  if (warp == 0) {
    if (lane == 0)
      for (int t = 0; t < tileCount; ++t) {
        const int stage = t % kStages, round = t / kStages;
        wait(&empty[stage], (round & 1) ^ 1);  // the first round finds the stages free
        expectBytes(&full[stage], sizeof tiles[stage]);
        copyTile(tiles[stage], map, t * kColumns, firstRow, &full[stage]);
      }
    return;
  }

  // Each consumer warp has eight rows; its lanes share the columns.
  constexpr int kRowsPerWarp = kRows / kConsumers;
  float sums[kRowsPerWarp] = {};
  for (int t = 0; t < tileCount; ++t) {
    const int stage = t % kStages, round = t / kStages;
    wait(&full[stage], round & 1);
    for (int c = lane; c < kColumns; c += 32)
      for (int r = 0; r < kRowsPerWarp; ++r)
        sums[r] += tiles[stage][(warp - 1) * kRowsPerWarp + r][c] * x[t * kColumns + c];
    __syncwarp();
    if (lane == 0) arrive(&empty[stage]);
  }
  for (int r = 0; r < kRowsPerWarp; ++r) {
    for (int offset = 16; offset > 0; offset /= 2) sums[r] += __shfl_down_sync(0xffffffffu, sums[r], offset);
    if (lane == 0) y[firstRow + (warp - 1) * kRowsPerWarp + r] = sums[r];
  }
}
