#include "translate/simt/one_lane.h"

#include <llvm/IR/Instructions.h>

#include "translate/simt/alone.h"
#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;

/// How often a block runs: in a gang, where it does if any lane comes, and for one lane.
struct Weight {
  float gang = 1, lane = 1;
};

/// Lanes part here by what each found, not by how far a row reaches.
bool partsByValues(const BasicBlock &b, const ShapeAnalysis &shapes) {
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(b.getTerminator());
  if (!branch || !branch->isConditional() || !shapes.isDivergentBranch(&b))
    return false;
  auto *compare = llvm::dyn_cast<llvm::CmpInst>(branch->getCondition());
  return !compare || llvm::any_of(compare->operands(), [&](const llvm::Value *v) {
    return shapes.shape(v).isVarying();
  });
}

/// Whether lanes part here by how many rounds they have in a loop behind it: none, or few enough
/// for a shorter way. Most have some.
bool isGuard(const BasicBlock &b, const BlockSet &parted, const ShapeAnalysis &shapes) {
  const auto sources = sourcesOf(b.getTerminator()->getOperand(0), shapes);
  for (const llvm::Loop *loop : shapes.loops().getLoopsInPreorder()) {
    llvm::SmallVector<BasicBlock *> exiting;
    if (parted.contains(loop->getHeader()))
      loop->getExitingBlocks(exiting);
    for (const BasicBlock *end : exiting)
      for (const llvm::Instruction *i : sourcesOf(end->getTerminator()->getOperand(0), shapes))
        if (sources.contains(i))
          return true;
  }
  return false;
}

/// A condition of floats, or of bits of one: nobody knows how many lanes meet it. What mathematical
/// functions ask for, of infinities and numbers far from one, holds for none.
bool isOfFloats(const llvm::Value *condition, const ShapeAnalysis &shapes) {
  bool isFloat = false;
  walkSources(condition, shapes, [&](const llvm::Instruction &i) {
    isFloat |= i.getType()->isFloatingPointTy();
    return !isFloat && !llvm::isa<llvm::LoadInst>(i);
  });
  return isFloat;
}

/// Whether each round of the loop moves `phi`, in its beginning, on by as much.
bool isCounter(const llvm::PHINode &phi, const llvm::Loop &loop) {
  if (!phi.getType()->isIntegerTy())
    return false;
  const std::optional<LinearSum> move = movePerRound(sumOf(&phi), loop);
  return move && (!move->terms.empty() || move->constant != 0);
}

/// A loop right around innermost ones that counts nothing itself: it goes round until something
/// came out right (an exchange by CAS, the end of a run), which lanes do alike.
bool isRetried(const llvm::Loop &loop) {
  return !loop.isInnermost() &&
         llvm::all_of(loop.getSubLoops(), [](auto *inner) { return inner->isInnermost(); }) &&
         llvm::none_of(loop.getHeader()->phis(),
                       [&](const llvm::PHINode &phi) { return isCounter(phi, loop); });
}

class Weights {
 public:
  explicit Weights(const ShapeAnalysis &shapes) {
    for (const BasicBlock *b : shapes.order()) {
      Weight w;
      for (const llvm::Loop *l = shapes.loops().getLoopFor(b); l; l = l->getParentLoop()) {
        const Weight more = roundsOf(*l, shapes);
        w.lane *= more.lane;
        w.gang *= more.gang;
      }
      weights_[b] = w;
    }
    BlockSet seldom;
    for (const BasicBlock *a : shapes.order()) {
      const llvm::Loop *loop = shapes.loops().getLoopFor(a);
      if (!partsByValues(*a, shapes) || (loop && loop->isLoopExiting(a)))
        continue;
      const BasicBlock *meet = shapes.meetingPoint(a);
      BlockSet parted;
      for (const BasicBlock *way : llvm::successors(a))
        for (const BasicBlock *b : reachable(way, meet))
          if (b != a)
            parted.insert(b);
      if (isGuard(*a, parted, shapes))
        continue;
      // Of numbers in memory some lane has one that lets it through, nearly always.
      const bool mayBeNone = isOfFloats(a->getTerminator()->getOperand(0), shapes);
      for (const BasicBlock *b : parted) {
        weights_[b].lane /= 2;
        if (mayBeNone && seldom.insert(b).second)
          weights_[b].gang /= 2; // once: of many ways lanes take several
      }
    }
  }
  Weight of(const BasicBlock *b) const { return weights_.lookup(b); }

 private:
  static Weight roundsOf(const llvm::Loop &loop, const ShapeAnalysis &shapes) {
    const auto &limits = kLimits.oneLane;
    const bool isSpread = leftApart(loop, shapes) && !isRetried(loop);
    return {limits.rounds * (isSpread ? limits.spread : 1), limits.rounds};
  }
  static bool leftApart(const llvm::Loop &loop, const ShapeAnalysis &shapes) {
    llvm::SmallVector<BasicBlock *> exiting;
    loop.getExitingBlocks(exiting);
    return llvm::any_of(exiting, [&](BasicBlock *b) { return partsByValues(*b, shapes); });
  }

  llvm::DenseMap<const BasicBlock *, Weight> weights_;
};

} // namespace

bool isBetterAlone(const ShapeAnalysis &shapes, const Target &target) {
  if (shapes.order().size() > kLimits.oneLane.blocks)
    return false;
  const Weights weights(shapes);
  const AloneCost cost(shapes, target);
  AloneCosts all;
  for (const BasicBlock *b : shapes.order()) {
    AloneCosts one;
    for (const llvm::Instruction &i : *b)
      one += cost.of(i);
    const Weight w = weights.of(b);
    // Half of such branches of one lane are mispredicted; of ends of loops, one for each run.
    if (partsByValues(*b, shapes)) {
      const llvm::Loop *loop = shapes.loops().getLoopFor(b);
      one.lane += kLimits.oneLane.mispredicted /
                  (loop && loop->isLoopExiting(b) ? kLimits.oneLane.rounds : 2);
    }
    all += {one.gang * w.gang, one.lane * w.lane};
  }
  return all.gang > kLimits.oneLane.gain * all.lane * float(shapes.lanes());
}

} // namespace ptxrun::simt
