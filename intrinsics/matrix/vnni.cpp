#include "intrinsics/matrix/vnni.h"

#include <algorithm>

#include "intrinsics/matrix/wide_sums.h"

namespace ptxrun::matrix {

namespace {

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define VNNI_INLINE VNNI __attribute__((always_inline)) inline // sums stay in registers

constexpr size_t kColumns = 8;

const int32_t *words(const float *p) { return reinterpret_cast<const int32_t *>(p); }

/// 16 k of 16 rows, a vector for each word of four k: rows 0, 4, 8, 12, 1, 5, ...
using Piece = FourVectors;

/// Steps of a tile's rows, in the order that the instruction takes them: for all its blocks.
struct Rows {
  static constexpr size_t kMostPieces = 32;
  size_t begin, end, inStep; ///< steps, pieces of one
  Piece pieces[kMostPieces];
  __m512i sums; ///< what belongs to those of rows, in all steps
};

/// What one block of accumulators meets.
struct Block {
  const PanelTiles &t;
  const PanelTile &tile;
  size_t n; ///< in its tile

  const int32_t *columns(size_t step) const { return words(t.columnsOf(tile, step, n)); }
  int32_t *accumulators() const { return reinterpret_cast<int32_t *>(t.accumulatorsOf(tile, n)); }
};

/// Sums that wait to be added to what is there: while the next block is multiplied.
struct Waiting {
  WideSums sums;
  int32_t *all;
};

/// Registers have the halves by turns, prepared rows one behind the other.
VNNI_INLINE void loadRows(const PanelTiles &t, const PanelTile &tile, size_t k, bool hasUnsignedB,
                          Rows &rows) {
  const size_t toHalf = t.areRowsRegisters ? 32 : 2 * k, toPiece = t.areRowsRegisters ? 64 : 32;
  const __m512i flipped = _mm512_set1_epi32(int32_t(t.flippedRows));
  FourVectors sums = {};
  Piece *to = rows.pieces;
#pragma clang loop unroll(disable)
  for (size_t step = rows.begin; step != rows.end; ++step) {
    const int32_t *from = words(t.rowsOf(tile, step));
#pragma clang loop unroll(disable)
    for (size_t piece = 0; piece != rows.inStep; ++piece, from += toPiece) {
      FourVectors of;
      for (size_t v = 0; v < 4; ++v)
        of.at[v] =
            _mm512_xor_si512(_mm512_loadu_si512(from + v / 2 * toHalf + v % 2 * 16), flipped);
      *to++ = transposed(of);
    }
    for (size_t v = 0; v < 4 && hasUnsignedB; ++v)
      sums.at[v] = _mm512_add_epi32(
          sums.at[v], _mm512_loadu_si512(words(t.rowsOf(tile, step)) + 4 * k + v * 16));
  }
  rows.sums = transposed(sums).at[0];
}

/// Where the sums begin: what belongs to those of columns, and of rows, in all steps.
VNNI_INLINE void begin(size_t k, bool hasUnsignedB, const Rows &rows, const Block &block,
                       WideSums &sums) {
  const auto sumsOf = [&](size_t step) VNNI {
    const int32_t *all = block.t.columnSums;
    return all ? all + block.t.columnsAt(block.tile, step, block.n) * kColumns
               : block.columns(step) + 2 * k;
  };
  alignas(32) int32_t total[kColumns];
  const int32_t *of = sumsOf(rows.begin); // from memory: loads that broadcast are no shuffles
  if (rows.begin + 1 != rows.end) {
    __m256i sum = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(of));
#pragma clang loop unroll(disable) // few rounds, here and below: unrolled ones cost more to enter
    for (size_t s = rows.begin + 1; s != rows.end; ++s)
      sum = _mm256_add_epi32(sum, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(sumsOf(s))));
    _mm256_store_si256(reinterpret_cast<__m256i *>(total), sum);
    of = total;
  }
  for (size_t column = 0; column < kColumns; ++column)
    sums.at[column] = _mm512_set1_epi32(of[column]);
  if (!hasUnsignedB)
    return;
  for (__m512i &sum : sums.at)
    sum = _mm512_add_epi32(sum, rows.sums);
}

/// Products of 16 k; between(0) to between(3) happen among them.
template <class F>
VNNI_INLINE void addPiece(const Piece &rows, const int32_t *columns, WideSums &sums, F between) {
#pragma clang loop unroll(full)
  for (size_t word = 0; word < 4; ++word) {
    between(word);
    for (size_t column = 0; column < kColumns; ++column)
      sums.at[column] = _mm512_dpbusd_epi32(sums.at[column], rows.at[word],
                                            _mm512_set1_epi32(columns[column * 4 + word]));
  }
}

/// Sums of one block, and those that wait go where they belong.
VNNI_INLINE WideSums multiplyBlock(size_t k, bool hasUnsignedB, const Rows &rows,
                                   const Block &block, const Waiting *waiting) {
  WideSums sums;
  begin(k, hasUnsignedB, rows, block, sums);
  FourVectors half;
  const auto addWaiting = [&](size_t word) VNNI {
    if (waiting && word % 2 == 0)
      half = interleaved(word / 2, waiting->sums);
    if (waiting && word % 2 == 1)
      addTo<false>(word / 2, half, waiting->all);
  };
  const Piece *piece = rows.pieces;
  addPiece(*piece++, block.columns(rows.begin), sums, addWaiting);
  size_t at = 1; // in its step
#pragma clang loop unroll(disable)
  for (size_t step = rows.begin; step != rows.end; ++step, at = 0) {
    const int32_t *columns = block.columns(step);
#pragma clang loop unroll(disable)
    for (; at != rows.inStep; ++at)
      addPiece(*piece++, columns + at * 32, sums, [](size_t) VNNI {});
  }
  return sums;
}

/// Sums that wrap run through all instructions, others are cut off behind each.
template <bool isSaturating>
VNNI void multiplyAll(size_t k, bool hasUnsignedB, const PanelTiles &t) {
  Rows rows;
  rows.inStep = k / 16;
  const size_t most = isSaturating ? 1 : Rows::kMostPieces / rows.inStep;
  Waiting waiting;
  bool isWaiting = false;
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile)
    for (rows.begin = 0; rows.begin != tile->steps; rows.begin = rows.end) {
      rows.end = std::min<size_t>(tile->steps, rows.begin + most);
      loadRows(t, *tile, k, hasUnsignedB, rows);
#pragma clang loop unroll(disable)
      for (size_t n = 0; n != tile->blocks; ++n) {
        const Block block = {t, *tile, n};
        const WideSums sums =
            multiplyBlock(k, hasUnsignedB, rows, block, isWaiting ? &waiting : nullptr);
        if (isSaturating) {
          addTo<true>(sums, block.accumulators());
          continue;
        }
        waiting = {sums, block.accumulators()};
        isWaiting = true;
      }
    }
  if (isWaiting)
    addTo<false>(waiting.sums, waiting.all);
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
  isSaturating ? multiplyAll<true>(k, hasUnsignedB, t) : multiplyAll<false>(k, hasUnsignedB, t);
}

} // namespace ptxrun::matrix
