// Matrix instructions of one warp on fragments: mma, mma.sp, wmma.mma (PTX ISA 9.7.14).
#pragma once
#include <cstdint>

#include "intrinsics/matrix/decode.h"
#include "intrinsics/matrix/fragment.h"
#include "intrinsics/matrix/multiply.h"
#include "intrinsics/matrix/sum.h"

namespace ptxrun::matrix {

/// What a call does: the whole instruction, or a part of it, so that operands which several
/// instructions share are taken apart once.
enum class Phase : uint8_t {
  whole,
  prepareA, ///< in: the registers of a; out: preparedFloatsA() floats
  prepareB, ///< in: the registers of b; out: preparedFloatsB() floats
  multiply, ///< in: PreparedOperands; out: the registers of d
};

/// One instruction with everything that its text says. Plain bytes: generated code holds it as a
/// constant.
struct WarpOperation {
  Phase phase = Phase::whole;
  Operation operation;
  Sum sum;                                      ///< of floats: sumOf(policy, operation)
  bool isRowMajorA = true, isRowMajorB = false; ///< m8n8k4 with f16
  bool isByteEach = false;                      ///< kinds f8f6f4 and mxf8f6f4
  BitOperation bitOperation = BitOperation::bitXor;
  DoubleRounding rounding = DoubleRounding::nearest;
  uint8_t selector = 0;    ///< sparsity selector
  uint8_t scaleVector = 1; ///< scales per row: .scale_vec
  uint8_t registersA = 0, registersB = 0, registersC = 0, registersD = 0;
};

/// Blocks of 8 columns, each an m16n8 product of fragments as mma has them; 0 where an instruction
/// does not consist of such.
constexpr unsigned columnBlocks(const WarpOperation &w) {
  const Operation &o = w.operation;
  const bool isWhole = o.m == 16 && !o.isSparse && !o.isScaled;
  return isWhole && (o.unit == Unit::mma || o.unit == Unit::wmma) ? o.n / 8u : 0;
}
/// True where the phases other than whole exist: blocks of columns with floats and f32 results, or
/// with bytes.
bool isPreparable(const WarpOperation &);
/// Floats of prepared operands: with fused steps their exponents lie behind them.
constexpr unsigned preparedFloats(const Sum &sum, unsigned count) {
  return sum.method == Sum::Method::fused ? 2 * count + 16 : count;
}
constexpr bool isByteInteger(Element e) { return e == Element::s8 || e == Element::u8; }
constexpr unsigned preparedFloatsA(const WarpOperation &w) {
  if (isByteInteger(w.operation.a))
    return 4u * w.operation.k + 64;
  return preparedFloats(w.sum, 16u * w.operation.k);
}
constexpr unsigned preparedFloatsB(const WarpOperation &w) {
  if (isByteInteger(w.operation.b))
    return columnBlocks(w) * (2u * w.operation.k + 8);
  return preparedFloats(w.sum, columnBlocks(w) * 8u * w.operation.k);
}

/// Lanes of c: 4 registers of 32 for each block of columns.
struct PreparedOperands {
  const float *a, *b, *c;
};

/// `in`: the operands' registers, each 32 lanes of 32 bits (64 with f64), one behind the other: a,
/// b, c, then with .sp the metadata, then with block scales scale-a-data, byte-id-a, thread-id-a,
/// scale-b-data, byte-id-b, thread-id-b. `out`: those of d, apart from `in`.
void multiplyWarp(const WarpOperation &, const void *in, void *out);

} // namespace ptxrun::matrix
