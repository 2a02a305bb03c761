// A product of bytes: panels of B with four k in a word, 8 x 32 sums in registers.
#include <algorithm>
#include <cstring>

#if defined(__AVX512VNNI__)
#include <immintrin.h>
#endif

#include "tests/bench/loops.h"

namespace ptxrun::bench::loops {

#if defined(__AVX512VNNI__)

void gemmBytes(int rowCount, int columns, int depth, const int8_t *a, const int8_t *b, int32_t *c) {
  constexpr int kRows = 8, kColumns = 32, kDepth = 512;
#pragma omp parallel for schedule(static)
  for (int j0 = 0; j0 < columns; j0 += kColumns) {
    alignas(64) int32_t panel[kDepth / 4][kColumns];
    int32_t correction[kColumns] = {}; // 128 times the sums of columns: a has 128 added
    for (int j = 0; j < kColumns; ++j)
      for (int k = 0; k < depth; ++k)
        correction[j] += 128 * b[static_cast<size_t>(j0 + j) * depth + k];
    for (int k0 = 0; k0 < depth; k0 += kDepth) {
      const int end = std::min(kDepth, depth - k0);
      for (int k = 0; k < end; k += 4)
        for (int j = 0; j < kColumns; ++j)
          std::memcpy(&panel[k / 4][j], b + static_cast<size_t>(j0 + j) * depth + k0 + k, 4);
      for (int i0 = 0; i0 < rowCount; i0 += kRows) {
        const int8_t *rows[kRows];
        for (int i = 0; i < kRows; ++i)
          rows[i] = a + static_cast<size_t>(i0 + i) * depth + k0;
        __m512i sum[kRows][2];
        for (int i = 0; i < kRows; ++i)
          for (int h = 0; h < 2; ++h) {
            const int32_t *from = c + static_cast<size_t>(i0 + i) * columns + j0;
            sum[i][h] = k0 ? _mm512_loadu_si512(from + 16 * h)
                           : _mm512_sub_epi32(_mm512_setzero_si512(),
                                              _mm512_loadu_si512(correction + 16 * h));
          }
        for (int k = 0; k < end; k += 4) {
          const __m512i low = _mm512_load_si512(panel[k / 4]),
                        high = _mm512_load_si512(panel[k / 4] + 16);
          for (int i = 0; i < kRows; ++i) {
            int32_t word;
            std::memcpy(&word, rows[i] + k, 4);
            const __m512i factor = _mm512_set1_epi32(word ^ int32_t(0x80808080));
            sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], factor, low);
            sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], factor, high);
          }
        }
        for (int i = 0; i < kRows; ++i)
          for (int h = 0; h < 2; ++h)
            _mm512_storeu_si512(c + static_cast<size_t>(i0 + i) * columns + j0 + 16 * h, sum[i][h]);
      }
    }
  }
}

#else

void gemmBytes(int rowCount, int columns, int depth, const int8_t *a, const int8_t *b, int32_t *c) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < rowCount; ++i)
    for (int j = 0; j < columns; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += a[static_cast<size_t>(i) * depth + k] * b[static_cast<size_t>(j) * depth + k];
      c[static_cast<size_t>(i) * columns + j] = sum;
    }
}

#endif

} // namespace ptxrun::bench::loops
