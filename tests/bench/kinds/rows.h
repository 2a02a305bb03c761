// Rows of numbers, as loops of several groups go through them.
#pragma once
#include <algorithm>
#include <cmath>

namespace ptxrun::bench::kinds {

template <class T> float dot(const T *a, const T *b, int n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int k = 0; k < n; ++k)
    sum += float(a[k]) * float(b[k]);
  return sum;
}

inline float greatest(const float *row, int count) {
  float most = row[0];
#pragma omp simd reduction(max : most)
  for (int i = 0; i < count; ++i)
    most = std::max(most, row[i]);
  return most;
}

/// to[i] = exp(row[i] - most), divided by the sum of all, which it gives.
inline float softmax(const float *row, float most, float *__restrict to, int count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < count; ++i)
    sum += to[i] = std::exp(row[i] - most);
  const float by = 1 / sum;
#pragma omp simd
  for (int i = 0; i < count; ++i)
    to[i] *= by;
  return sum;
}

} // namespace ptxrun::bench::kinds
