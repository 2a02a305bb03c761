// Warp collectives (PTX ISA 9.7.9.5, 9.7.9.6, 9.7.13.2, 9.7.13.8 to 9.7.13.14) as words of the
// vocabulary.
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;

namespace {

constexpr auto kConvergent = LaneBuilder::WordEffect::convergent;

llvm::Value *activeMask(LaneBuilder &b) {
  return b.word("ptx.activemask", b.intType(32), {}, kConvergent);
}

llvm::Type *valueAndPredicate(LaneBuilder &b) {
  return llvm::StructType::get(b.ir.getContext(), {b.intType(32), b.intType(1)});
}

/// Writes {i32, i1} to d and, where it was written, p.
void writePair(LaneBuilder &b, const Instruction &in, llvm::Value *pair) {
  b.write(in, 0, b.ir.CreateExtractValue(pair, 0));
  b.write(in, 1, b.ir.CreateExtractValue(pair, 1));
}

void shuffle(LaneBuilder &b, const Instruction &in, llvm::Value *mask) {
  const Token mode = in.oneOf({Token::idx, Token::up, Token::down, Token::bfly});
  const std::string name = "ptx.shfl.sync." + std::string(isa::spelling(mode));
  const auto &operands = in.operands;
  writePair(b, in,
            b.word(name, valueAndPredicate(b),
                   {b.readBits(operands[2], 32), b.readBits(operands[3], 32),
                    b.readBits(operands[4], 32), mask},
                   kConvergent));
}

void vote(LaneBuilder &b, const Instruction &in, llvm::Value *mask) {
  const Token mode = in.oneOf({Token::all, Token::any, Token::uni, Token::ballot});
  const std::string name = "ptx.vote.sync." + std::string(isa::spelling(mode));
  llvm::Type *type = b.intType(mode == Token::ballot ? 32 : 1);
  b.write(in, 0, b.word(name, type, {b.read(in, 1), mask}, kConvergent));
}

} // namespace

/// shfl without .sync: among the lanes that are active.
void lowerShfl(LaneBuilder &b, const Instruction &in) { shuffle(b, in, activeMask(b)); }

void lowerShflSync(LaneBuilder &b, const Instruction &in) {
  shuffle(b, in, b.readBits(in.operands[5], 32));
}

void lowerVote(LaneBuilder &b, const Instruction &in) { vote(b, in, activeMask(b)); }

void lowerVoteSync(LaneBuilder &b, const Instruction &in) {
  vote(b, in, b.readBits(in.operands[2], 32));
}

void lowerActivemask(LaneBuilder &b, const Instruction &in) { b.write(in, 0, activeMask(b)); }

void lowerMatchSync(LaneBuilder &b, const Instruction &in) {
  const unsigned bits = isa::bitWidth(in.type());
  const bool isAll = in.has(Token::all);
  const std::string name =
      std::string("ptx.match.") + (isAll ? "all" : "any") + ".sync.i" + std::to_string(bits);
  llvm::Value *value = b.readBits(in.operands[2], bits);
  llvm::Value *mask = b.readBits(in.operands[3], 32);
  if (isAll)
    writePair(b, in, b.word(name, valueAndPredicate(b), {value, mask}, kConvergent));
  else
    b.write(in, 0, b.word(name, b.intType(32), {value, mask}, kConvergent));
}

void lowerReduxSync(LaneBuilder &b, const Instruction &in) {
  const bool isFloat = in.type() == isa::Type::f32;
  const Token operation =
      in.oneOf({Token::add, Token::min, Token::max, Token::and_, Token::or_, Token::xor_});
  const bool isMinMax = operation == Token::min || operation == Token::max;
  std::string name = "ptx.redux.sync.";
  if (isMinMax)
    name += isFloat ? "f" : isa::isUnsigned(in.type()) ? "u" : "";
  name += isa::spelling(operation);
  if (in.has(Token::abs))
    name += ".abs";
  if (in.has(Token::NaN))
    name += ".nan";
  llvm::Type *type = isFloat ? b.ir.getFloatTy() : b.intType(32);
  llvm::Value *value =
      isFloat ? b.read(in.operands[1], isa::Type::f32) : b.readBits(in.operands[1], 32);
  b.write(in, 0, b.word(name, type, {value, b.readBits(in.operands[2], 32)}, kConvergent));
}

void lowerElectSync(LaneBuilder &b, const Instruction &in) {
  writePair(b, in,
            b.word("ptx.elect.sync", valueAndPredicate(b), {b.readBits(in.operands[2], 32)},
                   kConvergent));
}

/// bar.warp.sync also orders memory among the lanes (9.7.13.2).
void lowerBarWarpSync(LaneBuilder &b, const Instruction &in) {
  b.word("ptx.bar.warp.sync", b.ir.getVoidTy(), {b.readBits(in.operands[0], 32)},
         LaneBuilder::WordEffect::sync);
}

} // namespace ptxrun::lower
