// Which programs may run in lockstep. Masked lockstep is one of the interleavings PTX allows unless a lane waits for another
// lane of its own gang that lockstep keeps from going on:
//  - a lock: a loop that lanes leave one by one, decided by an exchange or compare-and-swap with the same operands in every
//    round, so that only somebody's release ends it;
//  - a collective or barrier under divergent control, whose other members may wait elsewhere. Lanes that left for good are not waited for.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

bool waitsForOthers(const llvm::Instruction &i) {
  Word w = wordAt(i);
  if (w.kind == Word::Kind::runtime || w.kind == Word::Kind::runtimeWait)
    return true;  // arrives at or waits for an mbarrier, or a cluster barrier
  if (w.kind == Word::Kind::barrier || isCollective(w.kind))
    return llvm::cast<llvm::CallBase>(i).getCalledFunction()->getName() != "ptx.activemask";
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  return call && (!call->getCalledFunction() || !call->getCalledFunction()->isDeclaration());
}

BlockSet reachable(const llvm::BasicBlock *start, const llvm::BasicBlock *stop) {
  BlockSet seen;
  llvm::SmallVector<const llvm::BasicBlock *> stack{start};
  while (!stack.empty()) {
    const llvm::BasicBlock *b = stack.pop_back_val();
    if (b == stop || !seen.insert(b).second)
      continue;
    stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  }
  return seen;
}

namespace {

/// True if at every divergent branch that parts lanes around `block`, the lanes that do not come here never wait for anyone: they
/// run to the end of the function by themselves.
bool othersAreGone(const llvm::BasicBlock *block, const ShapeAnalysis &shapes) {
  for (const llvm::BasicBlock *a : shapes.order()) {
    if (!shapes.isDivergentBranch(a))
      continue;
    const llvm::BasicBlock *stop = shapes.meetingPoint(a);
    unsigned leading = 0, waiting = 0;
    for (const llvm::BasicBlock *s : llvm::successors(a)) {
      auto region = reachable(s, stop);
      if (region.contains(block)) {
        ++leading;
        continue;
      }
      for (const llvm::BasicBlock *b : region)
        for (const llvm::Instruction &i : *b)
          waiting += waitsForOthers(i);
      // Where both ways meet again before the end, the others do not leave.
      if (stop && !llvm::isa<llvm::ReturnInst>(stop->getTerminator()))
        ++waiting;
    }
    if (leading > 1 && shapes.loops().getLoopFor(a) && shapes.isDivergentLoop(shapes.loops().getLoopFor(a)))
      return false;
    if (leading == 1 && waiting)
      return false;
    if (leading > 1)
      return false;
  }
  return true;
}

/// True if at every divergent branch around `block` the other way does nothing with mbarriers or barriers before the
/// lanes meet again: then nobody on it can be what a wait in `block` waits for.
bool othersAreIdle(const llvm::BasicBlock *block, const ShapeAnalysis &shapes) {
  for (const llvm::BasicBlock *a : shapes.order()) {
    if (!shapes.isDivergentBranch(a))
      continue;
    const llvm::BasicBlock *stop = shapes.meetingPoint(a);
    bool leads = false, others = false;
    for (const llvm::BasicBlock *s : llvm::successors(a)) {
      auto region = reachable(s, stop);
      if (region.contains(block)) {
        leads = true;
        continue;
      }
      for (const llvm::BasicBlock *b : region)
        others |= llvm::any_of(*b, waitsForOthers);
    }
    if (leads && others)
      return false;
  }
  return true;
}

}  // namespace

bool namesActiveLanes(const llvm::Value *members) {
  llvm::SmallVector<const llvm::Value *> stack{members};
  llvm::DenseSet<const llvm::Value *> seen;
  while (!stack.empty()) {
    const llvm::Value *v = stack.pop_back_val();
    if (!seen.insert(v).second)
      continue;
    auto *i = llvm::dyn_cast<llvm::Instruction>(v);
    if (!i)
      return false;
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(i)) {
      llvm::StringRef name = call->getCalledFunction() ? call->getCalledFunction()->getName() : "";
      if (name == "ptx.activemask" || name == "ptx.vote.sync.ballot" || name.starts_with("ptx.match."))
        continue;
      return false;
    }
    if (i->getOpcode() == llvm::Instruction::And) {
      // Part of the active lanes is enough.
      if (namesActiveLanes(i->getOperand(0)) || namesActiveLanes(i->getOperand(1)))
        continue;
      return false;
    }
    if (!llvm::isa<llvm::PHINode>(i) && !llvm::isa<llvm::SelectInst>(i) && !llvm::isa<llvm::ExtractValueInst>(i))
      return false;
    for (unsigned k = llvm::isa<llvm::SelectInst>(i) ? 1 : 0; k < i->getNumOperands(); ++k)
      stack.push_back(i->getOperand(k));
  }
  return true;
}

namespace {

std::string at(const llvm::Instruction &i) {
  return i.getDebugLoc() ? " at PTX line " + std::to_string(i.getDebugLoc().getLine()) : std::string();
}

/// Does `v` depend on an instruction of the loop that reads memory or comes from the previous round?
bool changesPerRound(const llvm::Value *v, const llvm::Loop &loop) {
  return !loop.isLoopInvariant(v) && !llvm::isa<llvm::Constant>(v);
}

/// The loop's divergent exits hang on an operation that takes a lock.
const llvm::Instruction *findLock(const llvm::Loop &loop, const ShapeAnalysis &shapes) {
  llvm::SmallVector<const llvm::Value *> stack;
  for (const llvm::BasicBlock *b : loop.blocks()) {
    if (!shapes.isDivergentBranch(b))
      continue;
    // Lanes that meet again inside the loop do not leave it here.
    const llvm::BasicBlock *meet = shapes.meetingPoint(b);
    if (!meet || !loop.contains(meet) || meet == loop.getHeader())
      stack.push_back(llvm::cast<llvm::BranchInst>(b->getTerminator())->getCondition());
  }
  llvm::DenseSet<const llvm::Value *> seen;
  while (!stack.empty()) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(stack.pop_back_val());
    if (!i || !loop.contains(i) || !seen.insert(i).second)
      continue;
    if (auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(i)) {
      if (!changesPerRound(cas->getCompareOperand(), loop))
        return i;
      continue;
    }
    if (auto *rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(i)) {
      auto op = rmw->getOperation();
      bool isIdempotent = op == llvm::AtomicRMWInst::Xchg || op == llvm::AtomicRMWInst::Or || op == llvm::AtomicRMWInst::And;
      if (isIdempotent && !changesPerRound(rmw->getValOperand(), loop))
        return i;
      continue;
    }
    for (const llvm::Value *op : i->operands())
      stack.push_back(op);
  }
  return nullptr;
}

}  // namespace

/// True if a branch inside the loop may go by what the loop read, or nothing leads out of it. A loop whose branches all go by
/// values of its own (a counter) ends by itself, whatever it reads.
static bool branchesOnMemory(const llvm::Loop &loop) {
  llvm::SmallVector<const llvm::Value *, 16> pending;
  llvm::SmallPtrSet<const llvm::Value *, 32> seen;
  if (loop.hasNoExitBlocks())
    return true;
  for (const llvm::BasicBlock *b : loop.blocks())
    for (const llvm::Value *operand : b->getTerminator()->operands())
      if (!llvm::isa<llvm::BasicBlock>(operand))
        pending.push_back(operand);
  while (!pending.empty()) {
    const auto *i = llvm::dyn_cast<llvm::Instruction>(pending.pop_back_val());
    if (!i || !loop.contains(i) || !seen.insert(i).second)
      continue;
    if (i->mayReadOrWriteMemory())
      return true;
    pending.append(i->value_op_begin(), i->value_op_end());
  }
  return false;
}

bool isSpinLoop(const llvm::Loop &loop) {
  if (!branchesOnMemory(loop))
    return false;
  for (const llvm::BasicBlock *b : loop.blocks())
    for (const llvm::Instruction &i : *b) {
      if (wordAt(i).kind == Word::Kind::runtime && llvm::cast<llvm::CallBase>(i).getCalledFunction()->getName().starts_with("ptx.mbarrier.test_wait"))
        return true;
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i); load && (load->isVolatile() || load->isAtomic()))
        return true;
      if (auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i); cas && !changesPerRound(cas->getCompareOperand(), loop))
        return true;
      if (auto *rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&i); rmw && rmw->getOperation() != llvm::AtomicRMWInst::Add &&
                                                               !i.use_empty() && !changesPerRound(rmw->getValOperand(), loop))
        return true;
    }
  return false;
}

Findings examine(const llvm::Function &f, const ShapeAnalysis &shapes) {
  Findings r;
  for (const llvm::Loop *l : const_cast<llvm::LoopInfo &>(shapes.loops()).getLoopsInPreorder()) {
    r.spins |= isSpinLoop(*l);
    if (shapes.isDivergentLoop(l) && r.needsThreads.empty())
      if (const llvm::Instruction *lock = findLock(*l, shapes))
        r.needsThreads = "lanes of a warp may wait for each other's lock" + at(*lock);
  }
  for (const llvm::BasicBlock &b : f) {
    if (llvm::isa<llvm::ReturnInst>(b.getTerminator()))
      for (const llvm::BasicBlock *p : llvm::predecessors(&b))
        r.mayExitEarly |= shapes.isInDivergentRegion(p) || shapes.isDivergentBranch(p);
    for (const llvm::Instruction &i : b) {
      Word w = wordAt(i);
      auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&i);
      if (alloca && (!llvm::isa<llvm::ConstantInt>(alloca->getArraySize()) || &b != &f.getEntryBlock()) && r.needsThreads.empty())
        r.needsThreads = "each thread takes stack of its own size" + at(i);
      auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
      const bool isActiveMask = call && call->getCalledFunction() && call->getCalledFunction()->getName() == "ptx.activemask";
      if (isCollective(w.kind)) {
        r.hasCollectives = true;
        if (!isActiveMask) {
          const llvm::Value *members = call->getArgOperand(call->arg_size() - 1);
          r.hasVaryingMembers |= !shapes.isUniform(members);
          if (r.needsThreads.empty() && shapes.isInDivergentRegion(&b) && !namesActiveLanes(members) && !othersAreGone(&b, shapes))
            r.needsThreads = "a warp collective under divergent control names lanes that may be elsewhere" + at(i);
        }
      } else if (w.kind == Word::Kind::runtimeWait || (w.kind == Word::Kind::runtime && call->getType()->isIntegerTy(1))) {
        if (r.needsThreads.empty() && shapes.isInDivergentRegion(&b) && !othersAreIdle(&b, shapes))
          r.needsThreads = "lanes of a warp may wait at an mbarrier for each other" + at(i);
      } else if (w.kind == Word::Kind::barrier) {
        r.hasBarriers = true;
        if (r.needsThreads.empty() && shapes.isInDivergentRegion(&b) && !othersAreGone(&b, shapes))
          r.needsThreads = "a barrier under divergent control" + at(i);
      }
    }
  }
  return r;
}

}  // namespace ptxrun::simt
