// Stencils, convolutions, cellular automata.
#include <algorithm>
#include <cmath>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

void stencil1d(Kinds::Group &group) {
  constexpr int n = 1 << 20;
  Data<int> in(n + 16), out(n);
  fill(in, 1, 0, 1000);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, in, out),
                 .loop =
                     [&] {
                       const int *from = in.get();
                       int *to = out.get();
#pragma omp simd
                       for (int i = 0; i < n; ++i) {
                         int sum = 0;
                         for (int k = 0; k <= 16; ++k)
                           sum += from[i + k];
                         to[i] = sum;
                       }
                     },
                 .outputs = {bits(out)}});
}

/// to(x, y) = f(place of (x, y)) for all but the edge of width `edge`.
template <class T, class F> void inner(int width, int height, int edge, T *to, F f) {
  for (int y = edge; y < height - edge; ++y)
#pragma omp simd
    for (int x = edge; x < width - edge; ++x)
      to[y * width + x] = f(y * width + x);
}

constexpr int kWidth = 1024, kHeight = 1024;
constexpr Dim kRows{kWidth / 32, kHeight / 8}, kBlock{32, 8};

void fivePoints(const float *p, float *out) {
  inner(kWidth, kHeight, 1, out, [p](int i) {
    return 0.5f * p[i] + 0.125f * (p[i - 1] + p[i + 1] + p[i - kWidth] + p[i + kWidth]);
  });
}

void stencil5(Kinds::Group &group) {
  Data<float> in(kWidth * kHeight), out(kWidth * kHeight);
  fill(in, 1, -1, 1);
  group.measure({.grid = kRows,
                 .block = kBlock,
                 .arguments = args(kWidth, kHeight, in, out),
                 .loop = [&] { fivePoints(in.get(), out.get()); },
                 .outputs = {near(out, 1e-5)}});
}

constexpr int kSide = 128;

/// to(x, y, z) = f(place) for all but the faces.
template <class F> void innerVolume(float *to, F f) {
  for (int z = 1; z < kSide - 1; ++z)
    for (int y = 1; y < kSide - 1; ++y)
#pragma omp simd
      for (int x = 1; x < kSide - 1; ++x)
        to[(z * kSide + y) * kSide + x] = f((z * kSide + y) * kSide + x);
}

void stencil7(Kinds::Group &group) {
  Data<float> in(kSide * kSide * kSide), out(kSide * kSide * kSide);
  fill(in, 1, -1, 1);
  group.measure({.grid = {kSide / 32, kSide / 8},
                 .block = kBlock,
                 .arguments = args(kSide, kSide, kSide, in, out),
                 .loop =
                     [&] {
                       innerVolume(out.get(), [p = in.get()](int i) {
                         constexpr int plane = kSide * kSide;
                         return 0.4f * p[i] + 0.1f * (p[i - plane] + p[i + plane] + p[i - 1] +
                                                      p[i + 1] + p[i - kSide] + p[i + kSide]);
                       });
                     },
                 .outputs = {near(out, 1e-5)}});
}

void stencil27(Kinds::Group &group) {
  Data<float> in(kSide * kSide * kSide), out(kSide * kSide * kSide);
  fill(in, 1, -1, 1);
  group.measure({.grid = {kSide / 32, kSide / 8, kSide - 2},
                 .block = kBlock,
                 .arguments = args(kSide, kSide, kSide, in, out),
                 .loop =
                     [&] {
                       innerVolume(out.get(), [p = in.get()](int i) {
                         float sum = 0;
                         for (int c = -1; c <= 1; ++c)
                           for (int b = -1; b <= 1; ++b)
                             for (int a = -1; a <= 1; ++a)
                               sum += p[i + (c * kSide + b) * kSide + a];
                         return sum / 27;
                       });
                     },
                 .outputs = {near(out, 1e-5)}});
}

void temporal1d(Kinds::Group &group) {
  constexpr int n = 1 << 20;
  Data<float> in(n + 8), out(n);
  fill(in, 1, -1, 1);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, in, out),
                 .loop =
                     [&] {
                       for (int base = 0; base < n; base += 1024) {
                         float s[2][1032];
                         std::copy(in.get() + base, in.get() + base + 1032, s[0]);
                         for (int step = 0; step < 4; ++step) {
                           const float *from = s[step % 2];
                           float *to = step == 3 ? out.get() + base : s[1 - step % 2];
#pragma omp simd
                           for (int k = 0; k < 1030 - 2 * step; ++k)
                             to[k] = 0.25f * from[k] + 0.5f * from[k + 1] + 0.25f * from[k + 2];
                         }
                       }
                     },
                 .outputs = {near(out, 1e-5)}});
}

void jacobiDouble(Kinds::Group &group) {
  Data<double> in(kWidth * kHeight), right(kWidth * kHeight), out(kWidth * kHeight);
  fill(in, 1, -1, 1);
  fill(right, 2, -1, 1);
  group.measure({.grid = kRows,
                 .block = kBlock,
                 .arguments = args(kWidth, kHeight, in, right, out),
                 .loop =
                     [&] {
                       inner(kWidth, kHeight, 1, out.get(), [p = in.get(), q = right.get()](int i) {
                         return 0.25 * (p[i - 1] + p[i + 1] + p[i - kWidth] + p[i + kWidth] - q[i]);
                       });
                     },
                 .outputs = {near(out, 1e-6)}});
}

float weight(int a, int b) { // of a 7 x 7 filter, as in grids.cu
  return 0.01f * static_cast<float>(7 - std::abs(a) - std::abs(b));
}

void convolve(int width, int height, const float *in, float *out) {
  float filter[7][7];
  for (int b = -3; b <= 3; ++b)
    for (int a = -3; a <= 3; ++a)
      filter[b + 3][a + 3] = weight(a, b);
  for (int y = 0; y < height; ++y) {
    float *to = out + y * width;
    std::fill(to, to + width, 0.0f);
    for (int b = std::max(-3, -y); b <= std::min(3, height - 1 - y); ++b) {
      const float *row = in + (y + b) * width;
      for (int x : {0, 1, 2, width - 3, width - 2, width - 1})
        for (int a = std::max(-3, -x); a <= std::min(3, width - 1 - x); ++a)
          to[x] += row[x + a] * filter[b + 3][a + 3];
#pragma omp simd
      for (int x = 3; x < width - 3; ++x)
        for (int a = -3; a <= 3; ++a)
          to[x] += row[x + a] * filter[b + 3][a + 3];
    }
  }
}

void convolution7(Kinds::Group &group) {
  constexpr int width = 512, height = 512;
  Data<float> in(width * height), out(width * height);
  fill(in, 1, -1, 1);
  group.measure({.grid = {width / 16, height / 16},
                 .block = {16, 16},
                 .arguments = args(width, height, in, out),
                 .loop = [&] { convolve(width, height, in.get(), out.get()); },
                 .outputs = {near(out, 1e-5)}});
}

void blurRows(Kinds::Group &group) {
  Data<float> in(kWidth * kHeight), out(kWidth * kHeight);
  fill(in, 1, -1, 1);
  group.measure({.grid = {kWidth / 128, kHeight},
                 .block = {128},
                 .arguments = args(kWidth, kHeight, in, out),
                 .loop =
                     [&] {
                       for (int y = 0; y < kHeight; ++y) {
                         float row[kWidth + 6];
                         const float *from = in.get() + y * kWidth;
                         float *to = out.get() + y * kWidth;
                         std::copy(from, from + kWidth, row + 3);
                         std::fill(row, row + 3, from[0]);
                         std::fill(row + kWidth + 3, row + kWidth + 6, from[kWidth - 1]);
#pragma omp simd
                         for (int x = 0; x < kWidth; ++x) {
                           float sum = 0;
                           for (int k = -3; k <= 3; ++k)
                             sum += row[x + 3 + k] * weight(k, 0);
                           to[x] = sum;
                         }
                       }
                     },
                 .outputs = {near(out, 1e-5)}});
}

void lifeRow(const uint8_t *up, const uint8_t *row, const uint8_t *down, uint8_t *to) {
  auto step = [=](int left, int x, int right) {
    int n =
        up[left] + up[x] + up[right] + row[left] + row[right] + down[left] + down[x] + down[right];
    to[x] = static_cast<uint8_t>((n == 3) | ((n == 2) & row[x]));
  };
  step(kWidth - 1, 0, 1);
#pragma omp simd
  for (int x = 1; x < kWidth - 1; ++x)
    step(x - 1, x, x + 1);
  step(kWidth - 2, kWidth - 1, 0);
}

void life(Kinds::Group &group) {
  Data<uint8_t> in(kWidth * kHeight), out(kWidth * kHeight);
  fill(in, 1, 0, 2);
  group.measure({.grid = kRows,
                 .block = kBlock,
                 .arguments = args(kWidth, kHeight, in, out),
                 .loop =
                     [&] {
                       for (int y = 0; y < kHeight; ++y)
                         lifeRow(in.get() + (y + kHeight - 1) % kHeight * kWidth,
                                 in.get() + y * kWidth, in.get() + (y + 1) % kHeight * kWidth,
                                 out.get() + y * kWidth);
                     },
                 .outputs = {bits(out)}});
}

void filterBilateral(int width, int height, const float *in, float *out) {
  std::vector<float> row(5 * (static_cast<size_t>(width) + 4));
  for (int y = 0; y < height; ++y) {
    for (int b = -2; b <= 2; ++b)
      for (int x = -2; x < width + 2; ++x)
        row[(b + 2) * (width + 4) + x + 2] =
            in[std::clamp(y + b, 0, height - 1) * width + std::clamp(x, 0, width - 1)];
    const float *p = row.data();
#pragma omp simd
    for (int x = 0; x < width; ++x) {
      float here = p[2 * (width + 4) + x + 2], sum = 0, weights = 0;
      for (int b = 0; b < 5; ++b)
        for (int a = 0; a < 5; ++a) {
          float value = p[b * (width + 4) + x + a], d = value - here;
          float w = expf(-static_cast<float>((a - 2) * (a - 2) + (b - 2) * (b - 2)) * 0.125f -
                         d * d * 8.0f);
          sum += w * value;
          weights += w;
        }
      out[y * width + x] = sum / weights;
    }
  }
}

void bilateral(Kinds::Group &group) {
  constexpr int width = 320, height = 320;
  Data<float> in(width * height), out(width * height);
  fill(in, 1, 0, 1);
  group.measure({.grid = {width / 16, height / 16},
                 .block = {16, 16},
                 .arguments = args(width, height, in, out),
                 .loop = [&] { filterBilateral(width, height, in.get(), out.get()); },
                 .outputs = {near(out, 1e-4)}});
}

void median3(Kinds::Group &group) {
  Data<float> in(kWidth * kHeight), out(kWidth * kHeight);
  fill(in, 1, -1, 1);
  group.measure({.grid = kRows,
                 .block = kBlock,
                 .arguments = args(kWidth, kHeight, in, out),
                 .loop =
                     [&] {
                       inner(kWidth, kHeight, 1, out.get(), [p = in.get()](int i) {
                         float v[9];
                         for (int k = 0; k < 9; ++k)
                           v[k] = p[i + (k / 3 - 1) * kWidth + k % 3 - 1];
                         for (int k = 0; k < 5; ++k)
                           for (int j = k + 1; j < 9; ++j) {
                             float low = v[k] < v[j] ? v[k] : v[j];
                             v[j] = v[k] < v[j] ? v[j] : v[k];
                             v[k] = low;
                           }
                         return v[4];
                       });
                     },
                 .outputs = {bits(out)}});
}

constexpr int kCx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kCy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

void collide(int width, int cells, float omega, const float *const *from, float *to) {
  const float w[9] = {4.f / 9,  1.f / 9,  1.f / 9,  1.f / 9, 1.f / 9,
                      1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
#pragma omp simd
  for (int x = 0; x < width; ++x) {
    float f[9], rho = 0, u = 0, v = 0;
    for (int k = 0; k < 9; ++k) {
      f[k] = from[k][x];
      rho += f[k];
      u += static_cast<float>(kCx[k]) * f[k];
      v += static_cast<float>(kCy[k]) * f[k];
    }
    u /= rho;
    v /= rho;
    const float square = 1.5f * (u * u + v * v);
    for (int k = 0; k < 9; ++k) {
      const float c = 3 * (static_cast<float>(kCx[k]) * u + static_cast<float>(kCy[k]) * v);
      const float equilibrium = w[k] * rho * (1 + c + 0.5f * c * c - square);
      to[k * cells + x] = f[k] + omega * (equilibrium - f[k]);
    }
  }
}

void latticeBoltzmann(Kinds::Group &group) {
  constexpr int width = 512, height = 256, cells = width * height;
  const float omega = 1.2f;
  Data<float> in(9 * cells), out(9 * cells);
  fill(in, 1, 0.05, 0.2);
  group.measure({.grid = {width / 32, height / 8},
                 .block = kBlock,
                 .arguments = args(width, height, omega, in, out),
                 .loop =
                     [&] {
                       // each row is copied once with its ends wrapped round: then all places are x
                       // - cx
                       std::vector<float> rows(9 * (width + 2));
                       for (int y = 0; y < height; ++y) {
                         const float *from[9];
                         for (int k = 0; k < 9; ++k) {
                           const float *row =
                               in.get() + k * cells + (y - kCy[k] + height) % height * width;
                           float *copy = rows.data() + k * (width + 2);
                           copy[0] = row[width - 1];
                           std::copy(row, row + width, copy + 1);
                           copy[width + 1] = row[0];
                           from[k] = copy + 1 - kCx[k];
                         }
                         collide(width, cells, omega, from, out.get() + y * width);
                       }
                     },
                 .outputs = {near(out, 1e-4)}});
}

void sobel8(Kinds::Group &group) {
  Data<uint8_t> in(kWidth * kHeight), out(kWidth * kHeight);
  fill(in, 1, 0, 256);
  group.measure({.grid = kRows,
                 .block = kBlock,
                 .arguments = args(kWidth, kHeight, in, out),
                 .loop =
                     [&] {
                       inner(kWidth, kHeight, 1, out.get(), [p = in.get()](int i) {
                         constexpr int w = kWidth;
                         int gx = p[i + 1 - w] + 2 * p[i + 1] + p[i + 1 + w] - p[i - 1 - w] -
                                  2 * p[i - 1] - p[i - 1 + w];
                         int gy = p[i + w - 1] + 2 * p[i + w] + p[i + w + 1] - p[i - w - 1] -
                                  2 * p[i - w] - p[i - w + 1];
                         return static_cast<uint8_t>(std::min(std::abs(gx) + std::abs(gy), 255));
                       });
                     },
                 .outputs = {bits(out)}});
}

/// Columns first: each pixel is compared three times.
void erode(const uint8_t *in, uint8_t *out) {
  uint8_t columns[kWidth + 2];
  for (int y = 0; y < kHeight; ++y) {
    const uint8_t *above = in + std::max(y - 1, 0) * kWidth, *row = in + y * kWidth,
                  *below = in + std::min(y + 1, kHeight - 1) * kWidth;
    for (int x = 0; x < kWidth; ++x)
      columns[x + 1] = std::min(std::min(above[x], row[x]), below[x]);
    columns[0] = columns[1];
    columns[kWidth + 1] = columns[kWidth];
    for (int x = 0; x < kWidth; ++x)
      out[y * kWidth + x] = std::min(std::min(columns[x], columns[x + 1]), columns[x + 2]);
  }
}

void erode8(Kinds::Group &group) {
  Data<uint8_t> in(kWidth * kHeight), out(kWidth * kHeight);
  fill(in, 1, 0, 256);
  group.measure({.grid = kRows,
                 .block = kBlock,
                 .arguments = args(kWidth, kHeight, in, out),
                 .loop = [&] { erode(in.get(), out.get()); },
                 .outputs = {bits(out)}});
}

void stencilByRows(Kinds::Group &group) {
  Data<float> in(kWidth * kHeight), out(kWidth * kHeight);
  fill(in, 1, -1, 1);
  group.measure({.grid = {kHeight / 16, kWidth / 16},
                 .block = {16, 16},
                 .arguments = args(kHeight, kWidth, in, out),
                 .loop = [&] { fivePoints(in.get(), out.get()); },
                 .outputs = {near(out, 1e-5)}});
}

void waveByPlanes(Kinds::Group &group) {
  constexpr int n = kSide, plane = n * n;
  Data<float> before(n * plane), now(n * plane), next(n * plane);
  fill(before, 1, -1, 1);
  fill(now, 2, -1, 1);
  group.measure({.grid = {n / 8, n / 8, n / 8},
                 .block = {8, 8, 8},
                 .arguments = args(n, n, n, before, now, next),
                 .loop =
                     [&] {
                       const float *old = before.get();
                       for (int x = 1; x < n - 1; ++x)
                         inner(n, n, 1, next.get() + x * plane,
                               [p = now.get() + x * plane, old = old + x * plane](int i) {
                                 return 2 * p[i] - old[i] +
                                        0.1f * (p[i - 1] + p[i + 1] + p[i - n] + p[i + n] +
                                                p[i - plane] + p[i + plane] - 6 * p[i]);
                               });
                     },
                 .outputs = {near(next, 1e-4)}});
}

/// Four rows of c at once.
void productByRows(Kinds::Group &group) {
  constexpr int n = 512;
  Data<float> a(n * n), b(n * n), c(n * n);
  fill(a, 1, -1, 1);
  fill(b, 2, -1, 1);
  group.measure({.grid = {n / 16, n / 16},
                 .block = {16, 16},
                 .arguments = args(n, a, b, c),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; i += 4) {
                         const float *from = a.get() + i * n;
                         float *to = c.get() + i * n;
                         std::fill_n(to, 4 * n, 0.0f);
                         for (int k = 0; k < n; ++k) {
                           const float *row = b.get() + k * n;
#pragma omp simd
                           for (int j = 0; j < n; ++j) {
                             to[j] += from[k] * row[j];
                             to[n + j] += from[n + k] * row[j];
                             to[2 * n + j] += from[2 * n + k] * row[j];
                             to[3 * n + j] += from[3 * n + k] * row[j];
                           }
                         }
                       }
                     },
                 .outputs = {near(c, 1e-3)}});
}

} // namespace

void measureGrids(Kinds &kinds) {
  kinds.measureAll("grids", {{"stencil1d", stencil1d},
                             {"stencil5", stencil5},
                             {"stencil7", stencil7},
                             {"stencil27", stencil27},
                             {"temporal1d", temporal1d},
                             {"jacobiDouble", jacobiDouble},
                             {"convolution7", convolution7},
                             {"blurRows", blurRows},
                             {"life", life},
                             {"bilateral", bilateral},
                             {"median3", median3},
                             {"latticeBoltzmann", latticeBoltzmann},
                             {"sobel8", sobel8},
                             {"erode8", erode8},
                             {"stencilByRows", stencilByRows},
                             {"waveByPlanes", waveByPlanes},
                             {"productByRows", productByRows}});
}

} // namespace ptxrun::bench::kinds
