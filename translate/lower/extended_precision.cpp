// Extended-precision integer arithmetic (PTX ISA 9.7.2): the carry flag CC.CF between instructions.
//
// Programs mix the two families: NVIDIA's 128-bit division reads by `addc` what `sub.cc` left. ptxas makes one adder of both,
// a - b = a + ~b + 1, so CC.CF = 1 says "carry" to add and "no borrow" to sub.
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

namespace {

/// The carry into `addc` and `madc`; none for `add.cc` and `mad.cc`.
Value *carryIn(LaneBuilder &b, const Instruction &in, llvm::Type *type) {
  const bool isUsed = in.form->opcode == "addc" || in.form->opcode == "madc";
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

/// d = a - (b + borrow), where borrow = !CC.CF; CC.CF = no borrow out.
void lowerSubCarry(LaneBuilder &b, const Instruction &in) {
  Value *x = b.read(in, 1), *y = b.read(in, 2);
  Value *borrow = in.form->opcode == "subc"
                      ? b.extend(b.ir.CreateNot(b.readCarry()), x->getType(), false)
                      : llvm::ConstantInt::get(x->getType(), 0);
  Value *first = b.ir.CreateSub(x, y);
  Value *difference = b.ir.CreateSub(first, borrow);
  if (in.has(Token::cc))
    b.writeCarry(b.ir.CreateAnd(b.ir.CreateICmpUGE(x, y), b.ir.CreateICmpUGE(first, borrow)));
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
