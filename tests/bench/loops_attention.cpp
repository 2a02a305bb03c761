// Attention in tiles of 64 queries and 64 keys: products of squares with 8 x 32 sums in registers,
// and a softmax that goes on from tile to tile.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/bench/loops.h"

namespace ptxrun::bench::loops {
namespace {

constexpr int kSide = 64;
using Square = float[kSide][kSide];
using Vector = float __attribute__((vector_size(64), aligned(4)));

/// c += a b
void multiply(const float *a, const Square &b, Square &c) {
  constexpr int kRows = 8, kColumns = 32;
  for (int j0 = 0; j0 < kSide; j0 += kColumns)
    for (int i0 = 0; i0 < kSide; i0 += kRows) {
      Vector sum[kRows][2];
      for (int i = 0; i < kRows; ++i)
        std::memcpy(sum[i], &c[i0 + i][j0], sizeof sum[i]);
      for (int k = 0; k < kSide; ++k) {
        Vector right[2];
        std::memcpy(right, &b[k][j0], sizeof right);
        for (int i = 0; i < kRows; ++i) {
          const float left = a[(i0 + i) * kSide + k];
          sum[i][0] += left * right[0];
          sum[i][1] += left * right[1];
        }
      }
      for (int i = 0; i < kRows; ++i)
        std::memcpy(&c[i0 + i][j0], sum[i], sizeof sum[i]);
    }
}

/// Of one query: makes weights of its scores, scales what was summed before.
void takeExponentials(float *scores, float *sums, float &largest, float &weights) {
  const float before = largest;
  float most = before, sum = 0;
#pragma omp simd reduction(max : most)
  for (int j = 0; j < kSide; ++j)
    most = std::max(most, scores[j]);
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < kSide; ++j) {
    scores[j] = std::exp((scores[j] - most) * 0.125f);
    sum += scores[j];
  }
  const float factor = std::exp((before - most) * 0.125f);
#pragma omp simd
  for (int j = 0; j < kSide; ++j)
    sums[j] *= factor;
  largest = most;
  weights = weights * factor + sum;
}

} // namespace

void attention(int length, const float *q, const float *k, const float *v, float *o) {
#pragma omp parallel for schedule(static) firstprivate(length, q, k, v, o)
  for (int i0 = 0; i0 < length; i0 += kSide) {
    alignas(64) Square keys, values, scores, sums = {};
    float largest[kSide], weights[kSide] = {};
    std::fill_n(largest, kSide, -INFINITY);
    for (int j0 = 0; j0 < length; j0 += kSide) {
      for (int j = 0; j < kSide; ++j)
        for (int d = 0; d < kSide; ++d)
          keys[d][j] = k[(j0 + j) * kSide + d];
      std::memcpy(values, v + j0 * kSide, sizeof values);
      std::memset(scores, 0, sizeof scores);
      multiply(q + i0 * kSide, keys, scores);
      for (int i = 0; i < kSide; ++i)
        takeExponentials(scores[i], sums[i], largest[i], weights[i]);
      multiply(scores[0], values, sums);
    }
    for (int i = 0; i < kSide; ++i)
      for (int d = 0; d < kSide; ++d)
        o[(i0 + i) * kSide + d] = sums[i][d] / weights[i];
  }
}

} // namespace ptxrun::bench::loops
