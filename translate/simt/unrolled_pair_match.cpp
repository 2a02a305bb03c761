// Whether the unrolled loop does what rounds of the other one do: the same operations, on numbers
// and addresses that are equal as sums of the counter and of what the loops leave alone.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/PatternMatch.h>

#include <cstdlib>

#include "translate/lower/bits_of.h"
#include "translate/simt/unrolled_pair.h"

namespace ptxrun::simt {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::Value;

namespace {

/// Factors below it do not let sums of 64 bits wrap, of numbers of 32.
constexpr int64_t kMostTimes = int64_t{1} << 24;

} // namespace

/// Lanes have elements side by side where their counters are as they are at the start, which they
/// would not in the second loop.
bool UnrolledPair::hasRows() {
  const int64_t apart = std::abs(shapes_.step(start_).value_or(1)); // the counters of two lanes
  return llvm::any_of(*one_, [&](Instruction &i) {
    Value *place = llvm::getLoadStorePointerOperand(&i);
    const Form *f = place ? formOf(place) : nullptr;
    return f &&
           product(f->perRound, apart) ==
               product(step_,
                       int64_t(i.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&i))));
  });
}

/// The number of the first loop that is `joined` with what it was before.
PHINode *UnrolledPair::changedBy(const Value &joined) const {
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
Value *UnrolledPair::invariant(Value *v) {
  v = beforeTheWay(v);
  if (!isInside(v))
    return v;
  auto [known, isNew] = standsFor_.try_emplace(v, nullptr);
  if (!isNew)
    return known->second;
  Value *found = findInvariant(*llvm::cast<Instruction>(v));
  return standsFor_[v] = found;
}

Value *UnrolledPair::findInvariant(Instruction &i) {
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

const Form *UnrolledPair::formOf(Value *v) {
  auto found = forms_.find(v);
  if (found == forms_.end())
    found = forms_.emplace(v, sumOfForms(v)).first;
  return found->second ? &*found->second : nullptr;
}

std::optional<Form> UnrolledPair::sumOfForms(Value *v) {
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

std::optional<Form> UnrolledPair::formOfTerm(Value *v) {
  v = beforeTheWay(v);
  if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(v))
    return formOfExtension(*llvm::cast<llvm::CastInst>(v));
  if (std::optional<Form> rounded = formOfMultiple(v); rounded || (rounded = formOfQuotient(v)))
    return rounded;
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

/// Of what rounds the counter, or a product of it with a power of two, down to a multiple of
/// another one, which it is.
std::optional<Form> UnrolledPair::formOfMultiple(Value *v) {
  namespace p = llvm::PatternMatch;
  Value *of;
  const llvm::APInt *mask, *by;
  if (!end_ || !p::match(v, p::m_And(p::m_Value(of), p::m_APInt(mask))) ||
      !mask->isNegatedPowerOf2())
    return std::nullopt;
  unsigned left = 0;
  if (p::match(of, p::m_Shl(p::m_Value(of), p::m_APInt(by))) && by->ult(20))
    left = unsigned(by->getZExtValue());
  of = withoutRounding(of);
  const std::optional<int64_t> ahead = aheadOfCounter(of);
  if (!ahead)
    return std::nullopt;
  const auto zeros = [](int64_t n) { return unsigned(llvm::countr_zero(uint64_t(n))); };
  const unsigned known =
      std::min({llvm::computeKnownBits(start_, choice_->getDataLayout()).countMinTrailingZeros(),
                zeros(step_), zeros(*ahead)});
  if (known + left < mask->countr_zero())
    return std::nullopt;
  const Form &counter = *formOf(of);
  const int64_t times = int64_t{1} << left;
  Form f;
  f.sum.add(counter.sum, times);
  f.perRound = product(counter.perRound, times);
  f.perTurn = product(counter.perTurn, times);
  return f;
}

/// Whether all that the counter starts with are such multiples, and their sum does not wrap.
bool UnrolledPair::isMultipleOf(int64_t divisor) {
  const LinearSum &start = formOf(start_)->sum;
  llvm::APInt most(2 * 64, uint64_t(std::max<int64_t>(start.constant, 0)));
  for (const auto &[term, times] : start.terms) {
    if (times < 0 || times >= kMostTimes || times % divisor != 0 || term->getType()->isPointerTy())
      return false;
    most += llvm::computeKnownBits(term, choice_->getDataLayout()).getMaxValue().zext(2 * 64) *
            uint64_t(times);
  }
  return start.constant >= 0 && start.constant % divisor == 0 &&
         most.ult(llvm::APInt::getSignedMaxValue(widthOf(start_)).zext(2 * 64));
}

/// Of the counter, by a power of two that the step is a multiple of. Forms of such quotients stand
/// on the first one's place: all are of one counter.
std::optional<Form> UnrolledPair::formOfQuotient(Value *v) {
  namespace p = llvm::PatternMatch;
  Value *of;
  const llvm::APInt *by;
  if (!end_ || !p::match(v, p::m_Shr(p::m_Value(of), p::m_APInt(by))) || by->uge(20))
    return std::nullopt;
  of = withoutRounding(of);
  const int64_t divisor = int64_t{1} << by->getZExtValue();
  const std::optional<int64_t> ahead = aheadOfCounter(of);
  if (!ahead || *ahead % divisor != 0 || step_ % divisor != 0)
    return std::nullopt;
  const Form &counter = *formOf(of);
  Form f;
  if (isMultipleOf(divisor)) {
    for (const auto &[term, times] : counter.sum.terms)
      f.sum.add(term, times / divisor);
    f.sum.constant = counter.sum.constant / divisor;
  } else {
    f.sum.add(quotients_.try_emplace(divisor, v).first->second, 1);
    f.sum.constant = *ahead / divisor;
  }
  f.perRound = counter.perRound / divisor;
  f.perTurn = counter.perTurn / divisor;
  return f;
}

/// Of a quotient of the counter and a constant, of 32 bits: half of what does not wrap, at most,
/// and so little that it does not, either.
std::optional<Form> UnrolledPair::formOfExtendedQuotient(const llvm::CastInst &cast) {
  const LinearSum sum = sumOf(cast.getOperand(0));
  const int64_t least = llvm::isa<llvm::SExtInst>(cast) ? -kMostTimes : 0;
  const int64_t constant = llvm::SignExtend64<32>(uint64_t(sum.constant));
  if (widthOf(cast.getOperand(0)) != 32 || sum.terms.size() != 1 || sum.terms[0].second != 1 ||
      constant < least || constant > kMostTimes)
    return std::nullopt;
  std::optional<Form> f = formOfQuotient(const_cast<Value *>(sum.terms[0].first));
  if (f)
    f->sum.constant += constant;
  return f;
}

/// By the counter, which knows no wrapping, and what is the same for all lanes.
std::optional<Form> UnrolledPair::formOfExtension(llvm::CastInst &cast) {
  if (std::optional<Form> f = formOfExtendedQuotient(cast))
    return f;
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

bool UnrolledPair::areEqual(const Form &ofOne, const Form &ofMany, unsigned copy,
                            unsigned bits) const {
  const int64_t away = minus(ofMany.sum.constant, total(ofOne.sum.constant, ofOne.perRound * copy));
  const int64_t perTurn = copies_ * ofOne.perRound;
  return ofMany.perTurn == perTurn &&
         (isUnrolledFirst() ? ofOne.perTurn == perTurn && ofMany.perRound == 0
                            : ofOne.perTurn == 0 && ofMany.perRound == ofOne.perRound) &&
         llvm::SignExtend64(uint64_t(away), bits) == 0 && ofOne.sum.key() == ofMany.sum.key();
}

/// How far `v` is ahead of the counter, if it is that, or the counter of a round behind it that is
/// done as well, or of the next one: not below zero, if isRight().
std::optional<int64_t> UnrolledPair::aheadOfCounter(Value *v) {
  const Form *f = formOf(v), *start = f && widthOf(v) == widthOf(start_) ? formOf(start_) : nullptr;
  if (!start || f->sum.key() != start->sum.key())
    return std::nullopt;
  // The second loop's counter has what the first one added to it.
  const bool isOfMany = isUnrolledFirst() ? f->perRound == 0 : f->perTurn != 0;
  const int64_t perTurn = product(step_, copies_);
  if (f->perRound != (isOfMany && isUnrolledFirst() ? 0 : step_) ||
      f->perTurn != (isOfMany || isUnrolledFirst() ? perTurn : 0))
    return std::nullopt;
  const int64_t ahead = minus(f->sum.constant, start->sum.constant);
  return ahead >= 0 && ahead <= (isOfMany ? perTurn : step_) ? std::optional(ahead) : std::nullopt;
}

/// A number to which compilers add what rounds a quotient by a power of two towards zero, without
/// that: it is nothing where the number is not below zero.
Value *UnrolledPair::withoutRounding(Value *v) {
  namespace p = llvm::PatternMatch;
  const auto isSignOf = [](Value *sign, Value *number) {
    const llvm::APInt *by;
    return p::match(sign,
                    p::m_LShr(p::m_AShr(p::m_Specific(number), p::m_APInt(by)), p::m_Value())) &&
           *by == by->getBitWidth() - 1;
  };
  Value *x, *y;
  if (!p::match(v, p::m_Add(p::m_Value(x), p::m_Value(y))))
    return v;
  if (isSignOf(x, y))
    std::swap(x, y);
  return isSignOf(y, x) && aheadOfCounter(x) ? x : v;
}

/// What `ofOne` is `copy` rounds after a turn of the unrolled loop would begin, `ofMany` is in that
/// turn.
bool UnrolledPair::match(Value *ofOne, Value *ofMany, unsigned copy) {
  if (++steps_ > kLimits.search.matched)
    return false;
  ofOne = withoutRounding(lower::bitsOf(ofOne));
  ofMany = withoutRounding(lower::bitsOf(ofMany));
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
bool UnrolledPair::areLinked(PHINode &ofOne, PHINode &ofMany) {
  if (ofOne.getParent() != one_ || ofMany.getParent() != many_)
    return false;
  PHINode &first = isUnrolledFirst() ? ofMany : ofOne, &second = isUnrolledFirst() ? ofOne : ofMany;
  if (changedBy(*beforeTheWay(startOf(second))) != &first)
    return false;
  return !linked_.insert({&ofOne, &ofMany}).second ||
         match(nextOf(ofOne), nextOf(ofMany), copies_ - 1);
}

bool UnrolledPair::matchOperations(Instruction &ofOne, Instruction &ofMany, unsigned copy) {
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
bool UnrolledPair::isLoadedInOrder(const Instruction &ofOne, const Instruction &ofMany,
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

bool UnrolledPair::doTheSame() {
  const size_t each = storesOfOne_.size();
  if (storesOfMany_.size() != each * copies_)
    return false;
  for (size_t n = 0; n < storesOfMany_.size(); ++n)
    if (!matchOperations(*storesOfOne_[n % each], *storesOfMany_[n], unsigned(n / each)))
      return false;
  return true;
}

} // namespace ptxrun::simt
