#include "intrinsics/matrix/vnni.h"

#include <immintrin.h>

namespace ptxrun::matrix {

namespace {

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

constexpr size_t kVectors = 4; ///< of the 16 rows, each 4 rows times 4 columns

template <size_t kBlocks> struct Sums {
  __m512i at[kBlocks][2][kVectors]; ///< [block][even or odd columns][rows]
};

/// Word kWord of each row's four, times the columns' words.
template <int kWord, size_t kBlocks>
VNNI inline void step(const int32_t *const *rows, const int32_t *columns, size_t pitch,
                      Sums<kBlocks> &sums) {
  __m512i even[kBlocks], odd[kBlocks];
  for (size_t n = 0; n < kBlocks; ++n) {
    const auto *at = reinterpret_cast<const __m128i *>(columns + n * pitch + kWord * 8);
    even[n] = _mm512_broadcast_i32x4(_mm_loadu_si128(at));
    odd[n] = _mm512_broadcast_i32x4(_mm_loadu_si128(at + 1));
  }
  for (size_t v = 0; v < kVectors; ++v) {
    const __m512i four = _mm512_loadu_si512(rows[v / 2] + v % 2 * 16);
    const __m512i a = _mm512_shuffle_epi32(four, static_cast<_MM_PERM_ENUM>(kWord * 0x55));
    for (size_t n = 0; n < kBlocks; ++n) {
      sums.at[n][0][v] = _mm512_dpbusd_epi32(sums.at[n][0][v], a, even[n]);
      sums.at[n][1][v] = _mm512_dpbusd_epi32(sums.at[n][1][v], a, odd[n]);
    }
  }
}

/// c + sum modulo 2^32, or the nearest i32.
VNNI inline __m512i addTo(__m512i c, __m512i sum, bool isSaturating) {
  const __m512i total = _mm512_add_epi32(c, sum);
  if (!isSaturating)
    return total;
  const __m512i overflows =
      _mm512_and_si512(_mm512_xor_si512(total, c), _mm512_xor_si512(total, sum));
  const __m512i limit = _mm512_xor_si512(_mm512_srai_epi32(c, 31), _mm512_set1_epi32(INT32_MAX));
  return _mm512_mask_mov_epi32(total, _mm512_cmplt_epi32_mask(overflows, _mm512_setzero_si512()),
                               limit);
}

template <size_t kBlocks>
VNNI void multiplyBlocks(size_t k, bool isSaturating, const int32_t *rows, const int32_t *columns,
                         const int32_t *c, int32_t *d) {
  const size_t pieces = k / 16, pitch = 2 * k + 8;
  Sums<kBlocks> sums;
  for (size_t n = 0; n < kBlocks; ++n)
    for (size_t parity = 0; parity < 2; ++parity) {
      const int32_t *own = columns + n * pitch + 2 * k + 4 * parity;
      const __m512i ofColumn =
          _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i *>(own)));
      for (size_t v = 0; v < kVectors; ++v)
        sums.at[n][parity][v] =
            _mm512_add_epi32(ofColumn, _mm512_loadu_si512(rows + 4 * k + v * 16));
    }
  for (size_t piece = 0; piece < pieces; ++piece) {
    const int32_t *at[2] = {rows + piece * 32, rows + (pieces + piece) * 32};
    step<0>(at, columns + piece * 32, pitch, sums);
    step<1>(at, columns + piece * 32, pitch, sums);
    step<2>(at, columns + piece * 32, pitch, sums);
    step<3>(at, columns + piece * 32, pitch, sums);
  }
  for (size_t n = 0; n < kBlocks; ++n)
    for (size_t parity = 0; parity < 2; ++parity)
      for (size_t v = 0; v < kVectors; ++v) {
        const size_t place = n * 128 + (2 * (v / 2) + parity) * 32 + v % 2 * 16;
        _mm512_storeu_si512(
            d + place, addTo(_mm512_loadu_si512(c + place), sums.at[n][parity][v], isSaturating));
      }
}

} // namespace

bool hasVnni() {
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

void vnniPanel(size_t k, size_t blocks, bool isSaturating, const int32_t *rows,
               const int32_t *columns, const int32_t *c, int32_t *d) {
  const size_t pitch = 2 * k + 8;
  size_t n = 0;
  for (; n + 2 <= blocks; n += 2)
    multiplyBlocks<2>(k, isSaturating, rows, columns + n * pitch, c + n * 128, d + n * 128);
  for (; n < blocks; ++n)
    multiplyBlocks<1>(k, isSaturating, rows, columns + n * pitch, c + n * 128, d + n * 128);
}

} // namespace ptxrun::matrix
