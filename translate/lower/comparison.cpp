// Comparison and selection (PTX ISA 9.7.6).
#include "translate/lower/floating.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

namespace {

/// t = (a CmpOp b), operands 1 and 2 from `first` on.
Value *comparison(LaneBuilder &b, const Instruction &in, size_t first) {
  Value *x = flushIfAsked(b, in, b.read(in, first));
  Value *y = flushIfAsked(b, in, b.read(in, first + 1));
  return compare(b, comparisonOf(in), x, y, isa::isSigned(in.operands[first].type));
}

/// BoolOp(t, c), c being operand i.
Value *combined(LaneBuilder &b, const Instruction &in, Value *t, size_t i) {
  const Token boolean = booleanOf(in);
  return boolean == Token::none ? t : combine(b, boolean, t, b.read(in, i));
}

} // namespace

/// d = BoolOp(t, c) ? (float ? 1.0f : 0xffffffff) : 0
void lowerSet(LaneBuilder &b, const Instruction &in) {
  Value *t = combined(b, in, comparison(b, in, 1), 3);
  llvm::Type *type = b.typeOf(in.type());
  Value *yes = type->isFloatTy() ? b.constant(type, 1) : llvm::Constant::getAllOnesValue(type);
  b.write(in, 0, b.select(t, yes, llvm::Constant::getNullValue(type)));
}

/// p = BoolOp(t, c); q = BoolOp(!t, c)
void lowerSetp(LaneBuilder &b, const Instruction &in) {
  Value *t = comparison(b, in, 2);
  Value *p = combined(b, in, t, 4), *q = combined(b, in, b.ir.CreateNot(t), 4);
  b.write(in, 0, p);
  b.write(in, 1, q);
}

void lowerSelp(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.select(b.read(in, 3), b.read(in, 1), b.read(in, 2)));
}

/// d = c >= 0 ? a : b; a NaN selects b.
void lowerSlct(LaneBuilder &b, const Instruction &in) {
  Value *c = flushIfAsked(b, in, b.read(in, 3));
  Value *isPositive = compare(b, Token::ge, c, llvm::Constant::getNullValue(c->getType()), true);
  b.write(in, 0, b.select(isPositive, b.read(in, 1), b.read(in, 2)));
}

} // namespace ptxrun::lower
