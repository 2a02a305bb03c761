// Reductions.
#include <cfloat>
#include <cmath>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

float sumOf(size_t n, const float *x) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i)
    sum += x[i];
  return sum;
}

/// Sums of parts of `length`, one for each block.
void sumsOfParts(size_t parts, size_t length, const float *x, float *sums) {
  for (size_t p = 0; p < parts; ++p)
    sums[p] = sumOf(length, x + p * length);
}

constexpr int kCount = 4 << 20;

void gridStrideSum(Kinds::Group &group) {
  Data<float> x(kCount), sum(1);
  fill(x, 1, -1, 1);
  group.measure({.grid = {128},
                 .block = {256},
                 .arguments = args(kCount, x, sum),
                 .loop = [&] { sum[0] = sumOf(kCount, x.get()); },
                 .outputs = {near(sum, 1e-2)},
                 .prepare = clearer(sum),
                 .shared = 1024});
}

/// A tree of one block each over `length` numbers.
void tree(Kinds::Group &group, size_t length) {
  Data<float> x(kCount), sums(kCount / length);
  fill(x, 1, -1, 1);
  group.measure({.grid = {static_cast<unsigned>(sums.size())},
                 .block = {256},
                 .arguments = args(x, sums),
                 .loop = [&] { sumsOfParts(sums.size(), length, x.get(), sums.get()); },
                 .outputs = {near(sums, 1e-4)},
                 .shared = 1024});
}
void interleavedSum(Kinds::Group &group) { tree(group, 256); }
void sequentialSum(Kinds::Group &group) { tree(group, 512); }

void shuffleSum4(Kinds::Group &group) {
  Data<float> x(kCount), sum(1);
  fill(x, 1, -1, 1);
  group.measure({.grid = {64},
                 .block = {256},
                 .arguments = args(kCount / 4, x, sum),
                 .loop = [&] { sum[0] = sumOf(kCount, x.get()); },
                 .outputs = {near(sum, 1e-2)},
                 .prepare = clearer(sum)});
}

double dot(size_t n, const double *x, const double *y) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i)
    sum += x[i] * y[i];
  return sum;
}

void dotDouble(Kinds::Group &group) {
  constexpr int n = kCount / 4;
  Data<double> x(n), y(n), sum(1);
  fill(x, 1, -1, 1);
  fill(y, 2, -1, 1);
  group.measure({.grid = {64},
                 .block = {256},
                 .arguments = args(n, x, y, sum),
                 .loop = [&] { sum[0] = dot(n, x.get(), y.get()); },
                 .outputs = {near(sum, 1e-6)},
                 .prepare = clearer(sum)});
}

/// Each block's numbers lie `stride` = gridDim * blockDim apart in runs of 256.
int placeOfMax(int n, int block, int blocks, const float *x) {
  float best = -FLT_MAX;
  int place = 0;
  for (int start = block * 256; start < n; start += blocks * 256) {
    float most = -FLT_MAX;
#pragma omp simd reduction(max : most)
    for (int i = start; i < start + 256; ++i)
      most = x[i] > most ? x[i] : most;
    if (most > best) {
      best = most;
      for (place = start; x[place] != most;)
        ++place;
    }
  }
  return place;
}

void argMax(Kinds::Group &group) {
  constexpr int blocks = 64;
  Data<float> x(kCount);
  Data<int> places(blocks);
  fill(x, 3, -1, 1);
  group.measure({.grid = {blocks},
                 .block = {256},
                 .arguments = args(kCount, x, places),
                 .loop =
                     [&] {
                       for (int b = 0; b < blocks; ++b)
                         places[b] = placeOfMax(kCount, b, blocks, x.get());
                     },
                 .outputs = {bits(places)}});
}

void softmax(int rows, int columns, const float *x, float *y) {
  for (int r = 0; r < rows; ++r) {
    const float *row = x + static_cast<size_t>(r) * columns;
    float *to = y + static_cast<size_t>(r) * columns, most = -FLT_MAX, sum = 0;
#pragma omp simd reduction(max : most)
    for (int k = 0; k < columns; ++k)
      most = row[k] > most ? row[k] : most;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < columns; ++k)
      sum += to[k] = expf(row[k] - most);
    const float scale = 1 / sum;
#pragma omp simd
    for (int k = 0; k < columns; ++k)
      to[k] *= scale;
  }
}

void rowSoftmax(Kinds::Group &group) {
  constexpr int rows = 1024, columns = 1000;
  Data<float> x(rows * columns), y(rows * columns);
  fill(x, 4, -4, 4);
  group.measure({.grid = {rows},
                 .block = {256},
                 .arguments = args(columns, x, y),
                 .loop = [&] { softmax(rows, columns, x.get(), y.get()); },
                 .outputs = {near(y, 1e-5)}});
}

void normalise(int rows, int columns, const float *x, const float *gain, const float *bias,
               float *__restrict y) {
  for (int r = 0; r < rows; ++r) {
    const float *row = x + static_cast<size_t>(r) * columns;
    float *to = y + static_cast<size_t>(r) * columns, sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
    for (int k = 0; k < columns; ++k) {
      sum += row[k];
      squares += row[k] * row[k];
    }
    const float mean = sum / static_cast<float>(columns);
    const float scale = 1 / sqrtf(squares / static_cast<float>(columns) - mean * mean + 1e-5f);
#pragma omp simd
    for (int k = 0; k < columns; ++k)
      to[k] = (row[k] - mean) * scale * gain[k] + bias[k];
  }
}

void layerNorm(Kinds::Group &group) {
  constexpr int rows = 4096, columns = 512;
  Data<float> x(rows * columns), gain(columns), bias(columns), y(rows * columns);
  fill(x, 4, -4, 4);
  fill(gain, 5, 0.5, 2);
  fill(bias, 6, -1, 1);
  group.measure(
      {.grid = {rows / 8},
       .block = {256},
       .arguments = args(rows, columns, x, gain, bias, y),
       .loop = [&] { normalise(rows, columns, x.get(), gain.get(), bias.get(), y.get()); },
       .outputs = {near(y, 1e-3)}});
}

void rangeSum(Kinds::Group &group) {
  constexpr int length = 100, threads = 32768;
  Data<int> x(length * threads), sums(threads);
  fill(x, 7, -1000, 1000);
  group.measure({.grid = {threads / 128},
                 .block = {128},
                 .arguments = args(length, x, sums),
                 .loop =
                     [&] {
                       for (int t = 0; t < threads; ++t) {
                         int sum = 0;
                         for (int k = 0; k < length; ++k)
                           sum += x[t * length + k];
                         sums[t] = sum;
                       }
                     },
                 .outputs = {bits(sums)}});
}

void sumColumns(int rows, int columns, const float *x, float *__restrict sums) {
  std::memset(sums, 0, sizeof(float) * static_cast<size_t>(columns));
  for (int r = 0; r < rows; ++r)
#pragma omp simd
    for (int c = 0; c < columns; ++c)
      sums[c] += x[static_cast<size_t>(r) * columns + c];
}

void columnSum(Kinds::Group &group) {
  constexpr int rows = 2000, columns = 2000;
  Data<float> x(rows * columns), sums(columns);
  fill(x, 8, -1, 1);
  group.measure({.grid = {blocksFor(columns, 128)},
                 .block = {128},
                 .arguments = args(rows, columns, x, sums),
                 .loop = [&] { sumColumns(rows, columns, x.get(), sums.get()); },
                 .outputs = {near(sums, 1e-3)}});
}

void lastBlockSum(Kinds::Group &group) {
  constexpr int blocks = 256;
  Data<float> x(kCount), partial(blocks), sum(1);
  Data<unsigned> done(1);
  fill(x, 1, -1, 1);
  group.measure({.grid = {blocks},
                 .block = {256},
                 .arguments = args(kCount, x, partial, done, sum),
                 .loop = [&] { sum[0] = sumOf(kCount, x.get()); },
                 .outputs = {near(sum, 1e-2)}});
}

} // namespace

void measureReductions(Kinds &kinds) {
  kinds.measureAll("reductions", {{"gridStrideSum", gridStrideSum},
                                  {"interleavedSum", interleavedSum},
                                  {"interleavedIndexSum", interleavedSum},
                                  {"sequentialSum", sequentialSum},
                                  {"shuffleSum4", shuffleSum4},
                                  {"dotDouble", dotDouble},
                                  {"argMax", argMax},
                                  {"rowSoftmax", rowSoftmax},
                                  {"layerNorm", layerNorm},
                                  {"rangeSum", rangeSum},
                                  {"columnSum", columnSum},
                                  {"lastBlockSum", lastBlockSum}});
}

} // namespace ptxrun::bench::kinds
