#include "intrinsics/matrix/warp.h"
#include "intrinsics/matrix/group.h"
#include "intrinsics/matrix/tile.h"

#include <array>
#include <cmath>
#include <cstring>

namespace ptxrun::matrix {

namespace {

constexpr unsigned kMostRows = 32, kMostColumns = 32, kMostDepth = 128, kMostWords = 8;

unsigned productsOf(const Operation &o) { return o.isSparse ? o.k / 2 : o.k; }

/// The registers of one call, named.
struct Operands {
  const uint32_t *a, *b, *c, *metadata, *scales;
  explicit Operands(const WarpOperation &w, const void *in)
      : a(static_cast<const uint32_t *>(in)), b(a + w.registersA * kWarpLanes),
        c(b + w.registersB * kWarpLanes), metadata(c + w.registersC * kWarpLanes),
        scales(metadata + (w.operation.isSparse ? kWarpLanes : 0)) {}
};

Fragment fragmentOf(const WarpOperation &w, Role role) {
  const Operation &o = w.operation;
  Fragment f;
  f.role = role;
  f.element = role == Role::a ? o.a : role == Role::b ? o.b : o.c;
  f.m = o.m;
  f.n = o.n;
  f.k = uint16_t(role == Role::a ? productsOf(o) : o.k);
  f.isRowMajor = role == Role::a ? w.isRowMajorA : w.isRowMajorB;
  f.registers = role == Role::a ? w.registersA : role == Role::b ? w.registersB : w.registersC;
  const unsigned bits = registerBits(f.element, w.isByteEach);
  f.perRegister = uint8_t(bits > 32 ? 1 : 32 / bits);
  return f;
}

Fragment resultOf(const WarpOperation &w) {
  Fragment f = fragmentOf(w, Role::accumulator);
  f.element = w.operation.d;
  f.registers = w.registersD;
  f.perRegister = bitsOf(f.element) == 16 ? 2 : 1;
  return f;
}

/// True where the lane has a part in product `quad` of m8n8k4; elsewhere there is one product.
bool takesPart(const Fragment &f, unsigned lane, unsigned quad) {
  return !f.isQuadPair() || lane % 16 / 4 == quad;
}

/// Spreads a fragment's elements, decoded by `decodeRegister(bits, T out[perRegister])`, over
/// matrix[row * stride + column].
template <class T, class Decode>
void spread(const Fragment &f, const uint32_t *registers, unsigned quad, T *matrix, unsigned stride,
            Decode decodeRegister) {
  T parts[kWarpLanes];
  for (unsigned r = 0; r < f.registers; ++r)
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (!takesPart(f, lane, quad))
        continue;
      decodeRegister(registers + r * kWarpLanes + lane, parts);
      for (unsigned p = 0; p < f.perRegister; ++p) {
        const Place place = f.at(lane, r, p);
        matrix[place.row * stride + place.column] = parts[p];
      }
    }
}

/// The reverse: `encodeRegister(const T parts[], uint32_t *)`.
template <class T, class Encode>
void collect(const Fragment &f, uint32_t *registers, unsigned quad, const T *matrix,
             unsigned stride, Encode encodeRegister) {
  T parts[2];
  for (unsigned r = 0; r < f.registers; ++r)
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (!takesPart(f, lane, quad))
        continue;
      for (unsigned p = 0; p < f.perRegister; ++p) {
        const Place place = f.at(lane, r, p);
        parts[p] = matrix[place.row * stride + place.column];
      }
      encodeRegister(parts, registers + r * kWarpLanes + lane);
    }
}

void spreadFloats(const WarpOperation &w, const Fragment &f, const uint32_t *registers,
                  unsigned quad, float *matrix, unsigned stride) {
  const Packing packing = w.isByteEach ? Packing::byteEach : Packing::dense;
  spread(f, registers, quad, matrix, stride, [&](const uint32_t *bits, float *out) {
    decode(f.element, packing, bits, f.perRegister, out);
  });
}

/// Which k of the uncompressed row the compressed element `product` of `row` stands for (9.7.14.6.1
/// and the metadata figures of 9.7.14.6.2).
class Metadata {
 public:
  Metadata(const WarpOperation &w, const uint32_t *words) : words_(words) {
    const Element a = w.operation.a;
    const unsigned bits = registerBits(a, w.isByteEach);
    perPlace_ = bits == 4 ? 2 : 1; // 4-bit elements come in pairs
    isOneOfTwo_ = bits == 32;
    isByRow_ = bits <= 8;
    const unsigned nibbles =
        productsOf(w.operation) / (isOneOfTwo_ ? 1 : 2 * perPlace_); // in a row
    const unsigned threads = nibbles / 4; // of a group, that have metadata
    firstThread_ = threads >= 4 ? 0 : w.selector * threads;
  }

  /// columnOf() of all products of a row.
  void columnsOf(unsigned row, unsigned products, uint8_t *out) const {
    if (isOneOfTwo_ || perPlace_ != 1) {
      for (unsigned k = 0; k < products; ++k)
        out[k] = uint8_t(columnOf(row, k));
      return;
    }
    for (unsigned piece = 0; piece < products / kInPiece; ++piece) {
      const unsigned places = placesOf(row, piece);
      for (unsigned half : {0u, 1u}) {
        const uint32_t four =
            kColumnsOfFour[(places >> (8 * half)) & 255] + (2 * piece + half) * 0x08080808u;
        std::memcpy(out + piece * kInPiece + half * 4, &four, sizeof four);
      }
    }
  }

  /// Whether each 4 k of a row have two elements.
  bool hasTwoOfFour() const { return !isOneOfTwo_ && perPlace_ == 1; }
  /// Where they are, for 16 k of a row: a nibble for each four, the first's place in bits 0 and 1,
  /// the second's in bits 2 and 3.
  uint16_t placesOf(unsigned row, unsigned piece) const {
    if (isByRow_)
      return uint16_t(wordByRow(row, piece / 2) >> (16 * (piece % 2)));
    return uint16_t(words_[4 * (row % 8) + firstThread_ + piece] >> (16 * (row / 8)));
  }

  unsigned columnOf(unsigned row, unsigned product) const {
    if (isOneOfTwo_)
      return 2 * product + ((nibble(row, product) & 3) >> 1);
    const unsigned chunk = product / (2 * perPlace_), inChunk = product % (2 * perPlace_);
    const unsigned index = nibble(row, chunk) >> (2 * (inChunk / perPlace_)) & 3;
    return (4 * chunk + index) * perPlace_ + inChunk % perPlace_;
  }

 private:
  static constexpr unsigned kInPiece = 8; ///< products of 16 k

  /// Of two nibbles, which of 8 k the four products are, a byte each.
  static constexpr std::array<uint32_t, 256> kColumnsOfFour = [] {
    std::array<uint32_t, 256> columns{};
    for (unsigned places = 0; places < columns.size(); ++places)
      for (unsigned i = 0; i < 4; ++i)
        columns[places] |= (i / 2 * 4 + (places >> (2 * i) & 3)) << (8 * i);
    return columns;
  }();

  /// 16- and 32-bit elements: a thread has four chunks of row g in its low half and of row g + 8 in
  /// its high one. Narrower ones: even threads have eight chunks of row g, odd ones of row g + 8.
  unsigned nibble(unsigned row, unsigned chunk) const {
    const unsigned group = 4 * (row % 8) + firstThread_, isLower = row / 8;
    if (isByRow_)
      return wordByRow(row, chunk / 8) >> (4 * (chunk % 8)) & 15;
    return words_[group + chunk / 4] >> (16 * isLower + 4 * (chunk % 4)) & 15;
  }

  uint32_t wordByRow(unsigned row, unsigned eight) const {
    return words_[4 * (row % 8) + firstThread_ + eight * 2 + row / 8];
  }

  const uint32_t *words_;
  unsigned perPlace_, firstThread_;
  bool isOneOfTwo_, isByRow_;
};

/// Chains of sparse products in vectors; false where the scalar code is needed.
bool sparseChains(const WarpOperation &w, const Operands &in, uint32_t *out) {
  const Operation &o = w.operation;
  const unsigned products = productsOf(o);
  if (!o.isSparse || o.isScaled || o.k > 64 || w.sum.method != Sum::Method::chain ||
      w.sum.isMadeFinite || o.c != Element::f32 || o.d != Element::f32)
    return false;
  alignas(64) float rows[16 * kMostDepth], columns[8 * kMostDepth];
  uint8_t chosen[16 * kMostDepth / 2];
  prepareRows(o.a, products, in.a, rows);
  prepareColumns(o.b, o.k, in.b, columns);
  const Metadata metadata(w, in.metadata);
  for (unsigned row = 0; row < 16; ++row)
    metadata.columnsOf(row, products, chosen + row * products);
  return multiplyChosen(w.sum, products, rows, columns, chosen,
                        reinterpret_cast<const float *>(in.c), reinterpret_cast<float *>(out));
}

/// Rows of B that the compressed row of A meets.
template <class T>
void gatherRows(const Metadata &metadata, unsigned row, unsigned products, const T *b, T *out) {
  for (unsigned k = 0; k < products; ++k)
    std::memcpy(out + k * 8, b + metadata.columnOf(row, k) * 8, 8 * sizeof(T));
}

/// Scales of the 16 rows of A and the 8 columns of B (9.7.14.3): one thread of a pair, one thread
/// of a group, and which of its bytes.
struct ScaleArrays {
  std::array<float, 16 * 4> a;
  std::array<float, 4 * 8> b;

  ScaleArrays(const WarpOperation &w, const uint32_t *words) {
    const auto lanes = [&](unsigned i) { return words + i * kWarpLanes; };
    const unsigned count = w.scaleVector;
    const unsigned byteA = lanes(1)[0] & 3, threadA = lanes(2)[0] & 1;
    const unsigned byteB = lanes(4)[0] & 3, threadB = lanes(5)[0] & 3;
    uint8_t bitsA[16 * 4], bitsB[4 * 8];
    for (unsigned i = 0; i < count; ++i) {
      for (unsigned row = 0; row < 16; ++row)
        bitsA[row * count + i] = byteOf(lanes(0)[4 * (row % 8) + 2 * threadA + row / 8], byteA + i);
      for (unsigned column = 0; column < 8; ++column)
        bitsB[i * 8 + column] = byteOf(lanes(3)[4 * column + threadB], byteB + i);
    }
    decode(w.operation.scale, Packing::dense, bitsA, 16 * count, a.data());
    decode(w.operation.scale, Packing::dense, bitsB, 8 * count, b.data());
  }

 private:
  static uint8_t byteOf(uint32_t word, unsigned byte) { return uint8_t(word >> (8 * (byte & 3))); }
};

/// Registers of 4-bit floats as twice as many with one in the middle of each byte; others as they
/// are.
const uint32_t *inBytes(const WarpOperation &w, bool isA, const uint32_t *registers,
                        uint32_t *memory) {
  const unsigned count = isA ? w.registersA : w.registersB;
  if (w.isByteEach || bitsOf(isA ? w.operation.a : w.operation.b) != 4)
    return registers;
  unpackNibbles(false, isA, count, registers, memory);
  for (unsigned i = 0; i < 2 * count * kWarpLanes; ++i)
    memory[i] <<= 2;
  return memory;
}

/// Chains with block scales in vectors; false where the scalar code is needed.
bool scaledChains(const WarpOperation &w, const Operands &in, uint32_t *out) {
  const Operation &o = w.operation;
  if (!o.isScaled || o.isSparse || w.sum.method != Sum::Method::chain || o.m != 16 || o.n != 8 ||
      o.c != Element::f32 || o.d != Element::f32)
    return false;
  constexpr unsigned kDepth = 64, kMostScales = 4;
  alignas(64) uint32_t bytesA[8 * kWarpLanes], bytesB[4 * kWarpLanes];
  alignas(64) float rows[16 * kDepth], columns[8 * kDepth], scaleRows[64 * kMostScales],
      scaleColumns[8 * kMostScales];
  prepareRows(o.a, o.k, inBytes(w, true, in.a, bytesA), rows);
  prepareColumns(o.b, o.k, inBytes(w, false, in.b, bytesB), columns);
  const ScaleArrays arrays(w, in.scales);
  const unsigned count = w.scaleVector;
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned at = 0; at < 64; ++at)
      scaleRows[i * 64 + at] = arrays.a[at / 4 * count + i];
    for (unsigned column = 0; column < 8; ++column)
      scaleColumns[i * 8 + column % 2 * 4 + column / 2] = arrays.b[i * 8 + column];
  }
  return multiplyScaledChain(o.k, o.k / count, rows, columns, scaleRows, scaleColumns,
                             reinterpret_cast<const float *>(in.c), reinterpret_cast<float *>(out));
}

using Floats = Product<float, float>;

void multiplyFloats(const WarpOperation &w, const Operands &in, const Sum &sum, const Floats &p) {
  if (!w.operation.isScaled)
    return multiply(sum, p);
  const ScaleArrays arrays(w, in.scales);
  const unsigned count = w.scaleVector;
  multiplyScaled(sum, p, {{arrays.a.data(), count, 1}, {arrays.b.data(), 8, 1}, p.k / count});
}

/// Row by row, since each row of A meets other rows of B.
void multiplySparse(const WarpOperation &w, const Operands &in, const Sum &sum, const Floats &p) {
  const Metadata metadata(w, in.metadata);
  float rows[kMostDepth * 8];
  for (unsigned i = 0; i < p.m; ++i) {
    gatherRows(metadata, i, p.k, p.b.data, rows);
    Floats row = p;
    row.m = 1;
    row.a.data = &p.a.at(i, 0);
    row.b.data = rows;
    row.c.data = &p.c.at(i, 0);
    row.d.data = &p.d.at(i, 0);
    if (!w.operation.isScaled) {
      multiply(sum, row);
      continue;
    }
    const ScaleArrays arrays(w, in.scales);
    const unsigned count = w.scaleVector;
    multiplyScaled(sum, row,
                   {{arrays.a.data() + i * count, count, 1}, {arrays.b.data(), 8, 1}, p.k / count});
  }
}

/// .satfinite of floats: infinities become the largest number, NaN +0.
void makeFinite(float *values, unsigned count, float largest) {
  for (unsigned i = 0; i < count; ++i) {
    if (values[i] != values[i])
      values[i] = 0;
    values[i] = std::fmin(std::fmax(values[i], -largest), largest);
  }
}

/// Registers of B for 8 columns.
unsigned blockRegistersB(const WarpOperation &w) {
  return w.operation.k * registerBits(w.operation.b, w.isByteEach) / 128u;
}

/// Calls multiplyBlock(a, b, c, d) with the registers of each m16n8 product of fragments that the
/// instruction consists of, until one answers false; false where it does not consist of such.
template <class MultiplyBlock>
bool forEachBlock(const WarpOperation &w, const Operands &in, uint32_t *out,
                  MultiplyBlock multiplyBlock) {
  const Operation &o = w.operation;
  const bool isTransposed = o.m == 8 && o.n == 32; // m32n8 with A and B for each other
  const bool isTall = isTransposed || (o.m == 32 && o.n == 8);
  const unsigned blocks = isTall && o.unit == Unit::wmma ? 2 : columnBlocks(w);
  const unsigned registersA = isTall ? 2 * blockRegistersB(w) : 0,
                 registersB = isTall ? 0 : blockRegistersB(w);
  for (unsigned block = 0; block < blocks; ++block) {
    const unsigned a = block * registersA * kWarpLanes, b = block * registersB * kWarpLanes,
                   c = block * (w.registersC / blocks) * kWarpLanes;
    if (!multiplyBlock((isTransposed ? in.b : in.a) + a, (isTransposed ? in.a : in.b) + b, in.c + c,
                       out + c))
      return false;
  }
  return blocks != 0;
}

/// In vectors; false where the scalar code is needed.
bool floatBlocks(const WarpOperation &w, const Operands &in, uint32_t *out) {
  const Operation &o = w.operation;
  return !w.sum.isMadeFinite && forEachBlock(w, in, out, [&](auto *a, auto *b, auto *c, auto *d) {
    return multiplyFragments({w.sum, o.a, o.b, o.c, o.d, o.k, a, b, c, d});
  });
}

/// The same of bytes.
bool byteBlocks(const WarpOperation &w, const Operands &in, uint32_t *out) {
  const Operation &o = w.operation;
  if (!isByteInteger(o.a) || !isByteInteger(o.b))
    return false;
  alignas(64) int32_t rows[preparedIntegersA(kMostDepth)], columns[preparedIntegersB(kMostDepth)];
  const ByteProducts products = {byteUnit(1), o.k, isSigned(o.a), isSigned(o.b), o.isSaturating};
  return forEachBlock(w, in, out, [&](auto *a, auto *b, auto *c, auto *d) {
    prepareIntegerRows(products, a, rows);
    prepareIntegerColumns(products, b, columns);
    std::memcpy(d, c, 4 * kWarpLanes * sizeof *d);
    const PanelTile tile = {1, 1, 0, 0, 0};
    const uint16_t number = 0;
    auto *home = reinterpret_cast<float *>(d);
    PanelTiles t;
    t.tiles = &tile;
    t.count = 1;
    t.numbers = &number;
    t.rows = reinterpret_cast<const float *>(rows);
    t.columns = reinterpret_cast<const float *>(columns);
    t.homes = &home;
    multiplyIntegerTiles(products, t);
    return true;
  });
}

/// Whether the two of each four k are different ones.
bool arePlacesApart(uint16_t places) {
  const unsigned differ = places ^ places >> 2;
  return ((differ | differ >> 1) & 0x1111) == 0x1111;
}

/// Sparse integers: A with its zeros, as registers of bytes.
bool sparseBytes(const WarpOperation &w, const Operands &in, uint32_t *out) {
  WarpOperation dense = w;
  Operation &o = dense.operation;
  const unsigned pieces = o.k / 16u;
  if (!o.isSparse || o.m != 16 || o.k > kMostDepth)
    return false;
  alignas(64) uint32_t registers[(16 + 8) * kMostDepth / 4];
  spreadSparseIntegers(w, in.a, in.metadata, registers);
  Operands parts = in;
  parts.a = registers;
  if (bitsOf(o.b) == 4) {
    uint32_t *columnRegisters = registers + 2 * pieces * kWarpLanes;
    unpackNibbles(isSigned(o.b), false, w.registersB, in.b, columnRegisters);
    parts.b = columnRegisters;
  }
  o.isSparse = false;
  o.a = isSigned(o.a) ? Element::s8 : Element::u8;
  o.b = isSigned(o.b) ? Element::s8 : Element::u8;
  dense.registersA = uint8_t(2 * pieces);
  dense.registersB = uint8_t(pieces);
  return byteBlocks(dense, parts, out);
}

void floatWarp(const WarpOperation &w, const Operands &in, uint32_t *out) {
  const Operation &o = w.operation;
  if (floatBlocks(w, in, out) || sparseChains(w, in, out) || scaledChains(w, in, out))
    return;
  const Sum &sum = w.sum;
  const Fragment a = fragmentOf(w, Role::a), b = fragmentOf(w, Role::b),
                 c = fragmentOf(w, Role::accumulator), d = resultOf(w);
  float matrixA[kMostRows * 64], matrixB[kMostDepth * kMostColumns], acc[kMostRows * kMostColumns];
  for (unsigned quad = 0; quad < (a.isQuadPair() ? 4 : 1); ++quad) {
    spreadFloats(w, a, in.a, quad, matrixA, a.k);
    spreadFloats(w, b, in.b, quad, matrixB, o.n);
    spreadFloats(w, c, in.c, quad, acc, o.n);
    const Floats product = {o.m,           o.n,          a.k, {matrixA, a.k, 1}, {matrixB, o.n, 1},
                            {acc, o.n, 1}, {acc, o.n, 1}};
    (o.isSparse ? multiplySparse : multiplyFloats)(w, in, sum, product);
    if (sum.isMadeFinite)
      makeFinite(acc, o.m * o.n, o.d == Element::f16 ? 65504.0f : 0x1.fffffep127f);
    collect(d, out, quad, acc, o.n, [&](const float *parts, uint32_t *bits) {
      encode(d.element, parts, d.perRegister, bits);
    });
  }
}

void spreadBytes(const Fragment &f, const uint32_t *registers, uint8_t *matrix, unsigned stride) {
  spread(f, registers, 0, matrix, stride, [&](const uint32_t *bits, uint8_t *out) {
    decodeIntegers(f.element, bits, f.perRegister, out);
  });
}

/// c and d of integers: words as they are.
template <class Multiply>
void withIntegers(const WarpOperation &w, const Operands &in, uint32_t *out, Multiply multiplyAll) {
  int32_t acc[kMostRows * kMostColumns];
  const unsigned n = w.operation.n;
  const auto copy = [](const auto *from, auto *to) { *to = static_cast<uint32_t>(*from); };
  spread(fragmentOf(w, Role::accumulator), in.c, 0, acc, n,
         [&](const uint32_t *bits, int32_t *parts) { *parts = int32_t(*bits); });
  multiplyAll(View<int32_t>{acc, n, 1});
  collect(resultOf(w), out, 0, acc, n, copy);
}

void integerWarp(const WarpOperation &w, const Operands &in, uint32_t *out) {
  if (byteBlocks(w, in, out) || sparseBytes(w, in, out))
    return;
  const Operation &o = w.operation;
  const unsigned products = productsOf(o);
  uint8_t matrixA[kMostRows * 64], matrixB[kMostDepth * kMostColumns], rows[64 * 8];
  spreadBytes(fragmentOf(w, Role::a), in.a, matrixA, products);
  spreadBytes(fragmentOf(w, Role::b), in.b, matrixB, o.n);
  withIntegers(w, in, out, [&](View<int32_t> acc) {
    Product<uint8_t, int32_t> p = {o.m, o.n, products, {matrixA, products, 1}, {matrixB, o.n, 1},
                                   {},  acc};
    p.c = {acc.data, acc.rowStride, acc.columnStride};
    if (!o.isSparse)
      return multiplyInteger(p, isSigned(o.a), isSigned(o.b), o.isSaturating);
    const Metadata metadata(w, in.metadata);
    for (unsigned i = 0; i < o.m; ++i) {
      gatherRows(metadata, i, products, matrixB, rows);
      Product<uint8_t, int32_t> row = {1,
                                       o.n,
                                       products,
                                       {matrixA + i * products, products, 1},
                                       {rows, 8, 1},
                                       {&acc.at(i, 0), o.n, 1},
                                       {&acc.at(i, 0), o.n, 1}};
      multiplyInteger(row, isSigned(o.a), isSigned(o.b), o.isSaturating);
    }
  });
}

/// A register is a word of 32 k.
void bitWarp(const WarpOperation &w, const Operands &in, uint32_t *out) {
  const Operation &o = w.operation;
  const unsigned words = o.k / 32;
  uint32_t matrixA[16 * kMostWords], matrixB[kMostWords * 8];
  const auto words32 = [](Fragment f) { // the same layout with elements of 32 bits
    f.k /= 32;
    f.perRegister = 1;
    return f;
  };
  const auto copy = [](const uint32_t *bits, uint32_t *parts) { *parts = *bits; };
  spread(words32(fragmentOf(w, Role::a)), in.a, 0, matrixA, words, copy);
  spread(words32(fragmentOf(w, Role::b)), in.b, 0, matrixB, 8, copy);
  withIntegers(w, in, out, [&](View<int32_t> acc) {
    multiplyBits({o.m,
                  o.n,
                  words,
                  {matrixA, words, 1},
                  {matrixB, 8, 1},
                  {acc.data, acc.rowStride, acc.columnStride},
                  acc},
                 w.bitOperation);
  });
}

/// Fragments of f64 in vectors, to nearest; false where the scalar code is needed.
bool doublesInVectors(const WarpOperation &w, const double *in, double *out) {
  const Operation &o = w.operation;
  if (w.rounding != DoubleRounding::nearest || o.n != 8 || (o.m != 8 && o.m != 16))
    return false;
  const double *b = in + w.registersA * kWarpLanes, *c = b + w.registersB * kWarpLanes;
  return multiplyDoubleFragments(o.m / 8u, o.k, in, b, c, out);
}

void doubleWarp(const WarpOperation &w, const double *in, double *out) {
  if (doublesInVectors(w, in, out))
    return;
  const Operation &o = w.operation;
  double matrices[3][16 * 16];
  const Role roles[] = {Role::a, Role::b, Role::accumulator};
  const unsigned strides[] = {o.k, o.n, o.n};
  for (unsigned which = 0; which < 3; ++which) {
    const Fragment f = fragmentOf(w, roles[which]);
    for (unsigned r = 0; r < f.registers; ++r)
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const Place place = f.at(lane, r, 0);
        matrices[which][place.row * strides[which] + place.column] = *in++;
      }
  }
  double *acc = matrices[2];
  multiplyDouble(
      {o.m, o.n, o.k, {matrices[0], o.k, 1}, {matrices[1], o.n, 1}, {acc, o.n, 1}, {acc, o.n, 1}},
      w.rounding);
  const Fragment d = resultOf(w);
  for (unsigned r = 0; r < d.registers; ++r)
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      const Place place = d.at(lane, r, 0);
      *out++ = acc[place.row * o.n + place.column];
    }
}

} // namespace

void spreadSparseIntegers(const WarpOperation &w, const uint32_t *a, const uint32_t *words,
                          uint32_t *registers) {
  const Operation &o = w.operation;
  const unsigned products = productsOf(o), pieces = o.k / 16u;
  uint32_t unpacked[8 * kWarpLanes];
  if (bitsOf(o.a) == 4) {
    unpackNibbles(isSigned(o.a), true, w.registersA, a, unpacked);
    a = unpacked;
  }
  const auto place = [](unsigned row, unsigned k) {
    return ((k / 16 * 2 + row / 8) * 8 + row % 8) * 16 + k % 16;
  };
  const Metadata metadata(w, words);
  auto *bytes = reinterpret_cast<uint8_t *>(registers);
  const auto *numbers = reinterpret_cast<const uint8_t *>(a);
  uint16_t places[kMostDepth];
  bool areTwo = metadata.hasTwoOfFour();
  for (unsigned row = 0; row < 16 && areTwo; ++row)
    for (unsigned piece = 0; piece < pieces && areTwo; ++piece)
      areTwo = arePlacesApart(places[piece * 16 + row] = metadata.placesOf(row, piece));
  if (areTwo)
    return placeTwoOfFour(pieces, numbers, places, bytes);
  std::memset(registers, 0, 2 * pieces * kWarpLanes * sizeof(uint32_t));
  uint8_t columns[kMostDepth];
  for (unsigned row = 0; row < 16; ++row) {
    metadata.columnsOf(row, products, columns);
    for (unsigned k = 0; k < products; ++k)
      bytes[place(row, columns[k])] = numbers[place(row, k)];
  }
}

void multiplyWarp(const WarpOperation &w, const void *in, void *out) {
  if (isGroupable(w) && !w.operation.isSparse)
    return multiplyAlone(w, in, out);
  if (w.operation.a == Element::f64)
    return doubleWarp(w, static_cast<const double *>(in), static_cast<double *>(out));
  const Operands operands(w, in);
  auto *words = static_cast<uint32_t *>(out);
  if (w.operation.a == Element::b1)
    return bitWarp(w, operands, words);
  if (isInteger(w.operation.a))
    return integerWarp(w, operands, words);
  floatWarp(w, operands, words);
}

} // namespace ptxrun::matrix
