#include "translate/simt/leading_axis.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>

#include <bit>

#include "translate/simt/alone.h"
#include "translate/simt/cost.h"
#include "translate/simt/staged_stores.h"
#include "translate/simt/width.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Instruction;

/// Whether nothing can tell in which order threads do this between barriers, nor which of them are
/// in a warp.
bool isSameInAnyOrder(const Instruction &i) {
  using Kind = Word::Kind;
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isSimple();
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return store->isSimple();
  if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i))
    return isUpdateInAnyOrder(*update);
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  if (!call)
    return !i.mayReadOrWriteMemory();
  const llvm::Function *callee = call->getCalledFunction();
  if (!callee)
    return false;
  switch (const Word word = wordOf(*callee); word.kind) {
  case Kind::none: // of what another function does, itself
    return callee->isIntrinsic() ? !call->isConvergent() : !callee->isDeclaration();
  case Kind::threadIndex:
  case Kind::uniformValue:
  case Kind::addressTest:
  case Kind::rounded:
    return true;
  case Kind::specialRegister:
    return word.op == Op::ntid || word.op == Op::ctaid || word.op == Op::nctaid;
  case Kind::barrier:
    return isWholeBarrier(i);
  default:
    return false;
  }
}

bool isOfOwnStack(const llvm::Value *pointer) {
  return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

/// Cycles of a thread's accesses of memory, where gangs have rows of the block; of short rows,
/// which a gang has several of, a part.
float costOfAccesses(llvm::Function &kernel, const CodeOptions &o, const Target &target) {
  GangShape gang{32, o.block};
  while (gang.lanes > 4 && o.block[0] % gang.lanes != 0)
    gang.lanes /= 2;
  if (o.block[0] % gang.lanes != 0) {
    gang.lanes = std::min(32u, std::bit_ceil(std::max(o.block[0], 8u)));
    gang.row = rowAcrossGangs(o, gang.lanes);
  }
  const UsualShapes shapes(kernel, gang);
  const AloneCost cost(shapes.usual(), target);
  float all = 0;
  for (const llvm::BasicBlock *b : shapes.usual().order()) {
    float rounds = 1;
    for (auto *l = shapes.usual().loops().getLoopFor(b); l; l = l->getParentLoop())
      rounds *= kLimits.oneLane.rounds;
    for (const Instruction &i : *b)
      if (const llvm::Value *p = llvm::getLoadStorePointerOperand(&i); p && !isOfOwnStack(p))
        all += rounds * cost.ofAccess(i);
  }
  return all / float(gang.threadsPerGang());
}

llvm::Function *threadIndexAlong(llvm::Module &m, unsigned axis) {
  for (llvm::Function &f : m)
    if (const Word word = wordOf(f); word.kind == Word::Kind::threadIndex && word.axis == axis)
      return &f;
  return nullptr;
}

} // namespace

void exchangeWithX(llvm::Module &m, unsigned axis, BlockShape &block) {
  std::swap(block[0], block[axis]);
  llvm::Function *x = threadIndexAlong(m, 0), *other = threadIndexAlong(m, axis);
  const std::string base(wordFor(Op::tid).name);
  const std::string names[] = {base + ".x", base + "." + "xyz"[axis]};
  if (x)
    x->setName("");
  if (other)
    other->setName(names[0]);
  if (x)
    x->setName(names[1]);
}

unsigned bestLeadingAxis(llvm::Module &m, llvm::Function &kernel, const CodeOptions &o,
                         const Target &target) {
  const auto isUsed = [&](unsigned axis) {
    const llvm::Function *f = threadIndexAlong(m, axis);
    return o.block[axis] > 1 && f && !f->use_empty();
  };
  if (o.lanes == 1 || o.block[0] <= 1 || o.schedulesGangs || o.isWatched ||
      !(isUsed(1) || isUsed(2)))
    return 0;
  size_t blocks = 0;
  for (llvm::Function &f : m) {
    blocks += f.size();
    if (!llvm::all_of(llvm::instructions(f), isSameInAnyOrder))
      return 0;
  }
  if (blocks > kLimits.oneLane.blocks)
    return 0;
  unsigned best = 0;
  float least = kLimits.leadingAxis.share * costOfAccesses(kernel, o, target);
  for (unsigned axis : {1u, 2u}) {
    if (!isUsed(axis))
      continue;
    CodeOptions along = o;
    exchangeWithX(m, axis, along.block);
    const float cost = costOfAccesses(kernel, along, target);
    exchangeWithX(m, axis, along.block);
    if (cost < least)
      best = axis, least = cost;
  }
  return best;
}

} // namespace ptxrun::simt
