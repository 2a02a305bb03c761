#include "rt/tensor/operands.h"

#include <cstring>

#include "intrinsics/matrix/multiply.h"
#include "intrinsics/matrix/tile.h"

namespace ptxrun::rt {

using matrix::Element;

namespace {

bool isBits(Element element) { return element == Element::b1; }

/// One product of `rows` rows from `firstRow` on, with `b` as it is given.
struct Part {
  unsigned firstRow, rows, columns;
};

template <class Factor, class Accumulator>
matrix::Product<Factor, Accumulator> productOf(const Part &part, const Factor *a, unsigned k,
                                               const Factor *b, unsigned pitchB, Accumulators d) {
  matrix::Product<Factor, Accumulator> p;
  p.m = part.rows;
  p.n = part.columns;
  p.k = k;
  p.a = {a, ptrdiff_t(k), 1};
  p.b = {b, ptrdiff_t(pitchB), 1};
  auto *accumulators = reinterpret_cast<Accumulator *>(d.data) + part.firstRow * d.pitch;
  p.c = {accumulators, d.pitch, 1};
  p.d = {accumulators, d.pitch, 1};
  return p;
}

void clear(Accumulators d, unsigned rows, unsigned columns) {
  for (unsigned i = 0; i < rows; ++i)
    std::memset(d.data + i * d.pitch, 0, columns * sizeof(uint32_t));
}

/// The rows of B that a sparse row of A meets.
template <class T>
std::vector<T> selectRows(const T *b, unsigned pitch, unsigned columns, const uint16_t *k,
                          unsigned count) {
  std::vector<T> selected(size_t{count} * columns);
  for (unsigned i = 0; i < count; ++i)
    std::memcpy(&selected[size_t{i} * columns], b + size_t{k[i]} * pitch, columns * sizeof(T));
  return selected;
}

void multiplyFloats(const ProductRule &rule, const Part &part, const Numbers &a, const float *b,
                    unsigned pitchB, const matrix::Sum &sum, const BlockScales *scales,
                    unsigned firstColumn, Accumulators d) {
  const auto p = productOf<float, float>(part, a.floats.data() + size_t{part.firstRow} * a.columns,
                                         a.columns, b, pitchB, d);
  if (!scales)
    return matrix::multiply(sum, p);
  matrix::Scales s;
  s.a = {scales->a + size_t{part.firstRow} * scales->perRow, ptrdiff_t(scales->perRow), 1};
  s.b = {scales->b + size_t{firstColumn} * scales->perRow, 1, ptrdiff_t(scales->perRow)};
  s.block = a.columns / scales->perRow;
  (void)rule;
  matrix::multiplyScaled(sum, p, s);
}

} // namespace

matrix::Sum sumFor(const ProductRule &rule, bool isSparse) {
  matrix::Operation o;
  o.unit = rule.unit;
  o.a = rule.a;
  o.b = rule.b;
  o.c = o.d = rule.d;
  o.m = static_cast<uint16_t>(rule.m);
  o.n = static_cast<uint16_t>(rule.n);
  o.k = static_cast<uint16_t>(rule.k);
  o.isSparse = isSparse;
  o.isScaled = rule.scaleBlock != 0;
  o.scale = rule.scale;
  o.scaleBlock = static_cast<uint8_t>(rule.scaleBlock ? rule.scaleBlock : 32);
  return matrix::sumOf(rule.policy, o);
}

static void clear(Numbers &n, unsigned rows, unsigned columns) {
  n.rows = rows;
  n.columns = columns;
  n.integers.clear();
  n.bits.clear();
}

float *floatsOf(Numbers &n, unsigned rows, unsigned columns) {
  clear(n, rows, columns);
  n.floats.resize(size_t{rows} * columns);
  return n.floats.data();
}

void negate(float *numbers, size_t count) {
  for (size_t i = 0; i < count; ++i)
    numbers[i] = -numbers[i];
}

void decodeRows(Element element, matrix::Packing packing, const char *packed, unsigned rows,
                unsigned columns, size_t pitch, bool negates, Numbers &n) {
  clear(n, rows, columns);
  n.floats.resize(matrix::isInteger(element) ? 0 : size_t{rows} * columns);
  const unsigned bits = packing == matrix::Packing::byteEach ? 8 : matrix::bitsOf(element);
  // Rows on end are one.
  const bool isWhole = pitch == size_t{columns} * bits / 8;
  const unsigned pieces = isWhole ? 1 : rows, each = isWhole ? rows * columns : columns;
  if (isBits(element)) {
    n.columns = columns / 32;
    n.bits.resize(size_t{rows} * n.columns);
    for (unsigned i = 0; i < rows; ++i)
      std::memcpy(&n.bits[size_t{i} * n.columns], packed + i * pitch, n.columns * 4);
  } else if (matrix::isInteger(element)) {
    n.integers.resize(size_t{rows} * columns);
    for (unsigned i = 0; i < pieces; ++i)
      matrix::decodeIntegers(element, packed + i * pitch, each, &n.integers[size_t{i} * each]);
  } else {
    for (unsigned i = 0; i < pieces; ++i)
      matrix::decode(element, packing, packed + i * pitch, each, &n.floats[size_t{i} * each]);
    if (negates)
      negate(n.floats.data(), n.floats.size());
  }
}

template <class Vector>
static void transposeInto(const Vector &in, unsigned rows, unsigned columns, Vector &out) {
  out.resize(in.size());
  for (unsigned i = 0; i < rows && !in.empty(); ++i)
    for (unsigned j = 0; j < columns; ++j)
      out[size_t{j} * rows + i] = in[size_t{i} * columns + j];
}

void transpose(const Numbers &n, Numbers &t) {
  clear(t, n.columns, n.rows);
  if (n.rows % 4 == 0 && n.columns % 4 == 0 && !n.floats.empty()) {
    t.floats.resize(n.floats.size());
    matrix::transposeFloats(n.floats.data(), n.columns, n.rows, n.columns, t.floats.data(), n.rows);
    return;
  }
  transposeInto(n.floats, n.rows, n.columns, t.floats);
  transposeInto(n.integers, n.rows, n.columns, t.integers);
  transposeInto(n.bits, n.rows, n.columns, t.bits);
}

void multiplyNumbers(const ProductRule &rule, const Numbers &a, const Numbers &b,
                     unsigned firstColumn, unsigned columns, const Selection *selection,
                     const BlockScales *scales, bool hasInput, Accumulators d) {
  if (!hasInput)
    clear(d, a.rows, columns);
  const matrix::Sum sum = b.floats.empty() ? matrix::Sum() : sumFor(rule, selection != nullptr);
  auto multiplyPart = [&](const Part &part, const auto *factors, unsigned pitchB) {
    using Factor = std::remove_const_t<std::remove_pointer_t<decltype(factors)>>;
    if constexpr (std::is_same_v<Factor, float>)
      multiplyFloats(rule, part, a, factors, pitchB, sum, scales, firstColumn, d);
    else if constexpr (std::is_same_v<Factor, uint8_t>)
      matrix::multiplyInteger(
          productOf<uint8_t, int32_t>(part, a.integers.data() + size_t{part.firstRow} * a.columns,
                                      a.columns, factors, pitchB, d),
          matrix::isSigned(rule.a), matrix::isSigned(rule.b), rule.saturates);
    else
      matrix::multiplyBits(
          productOf<uint32_t, int32_t>(part, a.bits.data() + size_t{part.firstRow} * a.columns,
                                       a.columns, factors, pitchB, d),
          matrix::BitOperation::bitAnd);
  };
  auto multiplyAll = [&](const auto &factors) {
    const auto *from = factors.data() + firstColumn;
    if (!selection)
      return multiplyPart({0, a.rows, columns}, from, b.columns);
    for (unsigned i = 0; i < a.rows; ++i) {
      const auto chosen =
          selectRows(from, b.columns, columns, selection->row(i), selection->perRow);
      multiplyPart({i, 1, columns}, chosen.data(), columns);
    }
  };
  if (!b.floats.empty())
    multiplyAll(b.floats);
  else if (!b.integers.empty())
    multiplyAll(b.integers);
  else
    multiplyAll(b.bits);
}

} // namespace ptxrun::rt
