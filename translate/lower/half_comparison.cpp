// Half precision comparison (PTX ISA 9.7.7). Values are compared as f32, which is exact.
#include "translate/lower/floating.h"
#include "translate/lower/packed.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

namespace {

/// A source element as something to compare: halves as float, anything else as it is; bit-size
/// types as integers.
Value *comparable(LaneBuilder &b, const Instruction &in, Value *x) {
  if (x->getType()->isHalfTy() || x->getType()->isFloatTy())
    x = flushIfAsked(b, in, x);
  const bool isHalf = x->getType()->isHalfTy() || x->getType()->isBFloatTy();
  return isHalf ? widenHalf(b, x) : x;
}

Value *comparison(LaneBuilder &b, const Instruction &in, Value *x, Value *y, isa::Type type) {
  return compare(b, comparisonOf(in), comparable(b, in, x), comparable(b, in, y),
                 isa::isSigned(type));
}

/// The elements of operand i, read as `type`.
llvm::SmallVector<Value *, 8> elements(LaneBuilder &b, const Instruction &in, size_t i,
                                       isa::Type type) {
  return b.split(b.readBits(in.operands[i], isa::bitWidth(type)), b.typeOf(elementOf(type)));
}

/// True as an element of the destination: 1.0 in f16 and bf16, all ones in integers.
Value *truth(LaneBuilder &b, llvm::Type *type) {
  return type->isIntegerTy() ? llvm::Constant::getAllOnesValue(type) : b.constant(type, 1);
}

} // namespace

/// d[i] = BoolOp(a[i] CmpOp b[i], c) ? true : 0. Integer destinations of packed sources have 16-bit
/// elements.
void lowerHalfSet(LaneBuilder &b, const Instruction &in) {
  const isa::Type source = in.type(1);
  const auto x = elements(b, in, 1, source), y = elements(b, in, 2, source);
  llvm::Type *type = b.typeOf(elementOf(in.type()));
  if (x.size() > 1 && type->isIntegerTy())
    type = b.intType(16);
  const Token boolean = booleanOf(in);
  Value *c = boolean == Token::none ? nullptr : b.read(in, 3);
  llvm::SmallVector<Value *, 2> results;
  for (size_t i = 0; i < x.size(); ++i) {
    Value *t = combine(b, boolean, comparison(b, in, x[i], y[i], source), c);
    results.push_back(b.toBits(b.select(t, truth(b, type), llvm::Constant::getNullValue(type))));
  }
  b.write(in, 0, b.join(results));
}

/// Scalars have one result: p = BoolOp(t, c). Of pairs, p and q are the results of the two
/// elements.
void lowerHalfSetp(LaneBuilder &b, const Instruction &in) {
  const size_t resultCount = elementOf(in.type()) == in.type() ? 1 : 2;
  const auto x = elements(b, in, resultCount, in.type()),
             y = elements(b, in, resultCount + 1, in.type());
  const Token boolean = booleanOf(in);
  Value *c = boolean == Token::none ? nullptr : b.read(in, resultCount + 2);
  llvm::SmallVector<Value *, 2> results;
  for (size_t i = 0; i < resultCount; ++i)
    results.push_back(combine(b, boolean, comparison(b, in, x[i], y[i], in.type()), c));
  for (size_t i = 0; i < resultCount; ++i)
    b.write(in, i, results[i]);
}

} // namespace ptxrun::lower
