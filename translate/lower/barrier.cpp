// bar and barrier (PTX ISA 9.7.13.1) as words of the vocabulary; nanosleep.
#include "translate/lower/lane_builder.h"
#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;

namespace {
constexpr auto kSync = LaneBuilder::WordEffect::sync;

/// The thread count operand, 0 (all threads of the CTA) where it was not written.
llvm::Value *threadCount(LaneBuilder &b, const Instruction &in, size_t i) {
  return b.has(in, i) ? b.readBits(in.operands[i], 32) : b.constant(32, 0);
}
/// bar is always .aligned.
llvm::CallInst *aligned(LaneBuilder &b, const Instruction &in, llvm::CallInst *barrier) {
  if (in.form->opcode == "bar" || in.has(Token::aligned))
    barrier->setMetadata(vocabulary::kAligned, llvm::MDNode::get(b.ir.getContext(), {}));
  return barrier;
}
} // namespace

void lowerBarSync(LaneBuilder &b, const Instruction &in) {
  aligned(b, in,
          b.word("ptx.bar.sync", b.ir.getVoidTy(),
                 {b.readBits(in.operands[0], 32), threadCount(b, in, 1)}, kSync));
}

void lowerBarArrive(LaneBuilder &b, const Instruction &in) {
  aligned(b, in,
          b.word("ptx.bar.arrive", b.ir.getVoidTy(),
                 {b.readBits(in.operands[0], 32), threadCount(b, in, 1)}, kSync));
}

void lowerBarRed(LaneBuilder &b, const Instruction &in) {
  const Token operation = in.oneOf({Token::popc, Token::and_, Token::or_});
  const std::string name = "ptx.bar.red." + std::string(isa::spelling(operation));
  llvm::Type *type = b.intType(operation == Token::popc ? 32 : 1);
  b.write(in, 0,
          aligned(b, in,
                  b.word(name, type,
                         {b.readBits(in.operands[1], 32), threadCount(b, in, 2), b.read(in, 3)},
                         kSync)));
}

void lowerNanosleep(LaneBuilder &b, const Instruction &in) {
  b.word("ptx.nanosleep", b.ir.getVoidTy(), {b.readBits(in.operands[0], 32)}, kSync);
}

} // namespace ptxrun::lower
