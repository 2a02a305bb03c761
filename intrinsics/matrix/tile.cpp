// The vector code, compiled for each CPU level by Highway (foreach_target.h includes this file once
// for each) and chosen at run time.
//
// A fused step in f32 and i32: with the largest exponent e of a row and column's terms, each
// product times 2^(F - e) is a float (the checks of canFuse() see to it), cut off by conversion to
// an integer below 2^27, so that 16 of them have room in 32 bits. The accumulator joins in f64,
// where the whole sum is exact; cutting f64 mantissas or one magic addition rounds it.
#include "intrinsics/matrix/tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "intrinsics/lane/formats.h"
#include "intrinsics/matrix/amx.h"
#include "intrinsics/matrix/decode.h"
#include "intrinsics/matrix/float_buffer.h"
#include "intrinsics/matrix/fused.h"
#include "intrinsics/matrix/targets.h"
#include "intrinsics/matrix/vnni.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "intrinsics/matrix/tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PTXRUN_MATRIX_FUSE_ONE_BY_ONE
#define PTXRUN_MATRIX_FUSE_ONE_BY_ONE
namespace ptxrun::matrix {
constexpr size_t kMostSpread = 128; ///< of k, of rows that are spread: 32 KB
/// Fused steps of a part of the tile in scalar arithmetic.
void fuseOneByOne(const Sum &, const Tile &, size_t row, size_t rows, size_t column,
                  size_t columns);
/// The same of a block of prepared columns, for `halves` times 8 rows from 8 * half on.
void fusePanelOneByOne(const Sum &, size_t k, const float *rows, const float *columns, size_t half,
                       size_t halves, const float *c, float *d);
} // namespace ptxrun::matrix
#endif

HWY_BEFORE_NAMESPACE();
namespace ptxrun::matrix {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#include "intrinsics/matrix/tile_chain-inl.h"
#include "intrinsics/matrix/tile_fused-inl.h"
#include "intrinsics/matrix/tile_transpose-inl.h"

#include "intrinsics/matrix/tile_fragments-inl.h" // these use the ones above

#include "intrinsics/matrix/tile_panels-inl.h" // and these those

#include "intrinsics/matrix/tile_prepare-inl.h"

#include "intrinsics/matrix/tile_integer-inl.h"

} // namespace HWY_NAMESPACE
} // namespace ptxrun::matrix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ptxrun::matrix {

HWY_EXPORT(chain);
HWY_EXPORT(fused);
HWY_EXPORT(doubles);
HWY_EXPORT(transpose);
HWY_EXPORT(fragments);
HWY_EXPORT(widen);
HWY_EXPORT(narrow);
HWY_EXPORT(nearestHalves);
HWY_EXPORT(rows);
HWY_EXPORT(columns);
HWY_EXPORT(matrixRows);
HWY_EXPORT(matrixColumns);
HWY_EXPORT(panelTiles);
HWY_EXPORT(exponents);
HWY_EXPORT(chosenChain);
HWY_EXPORT(scaledChain);
HWY_EXPORT(integerRows);
HWY_EXPORT(integerColumns);
HWY_EXPORT(integerTiles);
HWY_EXPORT(bitTiles);
HWY_EXPORT(nibbles);
HWY_EXPORT(twoOfFour);
HWY_EXPORT(integerTile);

void fuseOneByOne(const Sum &sum, const Tile &t, size_t row, size_t rows, size_t column,
                  size_t columns) {
  for (size_t i = row; i < row + rows; ++i)
    for (size_t j = column; j < column + columns; ++j)
      t.d[ptrdiff_t(i) * t.dRow + ptrdiff_t(j)] = fusedSteps(
          sum, t.k, t.c[ptrdiff_t(i) * t.cRow + ptrdiff_t(j)],
          [&](size_t k) { return t.a[ptrdiff_t(i) * t.aRow + ptrdiff_t(k) * t.aColumn]; },
          [&](size_t k) { return t.b[ptrdiff_t(k) * t.bRow + ptrdiff_t(j)]; });
}

void fusePanelOneByOne(const Sum &sum, size_t k, const float *rows, const float *columns,
                       size_t half, size_t halves, const float *c, float *d) {
  for (size_t i = half * 64; i < (half + halves) * 64; ++i) {
    const size_t row = i / 64 * (k / 4) * 32 + i % 32 / 4 * 4, column = i / 32 % 2 * 4 + i % 4;
    d[i] = fusedSteps(
        sum, k, c[i], [&](size_t n) { return rows[row + n / 4 * 32 + n % 4]; },
        [&](size_t n) { return columns[n * 8 + column]; });
  }
}

bool multiplyChain(const Sum &sum, const Tile &tile) {
  return HWY_DYNAMIC_DISPATCH(chain)(sum, tile);
}

bool multiplyFused(const Sum &sum, const Tile &tile) {
  thread_local std::vector<int32_t> exponents;
  const size_t needed = tile.m * tile.k + tile.k * tile.n;
  if (exponents.size() < needed)
    exponents.resize(needed);
  return HWY_DYNAMIC_DISPATCH(fused)(sum, tile, exponents.data());
}

namespace {

/// What each byte means, format by format.
const float *byteTable(Element element) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, 5> made;
    for (unsigned format = 0; format < made.size(); ++format)
      for (unsigned i = 0; i < 256; ++i) {
        const auto byte = uint8_t(i);
        decode(Element(unsigned(Element::e4m3) + format), Packing::byteEach, &byte, 1,
               &made[format][i]);
      }
    return made;
  }();
  return isNarrow(element) ? tables[unsigned(element) - unsigned(Element::e4m3)].data() : nullptr;
}

} // namespace

size_t widenInVectors(Element element, const void *packed, size_t count, float *out) {
  return HWY_DYNAMIC_DISPATCH(widen)(element, byteTable(element), packed, count, out);
}

size_t narrowInVectors(const float *values, size_t count, uint16_t *out) {
  return HWY_DYNAMIC_DISPATCH(narrow)(values, count, out);
}

size_t roundInVectors(float *values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(nearestHalves)(values, count);
}

void prepareRows(Element element, unsigned k, const Pieces *halves, unsigned count, float *out,
                 size_t pitch) {
  HWY_DYNAMIC_DISPATCH(rows)(element, k, halves, count, out, pitch);
}

void prepareColumns(Element element, unsigned k, const Pieces *blocks, unsigned count, float *out,
                    size_t pitch) {
  HWY_DYNAMIC_DISPATCH(columns)(element, k, blocks, count, out, pitch);
}

void decodeRows(Element element, unsigned k, const Pieces *blocks, unsigned count, float *out,
                size_t pitch) {
  HWY_DYNAMIC_DISPATCH(matrixRows)(element, k, blocks, count, out, pitch);
}

void decodeColumns(Element element, unsigned k, const Pieces *blocks, unsigned count, float *out,
                   size_t pitch) {
  HWY_DYNAMIC_DISPATCH(matrixColumns)(element, k, blocks, count, out, pitch);
}

namespace {

constexpr unsigned kMostPieces = 16;

/// Pieces of 8 rows on end, those of the next k `pitch` bytes on.
constexpr auto placesOnEnd(uint32_t pitch) {
  std::array<uint32_t, 8 * kMostPieces> places{};
  for (unsigned i = 0; i < places.size(); ++i)
    places[i] = i / 8 * pitch + i % 8 * 16;
  return places;
}
constexpr uint32_t kRegisterBytes = 128;
constexpr auto kPlacesOfRows = placesOnEnd(2 * kRegisterBytes),
               kPlacesOfColumns = placesOnEnd(kRegisterBytes);

constexpr unsigned kMostAtOnce = 16; ///< fragments

} // namespace

void prepareRows(Element element, unsigned k, const uint32_t *registers, unsigned step,
                 unsigned count, float *out, size_t pitch) {
  Pieces halves[2 * kMostAtOnce];
  const auto *bytes = reinterpret_cast<const char *>(registers);
  for (unsigned done = 0, now; done < count; done += now, out += now * pitch) {
    now = std::min(count - done, kMostAtOnce);
    for (unsigned i = 0; i < 2 * now; i += 2, bytes += step * size_t{kRegisterBytes})
      for (unsigned half = 0; half < 2; ++half)
        halves[i + half] = {bytes + half * kRegisterBytes, kPlacesOfRows.data(), true};
    prepareRows(element, k, halves, now, out, pitch);
  }
}

void prepareColumns(Element element, unsigned k, const uint32_t *registers, unsigned step,
                    unsigned count, float *out, size_t pitch) {
  Pieces blocks[kMostAtOnce];
  const auto *bytes = reinterpret_cast<const char *>(registers);
  for (unsigned done = 0, now; done < count; done += now, out += now * pitch) {
    now = std::min(count - done, kMostAtOnce);
    for (unsigned i = 0; i < now; ++i, bytes += step * size_t{kRegisterBytes})
      blocks[i] = {bytes, kPlacesOfColumns.data(), true};
    prepareColumns(element, k, blocks, now, out, pitch);
  }
}

void prepareRows(Element element, unsigned k, const uint32_t *registers, float *out) {
  prepareRows(element, k, registers, 0, 1, out, 0);
}

void prepareColumns(Element element, unsigned k, const uint32_t *registers, float *out) {
  prepareColumns(element, k, registers, 0, 1, out, 0);
}

Pieces onEnd(const void *block) {
  return {static_cast<const char *>(block), kPlacesOfColumns.data(), true};
}

void prepareExponents(const Sum &sum, Role role, size_t count, float *prepared) {
  if (sum.method == Sum::Method::fused)
    HWY_DYNAMIC_DISPATCH(exponents)(count, role == Role::a ? sum.leastA : sum.leastB, prepared);
}

bool spreadsRows() {
  // Intel's have two ports for vectors of 64 bytes, and one of them is the only one that shuffles.
  static const bool is = usesLongVectors() && __builtin_cpu_is("intel");
  return is;
}

void multiplyTiles(const Sum &sum, unsigned k, const PanelTiles &tiles) {
  thread_local FloatBuffer scratch;
  float *spread = tiles.isSpreading ? scratch.get(64 * kMostSpread) : nullptr;
  HWY_DYNAMIC_DISPATCH(panelTiles)(sum, k, tiles, spread);
}

bool multiplyScaledChain(unsigned k, unsigned block, const float *rows, const float *columns,
                         const float *scaleRows, const float *scaleColumns, const float *c,
                         float *d) {
  return HWY_DYNAMIC_DISPATCH(scaledChain)(k, block, rows, columns, scaleRows, scaleColumns, c, d);
}

bool multiplyChosen(const Sum &sum, unsigned products, const float *rows, const float *columns,
                    const uint8_t *chosen, const float *c, float *d) {
  return HWY_DYNAMIC_DISPATCH(chosenChain)(sum, products, rows, columns, chosen, c, d);
}

ByteUnit byteUnit(size_t products) {
  constexpr size_t kLeastForTiles = 16; // they have to be set up
  const bool isWide = usesLongVectors();
  if (isWide && products >= kLeastForTiles && hasAmx())
    return ByteUnit::amx;
  static const bool isVnni = isWide && hasVnni();
  return isVnni ? ByteUnit::vnni : ByteUnit::vectors;
}

bool takesRegisters(const ByteProducts &p) {
  return p.unit == ByteUnit::amx || (p.isSignedB && p.unit == ByteUnit::vnni);
}

void prepareIntegerRows(const ByteProducts &p, const uint32_t *registers, int32_t *rows) {
  if (p.unit == ByteUnit::amx) {
    std::memcpy(rows, registers, 4 * p.k * sizeof *rows);
    return;
  }
  HWY_DYNAMIC_DISPATCH(integerRows)(p.isSignedA, !p.isSignedB, p.k, registers, rows);
}

void prepareIntegerColumns(const ByteProducts &p, const uint32_t *registers, int32_t *columns,
                           unsigned blocks, size_t pitch) {
  for (unsigned i = 0; i < blocks; ++i, registers += size_t{2} * p.k, columns += pitch)
    if (p.unit == ByteUnit::amx)
      std::memcpy(columns, registers, 2 * p.k * sizeof *columns);
    else if (p.unit == ByteUnit::vnni)
      vnniColumns(p.isSignedB, p.isSignedA, p.k, registers, reinterpret_cast<uint32_t *>(columns));
    else
      HWY_DYNAMIC_DISPATCH(integerColumns)(p.isSignedB, p.isSignedA, p.k, registers, columns);
}

void sumIntegerColumns(const ByteProducts &p, const uint32_t *registers, unsigned blocks,
                       int32_t *columnSums) {
  if (p.unit == ByteUnit::vnni)
    vnniColumnSums(p.isSignedA, p.k, registers, blocks, columnSums);
}

void prepareBitColumns(unsigned k, const uint32_t *registers, int32_t *columns) {
  HWY_DYNAMIC_DISPATCH(integerColumns)(true, false, k, registers, columns);
}

void multiplyIntegerTiles(const ByteProducts &p, const PanelTiles &tiles) {
  if (p.unit == ByteUnit::amx)
    return amxTiles(p, tiles);
  if (p.unit == ByteUnit::vnni)
    return vnniTiles(p.k, !p.isSignedB, p.isSaturating, tiles);
  HWY_DYNAMIC_DISPATCH(integerTiles)(p.k, !p.isSignedB, p.isSaturating, tiles);
}

void multiplyBitTiles(unsigned k, BitOperation operation, const PanelTiles &tiles) {
  HWY_DYNAMIC_DISPATCH(bitTiles)(k, operation == BitOperation::bitXor, tiles);
}

void unpackNibbles(bool isSigned, bool isA, unsigned registers, const uint32_t *in, uint32_t *out) {
  HWY_DYNAMIC_DISPATCH(nibbles)(isSigned, isA, registers, in, out);
}

void placeTwoOfFour(unsigned pieces, const uint8_t *from, const uint16_t *places, uint8_t *to) {
  // For eight k and the four bytes that they have: which byte, or a top bit for a zero.
  static const auto chosen = [] {
    std::array<uint64_t, 256> made;
    for (unsigned places = 0; places < made.size(); ++places) {
      made[places] = 0x8080808080808080u;
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned at = 8 * (i / 2 * 4 + (places >> (2 * i) & 3));
        made[places] = (made[places] & ~(uint64_t{0xff} << at)) | uint64_t{i} << at;
      }
    }
    return made;
  }();
  HWY_DYNAMIC_DISPATCH(twoOfFour)(pieces, from, places, chosen.data(), to);
}

void multiplyIntegerTile(const IntegerTile &tile) { HWY_DYNAMIC_DISPATCH(integerTile)(tile); }

bool multiplyFragments(const FragmentTile &x) {
  const bool isPossible =
      (x.sum.method == Sum::Method::chain || x.sum.method == Sum::Method::fused) &&
      x.sum.narrowing == Narrowing::none && x.k <= 32 && x.elementC == x.elementD &&
      x.elementA != Element::f64;
  return isPossible &&
         HWY_DYNAMIC_DISPATCH(fragments)(x, byteTable(x.elementA), byteTable(x.elementB));
}

bool multiplyDoubleFragments(unsigned halves, unsigned k, const double *a, const double *b,
                             const double *c, double *d) {
  return HWY_DYNAMIC_DISPATCH(doubles)(halves, k, a, b, c, d);
}

void transposeFloats(const float *in, ptrdiff_t inRow, size_t rows, size_t columns, float *out,
                     ptrdiff_t outRow) {
  HWY_DYNAMIC_DISPATCH(transpose)(in, inRow, rows, columns, out, outRow);
}

} // namespace ptxrun::matrix
#endif
