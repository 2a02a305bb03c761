#include "intrinsics/matrix/vnni.h"

#include <immintrin.h>

namespace ptxrun::matrix {

namespace {

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define VNNI_INLINE VNNI __attribute__((always_inline)) inline // sums stay in registers

constexpr size_t kColumns = 8;

/// Of one block of columns, a vector with all rows for each. Among products, loads and operations
/// of two sources cost nothing where they are spread; stores do.
struct Sums {
  __m512i at[kColumns];
};

/// Four vectors of four times four words; of each four, rows become columns, in two halves of the
/// work.
struct Four {
  __m512i at[4];
};
VNNI_INLINE Four interleaved(const Four &x) {
  return {{_mm512_unpacklo_epi32(x.at[0], x.at[1]), _mm512_unpackhi_epi32(x.at[0], x.at[1]),
           _mm512_unpacklo_epi32(x.at[2], x.at[3]), _mm512_unpackhi_epi32(x.at[2], x.at[3])}};
}
VNNI_INLINE Four joined(const Four &x) {
  return {{_mm512_unpacklo_epi64(x.at[0], x.at[2]), _mm512_unpackhi_epi64(x.at[0], x.at[2]),
           _mm512_unpacklo_epi64(x.at[1], x.at[3]), _mm512_unpackhi_epi64(x.at[1], x.at[3])}};
}
VNNI_INLINE Four transposed(const Four &x) { return joined(interleaved(x)); }

/// The i32 nearest to c + sum.
VNNI_INLINE __m512i addSaturating(__m512i c, __m512i sum) {
  const __m512i total = _mm512_add_epi32(c, sum);
  const __m512i overflows =
      _mm512_and_si512(_mm512_xor_si512(total, c), _mm512_xor_si512(total, sum));
  const __m512i limit = _mm512_xor_si512(_mm512_srai_epi32(c, 31), _mm512_set1_epi32(INT32_MAX));
  return _mm512_mask_mov_epi32(total, _mm512_cmplt_epi32_mask(overflows, _mm512_setzero_si512()),
                               limit);
}

const int32_t *words(const float *p) { return reinterpret_cast<const int32_t *>(p); }

/// What one block of accumulators meets.
struct Block {
  const PanelStep *begin, *end;
  size_t n; ///< in its tile
  int32_t *all;
};

/// Sums that wait to be added to what is there: while the next block is multiplied.
struct Waiting {
  Sums sums;
  int32_t *all;
};

constexpr size_t placeOf(size_t parity, size_t v) {
  return (2 * (v / 2) + parity) * 32 + v % 2 * 16;
}

/// Those of even or of odd columns: modulo 2^32, or the nearest i32.
VNNI_INLINE Four interleaved(size_t parity, const Sums &sums) {
  const __m512i *of = sums.at + parity;
  return interleaved({{of[0], of[2], of[4], of[6]}});
}
template <bool isSaturating>
VNNI_INLINE void addTo(size_t parity, const Four &interleaved, int32_t *all) {
  const Four rows = joined(interleaved);
  for (size_t v = 0; v < 4; ++v) {
    int32_t *at = all + placeOf(parity, v);
    const __m512i c = _mm512_loadu_si512(at), sum = rows.at[v];
    _mm512_storeu_si512(at, isSaturating ? addSaturating(c, sum) : _mm512_add_epi32(c, sum));
  }
}
template <bool isSaturating> VNNI_INLINE void addTo(const Waiting &w) {
  for (size_t parity = 0; parity < 2; ++parity)
    addTo<isSaturating>(parity, interleaved(parity, w.sums), w.all);
}

/// Where the sums begin: what belongs to those of columns, and of rows, in all steps.
VNNI_INLINE void begin(size_t k, bool hasUnsignedB, const PanelTiles &t, const Block &block,
                       Sums &sums) {
  const auto sumsOf = [&](const PanelStep &s) VNNI {
    return t.columnSums ? t.columnSums + s.b[block.n] * kColumns
                        : words(t.columnsOf(s, block.n)) + 2 * k;
  };
  alignas(32) int32_t total[kColumns];
  const int32_t *of = sumsOf(*block.begin); // from memory: loads that broadcast are no shuffles
  if (block.begin + 1 != block.end) {
    __m256i sum = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(of));
#pragma clang loop unroll(disable) // few rounds, here and below: unrolled ones cost more to enter
    for (const PanelStep *s = block.begin + 1; s != block.end; ++s)
      sum =
          _mm256_add_epi32(sum, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(sumsOf(*s))));
    _mm256_store_si256(reinterpret_cast<__m256i *>(total), sum);
    of = total;
  }
  for (size_t column = 0; column < kColumns; ++column)
    sums.at[column] = _mm512_set1_epi32(of[column]);
  if (!hasUnsignedB)
    return;
  Four rows = {};
#pragma clang loop unroll(disable)
  for (const PanelStep *s = block.begin; s != block.end; ++s)
    for (size_t v = 0; v < 4; ++v)
      rows.at[v] =
          _mm512_add_epi32(rows.at[v], _mm512_loadu_si512(words(t.rowsOf(*s)) + 4 * k + v * 16));
  const __m512i ofRows = transposed(rows).at[0];
  for (__m512i &sum : sums.at)
    sum = _mm512_add_epi32(sum, ofRows);
}

/// 16 k after 16 k of all steps.
struct Piece {
  const PanelStep *step;
  size_t at;
};

/// Products of 16 k; between(0) to between(3) happen among them.
template <class F>
VNNI_INLINE void addPiece(const Four &rows, const int32_t *columns, Sums &sums, F between) {
#pragma clang loop unroll(full)
  for (size_t word = 0; word < 4; ++word) {
    between(word);
    for (size_t column = 0; column < kColumns; ++column)
      sums.at[column] = _mm512_dpbusd_epi32(sums.at[column], rows.at[word],
                                            _mm512_set1_epi32(columns[column * 4 + word]));
  }
}

/// Sums of one block, and those that wait go where they belong.
VNNI_INLINE Sums multiplyBlock(size_t k, bool hasUnsignedB, const PanelTiles &t, const Block &block,
                               const Waiting *waiting) {
  Sums sums;
  begin(k, hasUnsignedB, t, block, sums);
  // Registers have the halves by turns, prepared rows one behind the other.
  const size_t toHalf = t.areRowsRegisters ? 32 : 2 * k,
               perWord = t.areRowsRegisters ? 2 : 1; // of columns
  const __m512i flipped = _mm512_set1_epi32(int32_t(t.flippedRows));
  const auto rowsAt = [&](Piece p) VNNI {
    const int32_t *rows = words(t.rowsOf(*p.step)) + p.at * perWord;
    Four of;
    for (size_t v = 0; v < 4; ++v)
      of.at[v] = _mm512_xor_si512(_mm512_loadu_si512(rows + v / 2 * toHalf + v % 2 * 16), flipped);
    return interleaved(of);
  };
  const auto columnsAt = [&](Piece p) VNNI { return words(t.columnsOf(*p.step, block.n)) + p.at; };
  Piece piece = {block.begin, 0};
  const Piece last = {block.end - 1, 2 * k - 32};
  Four rows = joined(rowsAt(piece));
#pragma clang loop unroll(disable)
  while (piece.step != last.step || piece.at != last.at) {
    const int32_t *columns = columnsAt(piece);
    const bool isAtEnd = piece.at == last.at;
    piece = {piece.step + isAtEnd, isAtEnd ? 0 : piece.at + 32};
    Four next;
    addPiece(rows, columns, sums, [&](size_t word) VNNI {
      if (word == 0)
        next = rowsAt(piece);
      if (word == 2)
        next = joined(next);
    });
    rows = next;
  }
  Four half;
  addPiece(rows, columnsAt(last), sums, [&](size_t word) VNNI {
    if (waiting && word % 2 == 0)
      half = interleaved(word / 2, waiting->sums);
    if (waiting && word % 2 == 1)
      addTo<false>(word / 2, half, waiting->all);
  });
  return sums;
}

VNNI_INLINE Block blockOf(const PanelTiles &t, const PanelTile &tile, size_t n) {
  const PanelStep *step = t.steps + tile.firstStep;
  return {step, step + tile.stepCount, n, reinterpret_cast<int32_t *>(t.accumulators(tile.d[n]))};
}

/// Sums that wrap run through all instructions.
VNNI void multiplyAll(size_t k, bool hasUnsignedB, const PanelTiles &t) {
  if (t.count == 0)
    return;
  const Block first = blockOf(t, t.tiles[0], 0);
  Waiting waiting = {multiplyBlock(k, hasUnsignedB, t, first, nullptr), first.all};
  size_t n = 1;
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile, n = 0)
#pragma clang loop unroll(disable)
    for (; n < tile->blocks; ++n) {
      const Block block = blockOf(t, *tile, n);
      waiting = {multiplyBlock(k, hasUnsignedB, t, block, &waiting), block.all};
    }
  addTo<false>(waiting);
}

/// Others are cut off behind each.
VNNI void multiplySaturating(size_t k, bool hasUnsignedB, const PanelTiles &t) {
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile)
    for (size_t n = 0; n < tile->blocks; ++n) {
      const Block all = blockOf(t, *tile, n);
      for (const PanelStep *step = all.begin; step != all.end; ++step) {
        const Block block = {step, step + 1, n, all.all};
        const Waiting sums = {multiplyBlock(k, hasUnsignedB, t, block, nullptr), block.all};
        addTo<true>(sums);
      }
    }
}

/// What belongs to the sums of one block of columns, which are signed.
VNNI_INLINE __m256i sumsOf(size_t k, const uint32_t *columns) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i low = _mm512_setzero_si512(), high = low; // columns 0 to 3, 4 to 7: four words each
#pragma clang loop unroll(disable)
  for (size_t at = 0; at < 2 * k; at += 32) {
    low = _mm512_dpbusd_epi32(low, ones, _mm512_loadu_si512(columns + at));
    high = _mm512_dpbusd_epi32(high, ones, _mm512_loadu_si512(columns + at + 16));
  }
  const __m512i pairs =
      _mm512_add_epi32(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high));
  const __m512i all = _mm512_add_epi32(pairs, _mm512_srli_epi64(pairs, 32));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m256i sums = _mm512_castsi512_si256(_mm512_permutexvar_epi32(order, all));
  return _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sums, 7));
}

} // namespace

VNNI void vnniColumnSums(bool hasSignedA, size_t k, const uint32_t *columns, unsigned blocks,
                         int32_t *sums) {
  for (unsigned i = 0; i < blocks; ++i, columns += 2 * k, sums += kColumns)
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(sums),
                        hasSignedA ? sumsOf(k, columns) : _mm256_setzero_si256());
}

VNNI void vnniColumns(bool isSigned, bool hasSignedA, size_t k, const uint32_t *registers,
                      uint32_t *out) {
  const __m512i flipped = _mm512_set1_epi32(isSigned ? 0 : int32_t(0x80808080u));
  for (size_t at = 0; at < 2 * k; at += 16)
    _mm512_storeu_si512(out + at, _mm512_xor_si512(_mm512_loadu_si512(registers + at), flipped));
  vnniColumnSums(hasSignedA, k, out, 1, reinterpret_cast<int32_t *>(out + 2 * k));
}

bool hasVnni() {
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

void vnniTiles(size_t k, bool hasUnsignedB, bool isSaturating, const PanelTiles &t) {
  isSaturating ? multiplySaturating(k, hasUnsignedB, t) : multiplyAll(k, hasUnsignedB, t);
}

} // namespace ptxrun::matrix
