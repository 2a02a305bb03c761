// A matrix product by wmma, as CUDA C++ has it (nvcuda::wmma): tiles of 128 x 128 in shared memory
// by cp.async, two stages, fragments of 16 x 16 x 16 loaded from there, four warps of 64 x 64.
// A is m x k by rows, B k x n by columns, both f16; C by rows, f32.
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

constexpr int kTile = 128, kDepth = 32, kPad = 8, kThreads = 128;

using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using FragmentC = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

struct Stage {
  half a[kTile][kDepth + kPad], b[kTile][kDepth + kPad];
};

__device__ void copy16(void *to, const void *from) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
      "l"(from));
}

__device__ void fetch(Stage &stage, const half *a, const half *b, int k) {
  for (int i = threadIdx.x; i < kTile * 4; i += kThreads) {
    const int row = i / 4, column = i % 4 * 8;
    copy16(&stage.a[row][column], a + (size_t)row * k + column);
    copy16(&stage.b[row][column], b + (size_t)row * k + column);
  }
  asm volatile("cp.async.commit_group;");
}

__device__ void multiply(FragmentC (&sums)[4][4], const Stage &stage, int firstRow,
                         int firstColumn) {
#pragma unroll
  for (int kk = 0; kk < kDepth; kk += 16) {
    FragmentA rows[4];
    FragmentB columns[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      wmma::load_matrix_sync(rows[i], &stage.a[firstRow + i * 16][kk], kDepth + kPad);
      wmma::load_matrix_sync(columns[i], &stage.b[firstColumn + i * 16][kk], kDepth + kPad);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        wmma::mma_sync(sums[i][j], rows[i], columns[j], sums[i][j]);
  }
}

/// m and n are multiples of 128, k of 32.
extern "C" __global__ void __launch_bounds__(kThreads)
    gemmWmma(const half *a, const half *b, float *c, int n, int k) {
  __shared__ __align__(32) Stage stages[2];
  const int warp = threadIdx.x / 32, firstRow = warp / 2 * 64, firstColumn = warp % 2 * 64;
  a += (size_t)blockIdx.y * kTile * k;
  b += (size_t)blockIdx.x * kTile * k;
  FragmentC sums[4][4];
  for (auto &row : sums)
    for (auto &fragment : row)
      wmma::fill_fragment(fragment, 0);
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
  c += (size_t)(blockIdx.y * kTile + firstRow) * n + blockIdx.x * kTile + firstColumn;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      wmma::store_matrix_sync(c + (size_t)i * 16 * n + j * 16, sums[i][j], n, wmma::mem_row_major);
}
