// f32 arithmetic with half precision sources (PTX ISA 9.7.5): the sources are widened exactly, then
// it is f32's.
#include "translate/lower/floating.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

namespace {

void writeMixed(LaneBuilder &b, const Instruction &in, Arithmetic operation,
                llvm::ArrayRef<Value *> operands) {
  Value *result = arithmetic(b, operation, LaneBuilder::rounding(in), operands);
  b.write(in, 0, in.has(Token::sat) ? saturate(b, result) : result);
}

Value *widened(LaneBuilder &b, const Instruction &in, size_t i) {
  return widenHalf(b, b.read(in, i));
}

} // namespace

void lowerMixedAdd(LaneBuilder &b, const Instruction &in) {
  writeMixed(b, in, Arithmetic::add, {widened(b, in, 1), b.read(in, 2)});
}

void lowerMixedSub(LaneBuilder &b, const Instruction &in) {
  writeMixed(b, in, Arithmetic::add, {widened(b, in, 1), negatedForSum(b, in, b.read(in, 2))});
}

void lowerMixedFma(LaneBuilder &b, const Instruction &in) {
  writeMixed(b, in, Arithmetic::fma, {widened(b, in, 1), widened(b, in, 2), b.read(in, 3)});
}

} // namespace ptxrun::lower
