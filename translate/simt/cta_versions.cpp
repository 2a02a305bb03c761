#include "translate/simt/cta_versions.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "translate/simt/cost.h"
#include "translate/simt/entry_builder.h"
#include "translate/simt/prepare.h"
#include "translate/simt/region_state.h"
#include "translate/simt/unify.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;

/// What is asked about all gangs at once, by the values of the first and of the last.
class CtaTest {
 public:
  CtaTest(llvm::Function &full, unsigned lastFirstThread)
      : full_(full), lastFirstThread_(lastFirstThread) {}

  /// Adds that `condition` holds in all gangs. False, and nothing added, where that cannot be told.
  bool add(Value *condition) {
    const size_t terms = terms_.size(), numbers = numbers_.size(), quotients = quotients_.size();
    if (addTerm(condition) && !isTooLong())
      return true;
    terms_.truncate(terms);
    numbers_.truncate(numbers);
    quotients_.truncate(quotients);
    rises_.clear(); // what was noted of them is gone
    return false;
  }

  /// Values that change from gang to gang, but do not where the test holds.
  llvm::ArrayRef<Value *> quotients() const { return quotients_; }

  /// The function that asks, before `full`.
  llvm::Function *emit() {
    auto *type = llvm::FunctionType::get(llvm::Type::getInt1Ty(full_.getContext()),
                                         full_.getFunctionType()->params(), false);
    auto *f = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                     full_.getName() + ".is.alike", full_.getParent());
    describeAs(full_, *f);
    f->addFnAttr(llvm::Attribute::AlwaysInline);
    llvm::IRBuilder<> b(BasicBlock::Create(f->getContext(), "", f));
    setLine(b, *f);
    Evaluation first(full_, *f, b.getInt32(0)), last(full_, *f, b.getInt32(lastFirstThread_));
    Value *all = b.getTrue();
    const auto require = [&](llvm::CmpInst::Predicate predicate, Value *x, Value *y) {
      all = b.CreateAnd(all, b.CreateICmp(predicate, x, y));
    };
    for (Value *number : numbers_) { // none wraps or changes its sign on the way
      require(llvm::CmpInst::ICMP_SLE, first.of(number, b), last.of(number, b));
      require(llvm::CmpInst::ICMP_ULE, first.of(number, b), last.of(number, b));
    }
    for (const Term &term : terms_) {
      if (!term.compare) {
        all = b.CreateAnd(all, first.of(term.condition, b));
        continue;
      }
      Value *x = term.compare->getOperand(0), *y = term.compare->getOperand(1);
      if (term.compare->getPredicate() == llvm::CmpInst::ICMP_EQ)
        for (Value *side : {x, y})
          require(llvm::CmpInst::ICMP_EQ, first.of(side, b), last.of(side, b));
      require(term.compare->getPredicate(), (term.isLeftOfLast ? last : first).of(x, b),
              (term.isRightOfLast ? last : first).of(y, b));
    }
    b.CreateRet(b.CreateFreeze(all));
    return f;
  }

  /// `quotient`, which a copy of `full` computes of its first thread, of the CTA's.
  static Value *ofCta(Value *quotient, llvm::Function &copy) {
    llvm::IRBuilder<> b(llvm::cast<Instruction>(quotient));
    return Evaluation(copy, copy, b.getInt32(0)).of(quotient, b);
  }

 private:
  /// Copies of what values are computed by, of a gang whose first thread is known.
  class Evaluation {
   public:
    Evaluation(llvm::Function &from, llvm::Function &to, Value *firstThread) {
      for (auto [argument, mapped] : llvm::zip(from.args(), to.args()))
        known_[&argument] = &mapped;
      known_[from.getArg(kFirstThread)] = firstThread;
      isSame_ = &from == &to;
    }
    Value *of(Value *v, llvm::IRBuilder<> &b) {
      if (auto it = known_.find(v); it != known_.end())
        return it->second;
      auto *i = llvm::dyn_cast<Instruction>(v);
      if (!i)
        return v;
      llvm::SmallVector<Value *> operands;
      for (Value *operand : i->operands())
        operands.push_back(of(operand, b));
      if (isSame_ && std::equal(operands.begin(), operands.end(), i->value_op_begin()))
        return known_[v] = v;
      Instruction *copy = i->clone();
      for (unsigned n = 0; n < operands.size(); ++n)
        copy->setOperand(n, operands[n]);
      return known_[v] = b.Insert(copy);
    }

   private:
    llvm::DenseMap<const Value *, Value *> known_;
    bool isSame_;
  };

  struct Term {
    Value *condition;
    llvm::ICmpInst *compare = nullptr;                ///< null: the same for all gangs
    bool isLeftOfLast = false, isRightOfLast = false; ///< else of the first gang
  };

  bool addTerm(Value *condition) {
    Value *x, *y;
    if (match(condition, m_LogicalAnd(m_Value(x), m_Value(y))))
      return addTerm(x) && addTerm(y);
    if (match(condition, m_Freeze(m_Value(x))))
      return addTerm(x);
    if (isUniform(condition)) {
      terms_.push_back({condition});
      return true;
    }
    auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
    if (!compare || !rises(compare->getOperand(0)) || !rises(compare->getOperand(1)))
      return false;
    x = compare->getOperand(0), y = compare->getOperand(1);
    Term term{condition, compare};
    using P = llvm::CmpInst::Predicate;
    switch (compare->getPredicate()) {
    case P::ICMP_EQ:
      for (Value *side : {x, y})
        if (!isUniform(side) && llvm::isa<Instruction>(side))
          quotients_.push_back(side);
      break;
    case P::ICMP_SLT:
    case P::ICMP_SLE:
    case P::ICMP_ULT:
    case P::ICMP_ULE:
      term.isLeftOfLast = true;
      break;
    case P::ICMP_SGT:
    case P::ICMP_SGE:
    case P::ICMP_UGT:
    case P::ICMP_UGE:
      term.isRightOfLast = true;
      if (match(x, m_Add(m_Specific(y), m_ConstantInt()))) // x + 31 >= x: does not wrap
        term.isLeftOfLast = true;
      break;
    default:
      return false;
    }
    terms_.push_back(term);
    return true;
  }

  /// The same for all gangs of a CTA, and to be had before any of them runs.
  bool isUniform(const Value *v) {
    auto [it, isNew] = uniform_.try_emplace(v, false);
    if (!isNew)
      return it->second;
    ++steps_;
    bool is = v != full_.getArg(kFirstThread) && v != full_.getArg(kGang);
    if (auto *i = llvm::dyn_cast<Instruction>(v)) {
      is = !isTooLong() && (isRepeatable(*i) || llvm::isa<llvm::FreezeInst>(i)) &&
           llvm::all_of(i->operands(), [&](const Value *operand) { return isUniform(operand); });
    }
    return uniform_[v] = is;
  }

  /// A number above zero, for all gangs.
  bool isPositive(const Value *v) {
    const llvm::APFloat *number;
    const Value *x, *y;
    if (match(v, m_APFloat(number)))
      return !number->isNegative() && number->isFiniteNonZero();
    if (match(v, m_FAbs(m_Value(x))))
      return isUniform(x);
    return (match(v, m_FDiv(m_Value(x), m_Value(y))) || match(v, m_FMul(m_Value(x), m_Value(y)))) &&
           isPositive(x) && isPositive(y);
  }

  /// Whether no gang has less in `v` than one before it, as long as no number that is noted wraps,
  /// or changes its sign.
  bool rises(Value *v) {
    if (isUniform(v) || v == full_.getArg(kFirstThread))
      return true;
    auto [it, isNew] = rises_.try_emplace(v, false);
    return isNew ? rises_[v] = risesOfItself(v) : it->second;
  }
  bool risesOfItself(Value *v) {
    auto *i = llvm::dyn_cast<Instruction>(v);
    if (!i || i->getType()->isVectorTy() || isTooLong())
      return false;
    if (i->getType()->isIntegerTy())
      numbers_.push_back(i);
    Value *x, *y;
    const llvm::APInt *number;
    if (match(i, m_And(m_Specific(full_.getArg(kFirstThread)), m_APInt(number))))
      return number->isNegatedPowerOf2();
    if (match(i, m_Add(m_Value(x), m_Value(y))) || match(i, m_DisjointOr(m_Value(x), m_Value(y))))
      return rises(x) && rises(y);
    if (match(i, m_ZExtOrSExt(m_Value(x))) || match(i, m_SIToFP(m_Value(x))) ||
        match(i, m_UIToFP(m_Value(x))) || match(i, m_FPToSI(m_Value(x))) ||
        match(i, m_FPToUI(m_Value(x))))
      return rises(x);
    if (match(i, m_FMul(m_Value(x), m_Value(y))) || match(i, m_FDiv(m_Value(x), m_Value(y)))) {
      if (i->getOpcode() == Instruction::FMul && isPositive(x))
        std::swap(x, y);
      return isPositive(y) && rises(x);
    }
    if (match(i, m_Shr(m_Value(x), m_Value(y))) || match(i, m_UDiv(m_Value(x), m_Value(y))))
      return isUniform(y) && rises(x);
    if (match(i, m_Freeze(m_Value(x))))
      return rises(x);
    return false;
  }

  bool isTooLong() const { return steps_ > kLimits.unify.instructions; }

  llvm::Function &full_;
  const unsigned lastFirstThread_;
  llvm::SmallVector<Term> terms_;
  llvm::SmallVector<Value *> numbers_; ///< integers that rise
  llvm::SmallVector<Value *> quotients_;
  llvm::DenseMap<const Value *, bool> uniform_, rises_;
  unsigned steps_ = 0; ///< values looked at
};

/// The choices that `full` begins with, one behind the other, as far as `test` can tell of all
/// gangs that they take the special version.
llvm::SmallVector<BasicBlock *> choicesIn(llvm::Function &full, CtaTest &test) {
  llvm::SmallVector<BasicBlock *> choices;
  for (BasicBlock *block = &full.getEntryBlock(); block;) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!branch)
      break;
    if (branch->isConditional()) {
      if (generalVersion(*branch) != 1u || !test.add(branch->getCondition()))
        break;
      choices.push_back(block);
    }
    BasicBlock *next = branch->getSuccessor(0);
    block = next->getSinglePredecessor() == block ? next : nullptr;
  }
  return choices;
}

} // namespace

std::optional<CtaVersion> versionForCtas(ModuleContext &context, llvm::Function &full,
                                         unsigned gangsPerCta) {
  if (gangsPerCta < kLimits.ctaVersions.gangs)
    return std::nullopt;
  const unsigned lastFirstThread = (gangsPerCta - 1) * context.lanes;
  CtaTest anyTest(full, lastFirstThread);
  choicesIn(full, anyTest);
  if (anyTest.quotients().empty())
    return std::nullopt;
  cleanUp(full, Tier::optimised); // what is asked about and what is used is one value
  CtaTest test(full, lastFirstThread);
  const llvm::SmallVector<BasicBlock *> choices = choicesIn(full, test);
  if (test.quotients().empty())
    return std::nullopt;
  llvm::ValueToValueMapTy map;
  CtaVersion version;
  version.body = llvm::CloneFunction(&full, map);
  version.body->setName(full.getName() + ".alike");
  for (Value *quotient : test.quotients()) {
    Value *own = map[quotient];
    own->replaceAllUsesWith(CtaTest::ofCta(own, *version.body));
  }
  for (BasicBlock *choice : choices) {
    auto *copy = llvm::cast<BasicBlock>(&*map[choice]);
    llvm::cast<llvm::BranchInst>(copy->getTerminator())
        ->setCondition(llvm::ConstantInt::getTrue(full.getContext()));
  }
  version.isRight = test.emit();
  cleanUp(*version.body, Tier::optimised);
  return version;
}

} // namespace ptxrun::simt
