// Compilers put in for a value what it is known to be where a condition tells:
//
//     if (i != 0) ...;  store v, out + i * 4
//       =>  far:  br (i == 0), join, near
//           near: x = i * 4; ...
//           join: offset = phi [x, near], [0, far];  store v, out + offset
//
// Then lanes, though neighbours, have addresses of which nothing is known. On the edge from `far` x
// would be 0 as well: it is computed ahead, for both.
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
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

/// The instructions that make `x` of `v` and of constants, operands first; false where there are
/// others, or they may not be computed ahead.
bool collect(Value *x, Value *v, llvm::SmallVectorImpl<Instruction *> &steps) {
  if (x == v || llvm::isa<llvm::ConstantInt>(x))
    return true;
  auto *i = llvm::dyn_cast<Instruction>(x);
  if (!i || !(i->isBinaryOp() || i->isCast()) || i->isIntDivRem() || !i->getType()->isIntegerTy() ||
      steps.size() >= kLimits.search.edgeSteps)
    return false;
  for (Value *operand : i->operands())
    if (!collect(operand, v, steps))
      return false;
  if (!llvm::is_contained(steps, i))
    steps.push_back(i);
  return true;
}

/// What the last of `steps` is where `v` is `number`.
llvm::Constant *valueAt(llvm::ArrayRef<Instruction *> steps, const Known &known) {
  llvm::DenseMap<Value *, llvm::Constant *> values{{known.v, known.number}};
  llvm::Constant *last = known.number;
  for (Instruction *step : steps) {
    llvm::SmallVector<llvm::Constant *> operands;
    for (Value *operand : step->operands())
      if (auto it = values.find(operand); it != values.end())
        operands.push_back(it->second);
      else
        operands.push_back(llvm::cast<llvm::Constant>(operand));
    last = llvm::ConstantFoldInstOperands(step, operands, step->getDataLayout());
    if (!last)
      return nullptr;
    values[step] = last;
  }
  return last;
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
  llvm::SmallVector<Instruction *> steps;
  if (!known || !dominators.dominates(known->v, end) || !collect(x, known->v, steps) ||
      valueAt(steps, *known) != number)
    return false;
  llvm::DenseMap<Value *, Value *> own;
  Value *last = known->v;
  for (Instruction *step : steps) {
    Instruction *copy = step->clone();
    copy->dropPoisonGeneratingAnnotations();
    for (llvm::Use &use : copy->operands())
      if (Value *mapped = own.lookup(use.get()))
        use.set(mapped);
    copy->insertBefore(end);
    last = own[step] = copy;
  }
  phi.replaceAllUsesWith(last);
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
