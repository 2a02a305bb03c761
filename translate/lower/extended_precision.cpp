// Extended-precision integer arithmetic (PTX ISA 9.7.2): the carry flag CC.CF between instructions.
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

namespace {

/// The carry into `addc`, `subc`, `madc`; none for `add.cc`, `sub.cc`, `mad.cc`.
Value *carryIn(LaneBuilder &b, const Instruction &in, llvm::Type *type) {
  const bool isUsed = in.form->opcode.ends_with('c') && in.form->opcode.size() > 3;
  return isUsed ? b.extend(b.readCarry(), type, false) : llvm::ConstantInt::get(type, 0);
}

/// t = x + y + carry; CC.CF = carry out, where .cc was written.
Value *addWithCarry(LaneBuilder &b, const Instruction &in, Value *x, Value *y) {
  llvm::Type *type = x->getType();
  Value *first = b.ir.CreateAdd(x, y);
  Value *sum = b.ir.CreateAdd(first, carryIn(b, in, type));
  if (in.has(Token::cc))
    b.writeCarry(b.ir.CreateOr(b.ir.CreateICmpULT(first, x), b.ir.CreateICmpULT(sum, first)));
  return sum;
}

} // namespace

void lowerAddCarry(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, addWithCarry(b, in, b.read(in, 1), b.read(in, 2)));
}

/// d = a - (b + CC.CF); CC.CF = borrow out.
void lowerSubCarry(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1), *y = b.read(in, 2);
  Value *borrow = carryIn(b, in, x->getType());
  Value *first = b.ir.CreateSub(x, y);
  Value *difference = b.ir.CreateSub(first, borrow);
  if (in.has(Token::cc))
    b.writeCarry(b.ir.CreateOr(b.ir.CreateICmpULT(x, y), b.ir.CreateICmpULT(first, borrow)));
  b.write(in, 0, difference);
}

void lowerMadCarry(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1), *y = b.read(in, 2);
  const unsigned n = x->getType()->getIntegerBitWidth();
  Value *part = b.ir.CreateMul(x, y);
  if (in.has(Token::hi)) {
    llvm::Type *wide = b.intType(2 * n);
    const bool isSigned = isa::isSigned(in.type());
    Value *product = b.ir.CreateMul(b.extend(x, wide, isSigned), b.extend(y, wide, isSigned));
    part = b.ir.CreateTrunc(b.ir.CreateLShr(product, n), x->getType());
  }
  b.write(in, 0, addWithCarry(b, in, part, b.read(in, 3)));
}

} // namespace ptxrun::lower
