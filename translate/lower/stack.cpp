// stacksave, stackrestore, alloca (PTX ISA 9.7.17): a stack of a fixed size per function and lane.
#include <llvm/IR/Constants.h>

#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;

namespace {

/// The frame alignment that alloca guarantees without immAlign.
constexpr uint64_t kFrameAlignment = 8;

/// An address as the instruction's type holds it. `.u32`: the lower half, which tells where in the
/// stack it is; an access to `.local` finds the whole (VariablePointersPass).
llvm::Value *held(LaneBuilder &b, const Instruction &in, llvm::Value *address) {
  return b.ir.CreateTrunc(address, b.intType(isa::bitWidth(in.type())));
}

/// The address the stack has grown to; it grows upwards.
llvm::Value *stackTop(LaneBuilder &b) {
  llvm::Value *used = b.ir.CreateLoad(b.intType(64), b.stack().used);
  return b.ir.CreateAdd(b.ir.CreatePtrToInt(b.stack().memory, b.intType(64)), used);
}

} // namespace

void lowerStackSave(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, held(b, in, stackTop(b)));
}

void lowerStackRestore(LaneBuilder &b, const Instruction &in) {
  llvm::Value *base = held(b, in, b.ir.CreatePtrToInt(b.stack().memory, b.intType(64)));
  llvm::Value *used = b.ir.CreateSub(b.read(in, 0), base);
  b.ir.CreateStore(b.ir.CreateZExt(used, b.intType(64)), b.stack().used);
}

// place = align(top); used = place + size - base; if (used > kStackBytes) trap; ptr = place
void lowerAlloca(LaneBuilder &b, const Instruction &in) {
  const uint64_t wanted = b.has(in, 2) ? static_cast<uint64_t>(in.operands[2].integer) : 0;
  const uint64_t alignment = std::max(kFrameAlignment, wanted);
  llvm::Value *place = b.ir.CreateAnd(b.ir.CreateAdd(stackTop(b), b.constant(64, alignment - 1)),
                                      b.constant(64, ~(alignment - 1)));
  llvm::Value *base = b.ir.CreatePtrToInt(b.stack().memory, b.intType(64));
  llvm::Value *size = b.ir.CreateZExt(b.read(in, 1), b.intType(64));
  llvm::Value *used = b.ir.CreateSub(b.ir.CreateAdd(place, size), base);
  llvm::BasicBlock *overflow = b.newBlock("stack.overflow"), *fits = b.newBlock("stack.fits");
  b.ir.CreateCondBr(b.ir.CreateICmpUGT(used, b.constant(64, LaneBuilder::kStackBytes)), overflow,
                    fits);
  b.ir.SetInsertPoint(overflow);
  b.word("ptx.trap", b.ir.getVoidTy(), {}, LaneBuilder::WordEffect::noReturn);
  b.ir.CreateUnreachable();
  b.ir.SetInsertPoint(fits);
  b.ir.CreateStore(used, b.stack().used);
  b.write(in, 0, held(b, in, place));
}

} // namespace ptxrun::lower
