// Matrix product with tiles in shared memory, of sizes that are no multiples of the tile, timed by events.
#include "check.h"

template <int N> __global__ void product(float *c, const float *a, const float *b, int m, int n, int k) {
  __shared__ float ta[N][N], tb[N][N + 1];
  int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < k; t += N) {
    ta[threadIdx.y][threadIdx.x] = y < m && t + threadIdx.x < k ? a[y * k + t + threadIdx.x] : 0;
    tb[threadIdx.y][threadIdx.x] = x < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + x] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; ++i)
      sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (x < n && y < m)
    c[y * n + x] = sum;
}

int main() {
  const int m = 70, n = 100, k = 45;
  std::vector<float> a(m * k), b(k * n);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = i * 7 % 13 - 6.f;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = i * 5 % 11 * 0.5f;
  float *da = toDevice(a), *db = toDevice(b), *c16, *c32;
  CHECK(cudaMalloc(&c16, m * n * 4));
  CHECK(cudaMalloc(&c32, m * n * 4));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  for (int i = 0; i < 10; ++i)
    product<16><<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(c16, da, db, m, n, k);
  product<32><<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32)>>>(c32, da, db, m, n, k);
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  EXPECT(ms > 0);
  std::vector<float> r16 = toHost(c16, m * n), r32 = toHost(c32, m * n);
  for (int y = 0; y < m; ++y)
    for (int x = 0; x < n; ++x) {
      float want = 0;
      for (int i = 0; i < k; ++i)
        want += a[y * k + i] * b[i * n + x];
      EXPECT(r16[y * n + x] == want && r32[y * n + x] == want);
    }
  return done();
}
