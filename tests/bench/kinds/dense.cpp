// Dense linear algebra, transforms, dynamic programming.
#include <algorithm>
#include <cmath>
#include <complex>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

/// c = a b, n x n each: four rows at once, columns in vectors.
template <class T> void multiply(int n, const T *a, const T *b, T *__restrict c) {
  std::fill(c, c + n * n, T(0));
  for (int k0 = 0; k0 < n; k0 += 64)
    for (int y = 0; y < n; y += 4)
      for (int k = k0; k < k0 + 64; ++k) {
        const T p0 = a[y * n + k], p1 = a[(y + 1) * n + k], p2 = a[(y + 2) * n + k],
                p3 = a[(y + 3) * n + k], *row = b + k * n;
        T *to = c + y * n;
#pragma omp simd
        for (int x = 0; x < n; ++x) {
          to[x] += p0 * row[x];
          to[n + x] += p1 * row[x];
          to[2 * n + x] += p2 * row[x];
          to[3 * n + x] += p3 * row[x];
        }
      }
}

template <class T> void product(Kinds::Group &group, int n, unsigned side, Dim block) {
  Data<T> a(n * n), b(n * n), c(n * n);
  fill(a, 1, -1, 1);
  fill(b, 2, -1, 1);
  const unsigned blocks = static_cast<unsigned>(n) / side;
  group.measure({.grid = {blocks, blocks},
                 .block = block,
                 .arguments = args(n, a, b, c),
                 .loop = [&] { multiply(n, a.get(), b.get(), c.get()); },
                 .outputs = {near(c, 1e-3)}});
}
void multiplyNaive(Kinds::Group &group) { product<float>(group, 256, 16, {16, 16}); }
void multiplyTiled(Kinds::Group &group) { product<float>(group, 256, 32, {32, 32}); }
void multiplyBlocked(Kinds::Group &group) { product<float>(group, 384, 64, {256}); }
void multiplyDouble(Kinds::Group &group) { product<double>(group, 256, 16, {16, 16}); }

void timesVector(int rows, int columns, const float *a, const float *x, float *y) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < columns; ++k)
      sum += a[r * columns + k] * x[k];
    y[r] = sum;
  }
}

void gemv(Kinds::Group &group, unsigned threadsOfRow) {
  constexpr int rows = 2048, columns = 1000;
  Data<float> a(rows * columns), x(columns), y(rows);
  fill(a, 1, -1, 1);
  fill(x, 2, -1, 1);
  group.measure({.grid = {rows * threadsOfRow / 128},
                 .block = {128},
                 .arguments = args(rows, columns, a, x, y),
                 .loop = [&] { timesVector(rows, columns, a.get(), x.get(), y.get()); },
                 .outputs = {near(y, 1e-3)}});
}
void gemvRows(Kinds::Group &group) { gemv(group, 1); }
void gemvWarps(Kinds::Group &group) { gemv(group, 32); }

void gemvTransposed(Kinds::Group &group) {
  constexpr int rows = 1000, columns = 2048;
  Data<float> a(rows * columns), x(rows), y(columns);
  fill(a, 1, -1, 1);
  fill(x, 2, -1, 1);
  group.measure({.grid = {columns / 128},
                 .block = {128},
                 .arguments = args(rows, columns, a, x, y),
                 .loop =
                     [&] {
                       const float *from = a.get();
                       float *to = y.get();
                       std::fill(to, to + columns, 0.0f);
                       for (int k = 0; k < rows; ++k) {
                         const float by = x[k];
#pragma omp simd
                         for (int c = 0; c < columns; ++c)
                           to[c] += from[k * columns + c] * by;
                       }
                     },
                 .outputs = {near(y, 1e-3)}});
}

void luOf(float *m) {
  for (int k = 0; k < 6; ++k) {
    const float inverse = 1 / m[k * 6 + k];
    for (int i = k + 1; i < 6; ++i) {
      m[i * 6 + k] *= inverse;
      for (int j = k + 1; j < 6; ++j)
        m[i * 6 + j] -= m[i * 6 + k] * m[k * 6 + j];
    }
  }
}

void smallLu(Kinds::Group &group) {
  constexpr int n = 16384;
  Data<float> a(36 * n);
  fill(a, 1, -1, 1);
  for (int k = 0; k < 6 * n; ++k)
    a[k / 6 * 36 + k % 6 * 7] += 8;
  group.measure({.grid = {n / 128},
                 .block = {128},
                 .arguments = args(n, a),
                 .loop =
                     [&] {
                       for (int t = 0; t < n; ++t)
                         luOf(a.get() + 36 * t);
                     },
                 .outputs = {near(a, 1e-3)},
                 .prepare = restorer(a)});
}

void qrOf(int n, const float *a, float *q, float *r) {
#pragma omp simd
  for (int t = 0; t < n; ++t) {
    float m[4][4], u[4][4];
    for (int i = 0; i < 16; ++i)
      m[i / 4][i % 4] = a[i * n + t];
    for (int j = 0; j < 4; ++j) {
      for (int k = 0; k < j; ++k) {
        float dot = 0;
        for (int i = 0; i < 4; ++i)
          dot += m[i][k] * m[i][j];
        u[k][j] = dot;
        for (int i = 0; i < 4; ++i)
          m[i][j] -= dot * m[i][k];
      }
      float square = 0;
      for (int i = 0; i < 4; ++i)
        square += m[i][j] * m[i][j];
      u[j][j] = sqrtf(square);
      for (int i = 0; i < 4; ++i)
        m[i][j] *= 1 / u[j][j];
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        q[(i * 4 + j) * n + t] = m[i][j];
        if (i <= j)
          r[(i * 4 + j) * n + t] = u[i][j];
      }
  }
}

void smallQr(Kinds::Group &group) {
  constexpr int n = 65536;
  Data<float> a(16 * n), q(16 * n), r(16 * n);
  fill(a, 1, -1, 1);
  for (int k = 0; k < 4 * n; ++k)
    a[k / n * 5 * n + k % n] += 4;
  group.measure({.grid = {n / 128},
                 .block = {128},
                 .arguments = args(n, a, q, r),
                 .loop = [&] { qrOf(n, a.get(), q.get(), r.get()); },
                 .outputs = {near(q, 1e-3), near(r, 1e-3)}});
}

void floydRound(Kinds::Group &group) {
  constexpr int n = 1024;
  const int k = 77;
  Data<float> d(n * n);
  fill(d, 1, 1, 100);
  for (int i = 0; i < n; ++i)
    d[i * n + i] = 0;
  group.measure({.grid = {n / 16, n / 16},
                 .block = {16, 16},
                 .arguments = args(n, k, d),
                 .loop =
                     [&] {
                       const std::vector<float> row(d.get() + k * n, d.get() + k * n + n);
                       for (int i = 0; i < n; ++i) {
                         const float *of = row.data();
                         float *to = d.get() + i * n;
                         const float by = to[k];
#pragma omp simd
                         for (int j = 0; j < n; ++j)
                           to[j] = by + of[j] < to[j] ? by + of[j] : to[j];
                       }
                     },
                 .outputs = {bits(d)},
                 .prepare = restorer(d)});
}

void dctOf(int width, const float *cosines, const float *in, float *out) {
  float r[8][8];
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      float sum = 0;
      for (int k = 0; k < 8; ++k)
        sum += in[k * width + x] * cosines[y * 8 + k];
      r[y][x] = sum;
    }
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) {
      float sum = 0;
      for (int k = 0; k < 8; ++k)
        sum += r[y][k] * cosines[64 + k * 8 + x]; // transposed: along x in vectors
      out[y * width + x] = sum;
    }
}

void dct8(Kinds::Group &group) {
  constexpr int width = 768, height = 512;
  Data<float> in(width * height), out(width * height), cosines(128);
  fill(in, 1, -1, 1);
  for (int u = 0; u < 8; ++u)
    for (int k = 0; k < 8; ++k)
      cosines[u * 8 + k] = cosines[64 + k * 8 + u] = static_cast<float>(
          std::cos((2 * k + 1) * u * std::acos(-1.0) / 16) * (u == 0 ? std::sqrt(0.125) : 0.5));
  group.measure({.grid = {width / 8, height / 8},
                 .block = {8, 8},
                 .arguments = args(width, in, out),
                 .loop =
                     [&] {
                       for (int y = 0; y < height; y += 8)
                         for (int x = 0; x < width; x += 8)
                           dctOf(width, cosines.get(), in.get() + y * width + x,
                                 out.get() + y * width + x);
                     },
                 .outputs = {near(out, 1e-4)}});
}

/// Stockham's FFT of n = 2^m complex numbers; `twiddle` has n / 2 pairs. The result is in `x`.
void transform(int n, const float *twiddle, float *x, float *y) {
  float *const result = x;
  for (int count = n / 2, stride = 1; count >= 1; count /= 2, stride *= 2, std::swap(x, y))
    for (int p = 0; p < count; ++p) {
      const float wr = twiddle[2 * p * stride], wi = twiddle[2 * p * stride + 1];
      const float *a = x + 2 * stride * p, *b = x + 2 * stride * (p + count);
      float *to = y + 2 * stride * 2 * p, *other = to + 2 * stride;
#pragma omp simd
      for (int q = 0; q < stride; ++q) {
        const float dr = a[2 * q] - b[2 * q], di = a[2 * q + 1] - b[2 * q + 1];
        to[2 * q] = a[2 * q] + b[2 * q];
        to[2 * q + 1] = a[2 * q + 1] + b[2 * q + 1];
        other[2 * q] = dr * wr - di * wi;
        other[2 * q + 1] = dr * wi + di * wr;
      }
    }
  if (x != result)
    std::copy(x, x + 2 * n, result);
}

/// exp(-2 pi i k / n), n of them.
void fillTwiddles(Data<float> &table, int n) {
  for (int k = 0; k < n; ++k) {
    const std::complex<double> w = std::polar(1.0, -2 * std::acos(-1.0) * k / n);
    table[2 * k] = static_cast<float>(w.real());
    table[2 * k + 1] = static_cast<float>(w.imag());
  }
}

void transforms(Kinds::Group &group, int n, unsigned threads, bool hasTable) {
  constexpr int numbers = 1 << 18;
  Data<float> twiddle(2 * n), in(2 * numbers), out(2 * numbers);
  fill(in, 1, -1, 1);
  fillTwiddles(twiddle, n);
  group.measure({.grid = {static_cast<unsigned>(numbers / n)},
                 .block = {threads},
                 .arguments = hasTable ? args(twiddle, in, out) : args(in, out),
                 .loop =
                     [&] {
                       std::vector<float> scratch(2 * n);
                       for (int k = 0; k < 2 * numbers; k += 2 * n) {
                         std::copy(in.get() + k, in.get() + k + 2 * n, out.get() + k);
                         transform(n, twiddle.get(), out.get() + k, scratch.data());
                       }
                     },
                 .outputs = {near(out, 1e-3)}});
}
void fft2(Kinds::Group &group) { transforms(group, 512, 256, false); }
void fft4(Kinds::Group &group) { transforms(group, 256, 64, true); }

int scoreOf(const char *a, const char *b) {
  int row[65];
  for (int j = 0; j <= 64; ++j)
    row[j] = -j;
  for (int i = 0; i < 64; ++i) {
    int diagonal = row[0];
    row[0] = -i - 1;
    for (int j = 0; j < 64; ++j) {
      const int match = diagonal + (a[i] == b[j] ? 1 : -1);
      diagonal = row[j + 1];
      row[j + 1] = std::max(match, std::max(row[j + 1], row[j]) - 1);
    }
  }
  return row[64];
}

void align(Kinds::Group &group) {
  constexpr int pairs = 512;
  Data<char> first(64 * pairs), second(64 * pairs);
  Data<int> score(pairs);
  fill(first, 1, 'a', 'e');
  fill(second, 2, 'a', 'e');
  group.measure({.grid = {pairs},
                 .block = {64},
                 .arguments = args(first, second, score),
                 .loop =
                     [&] {
                       for (int p = 0; p < pairs; ++p)
                         score[p] = scoreOf(first.get() + 64 * p, second.get() + 64 * p);
                     },
                 .outputs = {bits(score)}});
}

} // namespace

void measureDense(Kinds &kinds) {
  kinds.measureAll("dense", {{"multiplyNaive", multiplyNaive},
                             {"multiplyTiled", multiplyTiled},
                             {"multiplyBlocked", multiplyBlocked},
                             {"multiplyDouble", multiplyDouble},
                             {"gemvRows", gemvRows},
                             {"gemvWarps", gemvWarps},
                             {"gemvTransposed", gemvTransposed},
                             {"smallLu", smallLu},
                             {"smallQr", smallQr},
                             {"floydRound", floydRound},
                             {"dct8", dct8},
                             {"fft2", fft2},
                             {"fft4", fft4},
                             {"align", align}});
}

} // namespace ptxrun::bench::kinds
