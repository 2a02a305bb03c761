#include "intrinsics/matrix/vnni.h"

#include "intrinsics/matrix/wide_sums.h"

namespace ptxrun::matrix {

namespace {

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define VNNI_INLINE VNNI __attribute__((always_inline)) inline // sums stay in registers

constexpr size_t kColumns = 8;

const int32_t *words(const float *p) { return reinterpret_cast<const int32_t *>(p); }

/// What one block of accumulators meets.
struct Block {
  const PanelTiles &t;
  const PanelTile &tile;
  size_t n;          ///< in its tile
  size_t begin, end; ///< steps
  int32_t *all;

  const int32_t *rows(size_t step) const { return words(t.rowsOf(tile, step)); }
  const int32_t *columns(size_t step) const { return words(t.columnsOf(tile, step, n)); }
};

/// WideSums that wait to be added to what is there: while the next block is multiplied.
struct Waiting {
  WideSums sums;
  int32_t *all;
};

/// Where the sums begin: what belongs to those of columns, and of rows, in all steps.
VNNI_INLINE void begin(size_t k, bool hasUnsignedB, const Block &block, WideSums &sums) {
  const auto sumsOf = [&](size_t step) VNNI {
    const int32_t *all = block.t.columnSums;
    return all ? all + block.t.columnsAt(block.tile, step, block.n) * kColumns
               : block.columns(step) + 2 * k;
  };
  alignas(32) int32_t total[kColumns];
  const int32_t *of = sumsOf(block.begin); // from memory: loads that broadcast are no shuffles
  if (block.begin + 1 != block.end) {
    __m256i sum = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(of));
#pragma clang loop unroll(disable) // few rounds, here and below: unrolled ones cost more to enter
    for (size_t s = block.begin + 1; s != block.end; ++s)
      sum = _mm256_add_epi32(sum, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(sumsOf(s))));
    _mm256_store_si256(reinterpret_cast<__m256i *>(total), sum);
    of = total;
  }
  for (size_t column = 0; column < kColumns; ++column)
    sums.at[column] = _mm512_set1_epi32(of[column]);
  if (!hasUnsignedB)
    return;
  FourVectors rows = {};
#pragma clang loop unroll(disable)
  for (size_t s = block.begin; s != block.end; ++s)
    for (size_t v = 0; v < 4; ++v)
      rows.at[v] = _mm512_add_epi32(rows.at[v], _mm512_loadu_si512(block.rows(s) + 4 * k + v * 16));
  const __m512i ofRows = transposed(rows).at[0];
  for (__m512i &sum : sums.at)
    sum = _mm512_add_epi32(sum, ofRows);
}

/// 16 k after 16 k of all steps.
struct Piece {
  size_t step, at;
};

/// Products of 16 k; between(0) to between(3) happen among them.
template <class F>
VNNI_INLINE void addPiece(const FourVectors &rows, const int32_t *columns, WideSums &sums,
                          F between) {
#pragma clang loop unroll(full)
  for (size_t word = 0; word < 4; ++word) {
    between(word);
    for (size_t column = 0; column < kColumns; ++column)
      sums.at[column] = _mm512_dpbusd_epi32(sums.at[column], rows.at[word],
                                            _mm512_set1_epi32(columns[column * 4 + word]));
  }
}

/// WideSums of one block, and those that wait go where they belong.
VNNI_INLINE WideSums multiplyBlock(size_t k, bool hasUnsignedB, const Block &block,
                                   const Waiting *waiting) {
  const PanelTiles &t = block.t;
  WideSums sums;
  begin(k, hasUnsignedB, block, sums);
  // Registers have the halves by turns, prepared rows one behind the other.
  const size_t toHalf = t.areRowsRegisters ? 32 : 2 * k,
               perWord = t.areRowsRegisters ? 2 : 1; // of columns
  const __m512i flipped = _mm512_set1_epi32(int32_t(t.flippedRows));
  const auto rowsAt = [&](Piece p) VNNI {
    const int32_t *rows = block.rows(p.step) + p.at * perWord;
    FourVectors of;
    for (size_t v = 0; v < 4; ++v)
      of.at[v] = _mm512_xor_si512(_mm512_loadu_si512(rows + v / 2 * toHalf + v % 2 * 16), flipped);
    return interleaved(of);
  };
  const auto columnsAt = [&](Piece p) VNNI { return block.columns(p.step) + p.at; };
  Piece piece = {block.begin, 0};
  const Piece last = {block.end - 1, 2 * k - 32};
  FourVectors rows = joined(rowsAt(piece));
#pragma clang loop unroll(disable)
  while (piece.step != last.step || piece.at != last.at) {
    const int32_t *columns = columnsAt(piece);
    const bool isAtEnd = piece.at == last.at;
    piece = {piece.step + isAtEnd, isAtEnd ? 0 : piece.at + 32};
    FourVectors next;
    addPiece(rows, columns, sums, [&](size_t word) VNNI {
      if (word == 0)
        next = rowsAt(piece);
      if (word == 2)
        next = joined(next);
    });
    rows = next;
  }
  FourVectors half;
  addPiece(rows, columnsAt(last), sums, [&](size_t word) VNNI {
    if (waiting && word % 2 == 0)
      half = interleaved(word / 2, waiting->sums);
    if (waiting && word % 2 == 1)
      addTo<false>(word / 2, half, waiting->all);
  });
  return sums;
}

VNNI_INLINE Block blockOf(const PanelTiles &t, const PanelTile &tile, size_t n) {
  return {t, tile, n, 0, tile.steps, reinterpret_cast<int32_t *>(t.accumulatorsOf(tile, n))};
}

/// WideSums that wrap run through all instructions.
VNNI void multiplyAll(size_t k, bool hasUnsignedB, const PanelTiles &t) {
  if (t.count == 0)
    return;
  const Block first = blockOf(t, t.tiles[0], 0);
  Waiting waiting = {multiplyBlock(k, hasUnsignedB, first, nullptr), first.all};
  size_t n = 1;
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile, n = 0)
#pragma clang loop unroll(disable)
    for (; n < tile->blocks; ++n) {
      const Block block = blockOf(t, *tile, n);
      waiting = {multiplyBlock(k, hasUnsignedB, block, &waiting), block.all};
    }
  addTo<false>(waiting.sums, waiting.all);
}

/// Others are cut off behind each.
VNNI void multiplySaturating(size_t k, bool hasUnsignedB, const PanelTiles &t) {
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile)
    for (size_t n = 0; n < tile->blocks; ++n) {
      const Block all = blockOf(t, *tile, n);
      for (size_t step = 0; step < tile->steps; ++step) {
        const Block block = {t, *tile, n, step, step + 1, all.all};
        const WideSums sums = multiplyBlock(k, hasUnsignedB, block, nullptr);
        addTo<true>(sums, all.all);
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
