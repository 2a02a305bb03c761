// D = A * B + C on decoded matrices. Pure: the same bits on every CPU level.
#pragma once
#include <cstddef>
#include <cstdint>

#include "intrinsics/matrix/sum.h"

namespace ptxrun::matrix {

/// A matrix in memory: element (row, column) at data[row * rowStride + column * columnStride].
template <class T> struct View {
  T *data = nullptr;
  ptrdiff_t rowStride = 0, columnStride = 1;
  T &at(size_t row, size_t column) const {
    return data[ptrdiff_t(row) * rowStride + ptrdiff_t(column) * columnStride];
  }
};

/// m x k times k x n plus m x n. `d` may be `c`, element for element; otherwise they do not
/// overlap.
template <class Factor, class Accumulator> struct Product {
  unsigned m = 0, n = 0, k = 0;
  View<const Factor> a, b;
  View<const Accumulator> c;
  View<Accumulator> d;
};

/// Floats, by `sum`, for m * n dot products of length k. One call is one instruction's k: `sum`
/// starts from c and rounds to the result at the end (several instructions' k may be one call where
/// the result is f32 and the sum a chain or fused). f16 accumulators are floats holding f16 values.
/// NaN results are 0x7fffffff (encode() makes 0x7fff of it).
void multiply(const Sum &, const Product<float, float> &);

/// Block scales: row i of A has the scale a.at(i, k / block), column j of B has b.at(k / block, j)
/// (floats of decode(ue8m0 or ue4m3)).
struct Scales {
  View<const float> a, b;
  unsigned block = 32;
};

/// The same with block scales. Chains (fast): for each block, dot = the chain from +0, then d =
/// fma(dot * scaleA, scaleB, d).
void multiplyScaled(const Sum &, const Product<float, float> &, const Scales &);

/// Bytes of decodeIntegers(), each matrix signed or not. Exact; what does not fit an i32 wraps, or
/// with `isSaturating` becomes the nearest that does.
void multiplyInteger(const Product<uint8_t, int32_t> &, bool isSignedA, bool isSignedB,
                     bool isSaturating);

enum class BitOperation : uint8_t { bitXor, bitAnd };

/// Bits, 32 to a word: k counts words. d = c + popc(a op b), modulo 2^32.
void multiplyBits(const Product<uint32_t, int32_t> &, BitOperation);

enum class DoubleRounding : uint8_t { nearest, zero, down, up };

/// A chain of f64 fma from c, ascending k.
void multiplyDouble(const Product<double, double> &, DoubleRounding);

} // namespace ptxrun::matrix
