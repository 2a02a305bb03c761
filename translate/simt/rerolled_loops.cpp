// Loops that lanes stride through, as compilers write them:
//
//     for (k = first + lane; k < end; k += 32) body(k)
//       =>  n = number of rounds;  left = n % 4
//           for (; left != 0; --left) body(k), k += 32
//           if (n >= 4)
//             do body(k), body(k + 32), body(k + 64), body(k + 96), k += 128; while (k < end)
//
// Where lanes have n rounds and n - 1, they part in the first loop, and have no rows in the second:
// what was one row of `end` that is no multiple of 128 would be gathered, lane by lane. Gangs for
// which both loops together do what one loop would take that one:
//
//     do body(k), k += 32; while (k < end)
//
// That the second loop does what four rounds of the first do is seen from the code: its values are
// the same operations on addresses and numbers that are equal as sums. That both together have the
// rounds of the one is asked at run time, for all lanes at once (`isRight`).
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

/// sum + perRound * t + perTurn * u: in round t of the first loop; of the second loop, which has
/// begun in round t, in its turn u.
struct Form {
  LinearSum sum;
  int64_t perRound = 0, perTurn = 0;
};

/// A number that is extended, but for constants: what it is the sum of before the first round, and
/// what each adds. Sums of it are extended as if it could not wrap.
struct Extended {
  LinearSum::Terms terms;
  unsigned bits;
  bool isSigned;
  int64_t perRound;
  int64_t least, most; ///< what is added to it, wherever it is extended
  const Value *standsFor;
};

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

/// A loop of what is left, and the unrolled one behind it.
class Pair {
 public:
  Pair(const llvm::Loop &unrolled, const ShapeAnalysis &shapes)
      : shapes_(shapes), unrolled_(unrolled), many_(*unrolled.getHeader()) {}

  /// Nothing is changed.
  bool find() {
    return findBlocks() && hasOnlyAccesses(*one_, storesOfOne_) &&
           hasOnlyAccesses(many_, storesOfMany_) && findCounts() && hasRows() && doTheSame() &&
           findResults() && isAskable();
  }

  void rewrite();

 private:
  bool findBlocks();
  static bool hasOnlyAccesses(BasicBlock &, std::vector<Instruction *> &stores);
  bool findCounts();
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
  bool isLoadedInOrder(const Instruction &ofOne, const Instruction &ofMany, unsigned copy) const;

  bool isInside(const Value *v) const {
    auto *i = llvm::dyn_cast<Instruction>(v);
    return i && inside_.contains(i->getParent());
  }
  Value *startOf(const PHINode &phi) const {
    const llvm::Loop &loop = phi.getParent() == one_ ? *left_ : unrolled_;
    return phi.getIncomingValueForBlock(loop.getLoopPreheader());
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
  Value *exactly(Value *v, llvm::IRBuilder<> &, llvm::DenseMap<Value *, Value *> &made) const;
  LinearSum offsetOf(const Extended &) const;
  bool isDistanceToEnd(Value *);
  bool isNumberOfRounds(Value *);
  bool areCountedAlike();
  bool isBelowEnd();
  Value *isRight(llvm::IRBuilder<> &);
  void settle(Value *test) const;

  const ShapeAnalysis &shapes_;
  const llvm::Loop &unrolled_;
  BasicBlock &many_;                                ///< the unrolled loop
  const llvm::Loop *left_ = nullptr;                ///< the loop of what is left
  BasicBlock *one_ = nullptr;                       ///< its block
  llvm::BranchInst *choice_ = nullptr;              ///< around it
  BasicBlock *joined_ = nullptr;                    ///< behind it
  llvm::BranchInst *enough_ = nullptr;              ///< around the unrolled loop
  BasicBlock *behind_ = nullptr;                    ///< all of them
  llvm::SmallPtrSet<const BasicBlock *, 8> inside_; ///< from `choice_` to `behind_`
  Value *rounds_ = nullptr;                         ///< of the loop of what is left
  PHINode *counter_ = nullptr;                      ///< of `one_`: compared with `end_`
  Value *end_ = nullptr;
  llvm::CmpInst::Predicate goesOn_ = llvm::CmpInst::BAD_ICMP_PREDICATE;
  int64_t step_ = 0; ///< of the counter
  unsigned copies_ = 0;
  std::vector<Instruction *> storesOfOne_, storesOfMany_;
  std::set<std::tuple<Value *, Value *, unsigned>> matched_;
  std::map<Value *, std::optional<Form>> forms_;
  std::vector<Extended> extended_;
  std::vector<Instruction *> invariants_;
  std::map<Value *, Value *> standsFor_;
  /// What is known of operations of `one_`, and not of the same ones of `many_`.
  std::vector<std::pair<Instruction *, unsigned>> notKnown_;
  std::vector<std::pair<PHINode *, Value *>> results_; ///< phis of `behind_`, what comes to them
};

bool Pair::findBlocks() {
  BasicBlock *way = unrolled_.getLoopPreheader();
  enough_ = choiceBefore(way);
  if (!enough_)
    return false;
  behind_ = meetingOf(unrolled_.getExitBlock(), otherSide(*enough_, way));
  joined_ = enough_->getParent();
  choiceBefore(joined_); // to where it begins
  if (!behind_ || !joined_->hasNPredecessors(2))
    return false;
  for (BasicBlock *p : llvm::predecessors(joined_))
    for (BasicBlock *b = p; b; b = isEmpty(*b) ? b->getSinglePredecessor() : nullptr) {
      const llvm::Loop *loop = shapes_.loops().getLoopFor(b);
      if (loop && loop->getHeader() == b && isLoopOfOneBlock(*loop) && loop != &unrolled_)
        left_ = loop;
    }
  if (!left_ || meetingOf(left_->getExitBlock(), joined_) != joined_)
    return false;
  one_ = left_->getHeader();
  way = left_->getLoopPreheader();
  choice_ = choiceBefore(way);
  if (!choice_ || meetingOf(otherSide(*choice_, way), joined_) != joined_)
    return false;
  llvm::SmallVector<BasicBlock *> stack(llvm::successors(choice_->getParent()));
  while (!stack.empty())
    if (BasicBlock *b = stack.pop_back_val(); b != behind_ && inside_.insert(b).second)
      stack.append(llvm::succ_begin(b), llvm::succ_end(b));
  return true;
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

/// The loop of what is left counts its rounds down; the other one goes on below a bound.
bool Pair::findCounts() {
  const auto toOne = comparisonFor(*llvm::cast<llvm::BranchInst>(one_->getTerminator()), one_);
  const auto toMany = comparisonFor(*llvm::cast<llvm::BranchInst>(many_.getTerminator()), &many_);
  if (!toOne || toOne->predicate != llvm::CmpInst::ICMP_NE ||
      !llvm::PatternMatch::match(toOne->y, m_ZeroInt()) || !toMany)
    return false;
  for (PHINode &phi : one_->phis())
    if (nextOf(phi) == toOne->x && stepOf(phi) == -1)
      rounds_ = startOf(phi);
  BasicBlock *way = left_->getLoopPreheader();
  choiceBefore(way);
  const auto toLeft = comparisonFor(*choice_, way);
  if (!rounds_ || !toLeft || toLeft->predicate != llvm::CmpInst::ICMP_NE || toLeft->x != rounds_ ||
      !llvm::PatternMatch::match(toLeft->y, m_ZeroInt()))
    return false;
  goesOn_ = toMany->predicate;
  Value *counted = toMany->x;
  end_ = toMany->y;
  if (!isInside(counted)) {
    std::swap(counted, end_);
    goesOn_ = llvm::CmpInst::getSwappedPredicate(goesOn_);
  }
  if ((goesOn_ != llvm::CmpInst::ICMP_SLT && goesOn_ != llvm::CmpInst::ICMP_ULT) ||
      isInside(end_) || !counted->getType()->isIntegerTy())
    return false;
  const unsigned bits = counted->getType()->getIntegerBitWidth();
  const Form *f = bits == 32 || bits == 64 ? formOf(counted) : nullptr;
  if (!f || f->perRound <= 0 || f->perTurn % f->perRound != 0)
    return false;
  step_ = f->perRound;
  const int64_t copies = f->perTurn / f->perRound;
  if (copies < 2 || copies > kLimits.versions.rerolled || step_ > (1 << 20))
    return false;
  copies_ = unsigned(copies);
  for (PHINode &phi : one_->phis())
    if (nextOf(phi)->getType() == counted->getType())
      if (const Form *next = formOf(nextOf(phi)); next && areEqual(*next, *f, copies_ - 1, bits))
        counter_ = &phi;
  return counter_ && shapes_.shape(startOf(*counter_)).hasOffsets() && shapes_.isUniform(end_);
}

/// Lanes have elements side by side as far as their counters do, which they would not in the
/// unrolled loop.
bool Pair::hasRows() {
  return llvm::any_of(*one_, [&](Instruction &i) {
    Value *place = llvm::getLoadStorePointerOperand(&i);
    const Form *f = place ? formOf(place) : nullptr;
    return f && f->perRound == product(step_, int64_t(i.getDataLayout().getTypeStoreSize(
                                                  llvm::getLoadStoreType(&i))));
  });
}

/// The number of `one_` that is `joined` with what it was before.
PHINode *Pair::changedBy(const Value &joined) const {
  auto *phi = llvm::dyn_cast<PHINode>(&joined);
  if (!phi || phi->getParent() != joined_)
    return nullptr;
  for (PHINode &p : one_->phis())
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

Value *Pair::findInvariant(Instruction &of) {
  Instruction *i = &of;
  if (llvm::isa<PHINode>(i) || !isSpeculatable(*i) || i->mayReadOrWriteMemory())
    return nullptr;
  llvm::SmallVector<Value *> operands;
  for (Value *operand : i->operands())
    if (Value *known = llvm::isa<llvm::Instruction>(operand) ? invariant(operand) : operand)
      operands.push_back(known);
    else
      return nullptr;
  for (Instruction *other : invariants_)
    if (other == i || (other->isSameOperationAs(i) &&
                       llvm::all_of(llvm::zip(other->operands(), operands), [&](const auto &pair) {
                         Value *of = std::get<0>(pair).get();
                         return (isInside(of) ? invariant(of) : of) == std::get<1>(pair);
                       })))
      return other;
  invariants_.push_back(i);
  return i;
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
  if (!stepping || (stepping->getParent() != one_ && stepping->getParent() != &many_))
    return std::nullopt;
  const std::optional<int64_t> step = stepOf(*stepping);
  const Form *start = step ? formOf(startOf(*stepping)) : nullptr;
  if (!start)
    return std::nullopt;
  Form f = *start;
  (stepping->getParent() == one_ ? f.perRound : f.perTurn) += *step;
  return f;
}

std::optional<Form> Pair::formOfExtension(llvm::CastInst &cast) {
  const Form *of = formOf(cast.getOperand(0));
  if (!of || (of->perTurn != 0 && (copies_ == 0 || of->perTurn != copies_ * of->perRound)))
    return std::nullopt;
  Form f;
  f.perRound = of->perRound;
  f.perTurn = of->perTurn;
  if (of->sum.terms.empty() && of->perRound == 0) {
    f.sum.constant = of->sum.constant;
    return f;
  }
  const unsigned bits = cast.getOperand(0)->getType()->getIntegerBitWidth();
  const bool isSigned = llvm::isa<llvm::SExtInst>(cast);
  const int64_t constant = llvm::SignExtend64(uint64_t(of->sum.constant), bits);
  auto same = llvm::find_if(extended_, [&](const Extended &e) {
    return e.terms == of->sum.key() && e.bits == bits && e.isSigned == isSigned;
  });
  if (same == extended_.end())
    same = extended_.insert(
        same, {of->sum.key(), bits, isSigned, of->perRound, constant, constant, &cast});
  same->perRound = std::max(same->perRound, of->perRound);
  same->least = std::min(same->least, constant);
  same->most = std::max(same->most, constant);
  f.sum.add(same->standsFor, 1);
  f.sum.constant = constant;
  return f;
}

bool Pair::areEqual(const Form &ofOne, const Form &ofMany, unsigned copy, unsigned bits) const {
  const int64_t away = minus(ofMany.sum.constant, total(ofOne.sum.constant, ofOne.perRound * copy));
  return ofMany.perRound == ofOne.perRound && ofMany.perTurn == copies_ * ofOne.perRound &&
         ofOne.perTurn == 0 && llvm::SignExtend64(uint64_t(away), bits) == 0 &&
         ofOne.sum.key() == ofMany.sum.key();
}

/// What `ofOne` is in round t + copy of the loop of what is left, `ofMany` is in the turn of the
/// unrolled loop that begins in round t.
bool Pair::match(Value *ofOne, Value *ofMany, unsigned copy) {
  if (ofOne->getType() != ofMany->getType())
    return false;
  if (!matched_.insert({ofOne, ofMany, copy}).second)
    return true; // or found not to be so, which ends all
  if (Value *same = invariant(ofOne))
    return same == invariant(ofMany);
  if (const unsigned bits = widthOf(ofOne))
    if (const Form *f = formOf(ofOne), *g = f ? formOf(ofMany) : nullptr;
        g && areEqual(*f, *g, copy, bits))
      return true;
  if (auto *phi = llvm::dyn_cast<PHINode>(ofOne)) {
    if (copy > 0)
      return match(nextOf(*phi), ofMany, copy - 1);
    auto *first = llvm::dyn_cast<PHINode>(ofMany);
    return first && first->getParent() == &many_ &&
           changedBy(*beforeTheWay(startOf(*first))) == phi;
  }
  auto *i = llvm::dyn_cast<Instruction>(ofOne), *j = llvm::dyn_cast<Instruction>(ofMany);
  return i && j && i->getParent() == one_ && j->getParent() == &many_ &&
         matchOperations(*i, *j, copy);
}

bool Pair::matchOperations(Instruction &ofOne, Instruction &ofMany, unsigned copy) {
  if (!ofOne.isSameOperationAs(&ofMany))
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
  if (ofOne.isCommutative() && ofOne.getNumOperands() >= 2) {
    const auto saved = matched_;
    if (match(ofOne.getOperand(0), ofMany.getOperand(1), copy) &&
        match(ofOne.getOperand(1), ofMany.getOperand(0), copy) &&
        std::equal(ofOne.op_begin() + 2, ofOne.op_end(), ofMany.op_begin() + 2,
                   [&](Value *x, Value *y) { return match(x, y, copy); }))
      return true;
    matched_ = saved;
  }
  return llvm::all_of(llvm::zip(ofOne.operands(), ofMany.operands()), [&](const auto &pair) {
    return match(std::get<0>(pair).get(), std::get<1>(pair).get(), copy);
  });
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
  BasicBlock *ofMany = unrolled_.getExitBlock(), *around = enough_->getParent();
  while (ofMany->getSingleSuccessor() != behind_)
    ofMany = ofMany->getSingleSuccessor();
  BasicBlock *way = unrolled_.getLoopPreheader();
  choiceBefore(way);
  for (BasicBlock *b = otherSide(*enough_, way); b != behind_; b = b->getSingleSuccessor())
    around = b;
  for (PHINode &phi : behind_->phis()) {
    Value *behindMany = beforeTheWay(phi.getIncomingValueForBlock(ofMany));
    Value *behindOne = beforeTheWay(phi.getIncomingValueForBlock(around));
    if (!isInside(behindMany)) {
      if (behindMany != behindOne)
        return false;
      results_.push_back({&phi, behindMany});
      continue;
    }
    PHINode *of = changedBy(*behindOne);
    if (!of || !match(nextOf(*of), behindMany, copies_ - 1))
      return false;
    results_.push_back({&phi, nextOf(*of)});
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

/// What is left of it when as many counters as it goes up with are taken away.
LinearSum Pair::offsetOf(const Extended &e) const {
  LinearSum offset;
  offset.terms = e.terms;
  offset.constant = e.least;
  offset.add(forms_.at(startOf(*counter_))->sum, -(e.perRound / step_));
  return offset;
}

/// All that has to be asked is known before the loops, and what moves with the counter lies at a
/// distance from it that is the same for all lanes.
bool Pair::isAskable() {
  if (!formOf(startOf(*counter_)))
    return false;
  llvm::erase_if(extended_, [](const Extended &e) { return e.perRound == 0 && e.least == e.most; });
  for (const Extended &e : extended_) {
    if (e.bits != 32 || widthOf(counter_) != 32 || e.perRound <= 0 || e.perRound % step_ != 0)
      return false;
    for (const auto &[term, times] : offsetOf(e).terms)
      if (widthOf(term) != e.bits || term->getType()->isPointerTy() || !shapes_.isUniform(term) ||
          !isKnown(const_cast<Value *>(term)))
        return false;
  }
  return isKnown(rounds_) && isKnown(end_) && isKnown(enough_->getCondition()) &&
         isKnown(startOf(*counter_)) &&
         llvm::all_of(one_->phis(), [&](const PHINode &phi) { return isKnown(startOf(phi)); });
}

/// end - 1 - first, or step - 1 where that is less, as long as there is a first round.
bool Pair::isDistanceToEnd(Value *v) {
  const Form *f = formOf(v), *first = formOf(startOf(*counter_)), *end = formOf(end_);
  if (!f || !first || !end)
    return false;
  const unsigned bits = widthOf(counter_);
  const auto isConstant = [&](const LinearSum &sum, int64_t constant) {
    return sum.terms.empty() &&
           llvm::SignExtend64(uint64_t(minus(sum.constant, constant)), bits) == 0;
  };
  LinearSum rest = f->sum;
  rest.add(first->sum, 1);
  LinearSum toEnd = rest;
  toEnd.add(end->sum, -1);
  if (widthOf(v) != bits || f->perRound != 0 || isConstant(toEnd, -1))
    return widthOf(v) == bits && f->perRound == 0;
  if (rest.terms.size() != 1 || rest.terms[0].second != 1 ||
      !isConstant({{}, rest.constant, 0}, -1))
    return false;
  auto *greater = llvm::dyn_cast<llvm::MinMaxIntrinsic>(rest.terms[0].first);
  if (!greater || greater->getIntrinsicID() != llvm::Intrinsic::smax)
    return false;
  Value *x = greater->getLHS(), *y = greater->getRHS();
  const Form *second = formOf(x == end_ ? y : x);
  if (!second || (x != end_ && y != end_))
    return false;
  LinearSum away = second->sum;
  away.add(first->sum, -1);
  return isConstant(away, step_);
}

bool Pair::isNumberOfRounds(Value *v) {
  Value *distance = v;
  const llvm::APInt *by = nullptr;
  const LinearSum sum = sumOf(v);
  if (sum.constant != 1 || sum.terms.size() != 1 || sum.terms[0].second != 1)
    return false;
  return llvm::PatternMatch::match(const_cast<Value *>(sum.terms[0].first),
                                   m_Shr(m_Value(distance), m_APInt(by))) &&
         by->ult(31) && int64_t{1} << by->getZExtValue() == step_ && isDistanceToEnd(distance);
}

/// Whether what is left, and whether the unrolled loop comes, follows from the counter's rounds.
bool Pair::areCountedAlike() {
  const llvm::APInt *mask = nullptr, *bound = nullptr;
  Value *all = nullptr;
  if (!llvm::isPowerOf2_32(copies_) ||
      !llvm::PatternMatch::match(rounds_, m_And(m_Value(all), m_APInt(mask))) ||
      *mask != copies_ - 1 || !isNumberOfRounds(all))
    return false;
  BasicBlock *way = unrolled_.getLoopPreheader();
  choiceBefore(way);
  const auto around = comparisonFor(*enough_, otherSide(*enough_, way));
  return around && around->predicate == llvm::CmpInst::ICMP_ULT &&
         llvm::PatternMatch::match(around->y, m_APInt(bound)) &&
         *bound == uint64_t(step_) * (copies_ - 1) && isDistanceToEnd(around->x);
}

/// Whether there is a first round, as the way to the loops tells.
bool Pair::isBelowEnd() {
  const Form *first = formOf(startOf(*counter_));
  const BasicBlock *b = choice_->getParent();
  for (const BasicBlock *before = b; (before = b->getSinglePredecessor()); b = before) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
    const auto known = branch && branch->isConditional() ? comparisonFor(*branch, b) : std::nullopt;
    if (!known || known->predicate != llvm::CmpInst::ICMP_SLT || known->y != end_)
      continue;
    if (const Form *x = formOf(known->x); x && x->perRound == 0 &&
                                          x->sum.key() == first->sum.key() &&
                                          x->sum.constant == first->sum.constant)
      return true;
  }
  return false;
}

/// Whether both loops together have the rounds that the counter says, and no number wraps that is
/// extended on the way, for all lanes:
///   0 <= first < end <= greatest - step;  n = (end - 1 - first) / step + 1;
///   what is left is n % copies, and the unrolled loop comes where n >= copies.
Value *Pair::isRight(llvm::IRBuilder<> &b) {
  auto *type = llvm::cast<llvm::IntegerType>(counter_->getType());
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(type, n); };
  Value *first = b.CreateFreeze(before(startOf(*counter_))), *end = b.CreateFreeze(before(end_));
  llvm::SmallVector<Value *> tests{b.CreateICmpSGE(first, number(0))};
  if (!isBelowEnd())
    tests.push_back(b.CreateICmpSLT(first, end));
  if (!areCountedAlike()) {
    Value *rounds = b.CreateAdd(
        b.CreateUDiv(b.CreateSub(b.CreateSub(end, number(1)), first), number(uint64_t(step_))),
        number(1));
    BasicBlock *way = unrolled_.getLoopPreheader();
    choiceBefore(way);
    Value *isEnough = b.CreateFreeze(before(enough_->getCondition()));
    if (enough_->getSuccessor(0) != way)
      isEnough = b.CreateNot(isEnough);
    Value *left = b.CreateFreeze(before(rounds_));
    Value *expected = b.CreateURem(rounds, number(copies_));
    llvm::Type *wide = left->getType()->getIntegerBitWidth() > type->getBitWidth()
                           ? left->getType()
                           : static_cast<llvm::Type *>(type);
    tests.push_back(b.CreateICmpEQ(b.CreateZExt(left, wide), b.CreateZExt(expected, wide)));
    tests.push_back(b.CreateICmpEQ(isEnough, b.CreateICmpUGE(rounds, number(copies_))));
  }
  Value *all = callWord(b, Op::all, b.getInt1Ty(), b.CreateAnd(tests));
  const llvm::APInt greatest = llvm::APInt::getSignedMaxValue(type->getBitWidth());
  all = b.CreateAnd(all,
                    b.CreateICmpSLE(end, llvm::ConstantInt::get(type, greatest - uint64_t(step_))));
  for (const Extended &e : extended_) {
    const LinearSum offset = offsetOf(e);
    Value *sum = number(uint64_t(offset.constant));
    for (const auto &[term, times] : offset.terms)
      sum = b.CreateAdd(sum, b.CreateMul(b.CreateFreeze(before(const_cast<Value *>(term))),
                                         number(uint64_t(times))));
    // Sums of 64 bits: no factor is greater than 2^20, but for those of constants.
    Value *times = b.getInt64(uint64_t(e.perRound / step_));
    Value *last = b.CreateAdd(b.CreateSExt(end, b.getInt64Ty()), b.getInt64(uint64_t(step_)));
    Value *most =
        b.CreateAdd(b.CreateAdd(b.CreateMul(last, times), b.CreateSExt(sum, b.getInt64Ty())),
                    b.getInt64(uint64_t(e.most - e.least)));
    all = b.CreateAnd(all, b.CreateICmpSLE(most, b.getInt64(uint64_t(INT32_MAX))));
    if (!e.isSigned)
      all = b.CreateAnd(all, b.CreateICmpSGE(sum, number(0)));
  }
  return all;
}

/// `v`, which is known before the loops, of numbers that are known not to wrap where isRight().
Value *Pair::exactly(Value *v, llvm::IRBuilder<> &b, llvm::DenseMap<Value *, Value *> &made) const {
  auto *i = llvm::dyn_cast<Instruction>(v);
  if (!i || !isSpeculatable(*i) || i->mayReadOrWriteMemory() ||
      (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst>(i)))
    return before(v);
  if (auto known = made.find(v); known != made.end())
    return known->second;
  Instruction *copy = nullptr;
  const auto take = [&](unsigned operand, Value *with) {
    if (!copy)
      copy = i->clone();
    copy->setOperand(operand, with);
  };
  const bool isExtended = llvm::isa<llvm::SExtInst, llvm::ZExtInst>(i) &&
                          llvm::any_of(extended_, [&](const Extended &e) {
                            const auto of = forms_.find(i->getOperand(0));
                            return of != forms_.end() && of->second &&
                                   e.isSigned == llvm::isa<llvm::SExtInst>(i) &&
                                   of->second->sum.key() == e.terms;
                          });
  if (isExtended)
    take(0, before(i->getOperand(0)));
  else
    for (const llvm::Use &operand : i->operands())
      if (Value *with = exactly(operand.get(), b, made); with != operand.get())
        take(operand.getOperandNo(), with);
  if (!copy)
    return made[v] = before(v);
  copy->dropPoisonGeneratingFlags();
  if (isExtended)
    copy->setMetadata(kExact, llvm::MDNode::get(copy->getContext(), {}));
  return made[v] = b.Insert(copy);
}

/// Numbers of rounds, on which lanes need not agree any more.
void Pair::settle(Value *test) const {
  llvm::SmallVector<Value *> stack{test, rounds_, enough_->getCondition()};
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
  llvm::ValueToValueMapTy map;
  llvm::SmallVector<Value *> starts;
  llvm::DenseMap<Value *, Value *> made;
  for (PHINode &phi : one_->phis())
    starts.push_back(exactly(startOf(phi), b, made));
  Value *end = before(end_);
  const BasicBlock *aheadOfLeft = left_->getLoopPreheader();
  llvm::Function &f = *one_->getParent();
  BasicBlock *from = choice_->getParent();
  BasicBlock *rest = llvm::SplitBlock(from, choice_);
  BasicBlock *ahead = BasicBlock::Create(f.getContext(), "rolled.ahead", &f, rest);
  BasicBlock *rolled = llvm::CloneBasicBlock(one_, map, ".rolled", &f);
  BasicBlock *done = BasicBlock::Create(f.getContext(), "rolled.done", &f, rest);
  from->getTerminator()->eraseFromParent();
  expectFirst(llvm::BranchInst::Create(ahead, rest, test, from), choice_->getDebugLoc());
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
      if (copy->getIncomingBlock(k) == aheadOfLeft) {
        copy->setIncomingBlock(k, ahead);
        copy->setIncomingValue(k, starts[n]);
      } else {
        copy->setIncomingBlock(k, rolled);
      }
  }
  llvm::Instruction *last = rolled->getTerminator();
  b.SetInsertPoint(last);
  b.SetCurrentDebugLocation(many_.getTerminator()->getDebugLoc());
  b.CreateCondBr(b.CreateICmp(goesOn_, map[nextOf(*counter_)], end), rolled, done);
  Value *counted = llvm::cast<llvm::BranchInst>(last)->getCondition();
  last->eraseFromParent();
  llvm::BranchInst::Create(behind_, done)->setDebugLoc(many_.getTerminator()->getDebugLoc());
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
