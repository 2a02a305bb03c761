// Loops bound by arithmetic.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/bench/loops.h"

namespace ptxrun::bench::loops {
namespace {

inline float normalCdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
  float tail =
      0.39894228f * std::exp(-0.5f * d * d) *
      (k * (0.31938153f +
            k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

} // namespace

void blackScholes(size_t n, float rate, float volatility, const float *__restrict price,
                  const float *__restrict strike, const float *__restrict years,
                  float *__restrict call, float *__restrict put) {
#pragma omp parallel for simd schedule(static)                                                     \
    firstprivate(rate, volatility, price, strike, years, call, put)
  for (size_t i = 0; i < n; ++i) {
    float s = price[i], x = strike[i], t = years[i];
    float root = std::sqrt(t);
    float d1 =
        (std::log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = normalCdf(d1), n2 = normalCdf(d2);
    float discounted = x * std::exp(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
  }
}

void mandelbrot(int width, int height, int limit, float left, float top, float step,
                int *iterations) {
#pragma omp parallel for schedule(dynamic, 4)                                                      \
    firstprivate(width, limit, left, top, step, iterations)
  for (int py = 0; py < height; ++py)
    for (int px = 0; px < width; ++px) {
      float cx = left + step * static_cast<float>(px), cy = top - step * static_cast<float>(py);
      float x = 0, y = 0, xx = 0, yy = 0;
      int count = 0;
      while (count < limit && xx + yy <= 4.0f) {
        float xy = x * y;
        y = xy + xy + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        ++count;
      }
      iterations[static_cast<size_t>(py) * width + px] = count;
    }
}

void nbody(int n, float softening, const float *__restrict body, float *__restrict acceleration) {
  // Structure of arrays once, then all pairs.
  std::vector<float> all(static_cast<size_t>(n) * 4);
  float *x = all.data(), *y = x + n, *z = y + n, *mass = z + n;
  for (int i = 0; i < n; ++i)
    x[i] = body[4 * i], y[i] = body[4 * i + 1], z[i] = body[4 * i + 2], mass[i] = body[4 * i + 3];
#pragma omp parallel for schedule(static) firstprivate(n, x, y, z, mass, softening, acceleration)
  for (int i = 0; i < n; ++i) {
    float ax = 0, ay = 0, az = 0, mx = x[i], my = y[i], mz = z[i];
#pragma omp simd reduction(+ : ax, ay, az)
    for (int j = 0; j < n; ++j) {
      float dx = x[j] - mx, dy = y[j] - my, dz = z[j] - mz;
      float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + softening);
      float weight = mass[j] * inverse * inverse * inverse;
      ax += dx * weight;
      ay += dy * weight;
      az += dz * weight;
    }
    acceleration[4 * i] = ax, acceleration[4 * i + 1] = ay, acceleration[4 * i + 2] = az,
                     acceleration[4 * i + 3] = 0;
  }
}

void sgemmInterchanged(int n, const float *__restrict a, const float *__restrict b,
                       float *__restrict c) {
#pragma omp parallel for schedule(static) firstprivate(n, a, b, c)
  for (int i = 0; i < n; ++i) {
    float *to = c + static_cast<size_t>(i) * n;
    std::memset(to, 0, static_cast<size_t>(n) * 4);
    for (int k = 0; k < n; ++k) {
      float left = a[static_cast<size_t>(i) * n + k];
      const float *row = b + static_cast<size_t>(k) * n;
#pragma omp simd
      for (int j = 0; j < n; ++j)
        to[j] += left * row[j];
    }
  }
}

void sgemmBlocked(int n, const float *__restrict a, const float *__restrict b,
                  float *__restrict c) {
  constexpr int kRows = 8, kColumns = 32, kDepth = 256;
  using Vector = float __attribute__((vector_size(64), aligned(4)));
  std::memset(c, 0, static_cast<size_t>(n) * n * 4);
#pragma omp parallel for schedule(static) firstprivate(n, a, b, c)
  for (int j0 = 0; j0 < n; j0 += kColumns) {
    alignas(64) float panel[kDepth][kColumns];
    for (int k0 = 0; k0 < n; k0 += kDepth) {
      int depth = std::min(kDepth, n - k0);
      for (int k = 0; k < depth; ++k)
        std::memcpy(panel[k], b + static_cast<size_t>(k0 + k) * n + j0, sizeof panel[k]);
      for (int i0 = 0; i0 < n; i0 += kRows) {
        Vector sum[kRows][2];
        for (int i = 0; i < kRows; ++i)
          for (int h = 0; h < 2; ++h)
            std::memcpy(&sum[i][h], c + static_cast<size_t>(i0 + i) * n + j0 + 16 * h, 64);
        for (int k = 0; k < depth; ++k) {
          Vector low, high;
          std::memcpy(&low, panel[k], 64);
          std::memcpy(&high, panel[k] + 16, 64);
          for (int i = 0; i < kRows; ++i) {
            float left = a[static_cast<size_t>(i0 + i) * n + k0 + k];
            sum[i][0] += left * low;
            sum[i][1] += left * high;
          }
        }
        for (int i = 0; i < kRows; ++i)
          for (int h = 0; h < 2; ++h)
            std::memcpy(c + static_cast<size_t>(i0 + i) * n + j0 + 16 * h, &sum[i][h], 64);
      }
    }
  }
}

void sortRuns(size_t runs, size_t run, uint32_t *keys) {
#pragma omp parallel for schedule(static)
  for (size_t r = 0; r < runs; ++r)
    std::sort(keys + r * run, keys + (r + 1) * run);
}

namespace {

#if defined(__AVX512F__)
constexpr int kMessages = 16; // that fill a register
#elif defined(__AVX2__)
constexpr int kMessages = 8;
#else
constexpr int kMessages = 4;
#endif
using Words = uint32_t __attribute__((vector_size(4 * kMessages))); // one word of each message

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline Words rotate(Words x, int n) { return x >> n | x << (32 - n); }

} // namespace

void sha256(size_t n, const uint32_t *message, uint32_t *digest) {
#pragma omp parallel for schedule(static) firstprivate(message, digest)
  for (size_t first = 0; first < n; first += kMessages) {
    Words w[16], s[8];
    const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int k = 0; k < 16; ++k)
      for (int m = 0; m < kMessages; ++m)
        w[k][m] = __builtin_bswap32(message[(first + m) * 16 + k]);
    for (int k = 0; k < 8; ++k)
      s[k] = Words{} + start[k];
    Words a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma clang loop unroll(full)
    for (int t = 0; t < 64; ++t) {
      if (t >= 16) {
        Words w2 = w[(t - 2) & 15], w15 = w[(t - 15) & 15];
        w[t & 15] += (rotate(w2, 17) ^ rotate(w2, 19) ^ w2 >> 10) + w[(t - 7) & 15] +
                     (rotate(w15, 7) ^ rotate(w15, 18) ^ w15 >> 3);
      }
      Words t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                 kRound[t] + w[t & 15];
      Words t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    Words out[8] = {s[0] + a, s[1] + b, s[2] + c, s[3] + d, s[4] + e, s[5] + f, s[6] + g, s[7] + h};
    for (int k = 0; k < 8; ++k)
      for (int m = 0; m < kMessages; ++m)
        digest[(first + m) * 8 + k] = __builtin_bswap32(out[k][m]);
  }
}

} // namespace ptxrun::bench::loops
