// A matrix product of 8-bit floats (e4m3) for sm_89: tiles of 128 x 128 in shared memory by
// cp.async, two stages, fragments by ldmatrix, four warps of 64 x 64 by mma.m16n8k32 with sums in
// f32. C = scaleA scaleB A B, the scales of whole matrices. A is m x k by rows, B k x n by columns.
#include <stdint.h>

constexpr int kTile = 128, kDepth = 64, kPad = 16, kThreads = 128;

__device__ uint32_t sharedAddress(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from));
}

__device__ void loadFour(uint32_t (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row)));
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

struct Stage {
  uint8_t a[kTile][kDepth + kPad], b[kTile][kDepth + kPad];
};

__device__ void fetch(Stage &stage, const uint8_t *a, const uint8_t *b, int k) {
  for (int i = threadIdx.x; i < kTile * 4; i += kThreads) {
    const int row = i / 4, column = i % 4 * 16;
    copy16(&stage.a[row][column], a + (size_t)row * k + column);
    copy16(&stage.b[row][column], b + (size_t)row * k + column);
  }
  asm volatile("cp.async.commit_group;");
}

__device__ void multiply(float (&sums)[4][8][4], const Stage &stage, int firstRow,
                         int firstColumn) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int kk = 0; kk < kDepth; kk += 32) {
    uint32_t rows[4][4], columns[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      loadFour(rows[i], &stage.a[firstRow + i * 16 + lane % 16][kk + lane / 16 * 16]);
      loadFour(columns[i],
               &stage.b[firstColumn + i * 16 + lane / 16 * 8 + lane % 8][kk + lane / 8 % 2 * 16]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
        multiply(sums[i][j], rows[i], columns[j / 2][j % 2 * 2], columns[j / 2][j % 2 * 2 + 1]);
  }
}

/// m and n are multiples of 128, k of 64.
extern "C" __global__ void __launch_bounds__(kThreads)
    gemmFp8(const uint8_t *a, const uint8_t *b, float scaleA, float scaleB, float *c, int n,
            int k) {
  __shared__ __align__(16) Stage stages[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int firstRow = warp / 2 * 64, firstColumn = warp % 2 * 64;
  a += (size_t)blockIdx.y * kTile * k;
  b += (size_t)blockIdx.x * kTile * k;
  float sums[4][8][4] = {};
  fetch(stages[0], a, b, k);
  for (int step = 0; step < k / kDepth; ++step) {
    if (step + 1 < k / kDepth) {
      fetch(stages[(step + 1) & 1], a + (step + 1) * kDepth, b + (step + 1) * kDepth, k);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    multiply(sums, stages[step & 1], firstRow, firstColumn);
    __syncthreads();
  }
  const float scale = scaleA * scaleB;
  c += (size_t)(blockIdx.y * kTile + firstRow + lane / 4) * n;
  c += blockIdx.x * kTile + firstColumn + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *(float2 *)(c + (size_t)(i * 16 + h * 8) * n + j * 8) =
            make_float2(scale * sums[i][j][2 * h], scale * sums[i][j][2 * h + 1]);
}
