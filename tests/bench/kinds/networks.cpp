// What neural networks are made of besides products: their training, quantised weights, and layers
// of images.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/bench/kinds/kinds.h"
#include "tests/bench/kinds/rows.h"

namespace ptxrun::bench::kinds {
namespace {

using Half = _Float16;
constexpr int kCount = 1 << 18;
constexpr uint32_t kBlock = 256;

struct Block8 {
  Half scale;
  int8_t weights[32];
};

void dequantise8(Kinds::Group &group) {
  constexpr int blocks = kCount / 32;
  Data<Block8> in(blocks);
  Data<float> out(kCount);
  for (int b = 0; b < blocks; ++b) {
    in[b].scale = Half(0.01F * float(b % 7 + 1));
    for (int k = 0; k < 32; ++k)
      in[b].weights[k] = int8_t(b * 31 + k * 17);
  }
  group.measure({.grid = {kCount / kBlock},
                 .block = {kBlock},
                 .arguments = args(kCount, in, out),
                 .loop =
                     [&] {
                       for (int b = 0; b < blocks; ++b) {
                         const float scale = float(in[b].scale);
                         const int8_t *of = in[b].weights;
                         float *__restrict to = out.get() + b * 32;
#pragma omp simd
                         for (int k = 0; k < 32; ++k)
                           to[k] = scale * float(of[k]);
                       }
                     },
                 .outputs = {bits(out)}});
}

void quantise8(Kinds::Group &group) {
  constexpr int blocks = kCount / 32;
  Data<float> in(kCount), scales(blocks);
  Data<int8_t> out(kCount);
  fill(in, 1, -1, 1);
  group.measure({.grid = {kCount / kBlock},
                 .block = {kBlock},
                 .arguments = args(kCount, in, out, scales),
                 .loop =
                     [&] {
                       for (int b = 0; b < blocks; ++b) {
                         const float *of = in.get() + b * 32;
                         int8_t *__restrict to = out.get() + b * 32;
                         float most = 0;
#pragma omp simd reduction(max : most)
                         for (int k = 0; k < 32; ++k)
                           most = std::max(most, std::abs(of[k]));
                         const float scale = most / 127;
                         scales[b] = scale;
#pragma omp simd
                         for (int k = 0; k < 32; ++k) {
                           const float q = of[k] / scale;
                           to[k] = int8_t(int(q + std::copysign(0.5F, q)));
                         }
                       }
                     },
                 .outputs = {bits(out), bits(scales)}});
}

void rotate(Kinds::Group &group) {
  constexpr int heads = 8, half = 32, positions = kCount / heads / half / 2;
  Data<float> in(kCount), out(kCount), cosines(positions * half), sines(positions * half);
  fill(in, 1, -1, 1);
  fill(cosines, 2, -1, 1);
  fill(sines, 3, -1, 1);
  group.measure({.grid = {kCount / 2 / kBlock},
                 .block = {kBlock},
                 .arguments = args(kCount / 2, heads, half, in, cosines, sines, out),
                 .loop =
                     [&] {
                       for (int h = 0; h < positions * heads; ++h) {
                         const float *c = cosines.get() + h / heads * half,
                                     *s = sines.get() + h / heads * half,
                                     *x = in.get() + h * 2 * half, *y = x + half;
                         float *__restrict to = out.get() + h * 2 * half;
#pragma omp simd
                         for (int p = 0; p < half; ++p) {
                           to[p] = x[p] * c[p] - y[p] * s[p];
                           to[p + half] = x[p] * s[p] + y[p] * c[p];
                         }
                       }
                     },
                 .outputs = {near(out, 1e-5)}});
}

void gatedSilu(Kinds::Group &group) {
  Data<float> a(kCount), b(kCount), out(kCount);
  fill(a, 1, -4, 4);
  fill(b, 2, -1, 1);
  group.measure({.grid = {kCount / kBlock},
                 .block = {kBlock},
                 .arguments = args(kCount, a, b, out),
                 .loop =
                     [&] {
                       const float *x = a.get(), *y = b.get();
                       float *__restrict to = out.get();
#pragma omp simd
                       for (int i = 0; i < kCount; ++i)
                         to[i] = x[i] / (1 + std::exp(-x[i])) * y[i];
                     },
                 .outputs = {near(out, 1e-5)}});
}

constexpr int kChannels = 64, kSize = 1024;

void channelBias(Kinds::Group &group) {
  Data<float> x(kCount), bias(kChannels);
  fill(x, 1, -1, 1);
  fill(bias, 2, -0.5, 0.5);
  group.measure({.grid = {kCount / kBlock},
                 .block = {kBlock},
                 .arguments = args(kCount, kSize, kChannels, bias, x),
                 .loop =
                     [&] {
                       for (int p = 0; p < kCount / kSize; ++p) {
                         const float by = bias[p % kChannels];
                         float *plane = x.get() + p * kSize;
#pragma omp simd
                         for (int i = 0; i < kSize; ++i)
                           plane[i] = std::max(plane[i] + by, 0.0F);
                       }
                     },
                 .outputs = {bits(x)},
                 .prepare = restorer(x)});
}

void batchNorm(Kinds::Group &group) {
  Data<float> in(kCount), out(kCount), mean(kChannels), variance(kChannels), gain(kChannels),
      bias(kChannels);
  fill(in, 1, -1, 1);
  fill(mean, 2, -1, 1);
  fill(variance, 3, 0.5, 2);
  fill(gain, 4, -1, 1);
  fill(bias, 5, -1, 1);
  group.measure({.grid = {kCount / kBlock},
                 .block = {kBlock},
                 .arguments = args(kCount, kSize, kChannels, in, mean, variance, gain, bias, out),
                 .loop =
                     [&] {
                       for (int p = 0; p < kCount / kSize; ++p) {
                         const int c = p % kChannels;
                         const float times = gain[c] / std::sqrt(variance[c] + 1e-5F),
                                     plus = bias[c] - mean[c] * times;
                         const float *from = in.get() + p * kSize;
                         float *__restrict to = out.get() + p * kSize;
#pragma omp simd
                         for (int i = 0; i < kSize; ++i)
                           to[i] = from[i] * times + plus;
                       }
                     },
                 .outputs = {near(out, 1e-4)}});
}

void layerNormGradient(Kinds::Group &group) {
  constexpr int rows = 256, columns = 768;
  Data<float> dy(rows * columns), in(rows * columns), dx(rows * columns), gain(columns), mean(rows),
      rstd(rows), dgain(columns), dbias(columns);
  fill(dy, 1, -1, 1);
  fill(in, 2, -1, 1);
  fill(gain, 3, -1, 1);
  fill(mean, 4, -0.1, 0.1);
  fill(rstd, 5, 0.5, 1);
  group.measure(
      {.grid = {rows / 8},
       .block = {kBlock},
       .arguments = args(rows, columns, dy, in, gain, mean, rstd, dx, dgain, dbias),
       .loop =
           [&] {
             for (int r = 0; r < rows; ++r) {
               const float *d = dy.get() + r * columns, *of = in.get() + r * columns,
                           *g = gain.get(), m = mean[r], by = rstd[r];
               float *__restrict to = dx.get() + r * columns, *__restrict dg = dgain.get(),
                                 *__restrict db = dbias.get();
               float sum = 0, dot = 0;
#pragma omp simd reduction(+ : sum, dot)
               for (int c = 0; c < columns; ++c) {
                 sum += g[c] * d[c];
                 dot += g[c] * d[c] * ((of[c] - m) * by);
               }
               sum /= columns;
               dot /= columns;
#pragma omp simd
               for (int c = 0; c < columns; ++c) {
                 const float x = (of[c] - m) * by;
                 db[c] += d[c];
                 dg[c] += x * d[c];
                 to[c] = (g[c] * d[c] - sum - x * dot) * by;
               }
             }
           },
       .outputs = {near(dx, 1e-3), near(dgain, 1e-2), near(dbias, 1e-2)}});
}

void embeddingGradient(Kinds::Group &group) {
  constexpr int columns = 256, tokens = kCount / columns, words = 500;
  Data<float> dy(kCount), table(words * columns);
  Data<int> token(tokens);
  fill(dy, 1, -1, 1);
  for (int t = 0; t < tokens; ++t)
    token[t] = t * 7919 % words;
  group.measure({.grid = {kCount / kBlock},
                 .block = {kBlock},
                 .arguments = args(kCount, columns, token, dy, table),
                 .loop =
                     [&] {
                       for (int t = 0; t < tokens; ++t) {
                         float *to = table.get() + token[t] * columns;
                         const float *from = dy.get() + t * columns;
#pragma omp simd
                         for (int c = 0; c < columns; ++c)
                           to[c] += from[c];
                       }
                     },
                 .outputs = {near(table, 1e-4)}});
}

void crossEntropy(Kinds::Group &group) {
  constexpr int rows = 32, columns = kCount / rows;
  Data<float> logits(kCount), gradient(kCount), loss(rows);
  Data<int> targets(rows);
  fill(logits, 1, -3, 3);
  for (int r = 0; r < rows; ++r)
    targets[r] = r * 997 % columns;
  group.measure({.grid = {rows},
                 .block = {kBlock},
                 .arguments = args(columns, targets, logits, gradient, loss),
                 .loop =
                     [&] {
                       for (int r = 0; r < rows; ++r) {
                         const float *row = logits.get() + r * columns;
                         float *__restrict to = gradient.get() + r * columns;
                         const float most = greatest(row, columns);
                         const float sum = softmax(row, most, to, columns);
                         to[targets[r]] -= 1;
                         loss[r] = std::log(sum) - (row[targets[r]] - most);
                       }
                     },
                 .outputs = {near(gradient, 1e-4), near(loss, 1e-4)}});
}

void causalSoftmax(Kinds::Group &group) {
  constexpr int columns = 512, rows = kCount / columns;
  Data<float> in(kCount), out(kCount);
  fill(in, 1, -3, 3);
  group.measure({.grid = {rows / 8},
                 .block = {kBlock},
                 .arguments = args(rows, columns, in, out),
                 .loop =
                     [&] {
                       for (int r = 0; r < rows; ++r) {
                         const int count = r % columns + 1;
                         const float *row = in.get() + r * columns;
                         float *__restrict to = out.get() + r * columns;
                         softmax(row, greatest(row, count), to, count);
                         std::memset(to + count, 0, size_t(columns - count) * sizeof *to);
                       }
                     },
                 .outputs = {near(out, 1e-4)}});
}

/// to[x] += a row and its neighbours to both sides.
void addWeighted(const float *row, const float *w, float *__restrict to, int width) {
  to[0] += row[0] * w[1] + row[1] * w[2];
#pragma omp simd
  for (int x = 1; x < width - 1; ++x)
    to[x] += row[x - 1] * w[0] + row[x] * w[1] + row[x + 1] * w[2];
  to[width - 1] += row[width - 2] * w[0] + row[width - 1] * w[1];
}

void depthwise3(Kinds::Group &group) {
  constexpr int height = 56, width = 56, count = kChannels * height * width;
  Data<float> in(count), weights(kChannels * 9), out(count);
  fill(in, 1, -1, 1);
  fill(weights, 2, -1, 1);
  group.measure({.grid = {(count + kBlock - 1) / kBlock},
                 .block = {kBlock},
                 .arguments = args(count, height, width, in, weights, out),
                 .loop =
                     [&] {
                       for (int c = 0; c < kChannels; ++c)
                         for (int y = 0; y < height; ++y) {
                           float *to = out.get() + (c * height + y) * width;
                           std::memset(to, 0, width * sizeof *to);
                           for (int a = std::max(y - 1, 0); a <= std::min(y + 1, height - 1); ++a)
                             addWeighted(in.get() + (c * height + a) * width,
                                         weights.get() + c * 9 + (a - y + 1) * 3, to, width);
                         }
                     },
                 .outputs = {near(out, 1e-4)}});
}

void upsample2(Kinds::Group &group) {
  constexpr int channels = 16, height = 64, width = 64;
  Data<float> in(channels * height * width), out(channels * 4 * height * width);
  fill(in, 1, -1, 1);
  const auto place = [](int i, int size, int &at, int &next) {
    const float f = std::max((float(i) + 0.5F) * 0.5F - 0.5F, 0.0F);
    at = int(f);
    next = std::min(at + 1, size - 1);
    return f - float(at);
  };
  group.measure({.grid = {2 * width / 32, 2 * height / 8, channels},
                 .block = {32, 8},
                 .arguments = args(height, width, in, out),
                 .loop =
                     [&] {
                       int at[2 * width], next[2 * width];
                       float u[2 * width];
                       for (int x = 0; x < 2 * width; ++x)
                         u[x] = place(x, width, at[x], next[x]);
                       for (int c = 0; c < channels; ++c)
                         for (int y = 0; y < 2 * height; ++y) {
                           int y0, y1;
                           const float v = place(y, height, y0, y1);
                           const float *p = in.get() + (c * height + y0) * width,
                                       *q = in.get() + (c * height + y1) * width;
                           float *__restrict to = out.get() + (c * 2 * height + y) * 2 * width;
#pragma omp simd
                           for (int x = 0; x < 2 * width; ++x)
                             to[x] = (1 - v) * ((1 - u[x]) * p[at[x]] + u[x] * p[next[x]]) +
                                     v * ((1 - u[x]) * q[at[x]] + u[x] * q[next[x]]);
                         }
                     },
                 .outputs = {near(out, 1e-4)}});
}

} // namespace

void measureNetworks(Kinds &kinds) {
  kinds.measureAll("networks", {{"dequantise8", dequantise8},
                                {"quantise8", quantise8},
                                {"rotate", rotate},
                                {"gatedSilu", gatedSilu},
                                {"channelBias", channelBias},
                                {"batchNorm", batchNorm},
                                {"layerNormGradient", layerNormGradient},
                                {"embeddingGradient", embeddingGradient},
                                {"crossEntropy", crossEntropy},
                                {"causalSoftmax", causalSoftmax},
                                {"depthwise3", depthwise3},
                                {"upsample2", upsample2}});
}

} // namespace ptxrun::bench::kinds
