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
/// % 4], prepared columns[k][even 4, odd 4] of each block of 8 columns, 8 * k apart; c and d are
/// the lanes of four registers for each block, and may be the same.
void prepareRows(Element, unsigned k, const uint32_t *registers, float *rows);
void prepareColumns(Element, unsigned k, const uint32_t *registers, float *columns);
/// Whether multiplyPrepared() can sum so.
constexpr bool isPanel(const Sum &sum) {
  return sum.method == Sum::Method::chain ||
         (sum.method == Sum::Method::fused && sum.narrowing == Narrowing::none &&
          sum.rounding != Rounding::nearestHalf);
}
/// Fused steps need the exponents too: of all that was prepared, behind it (and a word more).
void prepareExponents(const Sum &, Role, size_t count, float *prepared);
void multiplyPrepared(const Sum &, unsigned k, unsigned blocks, const float *rows,
                      const float *columns, const float *c, float *d);

/// One block of columns, where product p of row i meets row chosen[i * products + p] of B: chains
/// (Sum::Method::chain) with f32 results. False where the CPU's vectors cannot (multiplyChain).
bool multiplyChosen(const Sum &, unsigned products, const float *rows, const float *columns,
                    const uint8_t *chosen, const float *c, float *d);

/// The same as multiplyPrepared of 8-bit integers, signed or not, in as many words as floats of a
/// quarter of k, and 64 (rows) or 8 (columns, of each block) more.
void prepareIntegerRows(bool isSigned, bool hasUnsignedB, unsigned k, const uint32_t *registers,
                        int32_t *rows);
void prepareIntegerColumns(bool isSigned, bool hasSignedA, unsigned k, const uint32_t *registers,
                           int32_t *columns);
void multiplyPreparedIntegers(unsigned k, unsigned blocks, bool isSaturating, const int32_t *rows,
                              const int32_t *columns, const int32_t *c, int32_t *d);

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

/// out[column * outRow + row] = in[row * inRow + column], rows and columns multiples of 4.
void transposeFloats(const float *in, ptrdiff_t inRow, size_t rows, size_t columns, float *out,
                     ptrdiff_t outRow);

} // namespace ptxrun::matrix
