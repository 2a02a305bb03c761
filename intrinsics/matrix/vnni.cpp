#include "intrinsics/matrix/vnni.h"

#include <immintrin.h>

namespace ptxrun::matrix {

namespace {

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define VNNI_INLINE VNNI __attribute__((always_inline)) inline // sums stay in registers

constexpr size_t kVectors = 4; ///< of the 16 rows, each 4 rows times 4 columns

template <size_t kBlocks> struct Sums {
  __m512i at[kBlocks][2][kVectors]; ///< [block][even or odd columns][rows]
};

/// 16 k of all rows, half by half of them.
struct Rows {
  const int32_t *halves[2];
  __m512i flipped; ///< what makes them unsigned
};

/// Word kWord of each row's four, times the columns' words.
template <int kWord, size_t kBlocks>
VNNI_INLINE void addWord(const Rows &rows, const int32_t *const *columns, size_t at,
                         Sums<kBlocks> &sums) {
  __m512i even[kBlocks], odd[kBlocks];
  for (size_t n = 0; n < kBlocks; ++n) {
    const auto *from = reinterpret_cast<const __m128i *>(columns[n] + at + kWord * 8);
    even[n] = _mm512_broadcast_i32x4(_mm_loadu_si128(from));
    odd[n] = _mm512_broadcast_i32x4(_mm_loadu_si128(from + 1));
  }
  for (size_t v = 0; v < kVectors; ++v) {
    const __m512i four =
        _mm512_xor_si512(_mm512_loadu_si512(rows.halves[v / 2] + v % 2 * 16), rows.flipped);
    const __m512i a = _mm512_shuffle_epi32(four, static_cast<_MM_PERM_ENUM>(kWord * 0x55));
    for (size_t n = 0; n < kBlocks; ++n) {
      sums.at[n][0][v] = _mm512_dpbusd_epi32(sums.at[n][0][v], a, even[n]);
      sums.at[n][1][v] = _mm512_dpbusd_epi32(sums.at[n][1][v], a, odd[n]);
    }
  }
}

/// The i32 nearest to c + sum.
VNNI_INLINE __m512i addSaturating(__m512i c, __m512i sum) {
  const __m512i total = _mm512_add_epi32(c, sum);
  const __m512i overflows =
      _mm512_and_si512(_mm512_xor_si512(total, c), _mm512_xor_si512(total, sum));
  const __m512i limit = _mm512_xor_si512(_mm512_srai_epi32(c, 31), _mm512_set1_epi32(INT32_MAX));
  return _mm512_mask_mov_epi32(total, _mm512_cmplt_epi32_mask(overflows, _mm512_setzero_si512()),
                               limit);
}

template <size_t kBlocks> struct Columns { const int32_t *of[kBlocks]; };

/// What belongs to the columns' sums, of the steps from `step` to `end`: where the sums begin.
template <size_t kBlocks>
VNNI_INLINE void begin(size_t k, const PanelTiles &t, const PanelStep *step, const PanelStep *end,
                       Sums<kBlocks> &sums) {
  const auto ofColumns = [&](const PanelStep &s, size_t n) {
    return t.columnSums ? reinterpret_cast<const __m128i *>(t.columnSums + s.b[n] * 8)
                        : reinterpret_cast<const __m128i *>(t.columnsOf(s, n) + 2 * k);
  };
  for (size_t n = 0; n < kBlocks; ++n)
    for (size_t parity = 0; parity < 2; ++parity) {
      __m128i own = _mm_setzero_si128();
#pragma clang loop unroll(disable) // few rounds, here and below: unrolled ones cost more to enter
      for (const PanelStep *s = step; s != end; ++s)
        own = _mm_add_epi32(own, _mm_loadu_si128(ofColumns(*s, n) + parity));
      for (__m512i &sum : sums.at[n][parity])
        sum = _mm512_broadcast_i32x4(own);
    }
}

/// What one instruction adds but that.
template <size_t kBlocks>
VNNI_INLINE void addStep(size_t k, bool hasUnsignedB, const PanelTiles &t, const int32_t *rows,
                         const Columns<kBlocks> &columns, Sums<kBlocks> &sums) {
  const size_t pieces = k / 16;
  for (size_t n = 0; n < kBlocks && hasUnsignedB; ++n)
    for (size_t parity = 0; parity < 2; ++parity)
      for (size_t v = 0; v < kVectors; ++v)
        sums.at[n][parity][v] =
            _mm512_add_epi32(sums.at[n][parity][v], _mm512_loadu_si512(rows + 4 * k + v * 16));
  // Registers have the halves by turns, prepared rows one behind the other.
  const size_t toHalf = t.areRowsRegisters ? 32 : pieces * 32,
               toPiece = t.areRowsRegisters ? 64 : 32;
  const __m512i flipped = _mm512_set1_epi32(int32_t(t.flippedRows));
#pragma clang loop unroll(disable)
  for (size_t piece = 0; piece < pieces; ++piece, rows += toPiece) {
    const Rows here = {{rows, rows + toHalf}, flipped};
    addWord<0>(here, columns.of, piece * 32, sums);
    addWord<1>(here, columns.of, piece * 32, sums);
    addWord<2>(here, columns.of, piece * 32, sums);
    addWord<3>(here, columns.of, piece * 32, sums);
  }
}

constexpr size_t placeOf(size_t parity, size_t v) {
  return (2 * (v / 2) + parity) * 32 + v % 2 * 16;
}

/// The sums behind those that are there: modulo 2^32, or the nearest i32.
template <bool isSaturating, size_t kBlocks>
VNNI_INLINE void addTo(int32_t *const *all, const Sums<kBlocks> &sums) {
  for (size_t n = 0; n < kBlocks; ++n)
    for (size_t parity = 0; parity < 2; ++parity)
      for (size_t v = 0; v < kVectors; ++v) {
        int32_t *at = all[n] + placeOf(parity, v);
        const __m512i c = _mm512_loadu_si512(at), sum = sums.at[n][parity][v];
        _mm512_storeu_si512(at, isSaturating ? addSaturating(c, sum) : _mm512_add_epi32(c, sum));
      }
}

/// Some instructions of a tile.
template <bool isSaturating, size_t kBlocks>
VNNI_INLINE void addInstructions(size_t k, bool hasUnsignedB, const PanelTiles &t,
                                 const PanelStep *step, const PanelStep *end, int32_t *const *all) {
  const auto words = [](const float *p) { return reinterpret_cast<const int32_t *>(p); };
  Sums<kBlocks> sums;
  begin(k, t, step, end, sums);
#pragma clang loop unroll(disable)
  for (; step != end; ++step) {
    Columns<kBlocks> columns;
    for (size_t n = 0; n < kBlocks; ++n)
      columns.of[n] = words(t.columnsOf(*step, n));
    addStep(k, hasUnsignedB, t, words(t.rowsOf(*step)), columns, sums);
  }
  addTo<isSaturating>(all, sums);
}

/// Sums that wrap run through all instructions; others are cut off behind each.
template <size_t kBlocks>
VNNI void multiplyTile(size_t k, bool hasUnsignedB, bool isSaturating, const PanelTiles &t,
                       const PanelTile &tile) {
  int32_t *all[kBlocks];
  for (size_t n = 0; n < kBlocks; ++n)
    all[n] = reinterpret_cast<int32_t *>(t.accumulators(tile.d[n]));
  const PanelStep *step = t.steps + tile.firstStep, *end = step + tile.stepCount;
  if (!isSaturating)
    return addInstructions<false, kBlocks>(k, hasUnsignedB, t, step, end, all);
  for (; step != end; ++step)
    addInstructions<true, kBlocks>(k, hasUnsignedB, t, step, step + 1, all);
}

/// Words of 8 columns, even ones first, two k on end.
alignas(64) constexpr int32_t kColumnOrder[32] = {0,  8,  16, 24, 4,  12, 20, 28, 1,  9, 17,
                                                  25, 5,  13, 21, 29, 2,  10, 18, 26, 6, 14,
                                                  22, 30, 3,  11, 19, 27, 7,  15, 23, 31};

/// One block of columns.
VNNI_INLINE void prepareBlock(uint32_t flippedBits, bool hasSignedA, size_t k,
                              const uint32_t *words, int32_t *out, int32_t *ownSums) {
  const __m512i flipped = _mm512_set1_epi32(int32_t(flippedBits)), ones = _mm512_set1_epi8(1);
  __m512i sums = _mm512_setzero_si512();
  for (size_t i = 0; i < k / 16; ++i, words += 32) {
    const __m512i low = _mm512_loadu_si512(words), high = _mm512_loadu_si512(words + 16);
    for (size_t g = 0; g < 2; ++g) {
      const __m512i order = _mm512_load_si512(kColumnOrder + g * 16);
      const __m512i numbers =
          _mm512_xor_si512(_mm512_permutex2var_epi32(low, order, high), flipped);
      _mm512_storeu_si512(out + i * 32 + g * 16, numbers);
      sums = _mm512_dpbusd_epi32(sums, ones, numbers);
    }
  }
  const __m256i sum =
      _mm256_add_epi32(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
  const __m256i own = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sum, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(ownSums),
                      hasSignedA ? own : _mm256_setzero_si256());
}

} // namespace

VNNI void vnniColumns(uint32_t flippedBits, bool hasSignedA, size_t k, const uint32_t *words,
                      unsigned blocks, VnniColumns out) {
  for (unsigned i = 0; i < blocks; ++i)
    prepareBlock(flippedBits, hasSignedA, k, words + i * 2 * k, out.numbers + i * out.numbersPitch,
                 out.sums + i * out.sumsPitch);
}

bool hasVnni() {
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

void vnniTiles(size_t k, bool hasUnsignedB, bool isSaturating, const PanelTiles &t) {
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile)
    if (tile->blocks == 2)
      multiplyTile<2>(k, hasUnsignedB, isSaturating, t, *tile);
    else
      multiplyTile<1>(k, hasUnsignedB, isSaturating, t, *tile);
}

} // namespace ptxrun::matrix
