// nvcc: -arch=compute_80
// wmma in half, bf16, tf32, int8 and double, with accumulators filled, scaled and stored in both layouts; ldmatrix and mma by inline PTX.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <class A, class T, class C, int M, int N, int K> __global__ void product(const T *a, const T *b, C *c, int n, int k, C alpha) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = warp / (n / N) * M, column = warp % (n / N) * N;
  wmma::fragment<wmma::matrix_a, M, N, K, A, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, A, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fill_fragment(fc, C(0));
  for (int i = 0; i < k; i += K) {
    wmma::load_matrix_sync(fa, a + row * k + i, k);
    wmma::load_matrix_sync(fb, b + column * k + i, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i)
    fc.x[i] *= alpha;
  wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}
__global__ void byHand(const __half *a, const __half *b, float *c) { // 16x8x16
  __shared__ __half tile[16 * 16];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32)
    tile[i] = a[i];
  __syncwarp();
  unsigned r[4], address = __cvta_generic_to_shared(tile + lane % 16 * 16 + lane / 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
  const unsigned *bs = (const unsigned *)b; // column major, 8 columns of 16
  unsigned b0 = bs[lane / 4 * 8 + lane % 4], b1 = bs[lane / 4 * 8 + lane % 4 + 4];
  float d[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(b0), "r"(b1));
  for (int i = 0; i < 4; ++i)
    c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
template <class A, class T, class C, int M, int N, int K> static void test(double scale) {
  const int m = 2 * M, n = 2 * N, k = 4 * K;
  std::vector<T> a(m * k), b(n * k);
  for (int i = 0; i < m * k; ++i)
    a[i] = T(float((i * 7 % 13 - 6) * scale));
  for (int i = 0; i < n * k; ++i)
    b[i] = T(float((i * 5 % 11 - 5) * scale));
  T *da = toDevice(a), *db = toDevice(b);
  C *c;
  CHECK(cudaMallocManaged(&c, m * n * sizeof(C)));
  product<A, T, C, M, N, K><<<2, 64>>>(da, db, c, n, k, C(2));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int x = 0; x < k; ++x)
        want += double(float(a[i * k + x])) * double(float(b[j * k + x]));
      EXPECT(std::fabs(double(c[i * n + j]) - 2 * want) <= 1e-3 * std::fabs(want) + 1e-6);
    }
}

int main() {
  test<__half, __half, float, 16, 16, 16>(0.25);
  test<__half, __half, __half, 32, 8, 16>(0.125);
  test<__nv_bfloat16, __nv_bfloat16, float, 8, 32, 16>(0.5);
  test<wmma::precision::tf32, float, float, 16, 16, 8>(0.5);
  test<signed char, signed char, int, 16, 16, 16>(1);
  test<unsigned char, unsigned char, int, 16, 16, 16>(0.2);
  test<double, double, double, 8, 8, 4>(0.1);
  std::vector<__half> a(256), b(128);
  for (int i = 0; i < 256; ++i)
    a[i] = __float2half((i * 3 % 17 - 8) * 0.5f);
  for (int i = 0; i < 128; ++i)
    b[i] = __float2half((i * 5 % 7 - 3) * 0.25f);
  __half *da = toDevice(a), *db = toDevice(b);
  float *c;
  CHECK(cudaMallocManaged(&c, 512));
  byHand<<<1, 32>>>(da, db, c);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      double want = 1;
      for (int k = 0; k < 16; ++k)
        want += double(__half2float(a[i * 16 + k])) * double(__half2float(b[j * 16 + k]));
      EXPECT(c[i * 8 + j] == want);
    }
  return done();
}
