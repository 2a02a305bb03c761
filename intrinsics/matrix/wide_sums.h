// Sums of bytes' products as the CPU's widest instructions leave them: AVX-512, and only there.
#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace ptxrun::matrix {

#define PTXRUN_WIDE                                                                                \
  __attribute__((target("avx512f,avx512bw,avx512vl"), always_inline)) inline // stays in registers

/// Of one block of 8 columns, a vector with all 16 rows for each: rows 0, 4, 8, 12, 1, 5, ...
struct WideSums {
  __m512i at[8];
};

/// Four vectors of four times four words; of each four, rows become columns, in two halves of the
/// work.
struct FourVectors {
  __m512i at[4];
};
PTXRUN_WIDE FourVectors interleaved(const FourVectors &x) {
  return {{_mm512_unpacklo_epi32(x.at[0], x.at[1]), _mm512_unpackhi_epi32(x.at[0], x.at[1]),
           _mm512_unpacklo_epi32(x.at[2], x.at[3]), _mm512_unpackhi_epi32(x.at[2], x.at[3])}};
}
PTXRUN_WIDE FourVectors joined(const FourVectors &x) {
  return {{_mm512_unpacklo_epi64(x.at[0], x.at[2]), _mm512_unpackhi_epi64(x.at[0], x.at[2]),
           _mm512_unpacklo_epi64(x.at[1], x.at[3]), _mm512_unpackhi_epi64(x.at[1], x.at[3])}};
}
PTXRUN_WIDE FourVectors transposed(const FourVectors &x) { return joined(interleaved(x)); }

/// The i32 nearest to c + sum.
PTXRUN_WIDE __m512i addSaturating(__m512i c, __m512i sum) {
  const __m512i total = _mm512_add_epi32(c, sum);
  const __m512i overflows =
      _mm512_and_si512(_mm512_xor_si512(total, c), _mm512_xor_si512(total, sum));
  const __m512i limit = _mm512_xor_si512(_mm512_srai_epi32(c, 31), _mm512_set1_epi32(INT32_MAX));
  return _mm512_mask_mov_epi32(total, _mm512_cmplt_epi32_mask(overflows, _mm512_setzero_si512()),
                               limit);
}

/// The sums of even or of odd columns, interleaved() and not yet joined.
PTXRUN_WIDE FourVectors interleaved(size_t parity, const WideSums &sums) {
  const __m512i *of = sums.at + parity;
  return interleaved({{of[0], of[2], of[4], of[6]}});
}
/// Adds them to a block's accumulators (tile.h), modulo 2^32 or to the nearest i32.
template <bool isSaturating>
PTXRUN_WIDE void addTo(size_t parity, const FourVectors &interleaved, int32_t *accumulators) {
  const FourVectors rows = joined(interleaved);
  for (size_t v = 0; v < 4; ++v) {
    int32_t *at = accumulators + (2 * (v / 2) + parity) * 32 + v % 2 * 16;
    const __m512i c = _mm512_loadu_si512(at), sum = rows.at[v];
    _mm512_storeu_si512(at, isSaturating ? addSaturating(c, sum) : _mm512_add_epi32(c, sum));
  }
}
template <bool isSaturating> PTXRUN_WIDE void addTo(const WideSums &sums, int32_t *accumulators) {
  for (size_t parity = 0; parity < 2; ++parity)
    addTo<isSaturating>(parity, interleaved(parity, sums), accumulators);
}

} // namespace ptxrun::matrix
