#include "rt/tensor/wgmma.h"

#include <emmintrin.h>

#include <cstring>

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

const Numbers &decodeA(const WgmmaOperands &o, const WgmmaTiles &tiles, TensorScratch &scratch) {
  const unsigned columns = kRowBytes * 8 / matrix::bitsOf(o.form.elementA());
  if (o.form.hasRegistersA)
    gatherA(o.registersA, scratch.a);
  const char *rows =
      o.form.hasRegistersA ? scratch.a : tiles.bytesA.data() + kRows * o.warp * kRowBytes;
  decodeRows(o.form.elementA(), matrix::Packing::dense, rows, kRows, columns, kRowBytes,
             o.form.negatesA, scratch.numbersA);
  return scratch.numbersA;
}

/// B as k rows of n, for all four warps.
const Numbers &decodeB(const abi::WgmmaForm &form, WgmmaTiles &tiles, TensorScratch &scratch) {
  if (!tiles.isDecoded) {
    decodeRows(form.elementB(), matrix::Packing::dense, tiles.bytesB.data(), form.n, form.k,
               bytesOfB(form), form.negatesB, scratch.rowsB);
    transpose(scratch.rowsB, tiles.numbers);
  }
  tiles.isDecoded = true;
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

/// `count` rows as blocks of 8, each their first 16 bytes and then the next ones.
void readFragments(uint64_t descriptor, const char *window, Element element, bool isTransposed,
                   unsigned count, TensorScratch &scratch, char *out) {
  const SharedMatrix m = describeForWgmma(descriptor, window);
  if (!isTransposed)
    return readFragmentsAlongK(m, count, kRowBytes, out);
  readTile(m, element, true, 0, count, kRowBytes, scratch.a);
  for (unsigned row = 0; row < count; ++row)
    for (unsigned piece = 0; piece < kRowBytes / kPiece; ++piece)
      std::memcpy(out + (row / 8 * 2 + piece) * kFragment + row % 8 * kPiece,
                  scratch.a + row * kRowBytes + piece * kPiece, kPiece);
}

/// Rows of a warp with what else their sums need.
void finishA(const abi::WgmmaForm &form, const WgmmaTiles &tiles, float *rows) {
  const size_t count = size_t{kRows} * form.k;
  if (form.negatesA)
    negate(rows, count);
  matrix::prepareExponents(tiles.sum, matrix::Role::a, count, rows);
}

/// A's fragments of a warp, in registers, apart.
void prepareA(const abi::WgmmaForm &form, const WgmmaTiles &tiles, const uint32_t *fragments,
              float *out) {
  if (isBytes(form))
    return matrix::prepareIntegerRows(tiles.bytes, fragments, reinterpret_cast<int32_t *>(out));
  matrix::prepareRows(form.elementA(), form.k, fragments, out);
  finishA(form, tiles, out);
}

const uint32_t *words(const char *bytes) { return reinterpret_cast<const uint32_t *>(bytes); }

/// Pieces of `count` rows where they lie in shared memory; those of an MN-major matrix are copied.
class Operand {
 public:
  Operand(uint64_t descriptor, const char *window, Element element, bool isTransposed,
          unsigned count, TensorScratch &scratch)
      : along_(describeForWgmma(descriptor, window), isTransposed ? 0 : count, kRowBytes),
        blocks_(along_.blocks()) {
    if (!isTransposed)
      return;
    readFragments(descriptor, window, element, true, count, scratch, scratch.b);
    for (unsigned i = 0; i < count / 8; ++i)
      copied_[i] = matrix::onEnd(scratch.b + i * 2 * kFragment);
    blocks_ = copied_;
  }
  const matrix::Pieces *blocks() const { return blocks_; }

 private:
  PiecesAlongK along_;
  matrix::Pieces copied_[kMostColumns / 8];
  const matrix::Pieces *blocks_;
};

/// Rows of all four warps, `pitch` floats from one to the next.
void prepareRowsOfWarps(const WgmmaOperands &o, uint64_t descriptor, TensorScratch &scratch,
                        const WgmmaTiles &tiles, float *rows, size_t pitch) {
  const abi::WgmmaForm &form = o.form;
  if (!isBytes(form)) {
    const Operand a(descriptor, o.window, form.elementA(), form.isTransposedA, 4 * kRows, scratch);
    matrix::prepareRows(form.elementA(), form.k, a.blocks(), 4, rows, pitch);
    for (unsigned warp = 0; warp < 4; ++warp, rows += pitch)
      finishA(form, tiles, rows);
    return;
  }
  readFragments(descriptor, o.window, form.elementA(), form.isTransposedA, 4 * kRows, scratch,
                scratch.b);
  // Registers have rows 0 to 7, 8 to 15, and the same 16 bytes on.
  const char *fragments = scratch.b;
  alignas(64) char ordered[4 * kFragment];
  for (unsigned warp = 0; warp < 4; ++warp, fragments += 4 * kFragment, rows += pitch) {
    for (unsigned i = 0; i < 4; ++i)
      std::memcpy(ordered + i * kFragment, fragments + (i % 2 * 2 + i / 2) * kFragment, kFragment);
    prepareA(form, tiles, words(ordered), rows);
  }
}

/// All columns of one product; behind those of a block follow the same of other products.
void prepareB(const WgmmaOperands &o, uint64_t descriptor, TensorScratch &scratch,
              const WgmmaTiles &tiles, float *columns) {
  const abi::WgmmaForm &form = o.form;
  const auto blocks = static_cast<unsigned>(form.n / 8);
  const size_t pitch = form.products() * tiles.columnPitch;
  if (isBytes(form)) {
    readFragments(descriptor, o.window, form.elementB(), form.isTransposedB, form.n, scratch,
                  scratch.b);
    return matrix::prepareIntegerColumns(tiles.bytes, words(scratch.b),
                                         reinterpret_cast<int32_t *>(columns), blocks, pitch);
  }
  const Operand b(descriptor, o.window, form.elementB(), form.isTransposedB, form.n, scratch);
  matrix::prepareColumns(form.elementB(), form.k, b.blocks(), blocks, columns, pitch);
  const size_t count = size_t{8} * form.k;
  for (unsigned n = 0; n < blocks && form.negatesB; ++n)
    negate(columns + n * pitch, count);
  for (unsigned n = 0; n < blocks && tiles.sum.method == matrix::Sum::Method::fused; ++n)
    matrix::prepareExponents(tiles.sum, matrix::Role::b, count, columns + n * pitch);
}

void readOnFragments(const WgmmaOperands &o, TensorScratch &scratch, WgmmaTiles &tiles) {
  const abi::WgmmaForm &form = o.form;
  const auto k = static_cast<unsigned>(form.k);
  const unsigned products = form.products(), blocks = form.n / 8;
  tiles.rowPitch =
      isBytes(form) ? matrix::preparedIntegersA(k) : matrix::preparedFloats(tiles.sum, kRows * k);
  tiles.columnPitch =
      isBytes(form) ? matrix::preparedIntegersB(k) : matrix::preparedFloats(tiles.sum, 8 * k);
  float *rows =
      form.hasRegistersA ? nullptr : tiles.buffers.rows.get(4 * products * tiles.rowPitch);
  float *columns = tiles.buffers.columns.get(products * blocks * tiles.columnPitch);
  for (unsigned i = 0; i < products; ++i) {
    if (rows)
      prepareRowsOfWarps(o, o.a[i], scratch, tiles, rows + i * tiles.rowPitch,
                         products * tiles.rowPitch);
    prepareB(o, o.b[i], scratch, tiles, columns + i * tiles.columnPitch);
  }
}

/// All blocks of columns, through all products.
void multiplyFragments(const WgmmaOperands &o, const WgmmaTiles &tiles, TensorScratch &scratch,
                       WarpRegisters d) {
  const abi::WgmmaForm &form = o.form;
  const unsigned products = form.products(), blocks = form.n / 8;
  if (!o.hasInput)
    std::memset(d, 0, form.registersD() * sizeof *d);
  constexpr unsigned kMostBlocks = 32;
  const unsigned steps = products - o.first;
  uint16_t numbers[WgmmaOperands::kMost * (1 + kMostBlocks) + kMostBlocks], *next = numbers;
  for (unsigned i = o.first; i < products; ++i)
    *next++ = static_cast<uint16_t>(i);
  for (unsigned n = 0; n < blocks; ++n)
    *next++ = static_cast<uint16_t>(n);
  for (unsigned i = o.first; i < products; ++i)
    for (unsigned n = 0; n < blocks; ++n)
      *next++ = static_cast<uint16_t>(n * products + i);
  const matrix::PanelTile tile = {static_cast<uint16_t>(blocks), static_cast<uint16_t>(steps), 0,
                                  steps, steps + blocks};
  auto *accumulators = reinterpret_cast<float *>(d);
  matrix::PanelTiles t;
  t.tiles = &tile;
  t.count = 1;
  t.numbers = numbers;
  t.rowPitch = tiles.rowPitch;
  t.columns = tiles.buffers.columns.data();
  t.columnPitch = tiles.columnPitch;
  t.homes = &accumulators;
  t.blocks = blocks;
  if (form.hasRegistersA) {
    float *rows = scratch.rows.get(products * tiles.rowPitch);
    for (unsigned i = 0; i < products; ++i)
      prepareA(form, tiles, o.registersA[4 * i], rows + i * tiles.rowPitch);
    t.rows = rows;
  } else {
    t.rows = tiles.buffers.rows.data() + o.warp * products * tiles.rowPitch;
  }
  if (isBytes(form))
    matrix::multiplyIntegerTiles(tiles.bytes, t);
  else
    matrix::multiplyTiles(tiles.sum, form.k, t);
}

} // namespace

void readTiles(const WgmmaOperands &o, TensorScratch &scratch, WgmmaTiles &tiles) {
  constexpr unsigned kAllRows = 4 * kRows;
  const abi::WgmmaForm &form = o.form;
  tiles.isDecoded = false;
  tiles.sum = sumFor(ruleOf(form), form.isSparse);
  tiles.isOnFragments = isOnFragments(form, tiles.sum);
  if (isBytes(form))
    tiles.bytes = {matrix::byteUnit(size_t{form.products()} * form.n / 8),
                   static_cast<unsigned>(form.k), matrix::isSigned(form.elementA()),
                   matrix::isSigned(form.elementB()), form.saturates != 0};
  if (tiles.isOnFragments)
    return readOnFragments(o, scratch, tiles);
  tiles.bytesA.resize(form.hasRegistersA ? 0 : kAllRows * kRowBytes);
  tiles.bytesB.resize(size_t{form.n} * bytesOfB(form));
  if (!form.hasRegistersA)
    readTile(describeForWgmma(o.a[0], o.window), form.elementA(), form.isTransposedA, 0, kAllRows,
             kRowBytes, tiles.bytesA.data());
  readTile(describeForWgmma(o.b[0], o.window), form.elementB(), form.isTransposedB, 0, form.n,
           bytesOfB(form), tiles.bytesB.data());
}

void multiplyWarp(const WgmmaOperands &o, WgmmaTiles &tiles, TensorScratch &scratch,
                  WarpRegisters d) {
  if (tiles.isOnFragments)
    return multiplyFragments(o, tiles, scratch, d);
  uint32_t *accumulators = scratch.accumulators;
  if (o.hasInput)
    gatherD(o.form, d, accumulators);
  const Numbers &a = decodeA(o, tiles, scratch), &b = decodeB(o.form, tiles, scratch);
  Selection selection;
  if (o.form.isSparse)
    selection = selectionOf(o);
  multiplyNumbers(ruleOf(o.form), a, b, 0, o.form.n, o.form.isSparse ? &selection : nullptr,
                  nullptr, o.hasInput, {accumulators, ptrdiff_t(o.form.n)});
  scatterD(o.form, accumulators, d);
}

} // namespace ptxrun::rt
