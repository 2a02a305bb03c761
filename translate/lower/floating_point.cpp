// f32, f64 and f32x2 arithmetic (PTX ISA 9.7.3). IEEE operations to nearest are IR's own, never
// contracted; directed rounding and approximations are the lane library's.
#include "translate/lower/floating.h"
#include "translate/lower/packed.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

namespace {

using Values = llvm::ArrayRef<Value *>;

/// result = flush(operation(flush(operands))), then .sat.
Value *compute(LaneBuilder &b, const Instruction &in, Arithmetic operation, Values operands) {
  llvm::SmallVector<Value *, 3> flushed;
  for (Value *operand : operands)
    flushed.push_back(flushIfAsked(b, in, operand));
  Value *result = arithmetic(b, operation, LaneBuilder::rounding(in), flushed);
  result = flushIfAsked(b, in, result);
  return in.has(Token::sat) ? saturate(b, result) : result;
}

Value *subtract(LaneBuilder &b, const Instruction &in, Value *x, Value *y) {
  return compute(b, in, Arithmetic::add, {x, negatedForSum(b, in, y)});
}

/// `.ftz` for the approximate functions of f32: also where PTX 1.3 wrote neither `.approx` nor a
/// rounding.
bool flushesApproximation(const Instruction &in) {
  return in.has(Token::ftz) || in.oneOf({Token::approx, Token::full}) == Token::none;
}

/// Operand i of an approximate function, flushed if asked.
Value *argument(LaneBuilder &b, const Instruction &in, size_t i = 1) {
  Value *x = b.read(in, i);
  return x->getType()->isFloatTy() && flushesApproximation(in) ? flush(b, x) : x;
}

/// Writes the result of an approximate function, flushed if asked.
void writeFlushed(LaneBuilder &b, const Instruction &in, Value *result) {
  b.write(in, 0, flushesApproximation(in) ? flush(b, result) : result);
}

} // namespace

void lowerFloatAdd(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, compute(b, in, Arithmetic::add, {b.read(in, 1), b.read(in, 2)}));
}

void lowerFloatSub(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, subtract(b, in, b.read(in, 1), b.read(in, 2)));
}

void lowerFloatMul(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, compute(b, in, Arithmetic::mul, {b.read(in, 1), b.read(in, 2)}));
}

void lowerFloatFma(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, compute(b, in, Arithmetic::fma, {b.read(in, 1), b.read(in, 2), b.read(in, 3)}));
}

void lowerFloatDiv(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, compute(b, in, Arithmetic::div, {b.read(in, 1), b.read(in, 2)}));
}

void lowerPackedFloatAdd(LaneBuilder &b, const Instruction &in) {
  writePacked(b, in, 2, [&](Values e) { return compute(b, in, Arithmetic::add, e); });
}

void lowerPackedFloatSub(LaneBuilder &b, const Instruction &in) {
  writePacked(b, in, 2, [&](Values e) { return subtract(b, in, e[0], e[1]); });
}

void lowerPackedFloatMul(LaneBuilder &b, const Instruction &in) {
  writePacked(b, in, 2, [&](Values e) { return compute(b, in, Arithmetic::mul, e); });
}

void lowerPackedFloatFma(LaneBuilder &b, const Instruction &in) {
  writePacked(b, in, 3, [&](Values e) { return compute(b, in, Arithmetic::fma, e); });
}

/// div.full within 2 ulp over the full range is a division; div.approx gives zeros for large
/// divisors.
void lowerFloatDivApprox(LaneBuilder &b, const Instruction &in) {
  Value *x = argument(b, in), *y = argument(b, in, 2);
  Value *quotient = in.has(Token::full) ? b.ir.CreateFDiv(x, y)
                                        : b.library("ptx_div_approx_f32", x->getType(), {x, y});
  writeFlushed(b, in, quotient);
}

/// Sign-bit operations: NaN payloads pass.
void lowerFloatAbs(LaneBuilder &b, const Instruction &in) {
  Value *x = flushIfAsked(b, in, b.read(in, 1));
  b.write(in, 0, b.intrinsic(llvm::Intrinsic::fabs, {x->getType()}, {x}));
}

void lowerFloatNeg(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.ir.CreateFNeg(flushIfAsked(b, in, b.read(in, 1))));
}

/// The magnitude of b with the sign of a.
void lowerCopysign(LaneBuilder &b, const Instruction &in) {
  Value *sign = b.read(in, 1), *magnitude = b.read(in, 2);
  b.write(in, 0, b.intrinsic(llvm::Intrinsic::copysign, {sign->getType()}, {magnitude, sign}));
}

void lowerFloatMinMax(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0,
          minMax(b, in, flushIfAsked(b, in, b.read(in, 1)), flushIfAsked(b, in, b.read(in, 2))));
}

void lowerFloatMinMax3(LaneBuilder &b, const Instruction &in) {
  Value *two =
      minMax(b, in, flushIfAsked(b, in, b.read(in, 1)), flushIfAsked(b, in, b.read(in, 2)));
  b.write(in, 0, minMax(b, in, two, flushIfAsked(b, in, b.read(in, 3))));
}

/// Zeros count as normal; subnormal is everything else below the smallest normal number.
void lowerTestp(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  const unsigned test = in.has(Token::finite)       ? llvm::fcFinite
                        : in.has(Token::infinite)   ? llvm::fcInf
                        : in.has(Token::number)     ? llvm::fcAllFlags & ~llvm::fcNan
                        : in.has(Token::notanumber) ? llvm::fcNan
                        : in.has(Token::normal)     ? llvm::fcNormal | llvm::fcZero
                                                    : llvm::fcSubnormal;
  b.write(in, 0, b.ir.createIsFPClass(x, test));
}

void lowerRcp(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  b.write(in, 0, compute(b, in, Arithmetic::div, {b.constant(x->getType(), 1), x}));
}

void lowerSqrt(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, compute(b, in, Arithmetic::sqrt, {b.read(in, 1)}));
}

void lowerRcpApprox(LaneBuilder &b, const Instruction &in) {
  Value *x = argument(b, in);
  writeFlushed(b, in, b.ir.CreateFDiv(b.constant(x->getType(), 1), x));
}

void lowerSqrtApprox(LaneBuilder &b, const Instruction &in) {
  Value *x = argument(b, in);
  writeFlushed(b, in, b.intrinsic(llvm::Intrinsic::sqrt, {x->getType()}, {x}));
}

/// 1 / sqrt(a): relative error below 2^-22.9, in f64 below 2^-52. No result is subnormal.
void lowerRsqrtApprox(LaneBuilder &b, const Instruction &in) {
  Value *x = argument(b, in);
  Value *root = b.intrinsic(llvm::Intrinsic::sqrt, {x->getType()}, {x});
  b.write(in, 0, b.ir.CreateFDiv(b.constant(x->getType(), 1), root));
}

void lowerRcpApproxF64(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.library("ptx_rcp_approx_ftz_f64", b.ir.getDoubleTy(), {b.read(in, 1)}));
}

void lowerRsqrtApproxFtzF64(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.library("ptx_rsqrt_approx_ftz_f64", b.ir.getDoubleTy(), {b.read(in, 1)}));
}

/// sin, cos: no normal argument gives a subnormal result, so .ftz concerns the argument only.
void lowerSinCosApprox(LaneBuilder &b, const Instruction &in) {
  const char *name = in.form->opcode == "sin" ? "ptx_sin_approx_f32" : "ptx_cos_approx_f32";
  b.write(in, 0, b.library(name, b.ir.getFloatTy(), {argument(b, in)}));
}

void lowerLg2Approx(LaneBuilder &b, const Instruction &in) {
  const char *name = flushesApproximation(in) ? "ptx_lg2_approx_ftz_f32" : "ptx_lg2_approx_f32";
  b.write(in, 0, b.library(name, b.ir.getFloatTy(), {b.read(in, 1)}));
}

void lowerEx2Approx(LaneBuilder &b, const Instruction &in) {
  const char *name = flushesApproximation(in) ? "ptx_ex2_approx_ftz_f32" : "ptx_ex2_approx_f32";
  b.write(in, 0, b.library(name, b.ir.getFloatTy(), {b.read(in, 1)}));
}

void lowerTanhApprox(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.library("ptx_tanh_approx_f32", b.ir.getFloatTy(), {b.read(in, 1)}));
}

} // namespace ptxrun::lower
