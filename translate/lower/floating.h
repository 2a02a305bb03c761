// What floating point handlers share: flushing, saturation, canonical NaNs, comparisons, directed
// rounding.
#pragma once
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

/// `.ftz`: a subnormal half or float becomes a zero of its sign; anything else is unchanged.
llvm::Value *flush(LaneBuilder &, llvm::Value *);
/// flush() where `.ftz` was written and the value is a half or float.
llvm::Value *flushIfAsked(LaneBuilder &, const check::Instruction &, llvm::Value *);
/// -y for x + -y, the instruction's x - y. To nearest LLVM makes x - y of it; with other roundings
/// that depends on the CPU level, and a NaN keeps its sign only in x - y: there it is kept here.
llvm::Value *negatedForSum(LaneBuilder &, const check::Instruction &, llvm::Value *y);

/// `.sat`: clamped to [0, 1]; NaN and -0 give +0.
llvm::Value *saturate(LaneBuilder &, llvm::Value *);
/// `.relu`: +0 where negative; NaN gives the canonical NaN.
llvm::Value *relu(LaneBuilder &, llvm::Value *);

/// The NaN that NVIDIA's GPUs give: 0x7fff for half and bfloat, 0x7fffffff for float, the quiet NaN
/// for double.
llvm::Constant *canonicalNaN(llvm::Type *);

/// min or max as 9.7.3.11 states them: -0 < +0; a NaN operand gives the other one (or the canonical
/// NaN if `propagates`), two NaNs the canonical NaN. Operands are float, double or half.
llvm::Value *minMax(LaneBuilder &, llvm::Value *x, llvm::Value *y, bool isMin, bool propagates);

/// minMax() with .NaN, .abs and .xorsign as written.
llvm::Value *minMax(LaneBuilder &, const check::Instruction &, llvm::Value *x, llvm::Value *y);

/// "rz", "rm", "rp" or, to nearest, "rn".
llvm::StringRef suffix(Rounding);

/// add, mul, fma, div, sqrt of floats or doubles, rounded as asked: IR's operation to nearest, else
/// the lane library's `ptx_<operation>_<rounding>_<type>`.
enum class Arithmetic { add, mul, fma, div, sqrt };
llvm::Value *arithmetic(LaneBuilder &, Arithmetic, Rounding,
                        llvm::ArrayRef<llvm::Value *> operands);

/// bfloat to and from float: exact, and rounded to nearest even.
llvm::Value *widenHalf(LaneBuilder &, llvm::Value *halfOrBfloat);

/// a <op> b for the comparison tokens of 9.7.6; integers by `isSigned` (.lo .ls .hi .hs are
/// unsigned).
llvm::Value *compare(LaneBuilder &, isa::Token, llvm::Value *a, llvm::Value *b, bool isSigned);
/// The comparison and Boolean operators among an instruction's modifiers; none if not written.
isa::Token comparisonOf(const check::Instruction &);
isa::Token booleanOf(const check::Instruction &);
/// BoolOp(t, c); t alone for Token::none.
llvm::Value *combine(LaneBuilder &, isa::Token booleanOperator, llvm::Value *t, llvm::Value *c);

} // namespace ptxrun::lower
