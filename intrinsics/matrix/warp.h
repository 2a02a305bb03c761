// Matrix instructions of one warp on fragments: mma, mma.sp, wmma.mma (PTX ISA 9.7.14).
#pragma once
#include <cstdint>
#include <type_traits>

#include "intrinsics/matrix/decode.h"
#include "intrinsics/matrix/fragment.h"
#include "intrinsics/matrix/multiply.h"
#include "intrinsics/matrix/sum.h"

namespace ptxrun::matrix {

/// One instruction with everything that its text says. Plain bytes, without padding: generated code
/// holds it as a constant, and the same instruction is the same code.
struct WarpOperation {
  Operation operation;
  Sum sum;                                      ///< of floats: sumOf(policy, operation)
  bool isRowMajorA = true, isRowMajorB = false; ///< m8n8k4 with f16
  bool isByteEach = false;                      ///< kinds f8f6f4 and mxf8f6f4
  BitOperation bitOperation = BitOperation::bitXor;
  DoubleRounding rounding = DoubleRounding::nearest;
  uint8_t selector = 0;    ///< sparsity selector
  uint8_t scaleVector = 1; ///< scales per row: .scale_vec
  uint8_t registersA = 0, registersB = 0, registersC = 0, registersD = 0;
  uint8_t reserved = 0; ///< in place of padding
};
static_assert(std::has_unique_object_representations_v<WarpOperation>);

/// Blocks of 8 columns, each an m16n8 product of fragments as mma has them; 0 where an instruction
/// does not consist of such.
constexpr unsigned columnBlocks(const WarpOperation &w) {
  const Operation &o = w.operation;
  const bool isWhole = o.m == 16 && !o.isSparse && !o.isScaled;
  return isWhole && (o.unit == Unit::mma || o.unit == Unit::wmma) ? o.n / 8u : 0;
}
constexpr bool isByteInteger(Element e) { return e == Element::s8 || e == Element::u8; }
/// Whether it can be one of a WarpGroup (group.h): blocks of columns with integers, with floats and
/// f32 accumulators, or with chains of f16 ones.
bool isGroupable(const WarpOperation &);
/// Registers of A in a group: of sparse ones with the metadata behind them.
constexpr unsigned groupRegistersA(const WarpOperation &w) {
  return w.registersA + (w.operation.isSparse ? 1u : 0u);
}
/// A of sparse integers (m16, at most 128 k) with its zeros, in bytes: k / 8 registers.
void spreadSparseIntegers(const WarpOperation &, const uint32_t *a, const uint32_t *metadata,
                          uint32_t *registers);

/// `in`: the operands' registers, each 32 lanes of 32 bits (64 with f64), one behind the other: a,
/// b, c, then with .sp the metadata, then with block scales scale-a-data, byte-id-a, thread-id-a,
/// scale-b-data, byte-id-b, thread-id-b. `out`: those of d, apart from `in`.
void multiplyWarp(const WarpOperation &, const void *in, void *out);

} // namespace ptxrun::matrix
