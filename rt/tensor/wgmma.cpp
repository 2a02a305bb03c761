#include "rt/tensor/wgmma.h"

#include <emmintrin.h>

#include <cstring>

#include "rt/tensor/operands.h"
#include "rt/tensor/shared_matrix.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

using matrix::Element;

namespace {

constexpr unsigned kRows = 16;     ///< of D that a warp has
constexpr unsigned kRowBytes = 32; ///< of A, compressed where it is sparse, along K

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

Numbers decodeA(const abi::WgmmaForm &form, const TensorScratch &tiles) {
  const unsigned columns = kRowBytes * 8 / matrix::bitsOf(form.elementA());
  return decodeRows(form.elementA(), matrix::Packing::dense, tiles.a, kRows, columns, kRowBytes,
                    form.negatesA);
}

/// B as k rows of n. The four warps of a warpgroup multiply by the same one, each when it gets
/// there: what was decoded before is taken again where the bytes are the same.
const Numbers &decodeB(const abi::WgmmaForm &form, uint64_t descriptor, TensorScratch &tiles) {
  const size_t bytes = size_t{form.n} * bytesOfB(form);
  DecodedTile &tile = tiles.decoded[descriptor % TensorScratch::kDecoded];
  const uint64_t what = form.n | form.k << 9 | form.b << 18 | form.negatesB << 23;
  if (tile.what == what && tile.bytes.size() == bytes &&
      std::memcmp(tile.bytes.data(), tiles.b, bytes) == 0)
    return tile.numbers;
  tile.what = what;
  tile.bytes.assign(tiles.b, tiles.b + bytes);
  tile.numbers = transpose(decodeRows(form.elementB(), matrix::Packing::dense, tiles.b, form.n,
                                      form.k, bytesOfB(form), form.negatesB));
  return tile.numbers;
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

void gatherD(const abi::WgmmaForm &form, ConstWarpRegisters d, uint32_t *out) {
  if (form.elementD() != Element::f16)
    return gatherWords(form, d, out);
  for (unsigned i = 0; i < form.registersD(); ++i)
    for (unsigned lane = 0; lane < 32; ++lane) {
      const Place p = placeOf(2 * i, lane);
      matrix::decode(Element::f16, matrix::Packing::dense, &d[i][lane], 2,
                     reinterpret_cast<float *>(&out[p.row * form.n + p.column]));
    }
}

void scatterD(const abi::WgmmaForm &form, const uint32_t *in, WarpRegisters d) {
  if (form.elementD() != Element::f16)
    return scatterWords(form, in, d);
  for (unsigned i = 0; i < form.registersD(); ++i)
    for (unsigned lane = 0; lane < 32; ++lane) {
      const Place p = placeOf(2 * i, lane);
      matrix::encode(Element::f16, reinterpret_cast<const float *>(&in[p.row * form.n + p.column]),
                     2, &d[i][lane]);
    }
}

} // namespace

void readTiles(const WgmmaOperands &o, TensorScratch &tiles) {
  if (o.form.hasRegistersA)
    gatherA(o.registersA, tiles.a);
  else
    readTile(describeForWgmma(o.a, o.window), o.form.elementA(), o.form.isTransposedA,
             kRows * o.warp, kRows, kRowBytes, tiles.a);
  readTile(describeForWgmma(o.b, o.window), o.form.elementB(), o.form.isTransposedB, 0, o.form.n,
           bytesOfB(o.form), tiles.b);
}

void multiplyWarp(const WgmmaOperands &o, TensorScratch &tiles, WarpRegisters d) {
  uint32_t *accumulators = tiles.accumulators;
  if (o.hasInput)
    gatherD(o.form, d, accumulators);
  const Numbers a = decodeA(o.form, tiles), &b = decodeB(o.form, o.b, tiles);
  Selection selection;
  if (o.form.isSparse)
    selection = selectionOf(o);
  multiplyNumbers(ruleOf(o.form), a, b, 0, o.form.n, o.form.isSparse ? &selection : nullptr,
                  nullptr, o.hasInput, {accumulators, ptrdiff_t(o.form.n)});
  scatterD(o.form, accumulators, d);
}

} // namespace ptxrun::rt
