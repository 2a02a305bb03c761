#include "rt/tensor/tensor_multiply.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "rt/tensor/operands.h"
#include "rt/tensor/shared_matrix.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

using matrix::Element;

namespace {

constexpr const char *kMma = "tcgen05.mma";

/// Lanes that hold rows of D on end, and the columns of the product that they hold.
struct LaneBlock {
  unsigned lane = 0, count = 0;
  unsigned row = 0; ///< the first lane's, of the CTA's rows
  unsigned column = 0, columns = 0;
};

/// All of an instruction in one CTA; a list without memory of its own (tensor_state.h).
struct LaneBlocks {
  LaneBlock all[4];
  unsigned count = 0;
  void add(const LaneBlock &block) { all[count++] = block; }
  const LaneBlock *begin() const { return all; }
  const LaneBlock *end() const { return all + count; }
};

/// Rows of A and D that one CTA has.
unsigned rowsOf(const TensorMmaOperands &o) {
  return o.form.isPair ? o.instruction.m / 2 : o.instruction.m;
}

/// Whether rows lie 16 in each quarter of the lanes (data path layouts C and F).
bool hasHalfQuarters(const TensorMmaOperands &o) {
  return rowsOf(o) == 64 && !o.form.isStationary && (!o.form.isPair || o.form.isSparse);
}

/// How D lies in the lanes of a CTA (9.7.16.10.5): all rows and columns; 16 rows in each quarter;
/// or the columns cut in two or four, one part below the other.
LaneBlocks blocksOf(const TensorMmaOperands &o) {
  const unsigned rows = rowsOf(o), n = o.instruction.n;
  LaneBlocks blocks;
  if (hasHalfQuarters(o)) {
    for (unsigned i = 0; i < 4; ++i)
      blocks.add({32 * i + o.d.lane, 16, 16 * i, 0, n});
    return blocks;
  }
  const unsigned parts = TensorMemory::kLanes / rows;
  for (unsigned i = 0; i < parts; ++i)
    blocks.add({rows * i, rows, 0, n / parts * i, n / parts});
  if (!o.form.scaleBlock)
    return blocks;
  LaneBlocks quarters; // each has scales of its own
  for (const LaneBlock &b : blocks)
    for (unsigned at = 0; at < b.count; at += 32)
      quarters.add({b.lane + at, 32, b.row + at, b.column, b.columns});
  return quarters;
}

unsigned elementBits(const TensorMmaOperands &o, Element element) {
  return o.instruction.isByteEach ? 8 : matrix::bitsOf(element);
}
matrix::Packing packingOf(const TensorMmaOperands &o) {
  return o.instruction.isByteEach ? matrix::Packing::byteEach : matrix::Packing::dense;
}

SharedMatrix describe(GangState &g, const char *window, const TensorMmaOperands &o, uint64_t word,
                      Element element, const char *which) {
  const char *error = nullptr;
  SharedMatrix m = describeForTensorCore(word, window, &error);
  if (error)
    failTensor(g, kMma, std::string("the descriptor of ") + which + ": " + error);
  const unsigned bits = matrix::bitsOf(element);
  m.packedBits = o.instruction.isByteEach && bits < 8 ? bits : 0;
  return m;
}

/// Reads rows first to first + count - 1, with `bytes` of K on end, `pitch` bytes apart.
void readRows(GangState &g, const SharedMatrix &m, bool isTransposed, unsigned bits, unsigned first,
              unsigned count, unsigned bytes, char *out, size_t pitch) {
  if (isTransposed && m.isAbsoluteLeading)
    failTensor(g, kMma, "an absolute leading dimension of a matrix that is not K-major");
  GuestAccess access(*groupOf(g).worker);
  if (isTransposed)
    readRowsAcrossK(m, bits / 8, first, count, bytes / (bits / 8), out, pitch);
  else
    readRowsAlongK(m, first, count, bytes, out, pitch);
}

/// Products that are multiplied together: their K one behind the other.
using Run = std::span<const TensorMmaOperands>;

/// Whether the matrices' `bytes` along K lie one behind the other.
bool areOnEnd(std::span<const SharedMatrix> matrices, unsigned bytes) {
  const SharedMatrix &first = matrices.front();
  if (!first.swizzle.bits || first.isAbsoluteLeading || first.packedBits)
    return false;
  for (size_t i = 1; i < matrices.size(); ++i) {
    const SharedMatrix &m = matrices[i];
    if (m.start != first.start + i * bytes || m.stride != first.stride ||
        m.rowBytes != first.rowBytes || m.patternOffset != first.patternOffset)
      return false;
  }
  return true;
}

/// Rows of all products of a run, `bytes` of K of each product beside the next one's.
void readRun(GangState &g, std::span<const SharedMatrix> matrices, bool isTransposed, unsigned bits,
             unsigned first, unsigned count, unsigned bytes, char *out) {
  const size_t pitch = bytes * matrices.size();
  if (!isTransposed && areOnEnd(matrices, bytes))
    return readRows(g, matrices.front(), false, bits, first, count, static_cast<unsigned>(pitch),
                    out, pitch);
  for (size_t i = 0; i < matrices.size(); ++i)
    readRows(g, matrices[i], isTransposed, bits, first, count, bytes, out + i * bytes, pitch);
}

/// Whether the matrices' pieces can be decoded where they lie.
bool areDecodedInPlace(const TensorMmaOperands &o, Element element, bool isTransposed,
                       std::span<const SharedMatrix> matrices) {
  const bool isFloat = !matrix::isInteger(element) && element != Element::f64;
  return isFloat && !isTransposed && elementBits(o, element) >= 8 &&
         std::none_of(matrices.begin(), matrices.end(), [](const SharedMatrix &m) {
           return m.packedBits != 0 || m.isAbsoluteLeading;
         });
}

/// A's rows as the block's lanes need them.
const Numbers &decodeA(GangState &g, CtaState &cta, Run run, const LaneBlock &block,
                       TensorScratch &scratch) {
  const TensorMmaOperands &o = run.front();
  const TensorMma &i = o.instruction;
  const unsigned bits = elementBits(o, i.a), bytes = i.compressedK * bits / 8;
  const size_t pitch = bytes * run.size();
  if (o.form.hasTensorA) { // each lane has the row that its part of D needs
    const TensorAddress at = tensorAddress(static_cast<uint32_t>(o.a));
    TensorMemory &memory = requireColumns(g, cta, kMma, "A", at.column, bytes / 4);
    for (unsigned row = 0; row < block.count; ++row) {
      const unsigned lane = block.lane + row;
      const unsigned from = o.form.shiftsA && lane ? lane - 1 : lane;
      std::memcpy(scratch.a + row * bytes, &memory.cells[from][at.column], bytes);
    }
  } else {
    SharedMatrix matrices[kLongestRun];
    for (size_t n = 0; n < run.size(); ++n)
      matrices[n] = describe(g, cta.window, o, run[n].a, i.a, "A");
    if (areDecodedInPlace(o, i.a, i.isTransposedA, {matrices, run.size()})) {
      const auto k = i.compressedK, all = k * static_cast<unsigned>(run.size());
      float *out = floatsOf(scratch.numbersA, block.count, all);
      GuestAccess access(*groupOf(g).worker);
      for (size_t n = 0; n < run.size(); ++n, out += k) {
        const PiecesAlongK pieces(matrices[n], block.row + block.count, bytes);
        matrix::decodeRows(i.a, k, pieces.blocks() + block.row / 8, block.count / 8, out, all);
      }
      if (i.negatesA)
        negate(scratch.numbersA.floats.data(), scratch.numbersA.floats.size());
      return scratch.numbersA;
    }
    readRun(g, {matrices, run.size()}, i.isTransposedA, bits, block.row, block.count, bytes,
            scratch.a);
  }
  decodeRows(i.a, packingOf(o), scratch.a, block.count,
             i.compressedK * static_cast<unsigned>(run.size()), pitch, i.negatesA,
             scratch.numbersA);
  return scratch.numbersA;
}

/// B as k rows of n; of a pair, each CTA has half of the columns.
const Numbers &decodeB(GangState &g, Run run, const ZeroColumns &zeros, TensorScratch &scratch) {
  const TensorMmaOperands &o = run.front();
  const TensorMma &i = o.instruction;
  const unsigned bits = elementBits(o, i.b), bytes = i.k * bits / 8;
  const size_t pitch = bytes * run.size();
  GroupState &group = groupOf(g);
  const unsigned parts = o.form.isPair ? 2 : 1, columns = i.n / parts;
  const bool isPlain = zeros.shift == 0 && columns % 8 == 0 && bytes % 16 == 0 &&
                       std::all_of(std::begin(zeros.mask), std::end(zeros.mask),
                                   [](uint64_t word) { return word == 0; });
  for (unsigned part = 0; part < parts; ++part) {
    const CtaState &cta =
        o.form.isPair ? group.ctas[(g.cta->cta.clusterRank & ~1u) + part] : *g.cta;
    SharedMatrix matrices[kLongestRun];
    for (size_t n = 0; n < run.size(); ++n)
      matrices[n] = describe(g, cta.window, o, run[n].b, i.b, "B");
    if (isPlain && areDecodedInPlace(o, i.b, i.isTransposedB, {matrices, run.size()})) {
      float *numbers =
          floatsOf(scratch.numbersB, i.k * static_cast<unsigned>(run.size()), i.n) + part * columns;
      GuestAccess access(*groupOf(g).worker);
      for (size_t n = 0; n < run.size(); ++n, numbers += size_t{i.k} * i.n) {
        const PiecesAlongK pieces(matrices[n], columns, bytes);
        matrix::decodeColumns(i.b, i.k, pieces.blocks(), columns / 8, numbers, i.n);
      }
      if (part + 1 < parts)
        continue;
      if (i.negatesB)
        negate(scratch.numbersB.floats.data(), scratch.numbersB.floats.size());
      return scratch.numbersB;
    }
    char *out = scratch.b + part * columns * pitch;
    if (zeros.shift == 0) {
      readRun(g, {matrices, run.size()}, i.isTransposedB, bits, 0, columns, bytes, out);
      continue;
    }
    const unsigned perPiece =
        i.isTransposedB ? 128 / bits : 1; // a single product: runs do not shift
    const unsigned first = zeros.shift / perPiece * perPiece;
    readRows(g, matrices[0], i.isTransposedB, bits, first, zeros.shift - first + columns, bytes,
             out, pitch);
    if (zeros.shift != first)
      std::memmove(out, out + (zeros.shift - first) * bytes, size_t{columns} * bytes);
  }
  for (unsigned n = 0; n < i.n; ++n)
    if (zeros.mask[n / 64] >> n % 64 & 1)
      std::memset(scratch.b + n * pitch, 0, bytes);
  decodeRows(i.b, packingOf(o), scratch.b, i.n, i.k * static_cast<unsigned>(run.size()), pitch,
             i.negatesB, scratch.rowsB);
  transpose(scratch.rowsB, scratch.numbersB);
  return scratch.numbersB;
}

/// Block scales of one quarter of the lanes: of row or column i, lane i % 32 of the quarter, column
/// i / 32, from byte `id` on; four bytes on, the next columns follow.
std::vector<float> decodeScales(const TensorMemory &memory, TensorAddress at, Element type,
                                unsigned quarter, unsigned first, unsigned count, unsigned all,
                                unsigned id, unsigned perRow) {
  std::vector<float> scales(size_t{count} * perRow);
  for (unsigned i = 0; i < count; ++i)
    for (unsigned s = 0; s < perRow; ++s) {
      const unsigned row = first + i, byte = id + s;
      const uint32_t cell =
          memory
              .cells[32 * quarter + row % 32][at.column + row / 32 + byte / 4 * ((all + 31) / 32)];
      const auto bits = static_cast<uint8_t>(cell >> 8 * (byte % 4));
      matrix::decode(type, matrix::Packing::dense, &bits, 1, &scales[size_t{i} * perRow + s]);
    }
  return scales;
}

/// Metadata of the block's rows: indices of 2 bits (tf32: 4). Of 16- and 32-bit types, 16 lanes
/// have 16 rows: lane i < 8 has the first half of K, row i in its low half, row i + 8 in its high
/// half; the next 8 lanes have the second half. Of narrower types each lane has its own row, in two
/// columns.
unsigned metadataOf(const TensorMemory &memory, const TensorMmaOperands &o, const LaneBlock &block,
                    unsigned column, unsigned row, unsigned index) {
  const Element type = o.instruction.a;
  if (matrix::bitsOf(type) <= 8)
    return memory.cells[block.lane + row][column + index / 16] >> 2 * (index % 16) & 3;
  const unsigned bits = type == Element::tf32 ? 4 : 2, perRun = 16 / bits;
  const unsigned lane = block.lane + row / 16 * 16 + row % 8 + 8 * (index / perRun);
  return memory.cells[lane][column] >> (row / 8 % 2 * 16 + bits * (index % perRun)) &
         ((1u << bits) - 1);
}

/// The column that the sparsity selector chooses among four, or among two where the address is no
/// multiple of four; it may be part of the address already.
unsigned metadataColumn(GangState &g, const TensorMmaOperands &o) {
  const unsigned at = o.metadata.column;
  if (matrix::bitsOf(o.instruction.a) <= 8) {
    if (o.instruction.selector != 0)
      failTensor(g, kMma, "a sparsity selector that is not 0");
    return at;
  }
  const unsigned selector = o.instruction.selector;
  if (at % 2 != 0 && at % 4 != selector)
    failTensor(g, kMma, "metadata at column " + std::to_string(at) + ", not aligned to 2");
  return at % 4 == 0 ? at + selector : at / 2 * 2 + selector % 2;
}

/// Which k the elements of the block's rows stand for: one of two (tf32), two of four, or two pairs
/// of four pairs (4-bit kinds).
Selection selectionOf(GangState &g, CtaState &cta, const TensorMmaOperands &o,
                      const LaneBlock &block) {
  const TensorMma &i = o.instruction;
  const unsigned column = metadataColumn(g, o);
  TensorMemory &memory =
      requireColumns(g, cta, kMma, "metadata", column, matrix::bitsOf(i.a) <= 8 ? 2 : 1);
  const bool hasPairs = o.form.kind >= static_cast<uint64_t>(abi::TensorKind::mxf4);
  Selection s;
  s.perRow = i.compressedK;
  s.k.resize(size_t{block.count} * s.perRow);
  for (unsigned row = 0; row < block.count; ++row)
    for (unsigned e = 0; e < s.perRow; ++e) {
      const unsigned index = metadataOf(memory, o, block, column, row, hasPairs ? e / 2 : e);
      unsigned k = e / 2 * 4 + index;
      if (i.a == Element::tf32)
        k = 2 * e + (index >> 1 & 1);
      else if (hasPairs)
        k = e / 4 * 8 + 2 * index + e % 2;
      s.k[size_t{row} * s.perRow + e] = static_cast<uint16_t>(k);
    }
  return s;
}

ProductRule ruleOf(const TensorMmaOperands &o) {
  const TensorMma &i = o.instruction;
  ProductRule rule;
  rule.policy = static_cast<matrix::Policy>(o.form.policy);
  rule.unit = matrix::Unit::tcgen05;
  rule.a = i.a;
  rule.b = i.b;
  rule.d = i.d;
  rule.m = i.m;
  rule.n = i.n;
  rule.k = i.k;
  rule.saturates = i.saturates;
  rule.scaleBlock = static_cast<unsigned>(o.form.scaleBlock);
  rule.scale = i.scale;
  return rule;
}

bool isDisabled(const TensorMmaOperands &o, const CtaState &cta, unsigned lane) {
  const unsigned first = o.form.isPair ? 4 * (cta.cta.clusterRank & 1) : 0;
  return o.form.hasMask && (o.disabledLanes[first + lane / 32] >> lane % 32 & 1);
}

constexpr unsigned kMostColumns = 256; ///< of D

/// D of the block as f32 or s32 in scratch, scaled where the form says so.
void takeInput(const TensorMmaOperands &o, const TensorMemory &memory, const LaneBlock &block,
               uint32_t *out) {
  const float factor = std::ldexp(1.0f, -static_cast<int>(o.form.inputShift));
  for (unsigned row = 0; row < block.count; ++row, out += block.columns) {
    const uint32_t *cells = &memory.cells[block.lane + row][o.d.column];
    auto *values = reinterpret_cast<float *>(out);
    if (o.instruction.d == Element::f16) {
      uint16_t halves[kMostColumns];
      for (unsigned n = 0; n < block.columns; ++n)
        halves[n] = static_cast<uint16_t>(cells[n]);
      matrix::decode(Element::f16, matrix::Packing::dense, halves, block.columns, values);
    } else {
      std::memcpy(out, cells, block.columns * sizeof *out);
    }
    for (unsigned n = 0; o.form.inputShift && n < block.columns; ++n)
      values[n] *= factor;
  }
}

void giveResult(const TensorMmaOperands &o, const CtaState &cta, TensorMemory &memory,
                const LaneBlock &block, const uint32_t *in) {
  for (unsigned row = 0; row < block.count; ++row, in += block.columns) {
    if (isDisabled(o, cta, block.lane + row))
      continue;
    uint32_t *cells = &memory.cells[block.lane + row][o.d.column];
    if (o.instruction.d != Element::f16) {
      std::memcpy(cells, in, block.columns * sizeof *in);
      continue;
    }
    uint16_t halves[kMostColumns];
    matrix::encode(Element::f16, reinterpret_cast<const float *>(in), block.columns, halves);
    for (unsigned n = 0; n < block.columns; ++n)
      cells[n] = halves[n];
  }
}

/// Whether the block's part of D can be multiplied where it is.
bool isInPlace(const TensorMmaOperands &o) {
  return o.instruction.d != Element::f16 && !o.form.hasMask && !o.form.inputShift;
}

/// Block scales of a block of lanes, kept in scratch.
BlockScales decodeBlockScales(GangState &g, CtaState &cta, const TensorMmaOperands &o,
                              const LaneBlock &block, TensorScratch &scratch) {
  const TensorMma &i = o.instruction;
  const auto perRow = static_cast<unsigned>(i.compressedK / o.form.scaleBlock);
  const unsigned rows = rowsOf(o), quarter = block.lane / 32;
  const auto columns = [&](unsigned count, unsigned id) {
    return (count + 31) / 32 * ((id + perRow + 3) / 4);
  };
  TensorMemory &memory =
      requireColumns(g, cta, kMma, "scales of A", o.scaleA.column, columns(rows, i.scaleIdA));
  requireColumns(g, cta, kMma, "scales of B", o.scaleB.column, columns(block.columns, i.scaleIdB));
  scratch.scalesA = decodeScales(memory, o.scaleA, i.scale, quarter, block.row, block.count, rows,
                                 i.scaleIdA, perRow);
  scratch.scalesB = decodeScales(memory, o.scaleB, i.scale, quarter, 0, block.columns,
                                 block.columns, i.scaleIdB, perRow);
  return {scratch.scalesA.data(), scratch.scalesB.data(), perRow};
}

void multiplyIn(GangState &g, CtaState &cta, Run run, const Numbers &b, TensorScratch &scratch) {
  const TensorMmaOperands &o = run.front();
  const LaneBlocks blocks = blocksOf(o);
  TensorMemory &memory = requireColumns(g, cta, kMma, "D", o.d.column, blocks.all[0].columns);
  const ProductRule rule = ruleOf(o);
  for (const LaneBlock &block : blocks) {
    const Numbers &a = decodeA(g, cta, run, block, scratch);
    if (o.form.isSparse)
      scratch.selection = selectionOf(g, cta, o, block);
    BlockScales scales;
    if (o.form.scaleBlock)
      scales = decodeBlockScales(g, cta, o, block, scratch);
    Accumulators d{&memory.cells[block.lane][o.d.column], TensorMemory::kColumns};
    if (!isInPlace(o)) {
      takeInput(o, memory, block, scratch.accumulators);
      d = {scratch.accumulators, ptrdiff_t(block.columns)};
    }
    // Scales of B count from the block's first column.
    if (scales.b)
      scales.b -= size_t{block.column} * scales.perRow;
    multiplyNumbers(rule, a, b, block.column, block.columns,
                    o.form.isSparse ? &scratch.selection : nullptr,
                    o.form.scaleBlock ? &scales : nullptr, o.hasInput, d);
    if (!isInPlace(o))
      giveResult(o, cta, memory, block, scratch.accumulators);
  }
}

} // namespace

// 9.7.16.4.3: of each part of the columns, spans of skip + 1 columns that are zero and of use + 1
// that are used take turns, from what first span says on, without the first `start count` columns.
ZeroColumns zeroColumnsOf(uint64_t d, unsigned m, unsigned n) {
  ZeroColumns r;
  r.shift = static_cast<unsigned>(d >> 56 & 63);
  if (!(d >> 39 & 1))
    return r;
  const unsigned parts = 128 / m, each = n / parts;
  const auto zeros = static_cast<unsigned>(d >> 40 & 255) + 1;
  const auto used = static_cast<unsigned>(d >> 48 & 255) + 1;
  for (unsigned part = 0; part < parts; ++part) {
    const auto start = static_cast<unsigned>(d >> 8 * part & 255);
    const bool beginsWithZeros = d >> (32 + part) & 1;
    for (unsigned i = 0; i < each; ++i) {
      const unsigned at = (start + i) % (zeros + used);
      const bool isZero = beginsWithZeros ? at < zeros : at >= used;
      const unsigned column = part * each + i;
      if (isZero)
        r.mask[column / 64] |= uint64_t{1} << column % 64;
    }
  }
  return r;
}

bool beginsRun(const TensorMmaOperands &o) {
  return static_cast<matrix::Policy>(o.form.policy) == matrix::Policy::fast &&
         o.instruction.d == Element::f32 && isInPlace(o) && !o.form.scaleBlock &&
         !o.form.isSparse && !o.form.isStationary && !o.form.hasTensorA && !o.form.shiftsA;
}

bool continuesRun(const TensorMmaOperands &last, const TensorMmaOperands &next) {
  const TensorMma &x = last.instruction, &y = next.instruction;
  return abi::toWord(last.form) == abi::toWord(next.form) && last.d.lane == next.d.lane &&
         last.d.column == next.d.column && next.hasInput && x.a == y.a && x.b == y.b &&
         x.d == y.d && x.m == y.m && x.n == y.n && x.k == y.k && x.negatesA == y.negatesA &&
         x.negatesB == y.negatesB && x.isTransposedA == y.isTransposedA &&
         x.isTransposedB == y.isTransposedB && x.isByteEach == y.isByteEach;
}

void checkTensorProduct(GangState &g, const TensorMmaOperands &o) {
  describe(g, g.cta->window, o, o.a, o.instruction.a, "A");
  describe(g, g.cta->window, o, o.b, o.instruction.b, "B");
  requireColumns(g, *g.cta, kMma, "D", o.d.column, blocksOf(o).all[0].columns);
}

void multiplyTensor(GangState &g, std::span<const TensorMmaOperands> run) {
  const TensorMmaOperands &o = run.front();
  TensorScratch &scratch = tensorScratchOf(g);
  ZeroColumns zeros;
  if (o.form.isStationary && o.zeroColumns)
    zeros = zeroColumnsOf(o.zeroColumns, o.instruction.m, o.instruction.n);
  const Numbers &b = decodeB(g, run, zeros, scratch);
  multiplyIn(g, *g.cta, run, b, scratch);
  if (o.form.isPair)
    multiplyIn(g, peerOf(g, kMma), run, b, scratch);
}

} // namespace ptxrun::rt
