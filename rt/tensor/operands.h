// Operands of matrix products as numbers: decoded, A row by row, B as k rows of n.
#pragma once
#include <cstdint>
#include <new>
#include <vector>

#include "intrinsics/matrix/decode.h"
#include "intrinsics/matrix/element.h"
#include "intrinsics/matrix/float_buffer.h"
#include "intrinsics/matrix/sum.h"

namespace ptxrun::rt {

/// Which k of the whole row the elements of a sparse row of A stand for, row by row.
struct Selection {
  unsigned perRow = 0; ///< elements that A has
  std::vector<uint16_t> k;
  const uint16_t *row(unsigned i) const { return k.data() + size_t{i} * perRow; }
};

using matrix::FloatBuffer;

/// Vectors that begin with a cache line.
template <class T> struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  T *allocate(size_t count) { return static_cast<T *>(operator new(count * sizeof(T), kLine)); }
  void deallocate(T *data, size_t) { operator delete(data, kLine); }
  bool operator==(const LineAllocator &) const = default;
};

/// One matrix, `rows` times `columns`. What one instruction filled is filled again by the next.
struct Numbers {
  unsigned rows = 0, columns = 0;
  std::vector<float, LineAllocator<float>> floats; ///< of float elements
  std::vector<uint8_t> integers;                   ///< of 8-bit integers
  std::vector<uint32_t> bits; ///< of single bits: 32 to a word, `columns` counts words
};

/// How the products of one instruction are summed, and what becomes of D.
struct ProductRule {
  matrix::Policy policy = matrix::Policy::fast;
  matrix::Unit unit = matrix::Unit::wgmma;
  matrix::Element a = matrix::Element::f16, b = matrix::Element::f16, d = matrix::Element::f32;
  unsigned m = 64, n = 8, k = 16; ///< of the instruction; k with A's zeros
  bool negatesA = false, negatesB = false;
  bool saturates = false;
  unsigned scaleBlock = 0; ///< how many k share a block scale; 0: none
  matrix::Element scale = matrix::Element::ue8m0;
};

/// How the rule sums. `isSparse`: A has half of its elements.
matrix::Sum sumFor(const ProductRule &, bool isSparse);

/// A matrix of floats, which are to be filled in.
float *floatsOf(Numbers &, unsigned rows, unsigned columns);
void negate(float *numbers, size_t count);
/// Rows of packed elements, K on end and `pitch` bytes apart, as numbers.
void decodeRows(matrix::Element, matrix::Packing, const char *packed, unsigned rows,
                unsigned columns, size_t pitch, bool negates, Numbers &out);
/// The matrix on its side.
void transpose(const Numbers &, Numbers &out);

/// D, 32 bits an element: f32, s32, or f16 as the f32 of the same value.
struct Accumulators {
  uint32_t *data = nullptr;
  ptrdiff_t pitch = 0; ///< elements from row to row
};

/// Block scales of the rows of A and of the columns of B, each `perRow` on end.
struct BlockScales {
  const float *a = nullptr, *b = nullptr;
  unsigned perRow = 0;
};

/// d = a * b + d, or where `hasInput` is false a * b. `b` has all k in `b.rows` (bits: words);
/// columns `firstColumn` on are used, `columns` of them. `selection`, of a sparse A, may be null.
void multiplyNumbers(const ProductRule &, const Numbers &a, const Numbers &b, unsigned firstColumn,
                     unsigned columns, const Selection *selection, const BlockScales *scales,
                     bool hasInput, Accumulators d);

} // namespace ptxrun::rt
