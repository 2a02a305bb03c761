// bra, brx.idx, ret, exit, trap, brkpt (PTX ISA 9.7.12, 9.7.19). Guards are branches here.
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;

namespace {

void stop(LaneBuilder &b, const Instruction &in, llvm::StringRef word) {
  llvm::BasicBlock *after = b.enterGuarded(in);
  b.word(word, b.ir.getVoidTy(), {}, LaneBuilder::WordEffect::noReturn);
  b.ir.CreateUnreachable();
  b.leaveGuarded(after);
}

} // namespace

void lowerBra(LaneBuilder &b, const Instruction &in) {
  llvm::BasicBlock *target = b.block(*in.operands[0].label);
  llvm::Value *guard = b.guard(in);
  if (!guard) {
    b.ir.CreateBr(target);
    return;
  }
  llvm::BasicBlock *after = b.newBlock("after");
  b.ir.CreateCondBr(guard, target, after);
  b.ir.SetInsertPoint(after);
}

/// brx.idx: an index outside the list is undefined behaviour (9.7.12.4); it takes the last target.
void lowerBrx(LaneBuilder &b, const Instruction &in) {
  llvm::BasicBlock *after = b.enterGuarded(in);
  const auto labels = in.operands[1].labels;
  if (labels.empty())
    return b.error(in, "a list of targets with no target in it");
  llvm::SwitchInst *branch =
      b.ir.CreateSwitch(b.readBits(in.operands[0], 32), b.block(*labels.back()), labels.size() - 1);
  for (size_t i = 0; i + 1 < labels.size(); ++i)
    branch->addCase(b.constant(32, i), b.block(*labels[i]));
  b.leaveGuarded(after);
}

void lowerRet(LaneBuilder &b, const Instruction &in) {
  llvm::BasicBlock *after = b.enterGuarded(in);
  b.returnFromFunction();
  b.leaveGuarded(after);
}

void lowerExit(LaneBuilder &b, const Instruction &in) {
  llvm::BasicBlock *after = b.enterGuarded(in);
  b.exitLane();
  b.leaveGuarded(after);
}

void lowerTrap(LaneBuilder &b, const Instruction &in) { stop(b, in, "ptx.trap"); }

void lowerBrkpt(LaneBuilder &b, const Instruction &in) { stop(b, in, "ptx.brkpt"); }

} // namespace ptxrun::lower
