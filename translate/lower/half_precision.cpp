// f16, f16x2, bf16 and bf16x2 arithmetic (PTX ISA 9.7.4). Results are rounded once.
//
// All is computed in f32. Of sums and products of two it has more than twice the bits plus one (and
// 16 bits more than bf16 among the subnormals), so that only the second rounding shows. For fma,
// which has no such luck, the lane library rounds the first time to odd.
#include "translate/lower/canonical_nan.h"
#include "translate/lower/floating.h"
#include "translate/lower/packed.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

namespace {

using Values = llvm::ArrayRef<Value *>;

/// f32 to half or bfloat, to nearest even.
Value *narrow(LaneBuilder &b, Value *value, llvm::Type *type) {
  if (type->isHalfTy())
    return b.ir.CreateFPTrunc(value, type);
  return b.cast(b.library("ptx_cvt_rn_bf16", b.intType(16), {value}), type);
}

Value *add(LaneBuilder &b, Value *x, Value *y) {
  return narrow(b, b.ir.CreateFAdd(widenHalf(b, x), widenHalf(b, y)), x->getType());
}

Value *mul(LaneBuilder &b, Value *x, Value *y) {
  return narrow(b, b.ir.CreateFMul(widenHalf(b, x), widenHalf(b, y)), x->getType());
}

Value *fma(LaneBuilder &b, Value *x, Value *y, Value *z) {
  const char *name = x->getType()->isHalfTy() ? "ptx_fma_f16" : "ptx_fma_bf16";
  llvm::SmallVector<Value *, 3> wide = {widenHalf(b, x), widenHalf(b, y), widenHalf(b, z)};
  return narrow(b, b.library(name, b.ir.getFloatTy(), wide), x->getType());
}

/// Sign-bit operations on the bits, so that no conversion can touch a NaN.
Value *negate(LaneBuilder &b, Value *x) {
  return b.cast(b.ir.CreateXor(b.toBits(x), b.constant(16, 0x8000)), x->getType());
}
Value *magnitude(LaneBuilder &b, Value *x) {
  return b.cast(b.ir.CreateAnd(b.toBits(x), b.constant(16, 0x7fff)), x->getType());
}

/// Subnormals to zeros of their sign, decided on the bits; bf16 has no .ftz but in ex2.
Value *flushHalf(LaneBuilder &b, const Instruction &in, Value *x) {
  if (!in.has(Token::ftz))
    return x;
  const uint64_t smallest = x->getType()->isHalfTy() ? 0x0400 : 0x0080;
  Value *bits = b.toBits(x);
  Value *isSmall = b.ir.CreateICmpULT(b.ir.CreateAnd(bits, 0x7fff), b.constant(16, smallest));
  return b.cast(b.select(isSmall, b.ir.CreateAnd(bits, 0x8000), bits), x->getType());
}

/// `narrowed`, but the canonical NaN where the float it was made of is one.
Value *orCanonicalNaN(LaneBuilder &b, Value *wide, Value *narrowed) {
  Value *isNaN = b.ir.CreateFCmpUNO(wide, wide);
  Value *result = b.select(isNaN, canonicalNaN(narrowed->getType()), narrowed);
  markNanBlind(result);
  return result;
}

/// .sat, .relu on a half or bfloat, through their exact f32 value.
Value *clampHalf(LaneBuilder &b, const Instruction &in, Value *x) {
  if (!in.has(Token::sat) && !in.has(Token::relu))
    return x;
  Value *wide = widenHalf(b, x);
  Value *clamped = in.has(Token::sat) ? saturate(b, wide) : relu(b, wide);
  Value *narrowed = narrow(b, clamped, x->getType());
  return orCanonicalNaN(b, clamped, narrowed);
}

template <class Operation>
void lowerHalf(LaneBuilder &b, const Instruction &in, unsigned count, Operation operation) {
  writePacked(b, in, count, [&](Values elements) {
    llvm::SmallVector<Value *, 3> flushed;
    for (Value *element : elements)
      flushed.push_back(flushHalf(b, in, element));
    return clampHalf(b, in, flushHalf(b, in, operation(Values(flushed))));
  });
}

/// The special NaN that marks an element out of bounds (PTX ISA 5.5.3), with any sign. The manual
/// names no number; an H200 takes this one, and fills with it what tensor copies leave out.
Value *isOutOfBounds(LaneBuilder &b, Value *x) {
  return b.ir.CreateICmpEQ(b.ir.CreateAnd(b.toBits(x), 0x7fff), b.constant(16, 0x7ff7));
}

/// min, max by their f32 values, which is exact; a NaN result is the canonical one.
Value *minMaxHalf(LaneBuilder &b, const Instruction &in, Value *x, Value *y) {
  Value *result = minMax(b, in, widenHalf(b, x), widenHalf(b, y));
  return orCanonicalNaN(b, result, narrow(b, result, x->getType()));
}

/// A function of f32 on the exact value, rounded to the element's type.
Value *throughFloat(LaneBuilder &b, llvm::StringRef name, Value *x) {
  Value *result = b.library(name, b.ir.getFloatTy(), {widenHalf(b, x)});
  return narrow(b, result, x->getType());
}

} // namespace

void lowerHalfAdd(LaneBuilder &b, const Instruction &in) {
  lowerHalf(b, in, 2, [&](Values e) { return add(b, e[0], e[1]); });
}

void lowerHalfSub(LaneBuilder &b, const Instruction &in) {
  lowerHalf(b, in, 2, [&](Values e) { return add(b, e[0], negate(b, e[1])); });
}

void lowerHalfMul(LaneBuilder &b, const Instruction &in) {
  lowerHalf(b, in, 2, [&](Values e) { return mul(b, e[0], e[1]); });
}

void lowerHalfFma(LaneBuilder &b, const Instruction &in) {
  if (!in.has(Token::oob))
    return lowerHalf(b, in, 3, [&](Values e) { return fma(b, e[0], e[1], e[2]); });
  writePacked(b, in, 3, [&](Values e) {
    Value *result = clampHalf(b, in, fma(b, e[0], e[1], e[2]));
    Value *isOut = b.ir.CreateOr(isOutOfBounds(b, e[0]), isOutOfBounds(b, e[1]));
    return b.select(isOut, b.constant(result->getType(), 0), result);
  });
}

void lowerHalfNeg(LaneBuilder &b, const Instruction &in) {
  lowerHalf(b, in, 1, [&](Values e) { return negate(b, e[0]); });
}

void lowerHalfAbs(LaneBuilder &b, const Instruction &in) {
  lowerHalf(b, in, 1, [&](Values e) { return magnitude(b, e[0]); });
}

void lowerHalfMinMax(LaneBuilder &b, const Instruction &in) {
  lowerHalf(b, in, 2, [&](Values e) { return minMaxHalf(b, in, e[0], e[1]); });
}

/// Errors: the f32 function's (2^-13 relative) plus half an ulp of f16 (2^-12): within 2^-10.987;
/// bf16 within 2^-8.
void lowerHalfTanh(LaneBuilder &b, const Instruction &in) {
  lowerHalf(b, in, 1, [&](Values e) { return throughFloat(b, "ptx_tanh_approx_f32", e[0]); });
}

/// Correctly rounded but for 1 ulp of f32: within 2^-9.9 (f16) and 2^-7 (bf16).
void lowerHalfEx2(LaneBuilder &b, const Instruction &in) {
  lowerHalf(b, in, 1, [&](Values e) { return throughFloat(b, "ptx_ex2_approx_f32", e[0]); });
}

} // namespace ptxrun::lower
