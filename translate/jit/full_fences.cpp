#include "translate/jit/full_fences.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace ptxrun::jit {

using namespace llvm;

void lockForFences(Function &function) {
  SmallVector<FenceInst *> fences;
  for (Instruction &i : instructions(function))
    if (auto *fence = dyn_cast<FenceInst>(&i);
        fence && fence->getOrdering() == AtomicOrdering::SequentiallyConsistent &&
        fence->getSyncScopeID() == SyncScope::System)
      fences.push_back(fence);
  if (fences.empty())
    return;
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> b(&entry, entry.getFirstInsertionPt());
  AllocaInst *own = b.CreateAlloca(b.getInt32Ty(), nullptr, "fenced");
  for (FenceInst *fence : fences) {
    b.SetInsertPoint(fence); // its line, too
    b.CreateAtomicRMW(AtomicRMWInst::Or, own, b.getInt32(0), Align(4),
                      AtomicOrdering::SequentiallyConsistent);
    fence->eraseFromParent();
  }
}

} // namespace ptxrun::jit
