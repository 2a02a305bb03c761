// nvcc: -arch=compute_90
// __half, __half2, __nv_bfloat16, fp8, fp6 and fp4: conversions, arithmetic, comparisons, functions, atomics, shuffles.
#include "check.h"
#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

__global__ void halves(const float *a, const float *b, float *out) {
  int i = threadIdx.x;
  __half x = __float2half(a[i]), y = __float2half_rn(b[i]);
  __half2 v = __halves2half2(x, y), w = __floats2half2_rn(b[i], 2.f);
  float *o = out + i * 24;
  o[0] = __half2float(__hadd(x, y)), o[1] = __half2float(x * y), o[2] = __half2float(__hfma(x, y, __float2half(1.f)));
  o[3] = __half2float(__hsub(x, y)), o[4] = __half2float(__hdiv(x, y)), o[5] = __hgt(x, y), o[6] = __half2float(__hmax(x, y));
  o[7] = __half2float(hsqrt(__habs(x))), o[8] = __half2int_rz(x), o[9] = __half2int_ru(y);
  __half2 f = __hfma2(v, w, __half2half2(x));
  o[10] = __low2float(f), o[11] = __high2float(f), o[12] = __hbgt2(v, w), o[13] = __half2float(__hmin(x, __hneg(y)));
  o[14] = __half2float(__shfl_xor_sync(~0u, x, 1)), o[15] = __half2float(htrunc(x)), o[16] = __half2float(hrint(y));
  o[17] = __half2float(__hfma_sat(x, y, x)), o[18] = __half2float(__ushort2half_rn(i * 3)), o[19] = __half_as_short(x);
  o[20] = __half2float(hfloor(x)), o[21] = __half2float(hceil(x)), o[22] = __half2float(__hfma_relu(x, y, y)), o[23] = __hisnan(__hdiv(x - x, y - y));
}
__global__ void brains(const float *a, const float *b, float *out) {
  int i = threadIdx.x;
  __nv_bfloat16 x = __float2bfloat16(a[i]), y = __float2bfloat16_rz(b[i]);
  __nv_bfloat162 v = __floats2bfloat162_rn(a[i], b[i]);
  float *o = out + i * 8;
  o[0] = __bfloat162float(x), o[1] = __bfloat162float(y), o[2] = __bfloat162float(x + y), o[3] = __bfloat162float(__hfma(x, y, x));
  o[4] = __low2float(v * v), o[5] = __high2float(__hmax2(v, __float2bfloat162_rn(0.f))), o[6] = __bfloat162float(x / y), o[7] = x < y;
}
__global__ void small(const float *a, float *out, unsigned *bits) {
  int i = threadIdx.x;
  __nv_fp8_e4m3 p(a[i]);
  __nv_fp8_e5m2 q(a[i]);
  __nv_fp6_e2m3 r(a[i]);
  __nv_fp6_e3m2 s(a[i]);
  __nv_fp4_e2m1 t(a[i]);
  out[i * 5] = float(p), out[i * 5 + 1] = float(q), out[i * 5 + 2] = float(r), out[i * 5 + 3] = float(s), out[i * 5 + 4] = float(t);
  bits[i] = p.__x | q.__x << 8 | __nv_cvt_float_to_fp8(a[i], __NV_NOSAT, __NV_E4M3) << 16;
}
__global__ void sums(__half *h, __half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2) {
  atomicAdd(h, __float2half(0.5f));
  atomicAdd(h2, __floats2half2_rn(1, 2));
  atomicAdd(b, __float2bfloat16(1));
  atomicAdd(b2, __floats2bfloat162_rn(1, -1));
}
// Rounded to `digits` binary digits behind the leading one, and to multiples of 2^least; ties to even.
static double rounded(double x, int digits, int least) {
  if (x == 0)
    return x;
  int e = std::max((int)std::floor(std::log2(std::fabs(x))) - digits, least);
  return std::ldexp(std::nearbyint(std::ldexp(x, -e)), e);
}
static double toHalf(double x) { return rounded(x, 10, -24); }

int main() {
  std::vector<float> a(32), b(32);
  for (int i = 0; i < 32; ++i)
    a[i] = toHalf((i - 13) * 0.37), b[i] = toHalf(i % 7 * 1.13 - 2.5);
  float *da = toDevice(a), *db = toDevice(b), *o;
  CHECK(cudaMallocManaged(&o, 32 * 24 * 4));
  halves<<<1, 32>>>(da, db, o);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) {
    double x = a[i], y = b[i];
    float *r = o + i * 24;
    EXPECT(r[0] == toHalf(x + y) && r[1] == toHalf(x * y) && r[2] == toHalf(x * y + 1) && r[3] == toHalf(x - y));
    EXPECT(std::fabs(r[4] - x / y) <= std::fabs(x / y) * 0x1p-10 && r[5] == (x > y) && r[6] == std::max(x, y));
    EXPECT(std::fabs(r[7] - std::sqrt(std::fabs(x))) <= 0x1p-10 * std::sqrt(std::fabs(x)) && r[8] == std::trunc(x) && r[9] == std::ceil(y));
    EXPECT(r[10] == toHalf(x * y + x) && r[11] == toHalf(y * 2 + x) && r[12] == (x > y && y > 2) && r[13] == std::min(x, -y));
    EXPECT(r[14] == a[i ^ 1] && r[15] == std::trunc(x) && r[16] == std::nearbyint(y));
    EXPECT(r[17] == std::min(1., std::max(0., toHalf(x * y + x))) && r[18] == i * 3);
    EXPECT(r[20] == std::floor(x) && r[21] == std::ceil(x) && r[22] == std::max(0., toHalf(x * y + y)) && r[23] == 1);
  }
  for (int i = 0; i < 32; ++i)
    a[i] = std::sin(i) * 3, b[i] = std::cos(i) * 5 + 0.1;
  CHECK(cudaMemcpy(da, a.data(), 128, cudaMemcpyDefault));
  CHECK(cudaMemcpy(db, b.data(), 128, cudaMemcpyDefault));
  brains<<<1, 32>>>(da, db, o);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) {
    uint32_t cut;
    memcpy(&cut, &b[i], 4);
    cut &= 0xffff0000;
    float fy;
    memcpy(&fy, &cut, 4);
    double x = rounded(a[i], 7, -133), y = fy, z = rounded(b[i], 7, -133);
    float *r = o + i * 8;
    EXPECT(r[0] == x && r[1] == y && r[2] == rounded(x + y, 7, -133) && r[3] == rounded(x * y + x, 7, -133));
    EXPECT(r[4] == rounded(x * x, 7, -133) && r[5] == std::max(z, 0.) && std::fabs(r[6] - x / y) <= std::fabs(x / y) / 128 && r[7] == (x < y));
  }
  std::vector<float> c{0, 1, -1, 0.3f, 17, 200, 300, 448, 449, 480, 1e9f, -1e9f, 57344, 60000, 61440, 0.001f, -0.02f, 0.0625f, 3.3f, 5.1f, 7.7f, 28, 29, 2.5f, 1.25f, 1.75f, 0.75f, 0.25f, -6, -7, 1e-9f, INFINITY};
  float *dc = toDevice(c);
  unsigned *bits;
  CHECK(cudaMallocManaged(&bits, 128));
  small<<<1, 32>>>(dc, o, bits);
  CHECK(cudaDeviceSynchronize());
  auto clamp = [](double x, double m) { return x > m ? m : x < -m ? -m : x; };
  for (int i = 0; i < 32; ++i) {
    float *r = o + i * 5;
    double x = c[i];
    EXPECT(r[0] == clamp(rounded(clamp(x, 448), 3, -9), 448));
    EXPECT(r[1] == clamp(rounded(clamp(x, 57344), 2, -16), 57344));
    EXPECT(r[2] == clamp(rounded(clamp(x, 7.5), 3, -3), 7.5) && r[3] == clamp(rounded(clamp(x, 28), 2, -4), 28));
    EXPECT(r[4] == clamp(rounded(clamp(x, 6), 1, -1), 6));
    EXPECT((bits[i] >> 16 == 0x7f || bits[i] >> 16 == 0xff) == (std::fabs(x) > 464)); // NaN, as it does not saturate
  }
  __half *h;
  CHECK(cudaMallocManaged(&h, 64));
  CHECK(cudaMemset(h, 0, 64));
  sums<<<2, 64>>>(h, (__half2 *)(h + 2), (__nv_bfloat16 *)(h + 4), (__nv_bfloat162 *)(h + 6));
  CHECK(cudaDeviceSynchronize());
  EXPECT(__half2float(h[0]) == 64 && __half2float(h[2]) == 128 && __half2float(h[3]) == 256);
  EXPECT(__bfloat162float(((__nv_bfloat16 *)h)[4]) == 128 && __bfloat162float(((__nv_bfloat16 *)h)[7]) == -128);
  return done();
}
