// cvt between the fundamental types, and cvt.pack (PTX ISA 9.7.9.21, 9.7.9.22).
#include "translate/lower/conversion.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using isa::Type;
using llvm::Value;

namespace {

/// x clamped to the range of a `bits`-wide integer of sign `toSigned`, still as wide as x. x has
/// sign `fromSigned`.
Value *clampInteger(LaneBuilder &b, Value *x, bool fromSigned, unsigned bits, bool toSigned) {
  const unsigned from = x->getType()->getIntegerBitWidth();
  const unsigned work = std::max(from, bits) + 1; // holds both ranges
  llvm::Type *type = b.intType(work);
  using llvm::APInt;
  const APInt low = toSigned ? APInt::getSignedMinValue(bits).sext(work) : APInt(work, 0);
  const APInt high =
      toSigned ? APInt::getSignedMaxValue(bits).sext(work) : APInt::getMaxValue(bits).zext(work);
  Value *wide = b.extend(x, type, fromSigned);
  Value *lower = b.select(b.ir.CreateICmpSLT(wide, b.ir.getInt(low)), b.ir.getInt(low), wide);
  Value *both = b.select(b.ir.CreateICmpSGT(lower, b.ir.getInt(high)), b.ir.getInt(high), lower);
  return b.ir.CreateTrunc(both, b.intType(bits));
}

/// The exact f32 value of a half or bfloat; floats and doubles as they are.
Value *asFloat(LaneBuilder &b, Value *x) {
  return x->getType()->isHalfTy() || x->getType()->isBFloatTy() ? widenHalf(b, x) : x;
}

/// x rounded to an integral value of its type.
Value *roundToIntegral(LaneBuilder &b, Value *x, Rounding rounding) {
  const auto id = rounding == Rounding::zero   ? llvm::Intrinsic::trunc
                  : rounding == Rounding::down ? llvm::Intrinsic::floor
                  : rounding == Rounding::up   ? llvm::Intrinsic::ceil
                                               : llvm::Intrinsic::roundeven;
  return b.intrinsic(id, {x->getType()}, {x});
}

std::string conversionName(Rounding rounding, llvm::StringRef types) {
  return ("ptx_cvt_" + suffix(rounding) + "_" + types).str();
}

/// f32 or f64 to half or bfloat, rounded once. An f64 is rounded to odd on the way to f32, which
/// any later rounding undoes.
Value *narrowToHalf(LaneBuilder &b, Value *x, llvm::Type *type, Rounding rounding) {
  if (x->getType()->isDoubleTy())
    x = b.library("ptx_cvt_odd_f32_f64", b.ir.getFloatTy(), {x});
  if (type->isHalfTy() && rounding == Rounding::nearestEven)
    return b.ir.CreateFPTrunc(x, type);
  const llvm::StringRef name = type->isHalfTy() ? "f16" : "bf16";
  return b.cast(b.library(conversionName(rounding, name), b.intType(16), {x}), type);
}

/// f32, f64 to any floating type.
Value *convertFloat(LaneBuilder &b, Value *x, llvm::Type *type, Rounding rounding) {
  if (x->getType() == type)
    return x;
  if (type->isHalfTy() || type->isBFloatTy())
    return narrowToHalf(b, x, type, rounding);
  if (type->isDoubleTy())
    return b.ir.CreateFPExt(x, type);
  if (rounding == Rounding::nearestEven)
    return b.ir.CreateFPTrunc(x, type);
  return b.library(conversionName(rounding, "f32_f64"), type, {x});
}

/// A value that every rounding of the integer x starts from: exact up to 32 bits, else rounded to
/// odd or by `rounding`.
Value *integerAsFloat(LaneBuilder &b, Value *x, bool isSigned, llvm::Type *type,
                      Rounding rounding) {
  const unsigned bits = x->getType()->getIntegerBitWidth();
  const llvm::StringRef source = isSigned ? "s64" : "u64";
  if (bits <= 32) {
    llvm::Type *exact = bits <= 16 ? b.ir.getFloatTy() : b.ir.getDoubleTy();
    return isSigned ? b.ir.CreateSIToFP(x, exact) : b.ir.CreateUIToFP(x, exact);
  }
  if (type->isDoubleTy())
    return b.library(conversionName(rounding, "f64_") + source.str(), type, {x});
  if (type->isFloatTy())
    return b.library(conversionName(rounding, "f32_") + source.str(), type, {x});
  return b.library("ptx_cvt_odd_f32_" + source.str(), b.ir.getFloatTy(), {x});
}

Value *convertInteger(LaneBuilder &b, Value *x, bool isSigned, llvm::Type *type,
                      Rounding rounding) {
  const bool isWide = type->isFloatTy() || type->isDoubleTy();
  if (isWide && rounding == Rounding::nearestEven)
    return isSigned ? b.ir.CreateSIToFP(x, type) : b.ir.CreateUIToFP(x, type);
  return convertFloat(b, integerAsFloat(b, x, isSigned, type, rounding), type, rounding);
}

} // namespace

void lowerCvtIntegerToInteger(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  const bool fromSigned = isa::isSigned(in.type(1)), toSigned = isa::isSigned(in.type());
  const unsigned bits = isa::bitWidth(in.type());
  Value *result = in.has(Token::sat) ? clampInteger(b, x, fromSigned, bits, toSigned)
                                     : b.extend(x, b.intType(bits), fromSigned);
  b.write(in.operands[0], result, toSigned);
}

/// Saturates always. NaN gives 0, but the value of the top bit where the source is f64 or the
/// destination has 64 bits.
void lowerCvtFloatToInteger(LaneBuilder &b, const Instruction &in) {
  Value *x = asFloat(b, flushIfAsked(b, in, b.read(in, 1)));
  Value *integral = roundToIntegral(b, x, LaneBuilder::rounding(in));
  const unsigned bits = isa::bitWidth(in.type());
  const bool isSigned = isa::isSigned(in.type());
  const auto id = isSigned ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value *result = b.intrinsic(id, {b.intType(bits), x->getType()}, {integral});
  if (in.type(1) == Type::f64 || bits == 64) {
    Value *top = b.constant(bits, uint64_t{1} << (bits - 1));
    result = b.select(b.ir.CreateFCmpUNO(x, x), top, result);
  }
  b.write(in.operands[0], result, isSigned);
}

void lowerCvtIntegerToFloat(LaneBuilder &b, const Instruction &in) {
  llvm::Type *type = b.typeOf(in.type());
  Value *result =
      convertInteger(b, b.read(in, 1), isa::isSigned(in.type(1)), type, LaneBuilder::rounding(in));
  if (in.has(Token::sat))
    result = convertFloat(b, saturate(b, asFloat(b, result)), type, Rounding::nearestEven);
  b.write(in, 0, result);
}

/// .ftz concerns f32 sources and results only. Integer rounding keeps the type.
void lowerCvtFloatToFloat(LaneBuilder &b, const Instruction &in) {
  llvm::Type *type = b.typeOf(in.type());
  Value *x = b.read(in, 1);
  if (in.type() == in.type(1) && !in.has(Token::sat) && !in.has(Token::ftz) &&
      !LaneBuilder::hasRounding(in))
    return b.write(in, 0, x);
  if (in.type(1) == Type::f32)
    x = flushIfAsked(b, in, x);
  x = asFloat(b, x);
  if (in.oneOf({Token::rni, Token::rzi, Token::rmi, Token::rpi}) != Token::none)
    x = roundToIntegral(b, x, LaneBuilder::rounding(in));
  if (in.has(Token::sat)) // [0, 1] of any type is exact in every other one up to the rounding that
                          // follows
    x = saturate(b, x);
  Value *result = convertFloat(b, x, type, LaneBuilder::rounding(in));
  if (in.type() == Type::f32)
    result = flushIfAsked(b, in, result);
  b.write(in, 0, result);
}

Value *reluIfAsked(LaneBuilder &b, const Instruction &in, Value *x) {
  return in.has(Token::relu) ? relu(b, x) : x;
}

std::string conversionTo(const Instruction &in, llvm::StringRef type) {
  const llvm::StringRef satfinite = in.has(Token::satfinite) ? "satfinite_" : "";
  return ("ptx_cvt_" + suffix(LaneBuilder::rounding(in)) + "_" + satfinite + type).str();
}

namespace {

/// f32 to f16 or bf16 bits with .relu and .satfinite as written; `type` is f16, bf16 or the pair of
/// it.
Value *toHalfBits(LaneBuilder &b, const Instruction &in, Value *x, Type type) {
  const bool isF16 = type == Type::f16 || type == Type::f16x2;
  x = reluIfAsked(b, in, x);
  if (!in.has(Token::satfinite))
    return b.toBits(
        narrowToHalf(b, x, b.typeOf(isF16 ? Type::f16 : Type::bf16), LaneBuilder::rounding(in)));
  return b.library(conversionTo(in, isF16 ? "f16" : "bf16"), b.intType(16), {x});
}

} // namespace

void lowerCvtToHalf(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, toHalfBits(b, in, b.read(in, 1), in.type()));
}

/// d = {convert(b), convert(a)}: a goes to the upper half.
void lowerCvtToHalfPair(LaneBuilder &b, const Instruction &in) {
  Value *high = toHalfBits(b, in, b.read(in, 1), in.type());
  Value *low = toHalfBits(b, in, b.read(in, 2), in.type());
  b.write(in, 0, b.join({low, high}));
}

void lowerCvtToTf32(LaneBuilder &b, const Instruction &in) {
  Value *x = reluIfAsked(b, in, b.read(in, 1));
  b.write(in, 0, b.library(conversionTo(in, "tf32"), b.intType(32), {x}));
}

/// d = c : saturated a : saturated b, from the top; 16-bit types leave no room for c.
void lowerCvtPack(LaneBuilder &b, const Instruction &in) {
  const unsigned bits = isa::bitWidth(in.type());
  const bool isSigned = isa::isSigned(in.type());
  Value *high = clampInteger(b, b.read(in, 1), true, bits, isSigned);
  Value *low = clampInteger(b, b.read(in, 2), true, bits, isSigned);
  Value *packed = b.extend(b.join({low, high}), b.intType(32), false);
  if (bits < 16)
    packed = b.ir.CreateOr(packed, b.ir.CreateShl(b.read(in, 3), 2 * bits));
  b.write(in, 0, packed);
}

} // namespace ptxrun::lower
