// prmt (PTX ISA 9.7.9.7).
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using llvm::Value;

namespace {

/// Byte `selector` (0..7) of the eight bytes of `source`, its sign replicated where bit 3 of the
/// selector is set.
Value *pickByte(LaneBuilder &b, Value *source, Value *selector) {
  llvm::Type *type = source->getType();
  Value *shift = b.ir.CreateShl(b.ir.CreateAnd(selector, 7), 3);
  Value *byte =
      b.ir.CreateTrunc(b.ir.CreateLShr(source, b.extend(shift, type, false)), b.intType(8));
  Value *isSign = b.ir.CreateICmpNE(b.ir.CreateAnd(selector, 8), b.constant(32, 0));
  return b.select(isSign, b.ir.CreateAShr(byte, 7), byte);
}

/// The sources of d's bytes 0 to 3 for c[1:0] = 0 to 3.
struct Mode {
  Token token;
  uint8_t bytes[4][4];
};
constexpr Mode kModes[] = {
    {Token::f4e, {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
    {Token::b4e, {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
    {Token::rc8, {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
    {Token::ecl, {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
    {Token::ecr, {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
    {Token::rc16, {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}},
};

/// The generic control word (four bits a byte) that a mode stands for: one of four constants,
/// chosen by c[1:0].
Value *controlOf(LaneBuilder &b, const Mode &mode, Value *c) {
  Value *control = nullptr;
  for (uint32_t i = 4; i-- > 0;) {
    uint32_t word = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
      word |= uint32_t{mode.bytes[i][byte]} << (4 * byte);
    Value *isChosen = b.ir.CreateICmpEQ(b.ir.CreateAnd(c, 3), b.constant(32, i));
    control = control ? b.select(isChosen, b.constant(32, word), control) : b.constant(32, word);
  }
  return control;
}

} // namespace

void lowerPrmt(LaneBuilder &b, const Instruction &in) {
  Value *control = b.read(in, 3);
  for (const Mode &mode : kModes)
    if (in.has(mode.token))
      control = controlOf(b, mode, control);
  Value *source = b.join({b.read(in, 1), b.read(in, 2)});
  llvm::SmallVector<Value *, 4> bytes;
  for (unsigned i = 0; i < 4; ++i)
    bytes.push_back(pickByte(b, source, b.ir.CreateLShr(control, 4 * i)));
  b.write(in, 0, b.join(bytes));
}

} // namespace ptxrun::lower
