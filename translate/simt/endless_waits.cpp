// Loops that do nothing but wait for a phase of an mbarrier (PTX ISA 9.7.13.15.16):
//
//     do p = mbarrier.try_wait(object, state); while (!p)          also with test_wait, also with a
//     nanosleep inside
//
// Nothing is seen of the time limit of a single try in them, so that the wait gets none: its gang
// sleeps until the phase is complete, and a phase that nobody can complete is known at once.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

/// The last operand of a wait without time limit (ptxrun_mbarrier_try_wait).
constexpr uint32_t kNoLimit = ~0u;

bool isMbarrierWait(const llvm::Instruction &i) { return isMbarrierTest(wordAt(i).op); }

/// The loop's only wait, if there is one and nothing beside it has an effect or reads memory.
llvm::CallInst *onlyWait(const llvm::Loop &loop) {
  llvm::CallInst *wait = nullptr;
  for (llvm::BasicBlock *b : loop.blocks())
    for (llvm::Instruction &i : *b) {
      if (isMbarrierWait(i)) {
        if (wait)
          return nullptr;
        wait = llvm::cast<llvm::CallInst>(&i);
      } else if (wordAt(i).kind != Word::Kind::schedule &&
                 (i.mayReadOrWriteMemory() || i.mayThrow())) {
        return nullptr;
      }
    }
  return wait;
}

/// True if the one conditional branch of the loop leaves it when the wait was successful.
bool leavesOnlyBy(const llvm::Loop &loop, llvm::CallInst &wait) {
  using namespace llvm::PatternMatch;
  const llvm::BranchInst *exit = nullptr;
  for (const llvm::BasicBlock *b : loop.blocks()) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(b->getTerminator());
    if (!branch || (branch->isConditional() && exit))
      return false;
    if (branch->isConditional())
      exit = branch;
  }
  if (!exit)
    return false;
  const bool isNegated = match(exit->getCondition(), m_Not(m_Specific(&wait)));
  if (!isNegated && exit->getCondition() != &wait)
    return false;
  return !loop.contains(exit->getSuccessor(isNegated ? 1 : 0)) &&
         loop.contains(exit->getSuccessor(isNegated ? 0 : 1));
}

void removeLimit(llvm::CallInst &wait) {
  llvm::LLVMContext &c = wait.getContext();
  auto *limit = llvm::ConstantInt::get(llvm::Type::getInt32Ty(c), kNoLimit);
  llvm::Function *callee = wait.getCalledFunction();
  if (wordOf(*callee).op == Op::mbarrierTryWait) {
    wait.setArgOperand(wait.arg_size() - 1, limit);
    return;
  }
  llvm::SmallVector<llvm::Value *> arguments(wait.args());
  arguments.push_back(limit);
  llvm::SmallVector<llvm::Type *> types;
  for (const llvm::Value *a : arguments)
    types.push_back(a->getType());
  llvm::FunctionCallee tryWait = callee->getParent()->getOrInsertFunction(
      wordFor(Op::mbarrierTryWait).name, llvm::FunctionType::get(wait.getType(), types, false),
      callee->getAttributes());
  auto *endless = llvm::CallInst::Create(tryWait, arguments, "", wait.getIterator());
  endless->setAttributes(wait.getAttributes());
  endless->setDebugLoc(wait.getDebugLoc());
  wait.replaceAllUsesWith(endless);
  wait.eraseFromParent();
}

} // namespace

bool isEndlessWait(const llvm::Instruction &i) {
  if (wordAt(i).op != Op::mbarrierTryWait)
    return false;
  auto *call = llvm::cast<llvm::CallBase>(&i);
  auto *limit = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(call->arg_size() - 1));
  return limit && limit->getZExtValue() == kNoLimit;
}

void removeLimitsOfEndlessWaits(llvm::Function &f) {
  if (llvm::none_of(f, [](const llvm::BasicBlock &b) { return llvm::any_of(b, isMbarrierWait); }))
    return;
  llvm::DominatorTree dominators(f);
  llvm::LoopInfo loops(dominators);
  for (const llvm::Loop *loop : loops.getLoopsInPreorder()) {
    llvm::CallInst *wait = onlyWait(*loop);
    if (wait &&
        llvm::all_of(wait->args(),
                     [&](const llvm::Value *a) { return loop->isLoopInvariant(a); }) &&
        leavesOnlyBy(*loop, *wait))
      removeLimit(*wait);
  }
}

} // namespace ptxrun::simt
