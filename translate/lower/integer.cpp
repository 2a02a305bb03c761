// Integer arithmetic (PTX ISA 9.7.1).
#include "translate/lower/lane_builder.h"
#include "translate/lower/packed.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using isa::Type;
using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

bool isSigned(const Instruction &in, size_t i = 0) { return isa::isSigned(in.type(i)); }

unsigned widthOf(Value *value) { return value->getType()->getIntegerBitWidth(); }

Value *binary(LaneBuilder &b, ID id, Value *x, Value *y) {
  return b.intrinsic(id, {x->getType()}, {x, y});
}

Value *add(LaneBuilder &b, Value *x, Value *y, bool isSaturating, bool isSigned) {
  if (isSaturating)
    return binary(b, isSigned ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat, x, y);
  return b.ir.CreateAdd(x, y);
}

Value *sub(LaneBuilder &b, Value *x, Value *y, bool isSaturating, bool isSigned) {
  if (isSaturating)
    return binary(b, isSigned ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat, x, y);
  return b.ir.CreateSub(x, y);
}

/// Bits [2n-1, n] of the product of two n-bit numbers.
Value *highProduct(LaneBuilder &b, Value *x, Value *y, bool isSigned) {
  const unsigned n = widthOf(x);
  llvm::Type *wide = b.intType(2 * n);
  Value *product = b.ir.CreateMul(b.extend(x, wide, isSigned), b.extend(y, wide, isSigned));
  return b.ir.CreateTrunc(b.ir.CreateLShr(product, n), x->getType());
}

Value *product(LaneBuilder &b, const Instruction &in, Value *x, Value *y) {
  return in.has(Token::hi) ? highProduct(b, x, y, isSigned(in)) : b.ir.CreateMul(x, y);
}

Value *minMax(LaneBuilder &b, const Instruction &in, Value *x, Value *y, bool isSigned) {
  const bool isMin = in.form->opcode == "min";
  const ID id = isSigned ? (isMin ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                         : (isMin ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
  Value *result = binary(b, id, x, y);
  if (!in.has(Token::relu))
    return result;
  return binary(b, llvm::Intrinsic::smax, result, llvm::ConstantInt::get(x->getType(), 0));
}

} // namespace

void lowerIntegerAdd(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, add(b, b.read(in, 1), b.read(in, 2), in.has(Token::sat), isSigned(in)));
}

void lowerIntegerSub(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, sub(b, b.read(in, 1), b.read(in, 2), in.has(Token::sat), isSigned(in)));
}

void lowerPackedAdd(LaneBuilder &b, const Instruction &in) {
  writePacked(b, in, 2,
              [&](auto e) { return add(b, e[0], e[1], in.has(Token::sat), isSigned(in)); });
}

void lowerPackedSub(LaneBuilder &b, const Instruction &in) {
  writePacked(b, in, 2,
              [&](auto e) { return sub(b, e[0], e[1], in.has(Token::sat), isSigned(in)); });
}

void lowerPackedNeg(LaneBuilder &b, const Instruction &in) {
  writePacked(b, in, 1, [&](auto e) { return b.ir.CreateNeg(e[0]); });
}

void lowerPackedMinMax(LaneBuilder &b, const Instruction &in) {
  writePacked(b, in, 2, [&](auto e) { return minMax(b, in, e[0], e[1], isSigned(in)); });
}

void lowerIntegerMinMax(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, minMax(b, in, b.read(in, 1), b.read(in, 2), isSigned(in)));
}

void lowerIntegerMul(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, product(b, in, b.read(in, 1), b.read(in, 2)));
}

void lowerMulWide(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1), *y = b.read(in, 2);
  llvm::Type *wide = b.intType(2 * widthOf(x));
  b.write(in, 0, b.ir.CreateMul(b.extend(x, wide, isSigned(in)), b.extend(y, wide, isSigned(in))));
}

void lowerIntegerMad(LaneBuilder &b, const Instruction &in) {
  Value *t = product(b, in, b.read(in, 1), b.read(in, 2));
  b.write(in, 0, add(b, t, b.read(in, 3), in.has(Token::sat), true));
}

void lowerMadWide(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1), *y = b.read(in, 2);
  llvm::Type *wide = b.intType(2 * widthOf(x));
  Value *t = b.ir.CreateMul(b.extend(x, wide, isSigned(in)), b.extend(y, wide, isSigned(in)));
  b.write(in, 0, b.ir.CreateAdd(t, b.extend(b.read(in, 3), wide, isSigned(in))));
}

namespace {

/// The 48-bit product of the 24 low bits of each operand: bits [47,16] for .hi, [31,0] for .lo.
Value *product24(LaneBuilder &b, const Instruction &in) {
  llvm::Type *narrow = b.intType(24), *wide = b.intType(64);
  Value *x = b.extend(b.ir.CreateTrunc(b.read(in, 1), narrow), wide, isSigned(in));
  Value *y = b.extend(b.ir.CreateTrunc(b.read(in, 2), narrow), wide, isSigned(in));
  Value *t = b.ir.CreateMul(x, y);
  return b.ir.CreateTrunc(in.has(Token::hi) ? b.ir.CreateLShr(t, 16) : t, b.intType(32));
}

} // namespace

void lowerMul24(LaneBuilder &b, const Instruction &in) { b.write(in, 0, product24(b, in)); }

void lowerMad24(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, add(b, product24(b, in), b.read(in, 3), in.has(Token::sat), true));
}

void lowerSad(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1), *y = b.read(in, 2);
  Value *isLess = isSigned(in) ? b.ir.CreateICmpSLT(x, y) : b.ir.CreateICmpULT(x, y);
  Value *distance = b.select(isLess, b.ir.CreateSub(y, x), b.ir.CreateSub(x, y));
  b.write(in, 0, b.ir.CreateAdd(b.read(in, 3), distance));
}

namespace {

/// div and rem by the lane library's functions, which never fault; a constant divisor other than 0
/// and -1 needs no care. Remainders of 64 bits are x - x / y * y, also where y is 0 or -1: simt
/// makes much of quotients that threads share.
void lowerDivision(LaneBuilder &b, const Instruction &in, bool isRemainder) {
  Value *x = b.read(in, 1), *y = b.read(in, 2);
  const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(y);
  if (constant && !constant->isZero() && !constant->isMinusOne()) {
    const auto opcode = isRemainder
                            ? (isSigned(in) ? llvm::Instruction::SRem : llvm::Instruction::URem)
                            : (isSigned(in) ? llvm::Instruction::SDiv : llvm::Instruction::UDiv);
    return b.write(in, 0, b.ir.CreateBinOp(opcode, x, y));
  }
  const std::string type = (isSigned(in) ? "s" : "u") + std::to_string(widthOf(x));
  if (!isRemainder || widthOf(x) != 64)
    return b.write(in, 0,
                   b.library((isRemainder ? "ptx_rem_" : "ptx_div_") + type, x->getType(), {x, y}));
  Value *quotient = b.library("ptx_div_" + type, x->getType(), {x, y});
  b.write(in, 0, b.ir.CreateSub(x, b.ir.CreateMul(quotient, y)));
}

} // namespace

void lowerIntegerDiv(LaneBuilder &b, const Instruction &in) { lowerDivision(b, in, false); }
void lowerIntegerRem(LaneBuilder &b, const Instruction &in) { lowerDivision(b, in, true); }

void lowerIntegerAbs(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  b.write(in, 0, binary(b, llvm::Intrinsic::abs, x, b.ir.getFalse()));
}

void lowerIntegerNeg(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.ir.CreateNeg(b.read(in, 1)));
}

void lowerPopc(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  b.write(in, 0,
          b.extend(b.intrinsic(llvm::Intrinsic::ctpop, {x->getType()}, {x}), b.intType(32), false));
}

void lowerClz(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  Value *count = b.intrinsic(llvm::Intrinsic::ctlz, {x->getType()}, {x, b.ir.getFalse()});
  b.write(in, 0, b.extend(count, b.intType(32), false));
}

void lowerBrev(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  b.write(in, 0, b.intrinsic(llvm::Intrinsic::bitreverse, {x->getType()}, {x}));
}

/// With z leading zeros of a (of ~a for negative signed a): position msb - z, shift amount z; ~0
/// where no bit is found.
void lowerBfind(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  const unsigned n = widthOf(x);
  if (isSigned(in))
    x = b.ir.CreateXor(x, b.ir.CreateAShr(x, n - 1));
  Value *zeros = b.intrinsic(llvm::Intrinsic::ctlz, {x->getType()}, {x, b.ir.getFalse()});
  zeros = b.extend(zeros, b.intType(32), false);
  if (!in.has(Token::shiftamt)) // no bit: zeros = n, and n - 1 - n is ~0 already
    return b.write(in, 0, b.ir.CreateSub(b.constant(32, n - 1), zeros));
  Value *isNone = b.ir.CreateICmpEQ(zeros, b.constant(32, n));
  b.write(in, 0, b.select(isNone, b.constant(32, ~0u), zeros));
}

void lowerFns(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0,
          b.library("ptx_fns_b32", b.intType(32), {b.read(in, 1), b.read(in, 2), b.read(in, 3)}));
}

namespace {

/// x << n and x >> n where n >= the width gives 0 (or the sign): PTX's shifts, IR's are undefined
/// there.
Value *shiftLeft(LaneBuilder &b, Value *x, Value *n) {
  Value *isInside = b.ir.CreateICmpULT(n, llvm::ConstantInt::get(n->getType(), widthOf(x)));
  Value *zero = llvm::ConstantInt::get(x->getType(), 0);
  return b.select(isInside, b.ir.CreateShl(x, b.extend(n, x->getType(), false)), zero);
}

/// The low 8 bits of an operand that is restricted to 0..255.
Value *byteOf(LaneBuilder &b, Value *x) { return b.ir.CreateAnd(x, 0xff); }

/// Ones below bit n, for n from 0 to 255.
Value *onesBelow(LaneBuilder &b, llvm::Type *type, Value *n) {
  return b.ir.CreateNot(shiftLeft(b, llvm::Constant::getAllOnesValue(type), n));
}

} // namespace

/// bfe: the field moved down, and above it zeros or the field's sign.
///   shifted = pos < n ? a >> pos : (signed ? a >> n-1 : 0)
///   signed: len >= 1 and pos + len <= n: sign-extended from bit len - 1 of shifted, which beyond
///   msb is a's sign anyway
void lowerBfe(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1), *position = byteOf(b, b.read(in, 2)),
        *length = byteOf(b, b.read(in, 3));
  llvm::Type *type = x->getType();
  const unsigned n = widthOf(x);
  Value *last = b.constant(32, n - 1);
  Value *isInside = b.ir.CreateICmpULT(position, b.constant(32, n));
  Value *amount = b.extend(binary(b, llvm::Intrinsic::umin, position, last), type, false);
  Value *mask = onesBelow(b, type, length);
  if (!isSigned(in)) {
    Value *shifted =
        b.select(isInside, b.ir.CreateLShr(x, amount), llvm::ConstantInt::get(type, 0));
    return b.write(in, 0, b.ir.CreateAnd(shifted, mask));
  }
  Value *shifted = b.ir.CreateAShr(x, amount);
  shifted = b.select(isInside, shifted, b.ir.CreateAShr(x, n - 1));
  // Sign-extend from bit len - 1: move it to the top and back; len = 0 gives 0, len >= n leaves
  // all.
  Value *up = b.ir.CreateSub(b.constant(32, n),
                             binary(b, llvm::Intrinsic::umin, length, b.constant(32, n)));
  Value *clamped = b.extend(binary(b, llvm::Intrinsic::umin, up, last), type, false);
  Value *field = b.ir.CreateAShr(b.ir.CreateShl(shifted, clamped), clamped);
  Value *isEmpty = b.ir.CreateICmpEQ(length, b.constant(32, 0));
  b.write(in, 0, b.select(isEmpty, llvm::ConstantInt::get(type, 0), field));
}

/// bfi: mask = ones [pos, pos + len); f = (a << pos) & mask | b & ~mask.
void lowerBfi(LaneBuilder &b, const Instruction &in) {
  Value *field = b.read(in, 1), *base = b.read(in, 2);
  Value *position = byteOf(b, b.read(in, 3)), *length = byteOf(b, b.read(in, 4));
  Value *mask = shiftLeft(b, onesBelow(b, field->getType(), length), position);
  Value *moved = b.ir.CreateAnd(shiftLeft(b, field, position), mask);
  b.write(in, 0, b.ir.CreateOr(moved, b.ir.CreateAnd(base, b.ir.CreateNot(mask))));
}

/// szext: the low N bits of a, extended by zeros or their sign. N = 0 gives 0; N >= 32 gives a
/// (.clamp) or N mod 32.
void lowerSzext(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1), *n = b.read(in, 2);
  Value *wrapped = b.ir.CreateAnd(n, 31);
  Value *unused = b.ir.CreateAnd(b.ir.CreateSub(b.constant(32, 32), wrapped), 31);
  Value *up = b.ir.CreateShl(x, unused);
  Value *field = isSigned(in) ? b.ir.CreateAShr(up, unused) : b.ir.CreateLShr(up, unused);
  Value *isEmpty = b.ir.CreateICmpEQ(wrapped, b.constant(32, 0));
  Value *result = b.select(isEmpty, b.constant(32, 0), field);
  if (in.has(Token::clamp))
    result = b.select(b.ir.CreateICmpUGE(n, b.constant(32, 32)), x, result);
  b.write(in, 0, result);
}

/// bmsk: b ones from bit a upwards; .clamp takes positions and widths of 32 and more as they are,
/// .wrap modulo 32.
void lowerBmsk(LaneBuilder &b, const Instruction &in) {
  Value *position = b.read(in, 1), *width = b.read(in, 2);
  if (in.has(Token::wrap)) {
    position = b.ir.CreateAnd(position, 31);
    width = b.ir.CreateAnd(width, 31);
  }
  b.write(in, 0, shiftLeft(b, onesBelow(b, b.intType(32), width), position));
}

namespace {

/// d = c + sum of a[i] * b[i + first], elements extended to 32 bits by their operand's sign.
void lowerDotProduct(LaneBuilder &b, const Instruction &in, unsigned aBits, unsigned first) {
  const auto x = b.split(b.readBits(in.operands[1], 32), b.intType(aBits));
  const auto y = b.split(b.readBits(in.operands[2], 32), b.intType(8));
  Value *sum = b.readBits(in.operands[3], 32);
  for (size_t i = 0; i < x.size(); ++i) {
    Value *left = b.extend(x[i], b.intType(32), isSigned(in, 0));
    Value *right = b.extend(y[first + i], b.intType(32), isSigned(in, 1));
    sum = b.ir.CreateAdd(sum, b.ir.CreateMul(left, right));
  }
  b.write(in, 0, sum);
}

} // namespace

void lowerDp4a(LaneBuilder &b, const Instruction &in) { lowerDotProduct(b, in, 8, 0); }
void lowerDp2a(LaneBuilder &b, const Instruction &in) {
  lowerDotProduct(b, in, 16, in.has(Token::hi) ? 2 : 0);
}

} // namespace ptxrun::lower
