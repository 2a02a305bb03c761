#include "translate/jit/loop_counters.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

#include "translate/simt/linear_sum.h"

namespace ptxrun::jit {

using namespace llvm;
using simt::LinearSum;

namespace {

/// A number that each round of a loop adds the same to.
struct Counter {
  PHINode *phi;
  BinaryOperator *next;
  Value *step;
  LinearSum start;
  int64_t distance = 0; ///< from the one that stands for it
};

/// `value` + `constant`, which is no negative number; the sum wraps neither with a sign nor
/// without.
struct Shifted {
  Value *value;
  APInt constant;
};

Shifted shifted(Value *v) {
  using namespace PatternMatch;
  const APInt *by;
  Value *rest;
  if (match(v, m_AddLike(m_Value(rest), m_APInt(by))) && by->isNonNegative()) {
    auto *add = cast<BinaryOperator>(v);
    Shifted inner = shifted(rest);
    bool overflows = false;
    inner.constant = inner.constant.sadd_ov(*by, overflows);
    if (!overflows && (add->getOpcode() == Instruction::Or ||
                       (add->hasNoSignedWrap() && add->hasNoUnsignedWrap())))
      return inner;
  }
  return {v, APInt::getZero(v->getType()->getIntegerBitWidth())};
}

class Joining {
 public:
  Joining(Function &function, FunctionAnalysisManager &analyses)
      : layout_(function.getDataLayout()), loops_(analyses.getResult<LoopAnalysis>(function)) {}

  bool run() {
    for (const Loop *loop : loops_.getLoopsInPreorder())
      if (loop->isInnermost() && loop->getLoopPredecessor() && loop->getLoopLatch())
        join(*loop);
    return isChanged_;
  }

 private:
  void join(const Loop &loop) {
    SmallVector<Counter> counters;
    for (PHINode &phi : loop.getHeader()->phis())
      if (std::optional<Counter> c = counterAt(phi, loop))
        counters.push_back(*std::move(c));
    bool isJoined = false;
    while (counters.size() > 1) {
      SmallVector<Counter> together, others;
      for (Counter &c : counters)
        (keepsDistance(c, counters.front()) ? together : others).push_back(c);
      const auto first = min_element(
          together, [](const Counter &x, const Counter &y) { return x.distance < y.distance; });
      for (auto c = together.begin(); c != together.end(); ++c)
        if (c != first) {
          replace(*c, *first);
          isJoined = true;
        }
      counters = std::move(others);
    }
    if (!isJoined)
      return;
    isChanged_ = true;
    for (BasicBlock *block : loop.blocks())
      if (auto *branch = dyn_cast<BranchInst>(block->getTerminator());
          branch && branch->isConditional() && loop.isLoopExiting(block))
        compareFarthest(*branch);
  }

  static std::optional<Counter> counterAt(PHINode &phi, const Loop &loop) {
    using namespace PatternMatch;
    if (!phi.getType()->isIntegerTy() || phi.getType()->getIntegerBitWidth() > 64)
      return std::nullopt;
    Value *next = phi.getIncomingValueForBlock(loop.getLoopLatch()), *step;
    if (!match(next, m_c_Add(m_Specific(&phi), m_Value(step))) || !loop.isLoopInvariant(step))
      return std::nullopt;
    // What is frozen is the same number only where it is frozen once.
    const auto isFrozen = [](const Value *v) { return isa<FreezeInst>(v); };
    return Counter{&phi, cast<BinaryOperator>(next), step,
                   simt::sumOf(phi.getIncomingValueForBlock(loop.getLoopPredecessor()),
                               simt::Extensions::terms, isFrozen)};
  }

  static bool keepsDistance(Counter &c, const Counter &from) {
    if (c.phi->getType() != from.phi->getType() || c.step != from.step)
      return false;
    LinearSum between = c.start;
    between.add(from.start, -1);
    c.distance = SignExtend64(uint64_t(between.constant), c.phi->getType()->getIntegerBitWidth());
    return between.terms.empty();
  }

  void replace(const Counter &c, const Counter &first) {
    const int64_t distance = simt::minus(c.distance, first.distance);
    BasicBlock *header = first.phi->getParent();
    IRBuilder<> b(header, header->getFirstInsertionPt());
    replaceBy(*c.phi, *first.phi, distance, b);
    // In the next round they are as far apart; that may be wanted before it stands there.
    first.next->moveBefore(*header, header->getFirstInsertionPt());
    first.next->andIRFlags(c.next);
    b.SetInsertPoint(first.next->getNextNode());
    replaceBy(*c.next, *first.next, distance, b);
    c.phi->eraseFromParent();
    RecursivelyDeleteTriviallyDeadInstructions(c.next);
  }

  /// By what lies `distance` behind `of`. Extensions of it are sums of what `of` is extended to,
  /// where no sum wraps.
  void replaceBy(Instruction &old, Instruction &of, int64_t distance, IRBuilder<> &b) {
    const APInt by(old.getType()->getIntegerBitWidth(), uint64_t(distance), /*isSigned=*/true);
    const bool wraps = !by.isSubsetOf(computeKnownBits(&of, layout_).Zero);
    b.SetCurrentDebugLocation(old.getDebugLoc());
    Value *sum =
        b.CreateAdd(&of, ConstantInt::get(old.getType(), by), old.getName(), !wraps, !wraps);
    for (User *user : make_early_inc_range(old.users())) {
      if (wraps || !isa<SExtInst, ZExtInst>(user))
        continue;
      auto *wide = cast<CastInst>(user);
      const unsigned bits = wide->getType()->getIntegerBitWidth();
      Value *base = b.CreateCast(wide->getOpcode(), &of, wide->getType());
      wide->replaceAllUsesWith(
          b.CreateAdd(base, b.getInt(isa<SExtInst>(wide) ? by.sext(bits) : by.zext(bits)), "",
                      /*HasNUW=*/true, /*HasNSW=*/true));
      wide->eraseFromParent();
    }
    old.replaceAllUsesWith(sum);
  }

  /// Of comparisons with the same number that all have to hold, the farthest one.
  static void compareFarthest(BranchInst &branch) {
    using namespace PatternMatch;
    SmallVector<Value *> stack{branch.getCondition()}, others;
    SmallVector<std::pair<ICmpInst *, Shifted>> kept;
    bool isAnyNeedless = false;
    while (!stack.empty()) {
      Value *v = stack.pop_back_val(), *x, *y;
      if (v->hasOneUse() && match(v, m_And(m_Value(x), m_Value(y)))) {
        stack.append({y, x});
        continue;
      }
      auto *compare = dyn_cast<ICmpInst>(v);
      if (!compare || !compare->getOperand(0)->getType()->isIntegerTy() ||
          (compare->getPredicate() != ICmpInst::ICMP_SLT &&
           compare->getPredicate() != ICmpInst::ICMP_ULT)) {
        others.push_back(v);
        continue;
      }
      const Shifted s = shifted(compare->getOperand(0));
      auto same = find_if(kept, [&](const auto &k) {
        return k.second.value == s.value && k.first->getPredicate() == compare->getPredicate() &&
               k.first->getOperand(1) == compare->getOperand(1);
      });
      if (same == kept.end()) {
        kept.push_back({compare, s});
        continue;
      }
      isAnyNeedless = true;
      if (same->second.constant.slt(s.constant))
        *same = {compare, s};
    }
    if (!isAnyNeedless)
      return;
    IRBuilder<> b(&branch);
    for (auto &[compare, s] : kept)
      others.push_back(compare);
    Value *old = branch.getCondition();
    branch.setCondition(b.CreateAnd(others));
    RecursivelyDeleteTriviallyDeadInstructions(old);
  }

  const DataLayout &layout_;
  const LoopInfo &loops_;
  bool isChanged_ = false;
};

} // namespace

PreservedAnalyses JoinCounters::run(Function &function, FunctionAnalysisManager &analyses) {
  if (!Joining(function, analyses).run())
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace ptxrun::jit
