// bfloat16, half and the 8-bit, 6-bit and 4-bit floats: conversions there and back, arithmetic, comparisons, vectors; the host computes with the same
// headers or by definition.
// nvcc: -arch=compute_90
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void all8(float *e4, float *e5, unsigned short *h) {
  int i = threadIdx.x;
  __nv_fp8_e4m3 a;
  __nv_fp8_e5m2 b;
  a.__x = i, b.__x = i;
  e4[i] = float(a), e5[i] = float(b);
  h[i] = __half_as_ushort(__half(__nv_cvt_fp8_to_halfraw(i, __NV_E4M3)));
}
__global__ void narrow(const float *x, unsigned char *e4, unsigned char *e5, unsigned short *bf, unsigned short *h, float *back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  e4[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E4M3);
  e5[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E5M2);
  __nv_bfloat16 b = __float2bfloat16(x[i]);
  bf[i] = __bfloat16_as_ushort(b);
  h[i] = __half_as_ushort(__float2half(x[i]));
  __nv_bfloat162 two = __floats2bfloat162_rn(x[i], -x[i]);
  back[i] = __low2float(two) + __high2float(two) + __bfloat162float(__float2bfloat16_rz(x[i]));
}
template <class T2, class T> __global__ void arithmetic(const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T a = T(x[i]), b = T(y[i]), c = T(0.5f);
  int k = 0;
  auto put = [&](T v) { out[k++ * n + i] = float(v); };
  put(a + b), put(a - b), put(a * b), put(a / b), put(-a), put(__hfma(a, b, c)), put(__habs(a)), put(__hmax(a, b)), put(__hmin(a, b));
  put(hsqrt(__habs(a))), put(hrcp(b)), put(hfloor(a)), put(hceil(a)), put(hrint(a)), put(htrunc(a));
  put(T(float((a < b) + 2 * (a == b) + 4 * (a >= b) + 8 * __hisnan(a) + 16 * __hne(a, b))));
  T2 v;
  v.x = a, v.y = b;
  T2 w = __hmul2(__hadd2(v, v), v);
  put(w.x), put(w.y);
  T2 g = __hgt2(v, w);
  put(g.x), put(__hbge2(v, w) ? T(1.0f) : T(0.0f));
}

static float e4m3(int b) {
  int e = b >> 3 & 15, m = b & 7;
  float v = e == 15 && m == 7 ? NAN : e ? std::ldexp(1 + m / 8.0f, e - 7) : std::ldexp(m / 8.0f, -6);
  return b & 128 ? -v : v;
}
static float e5m2(int b) {
  int e = b >> 2 & 31, m = b & 3;
  float v = e == 31 ? m ? NAN : INFINITY : e ? std::ldexp(1 + m / 4.0f, e - 15) : std::ldexp(m / 4.0f, -14);
  return b & 128 ? -v : v;
}
/// To a format with so many explicit bits of mantissa and least exponent, to nearest even.
static double rounded(double v, int mantissa, int least) {
  if (v == 0 || !std::isfinite(v))
    return v;
  int e;
  std::frexp(v, &e);
  double unit = std::ldexp(1.0, std::max(e - 1, least) - mantissa);
  return std::nearbyint(v / unit) * unit;
}
static bool same(float a, float b) { return a == b || (a != a && b != b); }

int main() {
  float *e4, *e5;
  unsigned short *h;
  CHECK(cudaMallocManaged(&e4, 1024));
  CHECK(cudaMallocManaged(&e5, 1024));
  CHECK(cudaMallocManaged(&h, 512));
  all8<<<1, 256>>>(e4, e5, h);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) {
    EXPECT(same(e4[i], e4m3(i)) && same(e5[i], e5m2(i)));
    EXPECT(same(__half2float(__ushort_as_half(h[i])), e4m3(i)));
  }
  const int n = 4096;
  std::vector<float> x(n), y(n);
  srand(3);
  for (int i = 0; i < n; ++i) {
    x[i] = std::ldexp(float(rand() % 4096 - 2048) / 1024, rand() % 20 - 10);
    y[i] = std::ldexp(float(rand() % 4000 + 50) / 1024, rand() % 8 - 4) * (rand() % 2 ? 1 : -1);
  }
  x[0] = 1e30f, x[1] = -1e30f, x[2] = INFINITY, x[3] = NAN, x[4] = 0, x[5] = -0.0f, x[6] = 448, x[7] = 465, x[8] = 57344, x[9] = 61440, x[10] = 1e-9f;
  float *dx = toDevice(x), *dy = toDevice(y), *back;
  unsigned char *c4, *c5;
  unsigned short *bf, *hf;
  CHECK(cudaMallocManaged(&c4, n));
  CHECK(cudaMallocManaged(&c5, n));
  CHECK(cudaMallocManaged(&bf, 2 * n));
  CHECK(cudaMallocManaged(&hf, 2 * n));
  CHECK(cudaMallocManaged(&back, 4 * n));
  narrow<<<n / 128, 128>>>(dx, c4, c5, bf, hf, back, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    double want4 = rounded(x[i], 3, -6), want5 = rounded(x[i], 2, -14);
    if (std::fabs(want4) > 448)
      want4 = std::copysign(448, want4);
    if (std::fabs(want5) > 57344)
      want5 = std::copysign(INFINITY, want5);
    EXPECT(same(e4m3(c4[i]), want4) && same(e5m2(c5[i]), want5));
    float b = float(rounded(x[i], 7, -126));
    EXPECT(same(__bfloat162float(__ushort_as_bfloat16(bf[i])), b));
    double half = rounded(x[i], 10, -14);
    EXPECT(same(__half2float(__ushort_as_half(hf[i])), std::fabs(half) > 65504 ? std::copysign(INFINITY, half) : half));
    if (std::isfinite(x[i]))
      EXPECT(std::fabs(back[i]) <= std::fabs(x[i]) && std::fabs(back[i] - x[i]) <= std::fabs(x[i]) / 128);
  }
  for (int type = 0; type < 2; ++type) {
    int mantissa = type ? 7 : 10, least = type ? -126 : -14;
    double largest = type ? 3.3895e38 : 65504;
    for (int i = 11; i < n; ++i)
      x[i] = float(rounded(x[i], mantissa, least)), y[i] = float(rounded(y[i], mantissa, least));
    for (int i = 0; i < 11; ++i)
      x[i] = y[i] = 1.5f + i;
    dx = toDevice(x), dy = toDevice(y);
    float *out;
    CHECK(cudaMalloc(&out, 20 * n * 4));
    if (type)
      arithmetic<__nv_bfloat162, __nv_bfloat16><<<n / 128, 128>>>(dx, dy, out, n);
    else
      arithmetic<__half2, __half><<<n / 128, 128>>>(dx, dy, out, n);
    std::vector<float> got = toHost(out, 20 * n);
    int bad = 0;
    for (int i = 0; i < n; ++i) {
      auto r = [&](double v) {
        v = rounded(v, mantissa, least);
        return std::fabs(v) > largest ? std::copysign(INFINITY, v) : v;
      };
      double a = x[i], b = y[i], two = r(r(a + a) * a), twoB = r(r(b + b) * b);
      double want[] = {r(a + b), r(a - b), r(a * b), r(a / b), -a, r(a * b + 0.5), std::fabs(a), std::max(a, b), std::min(a, b), r(std::sqrt(std::fabs(a))), r(1 / b),
                       r(std::floor(a)), r(std::ceil(a)), r(std::nearbyint(a)), r(std::trunc(a)), double((a < b) + 2 * (a == b) + 4 * (a >= b) + 16 * (a != b)), two, twoB,
                       double(a > two), double(a >= two && b >= twoB)};
      for (int k = 0; k < 20; ++k) {
        double slack = k == 3 || k == 9 || k == 10 ? std::fabs(want[k]) / (1 << mantissa) : 0;
        if (!(std::fabs(got[k * n + i] - want[k]) <= slack || same(got[k * n + i], want[k])) && bad++ < 5)
          printf("type %d, function %d of %g, %g: %g, not %g\n", type, k, a, b, got[k * n + i], want[k]);
      }
    }
    EXPECT(bad == 0);
  }
  return done();
}
