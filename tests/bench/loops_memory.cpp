// Loops bound by memory. firstprivate keeps pointers and bounds in registers: captured by reference
// they would be read again in every turn, and nothing would be vectorised.
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/bench/loops.h"

namespace ptxrun::bench::loops {

void saxpy(size_t n, float a, const float *x, float *y) {
#pragma omp parallel for simd schedule(static) firstprivate(a, x, y)
  for (size_t i = 0; i < n; ++i)
    y[i] = a * x[i] + y[i];
}

void triad(size_t n, double s, double *a, const double *b, const double *c) {
#pragma omp parallel for simd schedule(static) firstprivate(s, a, b, c)
  for (size_t i = 0; i < n; ++i)
    a[i] = b[i] + s * c[i];
}

void copy4(size_t n, const float *__restrict from, float *__restrict to) {
#pragma omp parallel for simd schedule(static) firstprivate(from, to)
  for (size_t i = 0; i < 4 * n; ++i)
    to[i] = from[i];
}

float reduce(size_t n, const float *x) {
  float sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static) firstprivate(x)
  for (size_t i = 0; i < n; ++i)
    sum += x[i];
  return sum;
}

uint32_t sumOfWords(size_t n, const uint32_t *x) {
  uint32_t sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum += x[i];
  return sum;
}

void scan(size_t n, const uint32_t *in, uint32_t *out) {
  std::vector<uint32_t> totals(static_cast<size_t>(omp_get_max_threads()) + 1, 0);
#pragma omp parallel firstprivate(n, in, out)
  {
    size_t team = static_cast<size_t>(omp_get_num_threads()),
           me = static_cast<size_t>(omp_get_thread_num());
    size_t first = n * me / team, end = n * (me + 1) / team;
    if (team > 1) {
      uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
      for (size_t i = first; i < end; ++i)
        sum += in[i];
      totals[me + 1] = sum;
#pragma omp barrier
    }
    uint32_t carry = 0;
    for (size_t k = 1; k <= me; ++k)
      carry += totals[k];
    for (size_t i = first; i < end; ++i)
      out[i] = carry += in[i];
  }
}

void stencil2d(int width, int height, const float *__restrict in, float *__restrict out) {
#pragma omp parallel for schedule(static) firstprivate(width, in, out)
  for (int y = 0; y < height; ++y) {
    const float *row = in + static_cast<size_t>(y) * width;
    float *to = out + static_cast<size_t>(y) * width;
    if (y == 0 || y == height - 1) {
      std::memcpy(to, row, static_cast<size_t>(width) * 4);
      continue;
    }
    to[0] = row[0];
    to[width - 1] = row[width - 1];
#pragma omp simd
    for (int x = 1; x < width - 1; ++x)
      to[x] = 0.5f * row[x] + 0.125f * (row[x - 1] + row[x + 1] + row[x - width] + row[x + width]);
  }
}

void transpose(int width, int height, const float *__restrict in, float *__restrict out) {
  constexpr int kTile = 32;
#pragma omp parallel for collapse(2) schedule(static) firstprivate(width, height, in, out)
  for (int y0 = 0; y0 < height; y0 += kTile)
    for (int x0 = 0; x0 < width; x0 += kTile)
      for (int x = x0; x < std::min(width, x0 + kTile); ++x)
        for (int y = y0; y < std::min(height, y0 + kTile); ++y)
          out[static_cast<size_t>(x) * height + y] = in[static_cast<size_t>(y) * width + x];
}

void spmv(int rows, const int *rowStart, const int *column, const float *value, const float *x,
          float *y) {
#pragma omp parallel for schedule(static) firstprivate(rowStart, column, value, x, y)
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = rowStart[r]; k < rowStart[r + 1]; ++k)
      sum += value[k] * x[column[k]];
    y[r] = sum;
  }
}

void histogram(size_t words, const uint32_t *data, uint32_t *bins) {
#pragma omp parallel firstprivate(data, bins)
  {
    uint32_t tables[4][256] = {};
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < words; ++i) {
      uint32_t word = data[i];
      ++tables[0][word & 255];
      ++tables[1][word >> 8 & 255];
      ++tables[2][word >> 16 & 255];
      ++tables[3][word >> 24];
    }
#pragma omp critical
    for (int bin = 0; bin < 256; ++bin)
      bins[bin] += tables[0][bin] + tables[1][bin] + tables[2][bin] + tables[3][bin];
  }
}

} // namespace ptxrun::bench::loops
