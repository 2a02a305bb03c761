// Fourier transforms in shared memory, a separable convolution with constant coefficients, histograms, Walsh transforms, a cosine transform of
// blocks, Mandelbrot's set, option prices.
#include "check.h"
#include <complex>

__constant__ float coefficients[9];
__global__ void fourier(const float2 *in, float2 *out) { // 256 points a block, radix 2
  __shared__ float2 s[256];
  int t = threadIdx.x;
  s[__brev(t) >> 24] = in[blockIdx.x * 256 + t];
  s[__brev(t + 128) >> 24] = in[blockIdx.x * 256 + t + 128];
  for (int half = 1; half < 256; half *= 2) {
    __syncthreads();
    int k = t % half, a = (t - k) * 2 + k, b = a + half;
    float sine, cosine;
    sincospif(-(float)k / half, &sine, &cosine);
    float2 u = s[a], v = make_float2(s[b].x * cosine - s[b].y * sine, s[b].x * sine + s[b].y * cosine);
    s[a] = make_float2(u.x + v.x, u.y + v.y), s[b] = make_float2(u.x - v.x, u.y - v.y);
  }
  __syncthreads();
  out[blockIdx.x * 256 + t] = s[t], out[blockIdx.x * 256 + t + 128] = s[t + 128];
}
__global__ void convolve(const float *in, float *out, int w, int h, int dx, int dy) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w)
    return;
  float sum = 0;
  for (int k = -4; k <= 4; ++k) {
    int u = min(max(x + k * dx, 0), w - 1), v = min(max(y + k * dy, 0), h - 1);
    sum += coefficients[k + 4] * in[v * w + u];
  }
  out[y * w + x] = sum;
}
__global__ void histogram(const unsigned char *in, int n, unsigned *bins) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
    unsigned four = ((const unsigned *)in)[i];
    for (int k = 0; k < 32; k += 8)
      atomicAdd(&s[four >> k & 255], 1);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
__global__ void walsh(float *d) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < 512; i += blockDim.x)
    s[i] = d[i];
  for (int stride = 256; stride >= 1; stride /= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
      int low = i & (stride - 1), a = ((i - low) << 1) + low, b = a + stride;
      float u = s[a], v = s[b];
      s[a] = u + v, s[b] = u - v;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += blockDim.x)
    d[i] = s[i];
}
__global__ void mandelbrot(unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  double cr = -2 + x * (3. / w), ci = -1.25 + y * (2.5 / h), r = 0, i = 0;
  int n = 0;
  for (; n < 200 && r * r + i * i < 4; ++n) {
    double t = r * r - i * i + cr;
    i = 2 * r * i + ci, r = t;
  }
  out[y * w + x] = n;
}
__device__ float normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }
__global__ void prices(float *call, float *put, const float *s, const float *x, const float *t, float r, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float root = sqrtf(t[i]), d1 = (__logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * root), d2 = d1 - v * root, e = __expf(-r * t[i]);
  call[i] = s[i] * normal(d1) - x[i] * e * normal(d2), put[i] = x[i] * e * normal(-d2) - s[i] * normal(-d1);
}

int main() {
  std::vector<float2> wave(512);
  for (int i = 0; i < 512; ++i)
    wave[i] = make_float2(std::sin(i * 0.37f), std::cos(i * i * 0.01f));
  float2 *dw = toDevice(wave), *dr = toDevice(wave);
  fourier<<<2, 128>>>(dw, dr);
  std::vector<float2> spectrum = toHost(dr, 512);
  for (int k = 0; k < 512; k += 7) {
    std::complex<double> sum = 0;
    for (int i = 0; i < 256; ++i)
      sum += std::complex<double>(wave[k / 256 * 256 + i].x, wave[k / 256 * 256 + i].y) * std::polar(1., -2 * M_PI * i * (k % 256) / 256);
    EXPECT(std::abs(sum - std::complex<double>(spectrum[k].x, spectrum[k].y)) < 1e-3);
  }
  const int w = 100, h = 37;
  float c[9];
  std::vector<float> image(w * h);
  for (int i = 0; i < 9; ++i)
    c[i] = (i + 1) * 0.0625f;
  for (int i = 0; i < w * h; ++i)
    image[i] = i * 7 % 31;
  CHECK(cudaMemcpyToSymbol(coefficients, c, sizeof c));
  float *a = toDevice(image), *b = toDevice(image);
  convolve<<<dim3(4, h), 32>>>(a, b, w, h, 1, 0);
  convolve<<<dim3(4, h), 32>>>(b, a, w, h, 0, 1);
  std::vector<float> got = toHost(a, w * h);
  for (int i = 0; i < w * h; i += 13) {
    double sum = 0;
    for (int v = -4; v <= 4; ++v)
      for (int u = -4; u <= 4; ++u)
        sum += c[v + 4] * c[u + 4] * image[std::min(std::max(i / w + v, 0), h - 1) * w + std::min(std::max(i % w + u, 0), w - 1)];
    EXPECT(std::fabs(got[i] - sum) < 1e-3);
  }
  std::vector<unsigned char> bytes(40000);
  std::vector<unsigned> want(256, 0);
  for (size_t i = 0; i < bytes.size(); ++i)
    ++want[bytes[i] = i * i >> 3];
  unsigned char *db = toDevice(bytes);
  unsigned *bins = toDevice(std::vector<unsigned>(256, 0));
  histogram<<<5, 256>>>(db, bytes.size(), bins);
  EXPECT(toHost(bins, 256) == want);
  std::vector<float> signal(512);
  for (int i = 0; i < 512; ++i)
    signal[i] = i * 11 % 17 - 8;
  float *ds = toDevice(signal);
  walsh<<<1, 128, 2048>>>(ds);
  std::vector<float> transformed = toHost(ds, 512);
  for (int k = 0; k < 512; k += 31) {
    float sum = 0;
    for (int i = 0; i < 512; ++i)
      sum += __builtin_parity(i & k) ? -signal[i] : signal[i];
    EXPECT(transformed[k] == sum);
  }
  mandelbrot<<<dim3(4, 4), dim3(16, 8)>>>(db, 64, 32);
  std::vector<unsigned char> set = toHost(db, 64 * 32);
  EXPECT(set[16 * 64 + 43] == 200 && set[0] < 4);
  std::vector<float> s{100, 90, 120, 30}, x{100, 100, 80, 30}, t{1, 0.5f, 2, 5};
  float *p1 = toDevice(s), *p2 = toDevice(s);
  prices<<<1, 32>>>(p1, p2, toDevice(s), toDevice(x), toDevice(t), 0.02f, 0.3f, 4);
  std::vector<float> call = toHost(p1, 4), put = toHost(p2, 4);
  for (int i = 0; i < 4; ++i) {
    double d1 = (std::log(s[i] / x[i]) + (0.02 + 0.045) * t[i]) / (0.3 * std::sqrt(t[i])), d2 = d1 - 0.3 * std::sqrt(t[i]);
    auto normal = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.)); };
    EXPECT(std::fabs(call[i] - (s[i] * normal(d1) - x[i] * std::exp(-0.02 * t[i]) * normal(d2))) < 1e-3);
    EXPECT(std::fabs(call[i] - put[i] - (s[i] - x[i] * std::exp(-0.02 * t[i]))) < 1e-3);
  }
  return done();
}
