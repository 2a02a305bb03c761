// C = A B^T of 4-bit floats with a scale (ue4m3) for every 16 elements along K (nvfp4), for sm_100a: tcgen05.mma.kind::mxf4nvf4. Scales
// lie in memory as tensor memory wants them: for 128 rows and 64 of K, 512 bytes, that of row r and block s at (r % 32) * 16 + r / 32
// * 4 + s; they are copied to all four quarters of the lanes (tcgen05.cp.32x128b.warpx4). One block computes 128 x 128 elements; a
// stage has 256 of K. A is m x k, B is n x k (two elements a byte), C is m x n, all row by row.
#include <cstdint>
#include <cuda.h>

constexpr int kTile = 128, kK = 256, kBlocks = kK / 64;
constexpr uint32_t kScaleBytes = 512 * kBlocks, kTileBytes = kTile * kK / 2;
constexpr uint32_t kColumnA = 128, kColumnB = 128 + 4 * kBlocks;  // of the scales, behind the accumulators

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

__device__ void copyTile(void *tile, const CUtensorMap &map, int column, int row, uint64_t *barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared(tile)),
               "l"(&map), "r"(column), "r"(row), "r"(shared(barrier))
               : "memory");
}

__device__ void copyBytes(void *to, const void *from, uint32_t bytes, uint64_t *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(to)), "l"(from),
               "r"(bytes), "r"(shared(barrier))
               : "memory");
}

// Rows of 128 bytes, swizzled; or 32 rows of 16 bytes on end.
__device__ uint64_t describe(const void *tile, uint32_t eightRows, uint64_t swizzle) {
  return uint64_t((shared(tile) & 0x3ffff) >> 4) | uint64_t(1) << 16 | uint64_t(eightRows >> 4) << 32 | uint64_t(1) << 46 | swizzle << 61;
}

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

extern "C" __global__ void __launch_bounds__(128)
    gemm(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, const uint8_t *scalesA, const uint8_t *scalesB,
         float *c, int n, int k) {
  __shared__ alignas(1024) uint8_t a[kTileBytes];
  __shared__ alignas(1024) uint8_t b[kTileBytes];
  __shared__ alignas(128) uint8_t scaleA[kScaleBytes], scaleB[kScaleBytes];
  __shared__ uint64_t full, done;
  __shared__ uint32_t allocated;
  const int warp = threadIdx.x / 32, rounds = k / kK;
  if (warp == 1 && isElected()) {
    init(&full, 1);
    init(&done, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (warp == 0)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(shared(&allocated)) : "memory");
  __syncthreads();
  const uint32_t d = allocated;

  if (warp == 0 && isElected()) {
    constexpr uint32_t kInstruction = 1 << 7 | 1 << 10 | (kTile >> 3) << 17 | (kTile >> 7) << 27;  // e2m1, scales ue4m3
    for (int r = 0; r < rounds; ++r) {
      if (r > 0)
        wait(&done, (r - 1) & 1);  // the tiles are free again
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full)), "r"(2 * (kTileBytes + kScaleBytes))
                   : "memory");
      copyTile(a, mapA, r * kK / 2, blockIdx.y * kTile, &full);
      copyTile(b, mapB, r * kK / 2, blockIdx.x * kTile, &full);
      copyBytes(scaleA, scalesA + (size_t(blockIdx.y) * rounds + r) * kScaleBytes, kScaleBytes, &full);
      copyBytes(scaleB, scalesB + (size_t(blockIdx.x) * rounds + r) * kScaleBytes, kScaleBytes, &full);
      wait(&full, r & 1);
      for (int i = 0; i < kBlocks; ++i) {
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(d + kColumnA + 4 * i), "l"(describe(scaleA + 512 * i, 128, 0))
                     : "memory");
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(d + kColumnB + 4 * i), "l"(describe(scaleB + 512 * i, 128, 0))
                     : "memory");
      }
      for (int i = 0; i < kBlocks; ++i)
        asm volatile("{\n"
                     ".reg .pred hasInput;\n"
                     "setp.ne.b32 hasInput, %6, 0;\n"
                     "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%4], [%5], hasInput;\n"
                     "}" ::"r"(d),
                     "l"(describe(a, 1024, 2) + 2 * i), "l"(describe(b, 1024, 2) + 2 * i), "r"(kInstruction), "r"(d + kColumnA + 4 * i),
                     "r"(d + kColumnB + 4 * i), "r"(r + i)
                     : "memory");
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared(&done)) : "memory");
    }
  }
  __syncwarp();
  __syncthreads();
  wait(&done, (rounds - 1) & 1);
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  float *to = c + size_t(blockIdx.y * kTile + threadIdx.x) * n + blockIdx.x * kTile;
  for (int column = 0; column < kTile; column += 8) {
    uint32_t x[8];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
                 "tcgen05.wait::ld.sync.aligned;"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]), "=r"(x[4]), "=r"(x[5]), "=r"(x[6]), "=r"(x[7])
                 : "r"(d + (warp << 21) + column));
    for (int i = 0; i < 8; ++i)
      to[column + i] = __uint_as_float(x[i]);
  }
  __syncthreads();
  if (warp == 0)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;" ::"r"(d) : "memory");
}
