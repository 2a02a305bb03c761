#include "translate/jit/idle_rounds.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

namespace ptxrun::jit {

using namespace llvm;
using namespace PatternMatch;

namespace {

constexpr unsigned kGangArgument = 2; ///< of entry points: the record of the gang that runs

/// for (counter = 0; ; ) { ...; next = counter + 1; if (!(next < rounds)) break; }   or, for
/// `next < rounds`, `counter < rounds - 1`
struct CountedLoop {
  PHINode *counter;
  ICmpInst *goesOn;
  uint64_t rounds;
  bool isOfCounter;
};

std::optional<CountedLoop> counted(const Loop &loop) {
  BasicBlock *latch = loop.getLoopLatch();
  if (!latch || loop.getExitingBlock() != latch || !loop.getLoopPredecessor())
    return std::nullopt;
  auto *branch = dyn_cast<BranchInst>(latch->getTerminator());
  auto phis = loop.getHeader()->phis();
  const APInt *bound;
  Value *compared;
  ICmpInst::Predicate predicate;
  if (!branch || phis.empty() || std::next(phis.begin()) != phis.end() ||
      branch->getSuccessor(0) != loop.getHeader() ||
      !match(branch->getCondition(), m_ICmp(predicate, m_Value(compared), m_APInt(bound))) ||
      predicate != ICmpInst::ICMP_ULT || !branch->getCondition()->hasOneUse())
    return std::nullopt;
  PHINode *counter = &*phis.begin();
  Value *next = counter->getIncomingValueForBlock(latch);
  if (!match(next, m_Add(m_Specific(counter), m_One())) ||
      (compared != next && compared != counter) ||
      !match(counter->getIncomingValueForBlock(loop.getLoopPredecessor()), m_Zero()))
    return std::nullopt;
  const bool isOfCounter = compared == counter;
  return CountedLoop{counter, cast<ICmpInst>(branch->getCondition()),
                     bound->getZExtValue() + isOfCounter, isOfCounter};
}

/// Whether nobody but this round sees that the block has run: it says which gang runs, at most.
bool isUnseen(const BasicBlock &block) {
  return none_of(block, [](const Instruction &i) {
    if (auto *store = dyn_cast<StoreInst>(&i)) {
      auto *record = dyn_cast<Argument>(getUnderlyingObject(store->getPointerOperand()));
      return !store->isSimple() || !record || record->getArgNo() != kGangArgument;
    }
    return i.mayHaveSideEffects();
  });
}

/// Whether all that the way from there does is to begin the next round.
bool leadsNowhere(const BasicBlock *block, const BasicBlock *latch) {
  for (unsigned n = 0; block != latch; ++n) {
    const BasicBlock *next = block->getSingleSuccessor();
    constexpr unsigned kMost = 8;
    if (!next || &block->front() != block->getTerminator() || n == kMost)
      return false;
    block = next;
  }
  return latch->phis().empty() && isUnseen(*latch);
}

/// The branch that all rounds but the first few leave by.
BranchInst *idleBranch(const Loop &loop, const CountedLoop &c, uint64_t &busy) {
  const BasicBlock *latch = loop.getLoopLatch();
  for (BasicBlock *block = loop.getHeader(); block != latch && isUnseen(*block);) {
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch)
      return nullptr;
    if (branch->isConditional()) {
      ICmpInst::Predicate predicate;
      const APInt *bound;
      if (!match(branch->getCondition(),
                 m_ICmp(predicate, m_Specific(c.counter), m_APInt(bound))) ||
          !leadsNowhere(branch->getSuccessor(1), latch))
        return nullptr;
      busy = predicate == ICmpInst::ICMP_ULT                     ? bound->getZExtValue()
             : predicate == ICmpInst::ICMP_EQ && bound->isZero() ? 1
                                                                 : 0;
      return busy != 0 ? branch : nullptr;
    }
    block = branch->getSuccessor(0);
    if (!block->getSinglePredecessor())
      return nullptr;
  }
  return nullptr;
}

bool isUsedBehind(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &i : *block)
      for (const User *user : i.users())
        if (!loop.contains(cast<Instruction>(user)->getParent()))
          return true;
  return false;
}

bool endIdleRounds(const Loop &loop) {
  const std::optional<CountedLoop> c = counted(loop);
  uint64_t busy = 0;
  BranchInst *branch = c ? idleBranch(loop, *c, busy) : nullptr;
  if (!branch || busy >= c->rounds || isUsedBehind(loop))
    return false;
  branch->setCondition(ConstantInt::getTrue(branch->getContext()));
  c->goesOn->setOperand(1, ConstantInt::get(c->counter->getType(), busy - c->isOfCounter));
  if (busy == 1) {
    auto *leaves = cast<BranchInst>(loop.getLoopLatch()->getTerminator());
    leaves->setCondition(ConstantInt::getFalse(leaves->getContext()));
  }
  return true;
}

} // namespace

PreservedAnalyses EndIdleRounds::run(Function &function, FunctionAnalysisManager &analyses) {
  bool isChanged = false;
  for (const Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    isChanged |= endIdleRounds(*loop);
  if (!isChanged)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved; // no block was removed
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace ptxrun::jit
