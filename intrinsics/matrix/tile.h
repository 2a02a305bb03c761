// Products of whole tiles in vectors: what multiply() uses where a tile's shape and values allow.
#pragma once
#include "intrinsics/matrix/fragment.h"
#include "intrinsics/matrix/multiply.h"

namespace ptxrun::matrix {

/// A tile in the form the vector code takes: A any, B with columns side by side, k rows of n; n is
/// a multiple of 8. `c` and `d` with columns side by side.
struct Tile {
  size_t m, n, k;
  const float *a;
  ptrdiff_t aRow, aColumn;
  const float *b;
  ptrdiff_t bRow;
  const float *c;
  ptrdiff_t cRow;
  float *d;
  ptrdiff_t dRow;
};

/// d = the chain of fma from c (Sum::Method::chain, without the final rounding). False where the
/// CPU's vectors cannot (no fma, and products that are no floats).
bool multiplyChain(const Sum &, const Tile &);

/// Fused steps over ascending k (Sum::Method::fused), the result of each rounded. False, and `d` is
/// as it was, where inputs are not finite or so far apart that the scalar code is needed.
bool multiplyFused(const Sum &, const Tile &);

/// One m16n8 product of fragments as mma has them (fragment.h), a and b floats of 32, 16 or 8 bits
/// in a register (narrower ones in bytes of their own), c and d f32 or f16.
struct FragmentTile {
  const Sum &sum;
  Element elementA, elementB, elementC, elementD;
  unsigned k;
  const uint32_t *a, *b, *c; ///< registers of 32 lanes
  uint32_t *d;
};

/// False, and nothing done, where the scalar code is needed.
bool multiplyFragments(const FragmentTile &);

/// Elements of 32, 16 or 8 bits (narrower formats in bytes of their own) to floats, as decode() has
/// them; how many of the first were done: all but a rest, or none.
size_t widenInVectors(Element, const void *packed, size_t count, float *out);

/// Floats to f16 as encode() has them, and to the nearest f16 in place (NaN as they are); how many
/// of the first were done: all but a rest, or none.
size_t narrowInVectors(const float *values, size_t count, uint16_t *out);
size_t roundInVectors(float *values, size_t count);

/// m16 in parts, for chains and fused steps with f32 results: prepared rows[half][k / 4][8 rows][k
/// % 4], prepared columns[k][even 4, odd 4] of each block of 8 columns; c and d are the lanes of
/// four registers for each block.
void prepareRows(Element, unsigned k, const uint32_t *registers, float *rows);
void prepareColumns(Element, unsigned k, const uint32_t *registers, float *columns);
/// Where 8 rows or columns are whose k lie on end in pieces of 16 bytes.
struct Pieces {
  const char *base;
  const uint32_t *places; ///< [piece][row], in bytes
  bool areOnEnd = false;  ///< the 8 of each piece
};
/// Of pieces that lie one behind the other, those of 8 rows for each 16 bytes of k.
Pieces onEnd(const void *block);
/// The same of `count` fragments, `step` registers apart, prepared ones `pitch` floats.
void prepareRows(Element, unsigned k, const uint32_t *registers, unsigned step, unsigned count,
                 float *rows, size_t pitch);
void prepareColumns(Element, unsigned k, const uint32_t *registers, unsigned step, unsigned count,
                    float *columns, size_t pitch);
/// The same of pieces, of `count` fragments of two halves or blocks, prepared ones `pitch` floats
/// apart.
void prepareRows(Element, unsigned k, const Pieces *halves, unsigned count, float *rows,
                 size_t pitch);
void prepareColumns(Element, unsigned k, const Pieces *blocks, unsigned count, float *columns,
                    size_t pitch);
/// Plain matrices out of pieces: number i of row r to out[r * pitch + i]; number i of column c to
/// out[i * pitch + c].
void decodeRows(Element, unsigned k, const Pieces *blocks, unsigned count, float *out,
                size_t pitch);
void decodeColumns(Element, unsigned k, const Pieces *blocks, unsigned count, float *out,
                   size_t pitch);
/// Whether multiplyTiles() can sum so.
constexpr bool isPanel(const Sum &sum) {
  return sum.method == Sum::Method::chain ||
         (sum.method == Sum::Method::fused && sum.narrowing == Narrowing::none &&
          sum.rounding != Rounding::nearestHalf);
}
/// Fused steps need the exponents too: of all that was prepared, behind it (and a word more).
void prepareExponents(const Sum &, Role, size_t count, float *prepared);
/// Floats of `count` prepared ones with what lies behind them, in whole vectors.
constexpr unsigned preparedFloats(const Sum &sum, unsigned count) {
  return sum.method == Sum::Method::fused ? 2 * count + 16 : count;
}

/// Blocks of accumulators that meet the same prepared rows, step by step: one instruction after the
/// other. From these places on, in PanelTiles::numbers, stand the numbers of rows (of each step),
/// of accumulators (of each block) and of prepared columns (of each step, of each block).
struct PanelTile {
  uint16_t blocks, steps;
  uint32_t rows, accumulators, columns;
};
/// Whether chains are faster on rows that have each number four times, where many blocks meet them:
/// where shuffles take the place of products. Shorter vectors than of 16 numbers need no shuffles.
bool spreadsRows();
/// Prepared operands `pitch` floats apart, and tiles of them.
struct PanelTiles {
  const PanelTile *tiles = nullptr;
  unsigned count = 0;
  const uint16_t *numbers = nullptr;
  const float *rows = nullptr, *columns = nullptr;
  size_t rowPitch = 0, columnPitch = 0;
  float *const *homes = nullptr; ///< of accumulators, `blocks` of them each
  unsigned blocks = 1;
  bool isSpreading = spreadsRows();
  bool hasHalves = false; ///< f16 accumulators, rounded behind each instruction: two registers
  /// Rows of bytes are registers as they are, with these bits to be exchanged
  /// (takesRegisters).
  bool areRowsRegisters = false;
  uint32_t flippedRows = 0;
  /// What belongs to the sums of columns of bytes, 8 words for each block; null: behind its
  /// numbers.
  const int32_t *columnSums = nullptr;

  const float *rowsOf(const PanelTile &tile, size_t step) const {
    return rows + numbers[tile.rows + step] * rowPitch;
  }
  /// The number of a block's columns.
  unsigned columnsAt(const PanelTile &tile, size_t step, size_t block) const {
    return numbers[tile.columns + step * tile.blocks + block];
  }
  const float *columnsOf(const PanelTile &tile, size_t step, size_t block) const {
    return columns + columnsAt(tile, step, block) * columnPitch;
  }
  float *accumulatorsOf(const PanelTile &tile, size_t block) const {
    const unsigned number = numbers[tile.accumulators + block];
    if (blocks == 1)
      return homes[number];
    return homes[number / blocks] + number % blocks * (hasHalves ? 64 : 128);
  }
};
/// Adds to the accumulators of all tiles.
void multiplyTiles(const Sum &, unsigned k, const PanelTiles &);

/// One block of columns with block scales, the fast policy's (multiplyScaled): `scaleRows` has [k /
/// block][half][8 rows][4 times], `scaleColumns` [k / block][even 4, odd 4]. False where the CPU
/// has no fma.
bool multiplyScaledChain(unsigned k, unsigned block, const float *rows, const float *columns,
                         const float *scaleRows, const float *scaleColumns, const float *c,
                         float *d);

/// One block of columns, where product p of row i meets row chosen[i * products + p] of B: chains
/// (Sum::Method::chain) with f32 results. False where the CPU's vectors cannot (multiplyChain).
bool multiplyChosen(const Sum &, unsigned products, const float *rows, const float *columns,
                    const uint8_t *chosen, const float *c, float *d);

/// What multiplies bytes: Highway's vectors, AVX-512 VNNI, or the tile registers of AMX.
enum class ByteUnit : uint8_t { vectors, vnni, amx };
/// The fastest that there is on this CPU for so many products of a fragment and a block.
ByteUnit byteUnit(size_t products);
struct ByteProducts {
  ByteUnit unit = ByteUnit::vectors;
  unsigned k = 16; ///< of an instruction
  bool isSignedA = true, isSignedB = true;
  bool isSaturating = false;
};
/// The same of 8-bit integers, as words in an order of the unit's own. Behind the numbers lies what
/// is to be added to the sums (not with AMX): 64 words of rows, where B is not signed, 8 of
/// columns.
void prepareIntegerRows(const ByteProducts &, const uint32_t *registers, int32_t *rows);
/// Of `blocks` of 8 columns: registers one block behind the other, prepared ones `pitch` words
/// apart.
void prepareIntegerColumns(const ByteProducts &, const uint32_t *registers, int32_t *columns,
                           unsigned blocks = 1, size_t pitch = 0);
/// Whether multiplyIntegerTiles() can do without these, but for the columns' sums.
bool takesRegisters(const ByteProducts &);
void sumIntegerColumns(const ByteProducts &, const uint32_t *registers, unsigned blocks,
                       int32_t *columnSums);
constexpr unsigned preparedIntegersA(unsigned k) { return 4 * k + 64; }
constexpr unsigned preparedIntegersB(unsigned k) { return 2 * k + 16; }
void multiplyIntegerTiles(const ByteProducts &, const PanelTiles &);

/// Single bits, without sums: columns[k / 4][even 4, odd 4].
void prepareBitColumns(unsigned k, const uint32_t *registers, int32_t *columns);
/// Adds the number of ones in the words of A and B, combined; `k` counts bytes.
void multiplyBitTiles(unsigned k, BitOperation, const PanelTiles &);
/// Registers of 4-bit integers to twice as many of bytes, of A (two for each 32 k) or of B.
void unpackNibbles(bool isSigned, bool isA, unsigned registers, const uint32_t *in, uint32_t *out);
/// 2:4 sparse bytes with their zeros: from registers of A of half of k to those of all, a register
/// of 16 rows and `pieces` times 16 k. places[piece][16 rows]: a nibble for each four k, which has
/// the place of the first byte in its low half, of the second, another, in its high one.
void placeTwoOfFour(unsigned pieces, const uint8_t *from, const uint16_t *places, uint8_t *to);

/// A tile of bytes, k even and up to 512, n a multiple of 8; everything with columns side by side.
struct IntegerTile {
  size_t m, n, k;
  const uint8_t *a;
  ptrdiff_t aRow;
  const uint8_t *b;
  ptrdiff_t bRow;
  const int32_t *c;
  ptrdiff_t cRow;
  int32_t *d;
  ptrdiff_t dRow;
  bool isSignedA, isSignedB, isSaturating;
};
void multiplyIntegerTile(const IntegerTile &);

/// Fragments of f64 as mma has them, 8 or 16 rows and 8 columns: chains of fma. False where the CPU
/// has none.
bool multiplyDoubleFragments(unsigned halves, unsigned k, const double *a, const double *b,
                             const double *c, double *d);

/// out[column * outRow + row] = in[row * inRow + column], rows and columns multiples of 4.
void transposeFloats(const float *in, ptrdiff_t inRow, size_t rows, size_t columns, float *out,
                     ptrdiff_t outRow);

} // namespace ptxrun::matrix
