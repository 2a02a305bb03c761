// A matrix product on sparse tensor cores, C = A B, where of every four elements of a row of A two
// are zero (2:4): A is stored as the other two, m x k / 2, and where they stood, two bits for each,
// m x k / 8 bytes. Tiles come to shared memory by cp.async, two stages, fragments by ldmatrix; four
// warps of 64 x 32 by mma.sp.m16n8k32. A is by rows, B k x n by columns, both f16; C by rows, f32.
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int kRows = 128, kColumns = 64, kDepth = 64, kPad = 8, kThreads = 128;

__device__ uint32_t sharedAddress(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from));
}

__device__ void copy8(void *to, const void *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(sharedAddress(to)), "l"(from));
}

__device__ void loadFour(uint32_t (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row)));
}

/// 32 of k. The selector says which two of four lanes have the metadata: 0: the first, 1: the last.
template <int kSelector>
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4],
                         uint32_t metadata) {
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]),
                 "r"(b[3]), "r"(metadata), "n"(kSelector));
}

struct Stage {
  half a[kRows][kDepth / 2 + kPad], b[kColumns][kDepth + kPad];
  uint16_t metadata[kRows][kDepth / 16]; ///< of 16 columns each, the first in the lowest bits
};

__device__ void fetch(Stage &stage, const half *a, const uint16_t *metadata, const half *b, int k) {
  for (int i = threadIdx.x; i < kRows * 4; i += kThreads)
    copy16(&stage.a[i / 4][i % 4 * 8], a + (size_t)(i / 4) * (k / 2) + i % 4 * 8);
  for (int i = threadIdx.x; i < kColumns * 8; i += kThreads)
    copy16(&stage.b[i / 8][i % 8 * 8], b + (size_t)(i / 8) * k + i % 8 * 8);
  copy8(stage.metadata[threadIdx.x], metadata + (size_t)threadIdx.x * (k / 16));
  asm volatile("cp.async.commit_group;");
}

/// One stage. The four lanes of a row take 16 columns' metadata each, of rows r and r + 8: the
/// first two those of the first 32 columns, the last two those of the second 32.
__device__ void multiply(float (&sums)[4][4][4], const Stage &stage, int firstRow,
                         int firstColumn) {
  const int lane = threadIdx.x % 32;
  uint32_t columns[2][4][4];
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      loadFour(columns[half][j],
               &stage.b[firstColumn + j * 8 + lane % 8][half * 32 + lane / 8 * 8]);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = firstRow + i * 16;
    const uint32_t metadata = stage.metadata[row + lane / 4][lane % 4] |
                              (uint32_t)stage.metadata[row + lane / 4 + 8][lane % 4] << 16;
    uint32_t rows[2][4];
    loadFour(rows[0], &stage.a[row + lane % 16][lane / 16 * 8]);
    loadFour(rows[1], &stage.a[row + lane % 16][16 + lane / 16 * 8]);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      multiply<0>(sums[i][j], rows[0], columns[0][j], metadata);
      multiply<1>(sums[i][j], rows[1], columns[1][j], metadata);
    }
  }
}

/// m is a multiple of 128, n and k of 64.
extern "C" __global__ void __launch_bounds__(kThreads)
    gemmSparse(const half *a, const uint16_t *metadata, const half *b, float *c, int n, int k) {
  __shared__ __align__(16) Stage stages[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int firstRow = warp / 2 * 64, firstColumn = warp % 2 * 32;
  a += (size_t)blockIdx.y * kRows * (k / 2);
  metadata += (size_t)blockIdx.y * kRows * (k / 16);
  b += (size_t)blockIdx.x * kColumns * k;
  float sums[4][4][4] = {};
  fetch(stages[0], a, metadata, b, k);
  for (int step = 0; step < k / kDepth; ++step) {
    if (step + 1 < k / kDepth) {
      const int next = step + 1;
      fetch(stages[next & 1], a + next * (kDepth / 2), metadata + next * (kDepth / 16),
            b + next * kDepth, k);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    multiply(sums, stages[step & 1], firstRow, firstColumn);
    __syncthreads();
  }
  c += (size_t)(blockIdx.y * kRows + firstRow + lane / 4) * n;
  c += blockIdx.x * kColumns + firstColumn + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *(float2 *)(c + (size_t)(i * 16 + h * 8) * n + j * 8) =
            make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
}
