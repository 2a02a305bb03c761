// Loops that lanes stride through, as compilers write them:
//
//     for (k = first + lane; k < end; k += 32) body(k)
//       =>  n = number of rounds;  left = n % 4
//           for (; left != 0; --left) body(k), k += 32
//           if (n >= 4)
//             do body(k), body(k + 32), body(k + 64), body(k + 96), k += 128; while (k < end)
//
// or the unrolled loop first, and what is left behind it. Where lanes have n rounds and n - 1, they
// part in the one loop, and have no rows in the other: what was one row of an `end` that is no
// multiple of 128 would be gathered, lane by lane. Gangs for which both loops together do what one
// loop would take that one:
//
//     do body(k), k += 32; while (k < end)
//
// That the unrolled loop does what four rounds of the other one do is seen from the code: its
// values are the same operations on addresses and numbers that are equal as sums; so are the
// numbers of rounds. That no number wraps which is extended on the way, as sums do not show, is
// asked at run time, for all lanes at once (isRight).
#include "translate/simt/rerolled_loops.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "translate/lower/bits_of.h"
#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;
using namespace llvm::PatternMatch;

/// sum + perRound * r + perTurn * u, in round r of the loop of what is left and turn u of the
/// unrolled one. In the loop behind the other one both count.
struct Form {
  LinearSum sum;
  int64_t perRound = 0, perTurn = 0;
};

/// A number of 32 bits that is extended: times * counter + offset + least to most, where it does
/// not wrap. `offset` is of numbers with signs.
struct Extended {
  LinearSum::Terms offset;
  int64_t times;
  bool isSigned;
  int64_t least, most; ///< in all places where it is extended
};

/// Factors below it do not let sums of 64 bits wrap, of numbers of 32.
constexpr int64_t kMostTimes = int64_t{1} << 24;

bool isLoopOfOneBlock(const llvm::Loop &loop) {
  return loop.getNumBlocks() == 1 && loop.getLoopPreheader() && loop.getExitBlock() &&
         llvm::isa<llvm::BranchInst>(loop.getHeader()->getTerminator());
}

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

/// The last branch before `way`, which is then the side of it that leads there.
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

/// A value that comes through phis of one way in, as it was before.
Value *beforeTheWay(Value *v) {
  for (auto *phi = llvm::dyn_cast<PHINode>(v); phi && phi->getNumIncomingValues() == 1;
       phi = llvm::dyn_cast<PHINode>(v))
    v = phi->getIncomingValue(0);
  return v;
}

bool isZero(const Value *v) { return llvm::PatternMatch::match(v, m_ZeroInt()); }

/// `branch` goes to `side` if and only if the answer holds.
struct Comparison {
  llvm::CmpInst::Predicate predicate;
  Value *x, *y;
};
std::optional<Comparison> comparisonFor(const llvm::BranchInst &branch, const BasicBlock *side) {
  auto *c = llvm::dyn_cast<llvm::ICmpInst>(branch.getCondition());
  if (!c)
    return std::nullopt;
  const bool isFirst = branch.getSuccessor(0) == side;
  return Comparison{isFirst ? c->getPredicate() : c->getInversePredicate(), c->getOperand(0),
                    c->getOperand(1)};
}

/// A loop of what is left, and the unrolled one, before it or behind it.
class Pair {
 public:
  Pair(const llvm::Loop &second, const ShapeAnalysis &shapes) : shapes_(shapes), second_(&second) {}

  /// Nothing is changed.
  bool find() {
    return findBlocks() && findCounts() && hasOnlyAccesses(*one_, storesOfOne_) &&
           hasOnlyAccesses(*many_, storesOfMany_) && hasRows() && doTheSame() && findResults() &&
           isAskable();
  }

  void rewrite();

 private:
  bool findBlocks();
  bool findCounts();
  bool findWhatIsLeft();
  bool findCounter();
  bool hasTurns();
  static bool hasOnlyAccesses(BasicBlock &, std::vector<Instruction *> &stores);
  bool hasRows();
  bool doTheSame();
  bool findResults();
  bool isAskable();

  const Form *formOf(Value *);
  std::optional<Form> sumOfForms(Value *);
  std::optional<Form> formOfTerm(Value *);
  std::optional<Form> formOfExtension(llvm::CastInst &);
  bool areEqual(const Form &ofOne, const Form &ofMany, unsigned copy, unsigned bits) const;
  bool match(Value *ofOne, Value *ofMany, unsigned copy);
  bool matchOperations(Instruction &ofOne, Instruction &ofMany, unsigned copy);
  bool areLinked(PHINode &ofOne, PHINode &ofMany);
  bool isLoadedInOrder(const Instruction &ofOne, const Instruction &ofMany, unsigned copy) const;

  bool isInside(const Value *v) const {
    auto *i = llvm::dyn_cast<Instruction>(v);
    return i && inside_.contains(i->getParent());
  }
  bool isUnrolledFirst() const { return many_ == first_->getHeader(); }
  Value *startOf(const PHINode &phi) const {
    const llvm::Loop *loop = phi.getParent() == first_->getHeader() ? first_ : second_;
    return phi.getIncomingValueForBlock(loop->getLoopPreheader());
  }
  static Value *nextOf(const PHINode &phi) { return phi.getIncomingValueForBlock(phi.getParent()); }
  /// What each round adds to it.
  static std::optional<int64_t> stepOf(PHINode &phi) {
    LinearSum step = sumOf(nextOf(phi));
    step.add(&phi, -1);
    return step.terms.empty() ? std::optional(step.constant) : std::nullopt;
  }
  PHINode *changedBy(const Value &joined) const;
  Value *invariant(Value *);
  Value *findInvariant(Instruction &);
  bool isKnown(Value *v) const {
    return isComputableBefore(v, choice_, shapes_.dominators(), kLimits.search.operands);
  }
  Value *before(Value *v) const { return computedBefore(v, choice_, shapes_.dominators()); }
  Value *initially(Value *, llvm::IRBuilder<> *, llvm::MapVector<Value *, Value *> &made);
  bool isBelowEnd();
  Value *isRight(llvm::IRBuilder<> &);
  void settle(Value *test) const;

  const ShapeAnalysis &shapes_;
  const llvm::Loop *first_ = nullptr, *second_;
  BasicBlock *one_ = nullptr;                       ///< the loop of what is left
  BasicBlock *many_ = nullptr;                      ///< the unrolled loop
  llvm::BranchInst *choice_ = nullptr;              ///< around the first loop
  BasicBlock *joined_ = nullptr;                    ///< behind that
  llvm::BranchInst *next_ = nullptr;                ///< around the second loop
  BasicBlock *behind_ = nullptr;                    ///< all of them
  llvm::SmallPtrSet<const BasicBlock *, 8> inside_; ///< from `choice_` to `behind_`
  Value *left_ = nullptr;                           ///< rounds of `one_`
  Value *rounds_ = nullptr;                         ///< of both together
  Value *start_ = nullptr, *end_ = nullptr;         ///< of the counter
  int64_t step_ = 0;                                ///< and what each round adds to it
  unsigned copies_ = 0;
  std::vector<Instruction *> storesOfOne_, storesOfMany_;
  std::set<std::tuple<Value *, Value *, unsigned>> matched_;
  unsigned steps_ = 0;                               ///< that this took
  std::set<std::pair<PHINode *, PHINode *>> linked_; ///< which are one number
  std::map<Value *, std::optional<Form>> forms_;
  std::vector<Extended> extended_;            ///< which must not wrap
  llvm::SmallPtrSet<const Value *, 8> exact_; ///< where they are extended
  std::vector<Instruction *> invariants_;
  std::map<Value *, Value *> standsFor_;
  /// What is known of operations of `one_`, and not of the same ones of `many_`.
  std::vector<std::pair<Instruction *, unsigned>> notKnown_;
  std::vector<std::pair<PHINode *, Value *>> results_; ///< phis of `behind_`, what comes to them
};

bool Pair::findBlocks() {
  BasicBlock *way = second_->getLoopPreheader();
  next_ = choiceBefore(way);
  if (!next_)
    return false;
  behind_ = meetingOf(second_->getExitBlock(), otherSide(*next_, way));
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
  way = first_->getLoopPreheader();
  choice_ = choiceBefore(way);
  if (!choice_ || meetingOf(otherSide(*choice_, way), joined_) != joined_)
    return false;
  llvm::SmallVector<BasicBlock *> stack(llvm::successors(choice_->getParent()));
  while (!stack.empty())
    if (BasicBlock *b = stack.pop_back_val(); b != behind_ && inside_.insert(b).second)
      stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  const auto hasEffects = [](const Instruction &i) { return i.mayHaveSideEffects(); };
  return llvm::none_of(inside_, [&](const BasicBlock *b) {
    return b != first_->getHeader() && b != second_->getHeader() && llvm::any_of(*b, hasEffects);
  });
}

bool Pair::findCounts() {
  for (auto [one, many] : {std::pair(first_, second_), std::pair(second_, first_)}) {
    one_ = one->getHeader();
    many_ = many->getHeader();
    if (findWhatIsLeft())
      return findCounter() && hasTurns();
  }
  return false;
}

/// The loop of what is left counts it down, and stands behind a test for it.
bool Pair::findWhatIsLeft() {
  const auto toOne = comparisonFor(*llvm::cast<llvm::BranchInst>(one_->getTerminator()), one_);
  const llvm::Loop &loop = isUnrolledFirst() ? *second_ : *first_;
  BasicBlock *way = loop.getLoopPreheader();
  llvm::BranchInst *around = choiceBefore(way);
  const auto toLeft = comparisonFor(*around, way);
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
bool Pair::findCounter() {
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
  Value *distance = divided && step_ > 1 ? divided : rounds_;
  const Form *f = formOf(distance);
  const unsigned bits = widthOf(distance);
  if (!f || (bits != 32 && bits != 64))
    return false;
  for (PHINode &phi : first_->getHeader()->phis()) {
    if (widthOf(&phi) != bits || phi.getType()->isPointerTy() ||
        stepOf(phi) != (isUnrolledFirst() ? copies_ : 1) * step_)
      continue;
    start_ = startOf(phi);
    const Form *start = formOf(start_);
    if (!start || !shapes_.shape(start_).hasOffsets())
      continue;
    LinearSum sumOfEnd = f->sum;
    sumOfEnd.add(start->sum, 1);
    sumOfEnd.constant += distance == rounds_ ? 0 : 1;
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
bool Pair::hasTurns() {
  const llvm::Loop &loop = isUnrolledFirst() ? *first_ : *second_;
  BasicBlock *way = loop.getLoopPreheader();
  llvm::BranchInst *around = choiceBefore(way);
  // rounds - 1 < copies - 1, or what is divided by the step: less than so many steps
  const auto isTooFew = comparisonFor(*around, otherSide(*around, way));
  const llvm::APInt *bound = nullptr;
  if (!isTooFew || isTooFew->predicate != llvm::CmpInst::ICMP_ULT ||
      !llvm::PatternMatch::match(isTooFew->y, m_APInt(bound)) ||
      *bound != uint64_t(step_) * (copies_ - 1))
    return false;
  const Form *tested = formOf(isTooFew->x), *rounds = formOf(rounds_);
  Value *divided = nullptr;
  const LinearSum all = sumOf(rounds_);
  if (step_ > 1) {
    llvm::PatternMatch::match(const_cast<Value *>(all.terms[0].first),
                              m_Shr(m_Value(divided), m_Value()));
    rounds = formOf(divided);
  }
  if (!tested || !rounds || tested->perRound != 0 || tested->perTurn != 0 ||
      widthOf(isTooFew->x) != widthOf(start_))
    return false;
  LinearSum difference = tested->sum;
  difference.add(rounds->sum, -1);
  if (!difference.terms.empty() || difference.constant != (step_ > 1 ? 0 : -1))
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
        turns.add(all, *step < 0 ? 1 : -1);
        turns.add(left_, *step < 0 ? -1 : 1);
        return turns.terms.empty() &&
               llvm::SignExtend64(uint64_t(turns.constant), widthOf(&phi)) == 0;
      }
  return false;
}

bool Pair::hasOnlyAccesses(BasicBlock &block, std::vector<Instruction *> &stores) {
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

/// Lanes have elements side by side as far as their counters do, which they would not in the second
/// loop.
bool Pair::hasRows() {
  return llvm::any_of(*one_, [&](Instruction &i) {
    Value *place = llvm::getLoadStorePointerOperand(&i);
    const Form *f = place ? formOf(place) : nullptr;
    return f && f->perRound == product(step_, int64_t(i.getDataLayout().getTypeStoreSize(
                                                  llvm::getLoadStoreType(&i))));
  });
}

/// The number of the first loop that is `joined` with what it was before.
PHINode *Pair::changedBy(const Value &joined) const {
  auto *phi = llvm::dyn_cast<PHINode>(&joined);
  if (!phi || phi->getParent() != joined_)
    return nullptr;
  for (PHINode &p : first_->getHeader()->phis())
    for (unsigned n : {0u, 1u})
      if (beforeTheWay(phi->getIncomingValue(n)) == nextOf(p) &&
          beforeTheWay(phi->getIncomingValue(1 - n)) == startOf(p))
        return &p;
  return nullptr;
}

/// What stands for all that is computed alike of what the loops leave alone; null for the rest.
Value *Pair::invariant(Value *v) {
  v = beforeTheWay(v);
  if (!isInside(v))
    return v;
  auto [known, isNew] = standsFor_.try_emplace(v, nullptr);
  if (!isNew)
    return known->second;
  Value *found = findInvariant(*llvm::cast<Instruction>(v));
  return standsFor_[v] = found;
}

Value *Pair::findInvariant(Instruction &i) {
  if (llvm::isa<PHINode>(i) || !isSpeculatable(i) || i.mayReadOrWriteMemory())
    return nullptr;
  llvm::SmallVector<Value *> operands;
  for (Value *operand : i.operands())
    if (Value *known = invariant(operand))
      operands.push_back(known);
    else
      return nullptr;
  for (Instruction *other : invariants_)
    if (other->isSameOperationAs(&i) &&
        llvm::equal(other->operands(), operands,
                    [&](const llvm::Use &x, Value *y) { return invariant(x.get()) == y; }))
      return other;
  invariants_.push_back(&i);
  return &i;
}

const Form *Pair::formOf(Value *v) {
  auto found = forms_.find(v);
  if (found == forms_.end())
    found = forms_.emplace(v, sumOfForms(v)).first;
  return found->second ? &*found->second : nullptr;
}

std::optional<Form> Pair::sumOfForms(Value *v) {
  const auto isFrozen = [](const Value *of) { return llvm::isa<llvm::FreezeInst>(of); };
  const LinearSum sum = sumOf(v, Extensions::terms, isFrozen);
  Form form;
  form.sum.constant = sum.constant;
  for (const auto &[value, times] : sum.terms) {
    const std::optional<Form> f = formOfTerm(const_cast<Value *>(value));
    if (!f)
      return std::nullopt;
    form.sum.add(f->sum, times);
    form.perRound = total(form.perRound, product(f->perRound, times));
    form.perTurn = total(form.perTurn, product(f->perTurn, times));
  }
  return form;
}

std::optional<Form> Pair::formOfTerm(Value *v) {
  v = beforeTheWay(v);
  if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(v))
    return formOfExtension(*llvm::cast<llvm::CastInst>(v));
  auto *phi = llvm::dyn_cast<PHINode>(v);
  if (!phi || !isInside(phi)) {
    Value *same = invariant(v);
    if (!same)
      return std::nullopt;
    Form f;
    f.sum.add(same, 1);
    return f;
  }
  PHINode *stepping = phi->getParent() == joined_ ? changedBy(*phi) : phi;
  if (!stepping || (stepping->getParent() != one_ && stepping->getParent() != many_))
    return std::nullopt;
  const std::optional<int64_t> step = stepOf(*stepping);
  const Form *start = step ? formOf(startOf(*stepping)) : nullptr;
  if (!start)
    return std::nullopt;
  Form f = *start;
  (stepping->getParent() == one_ ? f.perRound : f.perTurn) += *step;
  return f;
}

/// By the counter, which knows no wrapping, and what is the same for all lanes.
std::optional<Form> Pair::formOfExtension(llvm::CastInst &cast) {
  const Form *of = formOf(cast.getOperand(0));
  if (!of)
    return std::nullopt;
  Form f;
  f.perRound = of->perRound;
  f.perTurn = of->perTurn;
  const int64_t perRound = f.perRound ? f.perRound : f.perTurn / copies_;
  if ((f.perTurn != 0 && f.perTurn != perRound * copies_) || perRound % step_ != 0)
    return std::nullopt;
  if (!end_ || widthOf(start_) != 32 || widthOf(cast.getOperand(0)) != 32) {
    Value *same = perRound == 0 ? invariant(&cast) : nullptr;
    if (!same)
      return std::nullopt;
    f.sum.add(same, 1);
    return f;
  }
  const LinearSum &counter = formOf(start_)->sum;
  int64_t times = perRound / step_;
  if (perRound == 0)
    for (const auto &[term, n] : of->sum.terms)
      if (!shapes_.isUniform(term))
        for (const auto &[other, k] : counter.terms)
          if (other == term)
            times = n / k;
  LinearSum offset = of->sum;
  offset.add(counter, -times);
  const bool isFit = llvm::all_of(offset.terms, [&](const auto &term) {
    return widthOf(term.first) == 32 && !term.first->getType()->isPointerTy() &&
           shapes_.isUniform(term.first) && isKnown(const_cast<Value *>(term.first)) &&
           std::abs(term.second) < kMostTimes;
  });
  if (!isFit || times < 0 || times >= kMostTimes)
    return std::nullopt;
  const int64_t constant = llvm::SignExtend64<32>(uint64_t(offset.constant));
  const bool isSigned = llvm::isa<llvm::SExtInst>(cast);
  auto same = llvm::find_if(extended_, [&](const Extended &e) {
    return e.offset == offset.key() && e.times == times && e.isSigned == isSigned;
  });
  if (same == extended_.end())
    same = extended_.insert(same, {offset.key(), times, isSigned, constant, constant});
  same->least = std::min(same->least, constant);
  same->most = std::max(same->most, constant);
  exact_.insert(&cast);
  f.sum = offset;
  f.sum.constant = constant;
  f.sum.add(start_, times);
  return f;
}

bool Pair::areEqual(const Form &ofOne, const Form &ofMany, unsigned copy, unsigned bits) const {
  const int64_t away = minus(ofMany.sum.constant, total(ofOne.sum.constant, ofOne.perRound * copy));
  const int64_t perTurn = copies_ * ofOne.perRound;
  return ofMany.perTurn == perTurn &&
         (isUnrolledFirst() ? ofOne.perTurn == perTurn && ofMany.perRound == 0
                            : ofOne.perTurn == 0 && ofMany.perRound == ofOne.perRound) &&
         llvm::SignExtend64(uint64_t(away), bits) == 0 && ofOne.sum.key() == ofMany.sum.key();
}

/// What `ofOne` is `copy` rounds after a turn of the unrolled loop would begin, `ofMany` is in that
/// turn.
bool Pair::match(Value *ofOne, Value *ofMany, unsigned copy) {
  if (++steps_ > kLimits.search.matched)
    return false;
  ofOne = lower::bitsOf(ofOne);
  ofMany = lower::bitsOf(ofMany);
  if (!matched_.insert({ofOne, ofMany, copy}).second)
    return true; // or found not to be so, which ends all
  if (Value *same = invariant(ofOne))
    return same == invariant(ofMany); // of one type then
  if (const unsigned bits = widthOf(ofOne); bits != 0 && bits == widthOf(ofMany))
    if (const Form *f = formOf(ofOne), *g = f ? formOf(ofMany) : nullptr;
        g && areEqual(*f, *g, copy, bits))
      return true;
  if (auto *phi = llvm::dyn_cast<PHINode>(ofOne)) {
    if (copy > 0)
      return match(nextOf(*phi), ofMany, copy - 1);
    auto *first = llvm::dyn_cast<PHINode>(ofMany);
    return first && areLinked(*phi, *first);
  }
  auto *i = llvm::dyn_cast<Instruction>(ofOne), *j = llvm::dyn_cast<Instruction>(ofMany);
  return i && j && i->getParent() == one_ && j->getParent() == many_ &&
         matchOperations(*i, *j, copy);
}

/// One number, that both loops change: the second one goes on where the first one has ended.
bool Pair::areLinked(PHINode &ofOne, PHINode &ofMany) {
  if (ofOne.getParent() != one_ || ofMany.getParent() != many_)
    return false;
  PHINode &first = isUnrolledFirst() ? ofMany : ofOne, &second = isUnrolledFirst() ? ofOne : ofMany;
  if (changedBy(*beforeTheWay(startOf(second))) != &first)
    return false;
  return !linked_.insert({&ofOne, &ofMany}).second ||
         match(nextOf(ofOne), nextOf(ofMany), copies_ - 1);
}

bool Pair::matchOperations(Instruction &ofOne, Instruction &ofMany, unsigned copy) {
  auto *x = llvm::dyn_cast<llvm::CmpInst>(&ofOne), *y = llvm::dyn_cast<llvm::CmpInst>(&ofMany);
  const bool isSwapped = x && y && x->getPredicate() != y->getPredicate() &&
                         x->getPredicate() == y->getSwappedPredicate() &&
                         x->getOperand(0)->getType() == y->getOperand(0)->getType();
  if (!isSwapped && !ofOne.isSameOperationAs(&ofMany))
    return false;
  if (llvm::isa<llvm::LoadInst>(ofOne) && !isLoadedInOrder(ofOne, ofMany, copy))
    return false;
  if (auto *call = llvm::dyn_cast<llvm::CallBase>(&ofOne);
      call && call->getCalledOperand() != llvm::cast<llvm::CallBase>(ofMany).getCalledOperand())
    return false;
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>> known;
  ofOne.getAllMetadataOtherThanDebugLoc(known);
  for (auto [kind, node] : known)
    if (ofMany.getMetadata(kind) != node)
      notKnown_.push_back({&ofOne, kind});
  const auto matchAll = [&](unsigned first, unsigned second) {
    for (unsigned n = 0; n < ofOne.getNumOperands(); ++n)
      if (!match(ofOne.getOperand(n),
                 ofMany.getOperand(n == 0   ? first
                                   : n == 1 ? second
                                            : n),
                 copy))
        return false;
    return true;
  };
  if (isSwapped)
    return matchAll(1, 0);
  if (!ofOne.isCommutative())
    return matchAll(0, 1);
  const auto matched = matched_;
  const auto linked = linked_;
  if (matchAll(0, 1))
    return true;
  matched_ = matched;
  linked_ = linked;
  return matchAll(1, 0);
}

/// Behind as many stores as in one loop.
bool Pair::isLoadedInOrder(const Instruction &ofOne, const Instruction &ofMany,
                           unsigned copy) const {
  const auto isFixed = [](const Instruction &i) {
    return i.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  };
  if (isFixed(ofOne) != isFixed(ofMany))
    return false;
  const auto before = [](const std::vector<Instruction *> &stores, const Instruction &load) {
    return size_t(llvm::count_if(stores, [&](Instruction *s) { return s->comesBefore(&load); }));
  };
  return isFixed(ofOne) ||
         before(storesOfMany_, ofMany) == copy * storesOfOne_.size() + before(storesOfOne_, ofOne);
}

bool Pair::doTheSame() {
  const size_t each = storesOfOne_.size();
  if (storesOfMany_.size() != each * copies_)
    return false;
  for (size_t n = 0; n < storesOfMany_.size(); ++n)
    if (!matchOperations(*storesOfOne_[n % each], *storesOfMany_[n], unsigned(n / each)))
      return false;
  return true;
}

bool Pair::findResults() {
  BasicBlock *ofSecond = second_->getExitBlock(), *around = next_->getParent();
  while (ofSecond->getSingleSuccessor() != behind_)
    ofSecond = ofSecond->getSingleSuccessor();
  BasicBlock *way = second_->getLoopPreheader();
  choiceBefore(way);
  for (BasicBlock *b = otherSide(*next_, way); b != behind_; b = b->getSingleSuccessor())
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

/// All that has to be asked, and where the loop begins, is known before the loops.
bool Pair::isAskable() {
  llvm::MapVector<Value *, Value *> made;
  return isKnown(end_) && isKnown(start_) && llvm::all_of(one_->phis(), [&](const PHINode &phi) {
           return initially(startOf(phi), nullptr, made) != nullptr;
         });
}

/// Whether there is a first round, as the way to the loops tells.
bool Pair::isBelowEnd() {
  const Form *start = formOf(start_);
  const BasicBlock *b = choice_->getParent();
  for (const BasicBlock *before = b; (before = b->getSinglePredecessor()); b = before) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
    const auto known = branch && branch->isConditional() ? comparisonFor(*branch, b) : std::nullopt;
    if (!known || known->predicate != llvm::CmpInst::ICMP_SLT || known->y != end_)
      continue;
    if (const Form *x = formOf(known->x); x && x->perRound == 0 && x->perTurn == 0 &&
                                          x->sum.key() == start->sum.key() &&
                                          x->sum.constant == start->sum.constant)
      return true;
  }
  return false;
}

/// Whether the counter has the rounds that both loops have, and no number wraps that is extended on
/// the way, for all lanes:
///   0 <= start < end <= greatest - step
Value *Pair::isRight(llvm::IRBuilder<> &b) {
  auto *type = llvm::cast<llvm::IntegerType>(start_->getType());
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(type, n); };
  Value *start = b.CreateFreeze(before(start_)), *end = b.CreateFreeze(before(end_));
  Value *isInRange = b.CreateICmpSGE(start, number(0));
  if (!isBelowEnd())
    isInRange = b.CreateAnd(isInRange, b.CreateICmpSLT(start, end));
  Value *all = callWord(b, Op::all, b.getInt1Ty(), isInRange);
  const llvm::APInt greatest = llvm::APInt::getSignedMaxValue(type->getBitWidth());
  all = b.CreateAnd(all,
                    b.CreateICmpSLE(end, llvm::ConstantInt::get(type, greatest - uint64_t(step_))));
  // In 64 bits, where numbers of 32 do not wrap.
  const auto wide = [&](Value *v) { return b.CreateSExt(v, b.getInt64Ty()); };
  for (const Extended &e : extended_) {
    Value *offset = b.getInt64(0);
    for (const auto &[term, times] : e.offset)
      offset =
          b.CreateAdd(offset, b.CreateMul(wide(b.CreateFreeze(before(const_cast<Value *>(term)))),
                                          b.getInt64(uint64_t(times))));
    Value *last = b.CreateMul(b.CreateAdd(wide(end), b.getInt64(uint64_t(step_))),
                              b.getInt64(uint64_t(e.times)));
    Value *least = b.CreateAdd(offset, b.getInt64(uint64_t(e.least)));
    Value *most = b.CreateAdd(b.CreateAdd(offset, last), b.getInt64(uint64_t(e.most)));
    all =
        b.CreateAnd(all, b.CreateICmpSGE(least, b.getInt64(e.isSigned ? uint64_t(INT32_MIN) : 0)));
    all = b.CreateAnd(all, b.CreateICmpSLE(most, b.getInt64(uint64_t(INT32_MAX))));
  }
  return all;
}

/// `v` as it is where no round has been done, if isRight(). Without a builder, nothing is made, and
/// null says that it is not known.
Value *Pair::initially(Value *v, llvm::IRBuilder<> *b, llvm::MapVector<Value *, Value *> &made) {
  v = beforeTheWay(v);
  if (auto *phi = llvm::dyn_cast<PHINode>(v); phi && phi->getParent() == joined_) {
    PHINode *changed = changedBy(*phi);
    return changed ? initially(startOf(*changed), b, made) : nullptr;
  }
  auto *i = llvm::dyn_cast<Instruction>(v);
  const bool isRemade =
      i && llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst>(i) &&
      isSpeculatable(*i);
  if (!isRemade)
    return !isKnown(v) ? nullptr : b ? before(v) : v;
  if (auto known = made.find(v); known != made.end())
    return known->second;
  llvm::SmallVector<Value *> operands;
  for (Value *operand : i->operands()) {
    operands.push_back(initially(operand, b, made));
    if (!operands.back())
      return made[v] = nullptr;
  }
  const bool isExact = exact_.contains(i);
  if (!b || (!isExact && !isInside(i) &&
             std::equal(operands.begin(), operands.end(), i->value_op_begin())))
    return made[v] = v;
  Instruction *copy = i->clone();
  for (auto [n, operand] : llvm::enumerate(operands))
    copy->setOperand(unsigned(n), operand);
  copy->dropPoisonGeneratingFlags();
  if (isExact)
    copy->setMetadata(kExact, llvm::MDNode::get(copy->getContext(), {}));
  return made[v] = b->Insert(copy);
}

/// Numbers of rounds, on which lanes need not agree any more.
void Pair::settle(Value *test) const {
  llvm::SmallVector<Value *> stack{test, left_, choice_->getCondition(), next_->getCondition()};
  llvm::SmallPtrSet<Value *, 32> seen;
  while (!stack.empty()) {
    auto *i = llvm::dyn_cast<Instruction>(stack.pop_back_val());
    if (!i || llvm::isa<PHINode>(i) || i->mayReadOrWriteMemory() || !seen.insert(i).second)
      continue;
    wantNoVersionFor(*i);
    stack.append(i->value_op_begin(), i->value_op_end());
  }
}

void Pair::rewrite() {
  llvm::IRBuilder<> b(choice_);
  b.SetCurrentDebugLocation(choice_->getDebugLoc());
  Value *test = isRight(b);
  settle(test);
  Value *start = before(start_), *end = before(end_);
  llvm::Function &f = *one_->getParent();
  const BasicBlock *aheadOfOne = (isUnrolledFirst() ? second_ : first_)->getLoopPreheader();
  llvm::MapVector<Value *, Value *> made;
  llvm::SmallVector<Value *> starts;
  for (const PHINode &phi : one_->phis())
    starts.push_back(initially(startOf(phi), &b, made));
  BasicBlock *from = choice_->getParent(), *rest = llvm::SplitBlock(from, choice_);
  BasicBlock *ahead = BasicBlock::Create(f.getContext(), "rolled.ahead", &f, rest);
  BasicBlock *done = BasicBlock::Create(f.getContext(), "rolled.done", &f, rest);
  from->getTerminator()->eraseFromParent();
  expectFirst(llvm::BranchInst::Create(ahead, rest, test, from), choice_->getDebugLoc());
  for (auto [v, copy] : made) // which promise what holds there only
    if (copy != v)
      llvm::cast<Instruction>(copy)->moveBefore(*ahead, ahead->end());

  llvm::ValueToValueMapTy map;
  BasicBlock *rolled = llvm::CloneBasicBlock(one_, map, ".rolled", &f);
  llvm::BranchInst::Create(rolled, ahead)->setDebugLoc(choice_->getDebugLoc());
  for (Instruction &i : *rolled) {
    llvm::RemapInstruction(&i, map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    i.dropPoisonGeneratingFlags();
  }
  for (auto [i, kind] : notKnown_)
    llvm::cast<Instruction>(map[i])->setMetadata(kind, nullptr);
  for (auto [n, phi] : llvm::enumerate(one_->phis())) {
    auto *copy = llvm::cast<PHINode>(map[&phi]);
    for (unsigned k : {0u, 1u})
      if (copy->getIncomingBlock(k) == aheadOfOne) {
        copy->setIncomingBlock(k, ahead);
        copy->setIncomingValue(k, starts[n]);
      } else {
        copy->setIncomingBlock(k, rolled);
      }
  }
  auto *last = llvm::cast<llvm::BranchInst>(rolled->getTerminator());
  Value *counted = last->getCondition();
  b.SetInsertPoint(last);
  b.SetCurrentDebugLocation(many_->getTerminator()->getDebugLoc());
  auto *counter = PHINode::Create(start->getType(), 2, "counter", rolled->begin());
  Value *next = b.CreateAdd(counter, llvm::ConstantInt::get(start->getType(), uint64_t(step_)));
  counter->addIncoming(start, ahead);
  counter->addIncoming(next, rolled);
  b.CreateCondBr(b.CreateICmpSLT(next, end), rolled, done);
  last->eraseFromParent();
  llvm::BranchInst::Create(behind_, done)->setDebugLoc(many_->getTerminator()->getDebugLoc());
  for (const auto &[phi, value] : results_) {
    auto copy = map.find(value);
    phi->addIncoming(copy == map.end() ? value : static_cast<Value *>(copy->second), done);
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(counted); // the rounds that are left
  llvm::DeleteDeadPHIs(rolled);
}

} // namespace

bool rerollLoops(llvm::Function &f, const GangShape &gang) {
  bool isChanged = false;
  std::set<const BasicBlock *> seen;
  for (bool isAny = true; isAny;) {
    isAny = false;
    const ShapeAnalysis shapes(f, gang, false);
    for (const llvm::Loop *loop : shapes.loops().getLoopsInPreorder()) {
      if (!isLoopOfOneBlock(*loop) || !seen.insert(loop->getHeader()).second)
        continue;
      Pair pair(*loop, shapes);
      if (!pair.find())
        continue;
      pair.rewrite();
      normaliseLoops(f);
      isAny = isChanged = true;
      break;
    }
  }
  return isChanged;
}

} // namespace ptxrun::simt
