// C = A * B, row-major n x n (n a multiple of 128): 128x128 of C per block of 256 threads, 8x8 of C in registers per thread,
// panels of depth 8 through shared memory, A's transposed.
constexpr int kTile = 128;
constexpr int kDepth = 8;
constexpr int kPerThread = 8;

extern "C" __global__ void __launch_bounds__(256) sgemmTiled(int n, const float *__restrict__ a, const float *__restrict__ b,
                                                             float *__restrict__ c) {
  __shared__ float panelA[kDepth][kTile];
  __shared__ float panelB[kDepth][kTile];
  int thread = threadIdx.x;
  int row = thread / 16 * kPerThread, column = thread % 16 * kPerThread;
  int rowA = thread / 2, columnA = thread % 2 * 4;
  int rowB = thread / 32, columnB = thread % 32 * 4;
  a += blockIdx.y * kTile * n;
  b += blockIdx.x * kTile;
  float sum[kPerThread][kPerThread] = {};
  for (int base = 0; base < n; base += kDepth) {
    float4 four = *reinterpret_cast<const float4 *>(&a[rowA * n + base + columnA]);
    panelA[columnA + 0][rowA] = four.x;
    panelA[columnA + 1][rowA] = four.y;
    panelA[columnA + 2][rowA] = four.z;
    panelA[columnA + 3][rowA] = four.w;
    *reinterpret_cast<float4 *>(&panelB[rowB][columnB]) =
        *reinterpret_cast<const float4 *>(&b[(base + rowB) * n + columnB]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float left[kPerThread], right[kPerThread];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) left[i] = panelA[k][row + i];
#pragma unroll
      for (int j = 0; j < kPerThread; ++j) right[j] = panelB[k][column + j];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i)
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  c += (blockIdx.y * kTile + row) * n + blockIdx.x * kTile + column;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i)
#pragma unroll
    for (int j = 0; j < kPerThread; j += 4)
      *reinterpret_cast<float4 *>(&c[i * n + j]) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}
