#include "translate/simt/unrolled_pair.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace ptxrun::simt {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;
using namespace llvm::PatternMatch;

namespace {

/// One way in, one way out, and nothing but phis.
bool isEmpty(const BasicBlock &b) {
  return b.getSingleSuccessor() && b.getSinglePredecessor() &&
         b.getFirstNonPHI() == b.getTerminator();
}

/// Where two ways through empty blocks meet.
BasicBlock *meetingOf(BasicBlock *x, BasicBlock *y) {
  for (;; x = x->getSingleSuccessor()) {
    for (BasicBlock *b = y;; b = b->getSingleSuccessor()) {
      if (b == x)
        return x;
      if (!isEmpty(*b))
        break;
    }
    if (!isEmpty(*x))
      return nullptr;
  }
}

bool isZero(const Value *v) { return match(v, m_ZeroInt()); }

} // namespace

bool isLoopOfOneBlock(const llvm::Loop &loop) {
  return loop.getNumBlocks() == 1 && loop.getLoopPreheader() && loop.getExitBlock() &&
         llvm::isa<llvm::BranchInst>(loop.getHeader()->getTerminator());
}

llvm::BranchInst *choiceBefore(BasicBlock *&way) {
  while (BasicBlock *before = way->getSinglePredecessor()) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
    if (!branch || branch->isConditional())
      return branch;
    way = before;
  }
  return nullptr;
}

BasicBlock *otherSide(const llvm::BranchInst &branch, const BasicBlock *side) {
  return branch.getSuccessor(branch.getSuccessor(0) == side ? 1 : 0);
}

Value *beforeTheWay(Value *v) {
  for (auto *phi = llvm::dyn_cast<PHINode>(v); phi && phi->getNumIncomingValues() == 1;
       phi = llvm::dyn_cast<PHINode>(v))
    v = phi->getIncomingValue(0);
  return v;
}

std::optional<Comparison> comparisonFor(const llvm::BranchInst &branch, const BasicBlock *side) {
  auto *c = llvm::dyn_cast<llvm::ICmpInst>(branch.getCondition());
  if (!c)
    return std::nullopt;
  const bool isFirst = branch.getSuccessor(0) == side;
  return Comparison{isFirst ? c->getPredicate() : c->getInversePredicate(), c->getOperand(0),
                    c->getOperand(1)};
}

bool UnrolledPair::findBlocks() {
  toSecond_ = second_->getLoopPreheader();
  next_ = choiceBefore(toSecond_);
  if (!next_)
    return false;
  behind_ = meetingOf(second_->getExitBlock(), otherSide(*next_, toSecond_));
  joined_ = next_->getParent();
  choiceBefore(joined_); // to where it begins
  if (!behind_ || !joined_->hasNPredecessors(2))
    return false;
  for (BasicBlock *p : llvm::predecessors(joined_))
    for (BasicBlock *b = p; b; b = isEmpty(*b) ? b->getSinglePredecessor() : nullptr) {
      const llvm::Loop *loop = shapes_.loops().getLoopFor(b);
      if (loop && loop->getHeader() == b && isLoopOfOneBlock(*loop) && loop != second_)
        first_ = loop;
    }
  if (!first_ || meetingOf(first_->getExitBlock(), joined_) != joined_)
    return false;
  toFirst_ = first_->getLoopPreheader();
  choice_ = choiceBefore(toFirst_);
  if (!choice_ || meetingOf(otherSide(*choice_, toFirst_), joined_) != joined_)
    return false;
  const BasicBlock *before = choice_->getParent()->getSinglePredecessor();
  if (before && before->getTerminator()->hasMetadata(kVersion))
    return false; // there is one loop beside them already
  llvm::SmallVector<BasicBlock *> stack(llvm::successors(choice_->getParent()));
  while (!stack.empty())
    if (BasicBlock *b = stack.pop_back_val(); b != behind_ && inside_.insert(b).second)
      stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  const auto hasEffects = [](const Instruction &i) { return i.mayHaveSideEffects(); };
  return llvm::none_of(inside_, [&](const BasicBlock *b) {
    return b != first_->getHeader() && b != second_->getHeader() && llvm::any_of(*b, hasEffects);
  });
}

bool UnrolledPair::findCounts() {
  for (auto [one, many] : {std::pair(first_, second_), std::pair(second_, first_)}) {
    one_ = one->getHeader();
    many_ = many->getHeader();
    if (findWhatIsLeft())
      return findCounter() && hasTurns();
  }
  return false;
}

/// The loop of what is left counts it down, and stands behind a test for it.
bool UnrolledPair::findWhatIsLeft() {
  const auto toOne = comparisonFor(*llvm::cast<llvm::BranchInst>(one_->getTerminator()), one_);
  const auto toLeft =
      isUnrolledFirst() ? comparisonFor(*next_, toSecond_) : comparisonFor(*choice_, toFirst_);
  left_ = nullptr;
  if (!toOne || toOne->predicate != llvm::CmpInst::ICMP_NE || !isZero(toOne->y) || !toLeft ||
      toLeft->predicate != llvm::CmpInst::ICMP_NE || !isZero(toLeft->y))
    return false;
  for (PHINode &phi : one_->phis())
    if (nextOf(phi) == toOne->x) {
      LinearSum rest = sumOf(startOf(phi));
      const std::optional<int64_t> step = stepOf(phi);
      rest.add(toLeft->x, step == 1 ? 1 : -1);
      if ((step == 1 || step == -1) && rest.terms.empty() && rest.constant == 0)
        left_ = toLeft->x;
    }
  const llvm::APInt *mask = nullptr;
  if (!left_ || !llvm::PatternMatch::match(left_, m_And(m_Value(rounds_), m_APInt(mask))) ||
      !mask->isMask() || mask->ugt(kLimits.versions.rerolled - 1))
    return false;
  copies_ = unsigned(mask->getZExtValue()) + 1;
  return true;
}

/// All rounds are (end - 1 - start) / step + 1, of a number that both loops step.
bool UnrolledPair::findCounter() {
  const LinearSum sum = sumOf(rounds_);
  if (sum.constant != 1 || sum.terms.empty())
    return false;
  // What is divided by the step.
  Value *divided = nullptr;
  const llvm::APInt *by = nullptr;
  step_ = 1;
  if (sum.terms.size() == 1 && sum.terms[0].second == 1 &&
      llvm::PatternMatch::match(const_cast<Value *>(sum.terms[0].first),
                                m_Shr(m_Value(divided), m_APInt(by))) &&
      by->ult(20))
    step_ = int64_t{1} << by->getZExtValue();
  const Form *f = formOf(step_ > 1 ? divided : rounds_);
  const unsigned bits = widthOf(rounds_);
  if (!f || (bits != 32 && bits != 64))
    return false;
  distance_ = f->sum;
  distance_.constant -= step_ > 1 ? 0 : 1;
  for (PHINode &phi : first_->getHeader()->phis()) {
    if (widthOf(&phi) != bits || phi.getType()->isPointerTy() ||
        stepOf(phi) != (isUnrolledFirst() ? copies_ : 1) * step_)
      continue;
    start_ = startOf(phi);
    const Form *start = formOf(start_);
    if (!start || !shapes_.shape(start_).hasOffsets())
      continue;
    LinearSum sumOfEnd = distance_;
    sumOfEnd.add(start->sum, 1);
    sumOfEnd.constant += 1;
    if (sumOfEnd.terms.size() != 1 || sumOfEnd.terms[0].second != 1 || sumOfEnd.constant != 0)
      continue;
    auto *end = const_cast<Value *>(sumOfEnd.terms[0].first);
    // The first round is done in any case.
    if (auto *greater = llvm::dyn_cast<llvm::MinMaxIntrinsic>(end);
        greater && greater->getIntrinsicID() == llvm::Intrinsic::smax)
      for (auto [x, y] : {std::pair(greater->getLHS(), greater->getRHS()),
                          std::pair(greater->getRHS(), greater->getLHS())}) {
        const Form *second = formOf(y);
        if (!second)
          continue;
        LinearSum away = second->sum;
        away.add(start->sum, -1);
        if (away.terms.empty() && llvm::SignExtend64(uint64_t(away.constant), bits) == step_)
          end = x;
      }
    if (!isInside(end) && shapes_.isUniform(end)) {
      end_ = end;
      forms_.clear(); // by the counter from now on
      return formOf(start_) != nullptr;
    }
  }
  return false;
}

/// The unrolled loop comes where there are rounds enough for it, and goes on as long as there are.
bool UnrolledPair::hasTurns() {
  const auto isTooFew = isUnrolledFirst() ? comparisonFor(*choice_, otherSide(*choice_, toFirst_))
                                          : comparisonFor(*next_, otherSide(*next_, toSecond_));
  const llvm::APInt *bound = nullptr;
  if (!isTooFew || isTooFew->predicate != llvm::CmpInst::ICMP_ULT ||
      !llvm::PatternMatch::match(isTooFew->y, m_APInt(bound)) ||
      *bound != uint64_t(step_) * (copies_ - 1))
    return false;
  const Form *tested = formOf(isTooFew->x);
  if (!tested || tested->perRound != 0 || tested->perTurn != 0 ||
      widthOf(isTooFew->x) != widthOf(start_))
    return false;
  LinearSum difference = tested->sum;
  difference.add(distance_, -1);
  if (!difference.terms.empty() || difference.constant != 0)
    return false;

  const auto goesOn = comparisonFor(*llvm::cast<llvm::BranchInst>(many_->getTerminator()), many_);
  if (!goesOn)
    return false;
  if (goesOn->predicate == llvm::CmpInst::ICMP_SLT && goesOn->y == end_ && !isUnrolledFirst()) {
    const Form *next = formOf(goesOn->x), *start = formOf(start_);
    if (!next || !start || next->perTurn != copies_ * step_ || next->perRound != step_)
      return false;
    LinearSum away = next->sum;
    away.add(start->sum, -1);
    return away.terms.empty() && away.constant == copies_ * step_;
  }
  if (goesOn->predicate != llvm::CmpInst::ICMP_NE || !llvm::isa<llvm::ConstantInt>(goesOn->y))
    return false;
  // last - first == (rounds - left) * step / copies
  for (PHINode &phi : many_->phis())
    if (nextOf(phi) == goesOn->x)
      if (const std::optional<int64_t> step = stepOf(phi); step && std::abs(*step) == copies_) {
        LinearSum turns = sumOf(goesOn->y);
        turns.add(sumOf(startOf(phi)), -1);
        turns.add(sumOf(rounds_), *step < 0 ? 1 : -1);
        turns.add(left_, *step < 0 ? -1 : 1);
        return turns.terms.empty() &&
               llvm::SignExtend64(uint64_t(turns.constant), widthOf(&phi)) == 0;
      }
  return false;
}

bool UnrolledPair::hasOnlyAccesses(BasicBlock &block, std::vector<Instruction *> &stores) {
  for (Instruction &i : block)
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      if (!store->isSimple())
        return false;
      stores.push_back(store);
    } else if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
      if (!load->isSimple())
        return false;
    } else if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i)) {
      if (!call->doesNotAccessMemory() || call->isConvergent() || call->mayHaveSideEffects())
        return false;
    } else if (i.mayReadOrWriteMemory()) {
      return false;
    }
  return true;
}

bool UnrolledPair::findResults() {
  BasicBlock *ofSecond = second_->getExitBlock(), *around = next_->getParent();
  while (ofSecond->getSingleSuccessor() != behind_)
    ofSecond = ofSecond->getSingleSuccessor();
  for (BasicBlock *b = otherSide(*next_, toSecond_); b != behind_; b = b->getSingleSuccessor())
    around = b;
  for (PHINode &phi : behind_->phis()) {
    Value *behindSecond = beforeTheWay(phi.getIncomingValueForBlock(ofSecond));
    Value *behindFirst = beforeTheWay(phi.getIncomingValueForBlock(around));
    if (!isInside(behindSecond)) {
      if (behindSecond != behindFirst)
        return false;
      results_.push_back({&phi, behindSecond});
      continue;
    }
    PHINode *first = changedBy(*behindFirst), *second = nullptr;
    for (PHINode &p : second_->getHeader()->phis())
      if (nextOf(p) == behindSecond && beforeTheWay(startOf(p)) == behindFirst)
        second = &p;
    if (!first || !second)
      return false;
    PHINode &ofOne = isUnrolledFirst() ? *second : *first;
    if (!areLinked(ofOne, isUnrolledFirst() ? *first : *second))
      return false;
    results_.push_back({&phi, nextOf(ofOne)});
  }
  // Nothing else of it is used elsewhere.
  for (const BasicBlock *b : inside_)
    for (const Instruction &i : *b)
      for (const llvm::User *u : i.users()) {
        auto *user = llvm::cast<Instruction>(u);
        if (!inside_.contains(user->getParent()) &&
            !(llvm::isa<PHINode>(user) && user->getParent() == behind_))
          return false;
      }
  return true;
}

} // namespace ptxrun::simt
