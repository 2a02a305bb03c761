#include "translate/lower/floating.h"

#include "translate/lower/canonical_nan.h"
#include "translate/lower/module_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::CmpInst;
using llvm::Value;

Value *flush(LaneBuilder &b, Value *value) {
  llvm::Type *type = value->getType();
  const llvm::fltSemantics &semantics = type->getFltSemantics();
  llvm::Constant *smallest =
      llvm::ConstantFP::get(type, llvm::APFloat::getSmallestNormalized(semantics));
  Value *magnitude = b.intrinsic(llvm::Intrinsic::fabs, {type}, {value});
  Value *zero = b.intrinsic(llvm::Intrinsic::copysign, {type}, {b.constant(type, 0), value});
  return b.select(b.ir.CreateFCmpOLT(magnitude, smallest), zero, value);
}

Value *flushIfAsked(LaneBuilder &b, const Instruction &in, Value *value) {
  const bool isNarrow = value->getType()->isFloatTy() || value->getType()->isHalfTy();
  return in.has(Token::ftz) && isNarrow ? flush(b, value) : value;
}

Value *negatedForSum(LaneBuilder &b, const Instruction &in, Value *y) {
  Value *negated = b.ir.CreateFNeg(y);
  if (LaneBuilder::rounding(in) == Rounding::nearestEven)
    return negated;
  return b.select(b.ir.CreateFCmpUNO(y, y), y, negated);
}

namespace {

/// markNanBlind(), and the value.
Value *nanBlind(Value *value) {
  markNanBlind(value);
  return value;
}

} // namespace

Value *saturate(LaneBuilder &b, Value *value) {
  llvm::Constant *zero = b.constant(value->getType(), 0), *one = b.constant(value->getType(), 1);
  Value *low = b.select(b.ir.CreateFCmpOGT(value, zero), value, zero);
  return nanBlind(b.select(b.ir.CreateFCmpOLT(low, one), low, one));
}

Value *relu(LaneBuilder &b, Value *value) {
  llvm::Constant *zero = b.constant(value->getType(), 0);
  Value *number = b.select(b.ir.CreateFCmpOGT(value, zero), value, zero);
  return nanBlind(
      b.select(b.ir.CreateFCmpUNO(value, value), canonicalNaN(value->getType()), number));
}

llvm::Constant *canonicalNaN(llvm::Type *type) {
  const llvm::APInt bits = canonicalNanBits(type->getPrimitiveSizeInBits());
  return llvm::ConstantFP::get(type->getContext(), llvm::APFloat(type->getFltSemantics(), bits));
}

namespace {

/// x < y ? x : y, or > for max: one instruction of the CPU, which gives y where either is NaN or
/// both are equal.
Value *pickOrdered(LaneBuilder &b, Value *x, Value *y, bool isMin) {
  return b.select(isMin ? b.ir.CreateFCmpOLT(x, y) : b.ir.CreateFCmpOGT(x, y), x, y);
}

/// min or max with a constant that is a number: a NaN gives the constant; zeros compare as wanted
/// in one direction each.
Value *minMaxWithConstant(LaneBuilder &b, Value *x, llvm::ConstantFP *constant, bool isMin) {
  const bool isTieForX = constant->isZero() && constant->isNegative() != isMin;
  const auto predicate = isMin ? (isTieForX ? CmpInst::FCMP_OLE : CmpInst::FCMP_OLT)
                               : (isTieForX ? CmpInst::FCMP_OGE : CmpInst::FCMP_OGT);
  return nanBlind(b.select(b.ir.CreateFCmp(predicate, x, constant), x, constant));
}

} // namespace

/// Numbers: of the ordered picks both ways round, which differ only for ±0, min takes the or of the
/// bits, max the and.
Value *minMax(LaneBuilder &b, Value *x, Value *y, bool isMin, bool propagates) {
  llvm::Type *type = x->getType();
  auto *constant = llvm::dyn_cast<llvm::ConstantFP>(y);
  if (constant && !constant->isNaN() && !propagates)
    return minMaxWithConstant(b, x, constant, isMin);
  Value *one = b.toBits(pickOrdered(b, x, y, isMin)),
        *other = b.toBits(pickOrdered(b, y, x, isMin));
  Value *number = nanBlind(isMin ? b.ir.CreateOr(one, other) : b.ir.CreateAnd(one, other));
  // The choices are made between bits: through long chains of choices between floats LLVM asks
  // again and again, and for each element of a vector, what class of number may come out.
  Value *nan = b.toBits(canonicalNaN(type));
  if (propagates)
    return b.cast(nanBlind(b.select(b.ir.CreateFCmpUNO(x, y), nan, number)), type);
  Value *xIsNaN = b.ir.CreateFCmpUNO(x, x), *yIsNaN = b.ir.CreateFCmpUNO(y, y);
  Value *partner = b.select(xIsNaN, nan, b.toBits(x));
  Value *all = b.select(yIsNaN, partner, b.select(xIsNaN, b.toBits(y), number));
  return b.cast(nanBlind(all), type);
}

Value *minMax(LaneBuilder &b, const Instruction &in, Value *x, Value *y) {
  llvm::Type *type = x->getType();
  const bool isMin = in.form->opcode == "min", propagates = in.has(Token::NaN);
  if (!in.has(Token::abs))
    return minMax(b, x, y, isMin, propagates);
  Value *sign = b.ir.CreateXor(b.toBits(x), b.toBits(y));
  Value *result = minMax(b, b.intrinsic(llvm::Intrinsic::fabs, {type}, {x}),
                         b.intrinsic(llvm::Intrinsic::fabs, {type}, {y}), isMin, propagates);
  if (!in.has(Token::xorsign))
    return result;
  Value *isSigned = b.intrinsic(llvm::Intrinsic::copysign, {type}, {result, b.cast(sign, type)});
  return b.select(b.ir.CreateFCmpUNO(result, result), result, isSigned);
}

llvm::StringRef suffix(Rounding rounding) {
  switch (rounding) {
  case Rounding::zero:
    return "rz";
  case Rounding::down:
    return "rm";
  case Rounding::up:
    return "rp";
  case Rounding::nearestAway:
    return "rna";
  case Rounding::stochastic:
    return "rs";
  case Rounding::nearestEven:
    break;
  }
  return "rn";
}

namespace {

/// What IRBuilder folded may be another NaN than that of the instruction.
Value *withOneNan(Value *result) {
  auto *constant = llvm::dyn_cast<llvm::ConstantFP>(result);
  return constant && constant->isNaN() && result->getType()->isFloatTy()
             ? canonicalNaN(result->getType())
             : result;
}

Value *toNearest(LaneBuilder &b, Arithmetic operation, llvm::ArrayRef<Value *> operands) {
  llvm::Type *type = operands[0]->getType();
  switch (operation) {
  case Arithmetic::add:
    return b.ir.CreateFAdd(operands[0], operands[1]);
  case Arithmetic::mul:
    return b.ir.CreateFMul(operands[0], operands[1]);
  case Arithmetic::div:
    return b.ir.CreateFDiv(operands[0], operands[1]);
  case Arithmetic::fma:
    return b.intrinsic(llvm::Intrinsic::fma, {type}, operands);
  case Arithmetic::sqrt:
    break;
  }
  return b.intrinsic(llvm::Intrinsic::sqrt, {type}, operands);
}

} // namespace

Value *arithmetic(LaneBuilder &b, Arithmetic operation, Rounding rounding,
                  llvm::ArrayRef<Value *> operands) {
  if (rounding == Rounding::nearestEven)
    return withOneNan(toNearest(b, operation, operands));
  static constexpr llvm::StringRef kNames[] = {"add", "mul", "fma", "div", "sqrt"};
  llvm::Type *type = operands[0]->getType();
  const llvm::StringRef name = kNames[static_cast<size_t>(operation)];
  const llvm::StringRef ending = type->isFloatTy() ? "_f32" : "_f64";
  if (b.module().hasDirectedRounding())
    return b.word(
        ("ptx.rounded." + name + "." + suffix(rounding) + (type->isFloatTy() ? ".f32" : ".f64"))
            .str(),
        type, operands, LaneBuilder::WordEffect::pure);
  return b.library(("ptx_" + name + "_" + suffix(rounding) + ending).str(), type, operands);
}

Value *widenHalf(LaneBuilder &b, Value *value) {
  if (value->getType()->isHalfTy())
    return b.ir.CreateFPExt(value, b.ir.getFloatTy());
  Value *bits = b.ir.CreateShl(b.ir.CreateZExt(b.toBits(value), b.intType(32)), 16);
  return b.cast(bits, b.ir.getFloatTy());
}

namespace {

CmpInst::Predicate floatPredicate(Token comparison) {
  switch (comparison) {
  case Token::eq:
    return CmpInst::FCMP_OEQ;
  case Token::ne:
    return CmpInst::FCMP_ONE;
  case Token::lt:
    return CmpInst::FCMP_OLT;
  case Token::le:
    return CmpInst::FCMP_OLE;
  case Token::gt:
    return CmpInst::FCMP_OGT;
  case Token::ge:
    return CmpInst::FCMP_OGE;
  case Token::equ:
    return CmpInst::FCMP_UEQ;
  case Token::neu:
    return CmpInst::FCMP_UNE;
  case Token::ltu:
    return CmpInst::FCMP_ULT;
  case Token::leu:
    return CmpInst::FCMP_ULE;
  case Token::gtu:
    return CmpInst::FCMP_UGT;
  case Token::geu:
    return CmpInst::FCMP_UGE;
  case Token::num:
    return CmpInst::FCMP_ORD;
  default:
    return CmpInst::FCMP_UNO; // nan
  }
}

CmpInst::Predicate integerPredicate(Token comparison, bool isSigned) {
  switch (comparison) {
  case Token::eq:
  case Token::equ:
    return CmpInst::ICMP_EQ;
  case Token::ne:
  case Token::neu:
    return CmpInst::ICMP_NE;
  case Token::lt:
  case Token::ltu:
    return isSigned ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT;
  case Token::le:
  case Token::leu:
    return isSigned ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE;
  case Token::gt:
  case Token::gtu:
    return isSigned ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT;
  case Token::ge:
  case Token::geu:
    return isSigned ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE;
  case Token::lo:
    return CmpInst::ICMP_ULT;
  case Token::ls:
    return CmpInst::ICMP_ULE;
  case Token::hi:
    return CmpInst::ICMP_UGT;
  default:
    return CmpInst::ICMP_UGE; // hs
  }
}

} // namespace

Value *compare(LaneBuilder &b, Token comparison, Value *x, Value *y, bool isSigned) {
  // set.num and set.nan of integers (into f16): integers are numbers.
  if (x->getType()->isIntegerTy() && (comparison == Token::num || comparison == Token::nan))
    return b.ir.getInt1(comparison == Token::num);
  if (x->getType()->isIntegerTy())
    return b.ir.CreateICmp(integerPredicate(comparison, isSigned), x, y);
  return b.ir.CreateFCmp(floatPredicate(comparison), x, y);
}

Token comparisonOf(const Instruction &in) {
  return in.oneOf({Token::eq, Token::ne, Token::lt, Token::le, Token::gt, Token::ge, Token::lo,
                   Token::ls, Token::hi, Token::hs, Token::equ, Token::neu, Token::ltu, Token::leu,
                   Token::gtu, Token::geu, Token::num, Token::nan});
}

Token booleanOf(const Instruction &in) { return in.oneOf({Token::and_, Token::or_, Token::xor_}); }

Value *combine(LaneBuilder &b, Token booleanOperator, Value *t, Value *c) {
  switch (booleanOperator) {
  case Token::and_:
    return b.ir.CreateAnd(t, c);
  case Token::or_:
    return b.ir.CreateOr(t, c);
  case Token::xor_:
    return b.ir.CreateXor(t, c);
  default:
    return t;
  }
}

} // namespace ptxrun::lower
