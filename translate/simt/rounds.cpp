// Rounds: trees and scans in shared memory halve or double a distance from barrier to barrier.
//
//     for (s = 1; s < 256; s *= 2) {         =>   if (tid % 2 == 0) part[tid] += part[tid + 1];
//       if (tid % (2 * s) == 0)                   barrier;
//         part[tid] += part[tid + s];             if (tid % 4 == 0) part[tid] += part[tid + 2];
//       barrier;                                  barrier;
//     }                                           ...
//
// With the distance a constant, masks are constants, addresses have offsets (shape.h), and gangs
// whose lanes all stand aside are seen to. Where the loop only moves on through memory, nothing is
// won. LLVM comes too late for it: loops around barriers are cut into regions before.
#include "translate/simt/rounds.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "translate/lower/analyses.h"
#include "translate/lower/scalar_form.h"
#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

bool unroll(llvm::Loop &loop, unsigned rounds, bool isRuntime, llvm::FunctionAnalysisManager &a) {
  llvm::Function &f = *loop.getHeader()->getParent();
  llvm::UnrollLoopOptions options{};
  options.Count = rounds;
  options.Runtime = isRuntime;
  return llvm::UnrollLoop(&loop, options, &a.getResult<llvm::LoopAnalysis>(f),
                          &a.getResult<llvm::ScalarEvolutionAnalysis>(f),
                          &a.getResult<llvm::DominatorTreeAnalysis>(f),
                          &a.getResult<llvm::AssumptionAnalysis>(f),
                          &a.getResult<llvm::TargetIRAnalysis>(f),
                          &a.getResult<llvm::OptimizationRemarkEmitterAnalysis>(f),
                          true) != llvm::LoopUnrollResult::Unmodified;
}

namespace {

/// Instructions of the loop, 0 where there is no barrier among them.
uint64_t sizeAroundBarrier(const llvm::Loop &loop) {
  uint64_t size = 0;
  bool hasBarrier = false;
  for (const llvm::BasicBlock *b : loop.blocks())
    for (const llvm::Instruction &i : *b) {
      hasBarrier |= isBarrierWord(i);
      ++size;
    }
  return hasBarrier ? size : 0;
}

/// Whether the value is computed from one that the loop changes from round to round for all lanes
/// alike.
bool dependsOnRound(const llvm::Value *value, const llvm::Loop &loop, const ShapeAnalysis &shapes) {
  llvm::SmallVector<const llvm::Value *> stack{value};
  llvm::DenseSet<const llvm::Value *> seen;
  while (!stack.empty() && seen.size() < kLimits.search.operands) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(stack.pop_back_val());
    if (!i || !loop.contains(i) || !seen.insert(i).second || i->mayReadOrWriteMemory())
      continue;
    if (llvm::isa<llvm::PHINode>(i) && i->getParent() == loop.getHeader()) {
      if (shapes.isUniform(i))
        return true;
      continue;
    }
    stack.append(i->value_op_begin(), i->value_op_end());
  }
  return false;
}

/// Whether rounds decide which lanes take part, or how the places of lanes lie.
bool differBetweenRounds(const llvm::Loop &loop, const ShapeAnalysis &shapes) {
  for (const llvm::BasicBlock *b : loop.blocks()) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
    if (branch && branch->isConditional() && shapes.isDivergentBranch(b) &&
        dependsOnRound(branch->getCondition(), loop, shapes))
      return true;
    for (const llvm::Instruction &i : *b)
      if (const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&i);
          pointer && shapes.shape(pointer).isVarying() && dependsOnRound(pointer, loop, shapes))
        return true;
  }
  return false;
}

/// Quotients of 32-bit numbers, which lower computes in double precision, by the powers of two that
/// distances mostly are:  fptoui(uitofp(x) / 2^k)  =>  x >> k
void simplifyQuotients(llvm::Function &f) {
  namespace pm = llvm::PatternMatch;
  for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(f))) {
    llvm::Value *x = nullptr;
    const llvm::APFloat *by = nullptr;
    if (!pm::match(&i, pm::m_FPToUI(pm::m_FDiv(pm::m_UIToFP(pm::m_Value(x)), pm::m_APFloat(by)))) ||
        x->getType() != i.getType() || !i.getType()->isIntegerTy(32) || by->isNegative() ||
        by->getExactLog2Abs() < 0 || by->getExactLog2Abs() > 31)
      continue;
    llvm::IRBuilder<> b(&i);
    i.replaceAllUsesWith(b.CreateLShr(x, uint64_t(by->getExactLog2Abs())));
    i.eraseFromParent();
  }
}

/// Numbers that were distances before are constants now.
void simplify(llvm::Function &f) {
  simplifyQuotients(f);
  lower::Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass()); // one address of what lies near one another
  passes.addPass(lower::ScalarFormPass());
  passes.run(f, analyses.functions);
}

} // namespace

bool unrollRounds(llvm::Function &f, const GangShape &gang) {
  if (llvm::none_of(llvm::instructions(f), isBarrierWord))
    return false;
  unsigned left = kLimits.rounds.instructions;
  bool isChanged = false;
  for (bool isDone = false; !isDone;) {
    isDone = true;
    const ShapeAnalysis shapes(f, gang, false);
    lower::Analyses analyses;
    llvm::FunctionAnalysisManager &a = analyses.functions;
    auto &evolution = a.getResult<llvm::ScalarEvolutionAnalysis>(f);
    for (llvm::Loop *l : a.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
      const uint64_t size = l->isInnermost() ? sizeAroundBarrier(*l) : 0;
      if (size == 0)
        continue;
      const unsigned rounds = evolution.getSmallConstantTripCount(l);
      if (rounds < 2 || rounds * size > left ||
          !differBetweenRounds(*shapes.loops().getLoopFor(l->getHeader()), shapes))
        continue;
      left -= unsigned(rounds * size);
      if (unroll(*l, rounds, false, a)) {
        isChanged = true, isDone = false;
        break;
      }
    }
    if (!isDone)
      normaliseLoops(f);
  }
  if (isChanged) {
    simplify(f);
    normaliseLoops(f); // a value that a loop carried may stand before it now
  }
  return isChanged;
}

} // namespace ptxrun::simt
