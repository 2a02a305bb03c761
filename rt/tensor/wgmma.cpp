#include "rt/tensor/wgmma.h"

#include <emmintrin.h>

#include <cstring>

#include "intrinsics/matrix/tile.h"
#include "intrinsics/matrix/warp.h"
#include "rt/tensor/operands.h"
#include "rt/tensor/shared_matrix.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

using matrix::Element;

namespace {

constexpr unsigned kRows = 16;     ///< of D that a warp has
constexpr unsigned kRowBytes = 32; ///< of A, compressed where it is sparse, along K
constexpr unsigned kMostColumns = 256;
constexpr unsigned kPiece = 16, kFragment = 8 * kPiece; ///< a register of the lanes

/// Bytes of a row of B along K.
unsigned bytesOfB(const abi::WgmmaForm &form) {
  return form.k * matrix::bitsOf(form.elementB()) / 8;
}

unsigned elementBytes(Element element) { return matrix::bitsOf(element) / 8; }

void readTile(const SharedMatrix &m, Element element, bool isTransposed, unsigned first,
              unsigned count, unsigned bytes, char *out) {
  if (isTransposed)
    readRowsAcrossK(m, elementBytes(element), first, count, bytes / elementBytes(element), out,
                    bytes);
  else
    readRowsAlongK(m, first, count, bytes, out, bytes);
}

/// Fragments of A: register i of lane l has four bytes of row l / 4 + 8 * (i % 2), from byte
/// 4 * (l % 4) + 16 * (i / 2) on.
void gatherA(ConstWarpRegisters registers, char *rows) {
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < 32; ++lane)
      std::memcpy(&rows[(lane / 4 + 8 * (i % 2)) * kRowBytes + 4 * (lane % 4) + 16 * (i / 2)],
                  &registers[i][lane], 4);
}

Numbers decodeA(const WgmmaOperands &o, const WgmmaTiles &tiles, TensorScratch &scratch) {
  const unsigned columns = kRowBytes * 8 / matrix::bitsOf(o.form.elementA());
  if (o.form.hasRegistersA)
    gatherA(o.registersA, scratch.a);
  const char *rows =
      o.form.hasRegistersA ? scratch.a : tiles.bytesA.data() + kRows * o.warp * kRowBytes;
  return decodeRows(o.form.elementA(), matrix::Packing::dense, rows, kRows, columns, kRowBytes,
                    o.form.negatesA);
}

/// B as k rows of n, for all four warps.
const Numbers &decodeB(const abi::WgmmaForm &form, WgmmaTiles &tiles) {
  if (!tiles.isPrepared)
    tiles.numbers =
        transpose(decodeRows(form.elementB(), matrix::Packing::dense, tiles.bytesB.data(), form.n,
                             form.k, bytesOfB(form), form.negatesB));
  tiles.isPrepared = true;
  return tiles.numbers;
}

/// Bits of metadata of `row` for the elements of the compressed row from `element` on: 2 bits each
/// (4 where the type is tf32), 16 bits of a lane for a run of 8 (4). The figures of 9.7.15.6.2: of
/// the two lanes that sp-sel names, the first has the first half of K, rows 0 to 7 in its low half
/// and rows 8 to 15 in its high half. Of 8-bit types all four lanes count: the first two have the
/// first half of K, of rows 0 to 7 and 8 to 15.
unsigned metadataOf(const WgmmaOperands &o, unsigned row, unsigned element) {
  const Element type = o.form.elementA();
  const unsigned quad = 4 * (row % 8), isUpper = row / 8;
  if (matrix::bitsOf(type) == 8) {
    const unsigned lane = quad + isUpper + 2 * (element / 16);
    return o.metadata[lane] >> 2 * (element % 16) & 3;
  }
  const unsigned bits = type == Element::tf32 ? 4 : 2, perRun = 16 / bits;
  const unsigned lane = quad + 2 * o.form.selector + element / perRun;
  return o.metadata[lane % 32] >> (16 * isUpper + bits * (element % perRun)) & ((1u << bits) - 1);
}

/// Which k the elements of the compressed rows stand for (9.7.15.6.1): of tf32, one of two, 0b0100
/// or 0b1110; else two of four.
Selection selectionOf(const WgmmaOperands &o) {
  Selection s;
  s.perRow = o.form.k / 2;
  s.k.resize(size_t{kRows} * s.perRow);
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned i = 0; i < s.perRow; ++i) {
      const unsigned index = metadataOf(o, row, i);
      s.k[row * s.perRow + i] = static_cast<uint16_t>(
          o.form.elementA() == Element::tf32 ? 2 * i + (index >> 1 & 1) : i / 2 * 4 + index);
    }
  return s;
}

ProductRule ruleOf(const abi::WgmmaForm &form) {
  ProductRule rule;
  rule.policy = static_cast<matrix::Policy>(form.policy);
  rule.unit = matrix::Unit::wgmma;
  rule.a = form.elementA();
  rule.b = form.elementB();
  rule.d = form.elementD();
  rule.m = 64;
  rule.n = form.n;
  rule.k = form.k;
  rule.negatesA = form.negatesA;
  rule.negatesB = form.negatesB;
  rule.saturates = form.saturates;
  return rule;
}

/// Where an element of D is (figure 149 and its like): lane l has rows l / 4 and 8 below it, of
/// every 8 columns the ones from 2 * (l % 4) on, two on end; f16 two to a register.
struct Place {
  unsigned row, column;
};
Place placeOf(unsigned element, unsigned lane) {
  return {lane / 4 + 8 * (element / 2 % 2), element / 4 * 8 + 2 * (lane % 4) + element % 2};
}

/// Of 32-bit elements: two registers of the four lanes of a row are 8 columns on end.
void gatherWords(const abi::WgmmaForm &form, ConstWarpRegisters d, uint32_t *out) {
  for (unsigned i = 0; i < form.registersD(); i += 2)
    for (unsigned lane = 0; lane < 32; lane += 4) {
      const Place p = placeOf(i, lane);
      const auto *even = reinterpret_cast<const __m128i *>(&d[i][lane]);
      const auto *odd = reinterpret_cast<const __m128i *>(&d[i + 1][lane]);
      auto *to = reinterpret_cast<__m128i *>(&out[p.row * form.n + p.column]);
      const __m128i a = _mm_loadu_si128(even), b = _mm_loadu_si128(odd);
      _mm_storeu_si128(to, _mm_unpacklo_epi32(a, b));
      _mm_storeu_si128(to + 1, _mm_unpackhi_epi32(a, b));
    }
}

void scatterWords(const abi::WgmmaForm &form, const uint32_t *in, WarpRegisters d) {
  for (unsigned i = 0; i < form.registersD(); i += 2)
    for (unsigned lane = 0; lane < 32; lane += 4) {
      const Place p = placeOf(i, lane);
      const auto *from = reinterpret_cast<const float *>(&in[p.row * form.n + p.column]);
      const __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + 4);
      _mm_storeu_ps(reinterpret_cast<float *>(&d[i][lane]),
                    _mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
      _mm_storeu_ps(reinterpret_cast<float *>(&d[i + 1][lane]),
                    _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
    }
}

// Of f16, the four lanes of a row have 8 columns on end in one register.

void gatherD(const abi::WgmmaForm &form, ConstWarpRegisters d, uint32_t *out) {
  if (form.elementD() != Element::f16)
    return gatherWords(form, d, out);
  uint16_t halves[kMostColumns];
  for (unsigned row = 0; row < kRows; ++row) {
    for (unsigned n = 0; n < form.n; n += 8)
      std::memcpy(halves + n, &d[n / 8 * 2 + row / 8][row % 8 * 4], kPiece);
    matrix::decode(Element::f16, matrix::Packing::dense, halves, form.n,
                   reinterpret_cast<float *>(&out[row * form.n]));
  }
}

void scatterD(const abi::WgmmaForm &form, const uint32_t *in, WarpRegisters d) {
  if (form.elementD() != Element::f16)
    return scatterWords(form, in, d);
  uint16_t halves[kMostColumns];
  for (unsigned row = 0; row < kRows; ++row) {
    matrix::encode(Element::f16, reinterpret_cast<const float *>(&in[row * form.n]), form.n,
                   halves);
    for (unsigned n = 0; n < form.n; n += 8)
      std::memcpy(&d[n / 8 * 2 + row / 8][row % 8 * 4], halves + n, kPiece);
  }
}

bool isBytes(const abi::WgmmaForm &form) { return matrix::isByteInteger(form.elementA()); }

/// Products that are multiplied on fragments: floats, from all of A, to f32, or bytes.
bool isOnFragments(const abi::WgmmaForm &form, const matrix::Sum &sum) {
  if (form.isSparse || isBytes(form))
    return !form.isSparse;
  return form.elementD() == Element::f32 && !matrix::isInteger(form.elementA()) &&
         matrix::isPanel(sum);
}

void readFragments(uint64_t descriptor, const char *window, Element element, bool isTransposed,
                   unsigned count, TensorScratch &scratch, char *out) {
  const SharedMatrix m = describeForWgmma(descriptor, window);
  if (!isTransposed)
    return readFragmentsAlongK(m, count, kRowBytes, out);
  readTile(m, element, true, 0, count, kRowBytes, scratch.b);
  for (unsigned row = 0; row < count; ++row)
    for (unsigned piece = 0; piece < kRowBytes / kPiece; ++piece)
      std::memcpy(out + (row / 8 * 2 + piece) * kFragment + row % 8 * kPiece,
                  scratch.b + row * kRowBytes + piece * kPiece, kPiece);
}

void negate(float *numbers, size_t count) {
  for (size_t i = 0; i < count; ++i)
    numbers[i] = -numbers[i];
}

/// B's columns, block by block, for all four warps.
const float *prepareB(const abi::WgmmaForm &form, WgmmaTiles &tiles) {
  if (tiles.isPrepared)
    return tiles.columns.data();
  const auto block = [&](unsigned n) {
    return reinterpret_cast<const uint32_t *>(tiles.bytesB.data() + n * 2 * kFragment);
  };
  if (isBytes(form)) {
    const unsigned pitch = 2 * static_cast<unsigned>(form.k) + 8;
    tiles.columns.resize(size_t{form.n} / 8 * pitch);
    for (unsigned n = 0; n < form.n / 8; ++n)
      matrix::prepareIntegerColumns(matrix::isSigned(form.elementB()),
                                    matrix::isSigned(form.elementA()), form.k, block(n),
                                    reinterpret_cast<int32_t *>(&tiles.columns[n * pitch]));
    tiles.isPrepared = true;
    return tiles.columns.data();
  }
  const size_t count = size_t{form.n} * form.k;
  tiles.columns.resize(matrix::preparedFloats(tiles.sum, static_cast<unsigned>(count)));
  for (unsigned n = 0; n < form.n / 8; ++n)
    matrix::prepareColumns(form.elementB(), form.k, block(n),
                           &tiles.columns[size_t{n} * 8 * form.k]);
  if (form.negatesB)
    negate(tiles.columns.data(), count);
  matrix::prepareExponents(tiles.sum, matrix::Role::b, count, tiles.columns.data());
  tiles.isPrepared = true;
  return tiles.columns.data();
}

/// A's fragments of the warp: registers have rows 0 to 7, 8 to 15, and the same 16 bytes on.
const uint32_t *fragmentsOfA(const WgmmaOperands &o, const WgmmaTiles &tiles,
                             TensorScratch &scratch) {
  const char *rows = tiles.bytesA.data() + 4 * kFragment * o.warp;
  for (unsigned i = 0; i < 4; ++i)
    std::memcpy(scratch.a + i * kFragment, rows + (i % 2 * 2 + i / 2) * kFragment, kFragment);
  return reinterpret_cast<const uint32_t *>(scratch.a);
}

void multiplyFragments(const WgmmaOperands &o, WgmmaTiles &tiles, TensorScratch &scratch,
                       WarpRegisters d) {
  const abi::WgmmaForm &form = o.form;
  const uint32_t *fragments =
      form.hasRegistersA ? o.registersA[0] : fragmentsOfA(o, tiles, scratch);
  if (!o.hasInput)
    std::memset(d, 0, form.registersD() * sizeof *d);
  if (isBytes(form)) {
    auto *rows = reinterpret_cast<int32_t *>(scratch.rows), *lanes = reinterpret_cast<int32_t *>(d);
    matrix::prepareIntegerRows(matrix::isSigned(form.elementA()),
                               !matrix::isSigned(form.elementB()), form.k, fragments, rows);
    return matrix::multiplyPreparedIntegers(
        form.k, form.n / 8, form.saturates, rows,
        reinterpret_cast<const int32_t *>(prepareB(form, tiles)), lanes, lanes);
  }
  matrix::prepareRows(form.elementA(), form.k, fragments, scratch.rows);
  if (form.negatesA)
    negate(scratch.rows, size_t{kRows} * form.k);
  matrix::prepareExponents(tiles.sum, matrix::Role::a, size_t{kRows} * form.k, scratch.rows);
  const float *columns = prepareB(form, tiles);
  auto *lanes = reinterpret_cast<float *>(d);
  matrix::multiplyPrepared(tiles.sum, form.k, form.n / 8, scratch.rows, columns, lanes, lanes);
}

} // namespace

void readTiles(const WgmmaOperands &o, TensorScratch &scratch, WgmmaTiles &tiles) {
  constexpr unsigned kAllRows = 4 * kRows;
  const abi::WgmmaForm &form = o.form;
  tiles.isPrepared = false;
  tiles.bytesA.resize(form.hasRegistersA ? 0 : kAllRows * kRowBytes);
  tiles.bytesB.resize(size_t{form.n} * bytesOfB(form));
  tiles.sum = sumFor(ruleOf(form), form.isSparse);
  tiles.isOnFragments = isOnFragments(form, tiles.sum);
  if (tiles.isOnFragments) {
    if (!form.hasRegistersA)
      readFragments(o.a, o.window, form.elementA(), form.isTransposedA, kAllRows, scratch,
                    tiles.bytesA.data());
    readFragments(o.b, o.window, form.elementB(), form.isTransposedB, form.n, scratch,
                  tiles.bytesB.data());
    return;
  }
  if (!form.hasRegistersA)
    readTile(describeForWgmma(o.a, o.window), form.elementA(), form.isTransposedA, 0, kAllRows,
             kRowBytes, tiles.bytesA.data());
  readTile(describeForWgmma(o.b, o.window), form.elementB(), form.isTransposedB, 0, form.n,
           bytesOfB(form), tiles.bytesB.data());
}

void multiplyWarp(const WgmmaOperands &o, WgmmaTiles &tiles, TensorScratch &scratch,
                  WarpRegisters d) {
  if (tiles.isOnFragments)
    return multiplyFragments(o, tiles, scratch, d);
  uint32_t *accumulators = scratch.accumulators;
  if (o.hasInput)
    gatherD(o.form, d, accumulators);
  const Numbers a = decodeA(o, tiles, scratch), &b = decodeB(o.form, tiles);
  Selection selection;
  if (o.form.isSparse)
    selection = selectionOf(o);
  multiplyNumbers(ruleOf(o.form), a, b, 0, o.form.n, o.form.isSparse ? &selection : nullptr,
                  nullptr, o.hasInput, {accumulators, ptrdiff_t(o.form.n)});
  scatterD(o.form, accumulators, d);
}

} // namespace ptxrun::rt
