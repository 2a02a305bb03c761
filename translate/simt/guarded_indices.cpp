// Indices that are moved on under a guard, and asked for under the same guard only:
//
//     loop: i = phi(start, next)
//           if (inside) { a[i] = ...; moved = i + plane }
//           next = phi(i, moved)               =>  next = i + plane
//
// Lanes that are not inside never ask which value they have. Moved on for all of them, the index
// stays a row of lanes where it was one; merged, nothing would be known of it.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

using llvm::Instruction;
using llvm::Value;

/// One outcome of a condition.
class Guard {
 public:
  Guard(const Value &condition, bool isTrue, const llvm::DominatorTree &dominators)
      : dominators_(dominators) {
    for (const llvm::User *user : condition.users())
      if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(user); branch && !isEmpty(*branch))
        edges_.emplace_back(branch->getParent(), branch->getSuccessor(isTrue ? 0 : 1));
  }
  static bool isEmpty(const llvm::BranchInst &branch) {
    return branch.isUnconditional() || branch.getSuccessor(0) == branch.getSuccessor(1);
  }
  bool isAround(const llvm::BasicBlock *b) const {
    return llvm::any_of(
        edges_, [&](const llvm::BasicBlockEdge &edge) { return dominators_.dominates(edge, b); });
  }
  /// Whether nothing but what is under the guard depends on a value.
  bool isAroundUses(const Value &value) const {
    llvm::SmallVector<const Value *> stack{&value};
    llvm::DenseSet<const Value *> seen;
    while (!stack.empty()) {
      const Value *v = stack.pop_back_val();
      if (!seen.insert(v).second)
        continue;
      if (seen.size() > kLimits.search.numbers)
        return false;
      for (const llvm::User *user : v->users()) {
        auto *i = llvm::cast<Instruction>(user);
        if (llvm::isa<llvm::PHINode>(i) || isSpeculatable(*i))
          stack.push_back(i);
        else if (!isAround(i->getParent()))
          return false;
      }
    }
    return true;
  }

 private:
  const llvm::DominatorTree &dominators_;
  llvm::SmallVector<llvm::BasicBlockEdge> edges_;
};

/// Whether a condition is the same in all rounds of a loop and of those around it.
bool isFixed(const Value *condition, const llvm::Loop *loop) {
  return !loop || loop->getOutermostLoop()->isLoopInvariant(condition);
}

} // namespace

void moveGuardedIndices(llvm::Function &f) {
  const llvm::DominatorTree dominators(f);
  const llvm::LoopInfo loops(dominators);
  for (llvm::BasicBlock &before : f) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(before.getTerminator());
    if (!branch || Guard::isEmpty(*branch) || llvm::isa<llvm::Constant>(branch->getCondition()))
      continue;
    for (const unsigned way : {0u, 1u}) { // the one that is guarded
      llvm::BasicBlock *meeting = branch->getSuccessor(1 - way);
      const llvm::Loop *loop = loops.getLoopFor(meeting);
      if (loop != loops.getLoopFor(&before) || !isFixed(branch->getCondition(), loop))
        continue;
      const llvm::BasicBlockEdge in(&before, branch->getSuccessor(way));
      const Guard guard(*branch->getCondition(), way == 0, dominators);
      for (llvm::PHINode &phi : llvm::make_early_inc_range(meeting->phis())) {
        if (!phi.getType()->isIntegerTy() || phi.use_empty() || phi.getNumIncomingValues() != 2 ||
            phi.getBasicBlockIndex(&before) < 0)
          continue;
        const unsigned inside = phi.getIncomingBlock(0) == &before ? 1 : 0;
        if (!dominators.dominates(in, phi.getIncomingBlock(inside)) ||
            loops.getLoopFor(phi.getIncomingBlock(inside)) != loop || !guard.isAroundUses(phi))
          continue;
        if (Value *moved =
                computedBefore(phi.getIncomingValue(inside), &*meeting->getFirstInsertionPt(),
                               dominators, kLimits.search.operands)) {
          phi.replaceAllUsesWith(moved);
          phi.eraseFromParent();
        }
      }
    }
  }
}

} // namespace ptxrun::simt
