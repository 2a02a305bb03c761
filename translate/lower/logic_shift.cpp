// Logic and shift (PTX ISA 9.7.8).
#include "translate/lower/floating.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

void lowerAnd(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.ir.CreateAnd(b.read(in, 1), b.read(in, 2)));
}

void lowerOr(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.ir.CreateOr(b.read(in, 1), b.read(in, 2)));
}

void lowerXor(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.ir.CreateXor(b.read(in, 1), b.read(in, 2)));
}

void lowerNot(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.ir.CreateNot(b.read(in, 1)));
}

void lowerCnot(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  b.write(in, 0, b.ir.CreateZExt(b.ir.CreateIsNull(x), x->getType()));
}

namespace {

/// F(a, b, c) of the eight minterms of immLut: c chooses among pairs of entries, b among pairs of
/// those, a last.
Value *lookUp(LaneBuilder &b, uint64_t table, Value *x, Value *y, Value *z) {
  /// The function of one bit that gives `zero` for 0 and `one` for 1.
  const auto choose = [&](Value *bit, Value *zero, Value *one) -> Value * {
    if (zero == one)
      return zero;
    return b.ir.CreateOr(b.ir.CreateAnd(bit, one), b.ir.CreateAnd(b.ir.CreateNot(bit), zero));
  };
  Value *constants[] = {b.constant(32, 0), b.constant(32, ~0u)};
  Value *byC[4], *byB[2];
  for (unsigned i = 0; i < 4; ++i)
    byC[i] = choose(z, constants[table >> (2 * i) & 1], constants[table >> (2 * i + 1) & 1]);
  for (unsigned i = 0; i < 2; ++i)
    byB[i] = choose(y, byC[2 * i], byC[2 * i + 1]);
  return choose(x, byB[0], byB[1]);
}

} // namespace

/// d = F(a, b, c); p = (d != 0) BoolOp q
void lowerLop3(LaneBuilder &b, const Instruction &in) {
  const Token boolean = booleanOf(in);
  const size_t first = boolean == Token::none ? 1 : 2;
  const uint64_t table = static_cast<uint64_t>(in.operands[first + 3].integer);
  Value *d = lookUp(b, table, b.read(in, first), b.read(in, first + 1), b.read(in, first + 2));
  Value *p = boolean == Token::none
                 ? nullptr
                 : combine(b, boolean, b.ir.CreateIsNotNull(d), b.read(in, first + 4));
  b.write(in, 0, d);
  if (p)
    b.write(in, 1, p);
}

/// Funnel shift of b:a. Amounts of 32 (.clamp) take a whole word: shf.l gives a, shf.r gives b.
void lowerShf(LaneBuilder &b, const Instruction &in) {
  Value *low = b.read(in, 1), *high = b.read(in, 2), *amount = b.read(in, 3);
  const bool isLeft = in.has(Token::l);
  const auto id = isLeft ? llvm::Intrinsic::fshl : llvm::Intrinsic::fshr; // amount modulo 32
  Value *shifted = b.intrinsic(id, {low->getType()}, {high, low, amount});
  if (in.has(Token::wrap))
    return b.write(in, 0, shifted);
  Value *isWhole = b.ir.CreateICmpUGE(amount, b.constant(32, 32));
  b.write(in, 0, b.select(isWhole, isLeft ? low : high, shifted));
}

namespace {

/// The amount as a type of x, and whether it is below the width.
struct Amount {
  Value *inside, *bits;
};
Amount amountOf(LaneBuilder &b, const Instruction &in, Value *x) {
  Value *n = b.read(in, 2);
  Value *isInside = b.ir.CreateICmpULT(n, b.constant(32, x->getType()->getIntegerBitWidth()));
  return {isInside, b.extend(n, x->getType(), false)};
}

} // namespace

/// Amounts beyond the width are clamped to it: shl and unsigned shr give 0, signed shr the sign.
void lowerShl(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  const Amount amount = amountOf(b, in, x);
  Value *zero = llvm::Constant::getNullValue(x->getType());
  b.write(in, 0, b.select(amount.inside, b.ir.CreateShl(x, amount.bits), zero));
}

void lowerShr(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1);
  const Amount amount = amountOf(b, in, x);
  if (!isa::isSigned(in.type())) {
    Value *zero = llvm::Constant::getNullValue(x->getType());
    return b.write(in, 0, b.select(amount.inside, b.ir.CreateLShr(x, amount.bits), zero));
  }
  const unsigned last = x->getType()->getIntegerBitWidth() - 1;
  Value *clamped = b.select(amount.inside, amount.bits, llvm::ConstantInt::get(x->getType(), last));
  b.write(in, 0, b.ir.CreateAShr(x, clamped));
}

} // namespace ptxrun::lower
