// bar.sync 0
// if (tid == 0) {
//   before = atom.add.release.gpu(workspace + 4, ctaid == 0 ? 0x80000000 - (CTAs - 1) : 1)
//   do now = ld.acquire.gpu(workspace + 4) while (the top bits of before and now are the same)
// }
// bar.sync 0
#include "translate/lower/grid_barrier.h"

namespace ptxrun::lower {

using isa::SpecialRegister;
using llvm::Value;

namespace {

constexpr uint8_t kX = 1, kY = 2, kZ = 3;

Value *isZero(LaneBuilder &b, SpecialRegister place) {
  Value *any = b.ir.CreateOr(b.ir.CreateOr(b.specialRegister(place, kX),
                                           b.specialRegister(place, kY)),
                             b.specialRegister(place, kZ));
  return b.ir.CreateIsNull(any);
}

Value *ctaCount(LaneBuilder &b) {
  const auto extent = [&](uint8_t axis) {
    return b.specialRegister(SpecialRegister::nctaid, axis);
  };
  return b.ir.CreateMul(b.ir.CreateMul(extent(kX), extent(kY)), extent(kZ));
}

void barSync(LaneBuilder &b) {
  b.word("ptx.bar.sync", b.ir.getVoidTy(), {b.constant(32, 0), b.constant(32, 0)},
         LaneBuilder::WordEffect::sync);
}

} // namespace

Value *gridWorkspace(LaneBuilder &b) {
  llvm::Type *type = b.intType(64);
  Value *high = b.ir.CreateZExt(b.specialRegister(SpecialRegister::envreg1), type);
  Value *low = b.ir.CreateZExt(b.specialRegister(SpecialRegister::envreg2), type);
  return b.ir.CreateOr(b.ir.CreateShl(high, 32), low);
}

void emitGridBarrier(LaneBuilder &b, Value *workspace) {
  llvm::Type *word = b.intType(32);
  const llvm::SyncScope::ID gpu = b.ir.getContext().getOrInsertSyncScopeID("gpu");
  llvm::BasicBlock *arrive = b.newBlock("grid.arrive"), *poll = b.newBlock("grid.poll"),
                   *leave = b.newBlock("grid.leave");
  Value *count =
      b.ir.CreateIntToPtr(b.ir.CreateAdd(workspace, b.constant(64, 4)), b.ir.getPtrTy());

  barSync(b);
  b.ir.CreateCondBr(isZero(b, SpecialRegister::tid), arrive, leave);

  b.ir.SetInsertPoint(arrive);
  Value *last = b.ir.CreateSub(b.constant(32, 0x80000001), ctaCount(b));
  Value *step = b.ir.CreateSelect(isZero(b, SpecialRegister::ctaid), last, b.constant(32, 1));
  Value *before = b.ir.CreateAtomicRMW(llvm::AtomicRMWInst::Add, count, step, llvm::Align(4),
                                       llvm::AtomicOrdering::Release, gpu);
  b.ir.CreateBr(poll);

  b.ir.SetInsertPoint(poll);
  llvm::LoadInst *now = b.ir.CreateAlignedLoad(word, count, llvm::Align(4));
  now->setAtomic(llvm::AtomicOrdering::Acquire, gpu);
  Value *hasFlipped = b.ir.CreateICmpSLT(b.ir.CreateXor(before, now), b.constant(32, 0));
  b.ir.CreateCondBr(hasFlipped, leave, poll);

  b.ir.SetInsertPoint(leave);
  barSync(b);
}

} // namespace ptxrun::lower
