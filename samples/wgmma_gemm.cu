// C = A B^T in f16 with f32 sums on warpgroups (wgmma), for sm_90a. A warp-specialised pipeline: one thread copies tiles of A and B
// through the tensor memory accelerator into a ring of stages with 128-byte swizzling, two warpgroups multiply 64 rows each. Two
// mbarriers per stage: `full` counts the tiles' bytes, `empty` the warpgroups that are done with it.
// One block computes 128 x 128 elements of C; a stage has 64 of K. A is m x k, B is n x k, C is m x n, all row by row.
#include <cstdint>
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int kM = 128, kN = 128, kK = 64, kStages = 4, kGroups = 2;
constexpr uint32_t kTileBytes = 128 * kK * 2;

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

__device__ void arrive(uint64_t *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(barrier)) : "memory");
}

__device__ void copyTile(void *tile, const CUtensorMap &map, int column, int row, uint64_t *barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared(tile)),
               "l"(&map), "r"(column), "r"(row), "r"(shared(barrier))
               : "memory");
}

// A tile of rows of 64 halves, 128 bytes swizzled: 8 rows are 1024 bytes.
__device__ uint64_t describe(const void *tile) {
  return uint64_t((shared(tile) & 0x3ffff) >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

#define ACC(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "
               "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
               "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
               : ACC(0), ACC(8), ACC(16), ACC(24), ACC(32), ACC(40), ACC(48), ACC(56)
               : "l"(a), "l"(b));
}

struct Stage {
  alignas(1024) __half a[kM * kK];
  __half b[kN * kK];
};

extern "C" __global__ void __launch_bounds__(128 * (1 + kGroups))
    gemm(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, float *c, int n, int k) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Stage *stages = reinterpret_cast<Stage *>((reinterpret_cast<uintptr_t>(memory) + 1023) & ~uintptr_t(1023));
  __shared__ uint64_t full[kStages], empty[kStages];
  const int group = threadIdx.x / 128, firstRow = blockIdx.y * kM, firstColumn = blockIdx.x * kN, rounds = k / kK;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], kGroups);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (group == kGroups) {
    if (threadIdx.x % 128 == 0)
      for (int r = 0; r < rounds; ++r) {
        const int s = r % kStages;
        wait(&empty[s], (r / kStages & 1) ^ 1);  // the first round finds the stages free
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full[s])), "r"(2 * kTileBytes) : "memory");
        copyTile(stages[s].a, mapA, r * kK, firstRow, &full[s]);
        copyTile(stages[s].b, mapB, r * kK, firstColumn, &full[s]);
      }
    return;
  }

  float d[64];
  for (float &x : d)
    x = 0;
  for (int r = 0; r < rounds; ++r) {
    const int s = r % kStages;
    wait(&full[s], r / kStages & 1);
    const uint64_t a = describe(stages[s].a + group * 64 * kK), b = describe(stages[s].b);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < kK / 16; ++i)
      multiply(d, a + 2 * i, b + 2 * i);  // 32 bytes on
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (threadIdx.x % 128 == 0)
      arrive(&empty[s]);
  }
  const int lane = threadIdx.x % 32, row = firstRow + group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  for (int i = 0; i < 64; i += 2) {
    float *to = c + size_t(row + i / 2 % 2 * 8) * n + firstColumn + i / 4 * 8 + lane % 4 * 2;
    *reinterpret_cast<float2 *>(to) = make_float2(d[i], d[i + 1]);
  }
}
