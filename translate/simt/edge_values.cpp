// Compilers put in for a value what it is known to be where a condition tells:
//
//     if (i != 0) ...;  store v, out + i * 4
//       =>  far:  br (i == 0), join, near
//           near: x = i * 4; ...
//           join: offset = phi [x, near], [0, far];  store v, out + offset
//
// Then lanes, though neighbours, have addresses of which nothing is known. On the edge from `far` x
// would be 0 as well: it is computed ahead, for both.
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

using namespace llvm::PatternMatch;
using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// v == number.
struct Known {
  Value *v;
  llvm::ConstantInt *number;
};

/// What the way from `from` to `to` tells, by the condition at its end or before.
std::optional<Known> knownOn(BasicBlock *from, BasicBlock *to) {
  for (unsigned n = 0; from && n < kLimits.search.blocksBack; ++n) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(from->getTerminator());
    llvm::CmpInst::Predicate predicate;
    Value *v;
    llvm::ConstantInt *number;
    if (branch && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1) &&
        match(branch->getCondition(), m_ICmp(predicate, m_Value(v), m_ConstantInt(number))) &&
        predicate ==
            (branch->getSuccessor(0) == to ? llvm::CmpInst::ICMP_EQ : llvm::CmpInst::ICMP_NE))
      return Known{v, number};
    to = from;
    from = from->getSinglePredecessor();
  }
  return std::nullopt;
}

/// One value from everywhere else, and from `far` the number that it is there.
bool restore(llvm::PHINode &phi, const llvm::DominatorTree &dominators) {
  if (phi.getNumIncomingValues() != 2 || !phi.getType()->isIntegerTy())
    return false;
  const unsigned far = llvm::isa<llvm::ConstantInt>(phi.getIncomingValue(0)) ? 0 : 1;
  auto *x = llvm::dyn_cast<Instruction>(phi.getIncomingValue(1 - far));
  auto *number = llvm::dyn_cast<llvm::ConstantInt>(phi.getIncomingValue(far));
  auto *above = dominators.getNode(phi.getParent())->getIDom();
  if (!x || !number || !above || dominators.dominates(&phi, x))
    return false;
  const std::optional<Known> known = knownOn(phi.getIncomingBlock(far), phi.getParent());
  Instruction *end = above->getBlock()->getTerminator();
  if (!known || !dominators.dominates(known->v, end) ||
      foldedWith(x, known->v, known->number, kLimits.search.edgeSteps) != number)
    return false;
  Value *everywhere = computedBefore(x, end, dominators);
  if (!everywhere)
    return false;
  phi.replaceAllUsesWith(everywhere);
  phi.eraseFromParent();
  return true;
}

} // namespace

void restoreEdgeValues(llvm::Function &f) {
  const llvm::DominatorTree dominators(f);
  for (BasicBlock &b : f)
    for (llvm::PHINode &phi : llvm::make_early_inc_range(b.phis()))
      restore(phi, dominators);
}

} // namespace ptxrun::simt
