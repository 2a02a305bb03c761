#include "translate/simt/cta_versions.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/SimplifyQuery.h>
#include <llvm/Analysis/ValueTracking.h>
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

/// What is asked about all gangs at once: by values that rise in everything that differs from gang
/// to gang, of the least and of the most of each. A gang's own lie between.
class CtaTest {
 public:
  CtaTest(llvm::Function &full, unsigned gangs, unsigned lanes)
      : full_(&full), gangs_(gangs), lanes_(lanes) {}

  /// Adds that `condition` holds in all gangs. False, and nothing added, where that cannot be told.
  bool add(Value *condition) {
    const size_t terms = terms_.size(), orders = orders_.size(), sums = sums_.size(),
                 products = products_.size(), quotients = quotients_.size();
    if (addTerm(condition, true) && !isTooLong())
      return true;
    terms_.truncate(terms);
    orders_.truncate(orders);
    sums_.truncate(sums);
    products_.truncate(products);
    quotients_.truncate(quotients);
    moves_.clear(); // what was noted of them is gone
    return false;
  }

  /// Values that change from gang to gang, but do not where the test holds.
  llvm::ArrayRef<Value *> quotients() const { return quotients_; }

  /// The function that asks, before `full`.
  llvm::Function *emit() {
    auto *type = llvm::FunctionType::get(llvm::Type::getInt1Ty(full_->getContext()),
                                         full_->getFunctionType()->params(), false);
    auto *f = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                     full_->getName() + ".is.alike", full_->getParent());
    describeAs(*full_, *f);
    f->addFnAttr(llvm::Attribute::AlwaysInline);
    llvm::IRBuilder<> b(BasicBlock::Create(f->getContext(), "", f));
    setLine(b, *f);
    Evaluation least(*full_, *f), most(*full_, *f);
    for (const auto &[v, ends] : ends_) {
      least.take(v, ends.first);
      most.take(v, ends.second);
    }
    Value *all = b.getTrue(); // of answers each by itself: some ask for what another one rules out
    const auto hold = [&](Value *answer) { all = b.CreateAnd(all, b.CreateFreeze(answer)); };
    const auto require = [&](llvm::CmpInst::Predicate predicate, Value *x, Value *y) {
      hold(b.CreateICmp(predicate, x, y));
    };
    const auto isUp = [&](Value *rise) {
      require(llvm::CmpInst::ICMP_SGE, rise, llvm::Constant::getNullValue(rise->getType()));
    };
    const auto riseOf = [&](Value *v) { return b.CreateSub(most.of(v, b), least.of(v, b)); };
    for (Value *sum : sums_)
      isUp(riseOf(sum));
    for (const auto &[x, times] : products_) {
      Value *product = b.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, riseOf(x),
                                               least.of(times, b));
      hold(b.CreateNot(b.CreateExtractValue(product, 1)));
      isUp(b.CreateExtractValue(product, 0));
    }
    for (const auto &[v, isSigned] : orders_)
      require(isSigned ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE, least.of(v, b),
              most.of(v, b));
    for (const Term &term : terms_) {
      if (term.predicate == llvm::CmpInst::BAD_ICMP_PREDICATE) {
        Value *holds = (term.isLeftMost ? most : least).of(term.left, b);
        hold(term.isNegated ? b.CreateNot(holds) : holds);
        continue;
      }
      if (term.predicate == llvm::CmpInst::ICMP_NE) { // lies not on the way
        require(llvm::CmpInst::ICMP_UGT,
                b.CreateSub(least.of(term.right, b), least.of(term.left, b)), riseOf(term.left));
        continue;
      }
      if (term.predicate == llvm::CmpInst::ICMP_EQ)
        for (Value *side : {term.left, term.right})
          require(llvm::CmpInst::ICMP_EQ, least.of(side, b), most.of(side, b));
      require(term.predicate, (term.isLeftMost ? most : least).of(term.left, b),
              (term.isRightMost ? most : least).of(term.right, b));
    }
    b.CreateRet(all);
    return f;
  }

  /// `quotient`, which a copy of `full` computes of its first thread, of the CTA's.
  static Value *ofCta(Value *quotient, llvm::Function &copy) {
    llvm::IRBuilder<> b(llvm::cast<Instruction>(quotient));
    Evaluation first(copy, copy);
    first.take(copy.getArg(kFirstThread), b.getInt32(0));
    return first.of(quotient, b);
  }

 private:
  /// Copies of what values are computed by, where some are known.
  class Evaluation {
   public:
    Evaluation(llvm::Function &from, llvm::Function &to) : isSame_(&from == &to) {
      for (auto [argument, mapped] : llvm::zip(from.args(), to.args()))
        known_[&argument] = &mapped;
    }
    void take(const Value *v, Value *known) { known_[v] = known; }
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
      if (match(i, m_DisjointOr(m_Value(), m_Value()))) // in every gang, but perhaps not here
        return known_[v] = b.CreateAdd(operands[0], operands[1]);
      if (const unsigned op = i->getOpcode();
          !isSame_ && (op == Instruction::FPToSI || op == Instruction::FPToUI)) // in range in gangs
        return known_[v] =
                   b.CreateIntrinsic(op == Instruction::FPToSI ? llvm::Intrinsic::fptosi_sat
                                                               : llvm::Intrinsic::fptoui_sat,
                                     {i->getType(), operands[0]->getType()}, {operands[0]});
      Instruction *copy = i->clone();
      copy->dropPoisonGeneratingAnnotations(); // of numbers that no gang may have
      for (unsigned n = 0; n < operands.size(); ++n)
        copy->setOperand(n, operands[n]);
      return known_[v] = b.Insert(copy);
    }

   private:
    llvm::DenseMap<const Value *, Value *> known_;
    bool isSame_;
  };

  /// left predicate right, each of the least or of the most; without a predicate, `left` itself.
  struct Term {
    Value *left, *right = nullptr;
    llvm::CmpInst::Predicate predicate = llvm::CmpInst::BAD_ICMP_PREDICATE;
    bool isLeftMost = false, isRightMost = false, isNegated = false;
  };

  /// That `condition` is `wanted` everywhere.
  bool addTerm(Value *condition, bool wanted) {
    Value *x, *y;
    if (match(condition, m_Not(m_Value(x))))
      return addTerm(x, !wanted);
    if (match(condition, m_Freeze(m_Value(x))))
      return addTerm(x, wanted);
    if (isUniform(condition)) {
      terms_.push_back({.left = condition, .isNegated = !wanted});
      return true;
    }
    if (wanted ? match(condition, m_LogicalAnd(m_Value(x), m_Value(y)))
               : match(condition, m_LogicalOr(m_Value(x), m_Value(y))))
      return addTerm(x, wanted) && addTerm(y, wanted);
    if (!wanted && match(condition, m_ExtractValue<1>(m_Value(x))))
      return addSum(condition, x);
    auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
    return compare && addComparison(*compare, wanted);
  }

  bool addComparison(const llvm::ICmpInst &compare, bool wanted) {
    Value *x = compare.getOperand(0), *y = compare.getOperand(1);
    Term term{.left = x,
              .right = y,
              .predicate = wanted ? compare.getPredicate() : compare.getInversePredicate()};
    if (term.predicate == llvm::CmpInst::ICMP_EQ) {
      if (!moves(x) || !moves(y))
        return false;
      for (Value *side : {x, y})
        if (!isUniform(side) && llvm::isa<Instruction>(side))
          quotients_.push_back(side);
      terms_.push_back(term);
      return true;
    }
    if (term.predicate == llvm::CmpInst::ICMP_NE) {
      if (isUniform(x))
        std::swap(term.left, term.right);
      terms_.push_back(term);
      return x->getType()->isIntegerTy() && moves(term.left) && isUniform(term.right);
    }
    const bool isSigned = llvm::CmpInst::isSigned(term.predicate),
               isBelow =
                   llvm::ICmpInst::isLT(term.predicate) || llvm::ICmpInst::isLE(term.predicate),
               isSum = !isBelow && match(x, m_Add(m_Specific(y), m_ConstantInt()));
    term.isLeftMost = isBelow || isSum; // x + 31 >= x: does not wrap
    term.isRightMost = !isBelow;
    terms_.push_back(term);
    return (isSum || rises(x, isSigned)) && rises(y, isSigned);
  }

  /// That x + constant, or x - constant, does not wrap (`condition` says that it does).
  bool addSum(Value *condition, Value *sum) {
    auto *call = llvm::dyn_cast<llvm::WithOverflowInst>(sum);
    const llvm::APInt *number;
    if (!call || !match(call->getRHS(), m_APInt(number)) ||
        !rises(call->getLHS(), call->isSigned()) ||
        (call->getBinaryOp() != Instruction::Add && call->getBinaryOp() != Instruction::Sub))
      return false;
    const bool isUp =
        (call->getBinaryOp() == Instruction::Add) != (call->isSigned() && number->isNegative());
    terms_.push_back({.left = condition, .isLeftMost = isUp, .isNegated = true});
    return true;
  }

  /// The same for all gangs of a CTA, and to be had before any of them runs.
  bool isUniform(const Value *v) {
    auto [it, isNew] = uniform_.try_emplace(v, false);
    if (!isNew)
      return it->second;
    ++steps_;
    bool is = v != full_->getArg(kFirstThread) && v != full_->getArg(kGang);
    if (auto *i = llvm::dyn_cast<Instruction>(v)) {
      is = !isTooLong() && (isRepeatable(*i) || llvm::isa<llvm::FreezeInst>(i)) && isSafe(*i) &&
           llvm::all_of(i->operands(), [&](const Value *operand) { return isUniform(operand); });
    }
    return uniform_[v] = is;
  }

  /// Whether it may be asked for where no gang might: nobody divides by zero, nor reads what may
  /// not be there (a table that ends where threads return).
  bool isSafe(const Instruction &i) const {
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
      return isOfLaunch(*load);
    return !i.isIntDivRem() ||
           (!match(&i, m_SDiv(m_Value(), m_Value())) && !match(&i, m_SRem(m_Value(), m_Value())) &&
            llvm::isKnownNonZero(i.getOperand(1), llvm::SimplifyQuery(full_->getDataLayout())));
  }
  /// From the launch's record, or the parameters that it points to.
  bool isOfLaunch(const llvm::LoadInst &load) const {
    const auto recordOf = [&](const llvm::LoadInst &from) {
      llvm::APInt offset(64, 0);
      return from.getPointerOperand()->stripAndAccumulateConstantOffsets(
          full_->getDataLayout(), offset, /*AllowNonInbounds=*/true);
    };
    const Value *record = recordOf(load);
    auto *of = llvm::dyn_cast<llvm::LoadInst>(record);
    return llvm::isa<llvm::Argument>(of ? recordOf(*of) : record);
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

  /// What `v` is in gang `gang`, if that follows from the gang alone.
  llvm::ConstantInt *inGang(Value *v, unsigned gang) const {
    Value *first = full_->getArg(kFirstThread);
    auto *number = llvm::ConstantInt::get(first->getContext(), llvm::APInt(32, gang * lanes_));
    return foldedWith(v, first, number, kLimits.ctaVersions.depth);
  }

  /// Whether `v` follows from the gang alone; notes the least and the most of it.
  bool isOfGang(Value *v) {
    llvm::ConstantInt *least = nullptr, *most = nullptr;
    for (unsigned gang = 0; gang < gangs_; ++gang) {
      llvm::ConstantInt *here = inGang(v, gang);
      if (!here || here->isNegative())
        return false;
      if (!least || here->getValue().ult(least->getValue()))
        least = here;
      if (!most || here->getValue().ugt(most->getValue()))
        most = here;
    }
    ends_.insert({v, {least, most}});
    return true;
  }

  /// Whether `v` is no less where nothing that it is made of is less: of integers, as many more,
  /// modulo 2^bits, as are less than 2^(bits - 1); as long as what is noted holds.
  bool moves(Value *v) {
    if (isUniform(v))
      return true;
    auto [it, isNew] = moves_.try_emplace(v, false);
    return isNew ? moves_[v] = movesOfItself(v) : it->second;
  }
  bool movesOfItself(Value *v) {
    if (isOfGang(v))
      return true;
    auto *i = llvm::dyn_cast<Instruction>(v);
    if (!i || i->getType()->isVectorTy() || isTooLong())
      return false;
    Value *x, *y;
    if (auto *extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(i))
      return rises(extreme->getLHS(), extreme->isSigned()) &&
             rises(extreme->getRHS(), extreme->isSigned());
    if (match(i, m_Add(m_Value(x), m_Value(y))) || match(i, m_DisjointOr(m_Value(x), m_Value(y)))) {
      if (!isUniform(x) && !isUniform(y))
        sums_.push_back(i);
      return moves(x) && moves(y);
    }
    if (match(i, m_Sub(m_Value(x), m_Value(y))))
      return isUniform(y) && moves(x);
    if (match(i, m_Mul(m_Value(x), m_Value(y)))) {
      if (isUniform(x))
        std::swap(x, y);
      products_.emplace_back(x, y);
      return isUniform(y) && moves(x);
    }
    if (match(i, m_FMul(m_Value(x), m_Value(y))) || match(i, m_FDiv(m_Value(x), m_Value(y)))) {
      if (i->getOpcode() == Instruction::FMul && isPositive(x))
        std::swap(x, y);
      return isPositive(y) && moves(x);
    }
    if (match(i, m_Freeze(m_Value(x))))
      return moves(x);
    switch (i->getOpcode()) {
    case Instruction::LShr:
    case Instruction::UDiv:
      return isUniform(i->getOperand(1)) && isSafe(*i) && rises(i->getOperand(0), false);
    case Instruction::AShr:
      return isUniform(i->getOperand(1)) && rises(i->getOperand(0), true);
    case Instruction::ZExt:
    case Instruction::UIToFP:
      return rises(i->getOperand(0), false);
    case Instruction::SExt:
    case Instruction::SIToFP:
      return rises(i->getOperand(0), true);
    case Instruction::FPToSI:
    case Instruction::FPToUI:
      sums_.push_back(i);
      return moves(i->getOperand(0));
    default:
      return false;
    }
  }

  /// Whether it moves, and is no less as a number, too; that it does not wrap is noted if need be.
  bool rises(Value *v, bool isSigned) {
    if (!moves(v))
      return false;
    if (!isUniform(v) && !ends_.contains(v) && !keepsOrder(*llvm::cast<Instruction>(v), isSigned))
      orders_.emplace_back(v, isSigned);
    return true;
  }
  /// Of what moves.
  static bool keepsOrder(const Instruction &i, bool isSigned) {
    if (auto *extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&i))
      return extreme->isSigned() == isSigned;
    switch (i.getOpcode()) {
    case Instruction::ZExt:
      return true;
    case Instruction::SExt:
    case Instruction::AShr:
    case Instruction::FPToSI:
      return isSigned;
    case Instruction::LShr:
    case Instruction::UDiv:
    case Instruction::FPToUI:
      return !isSigned;
    default:
      return false;
    }
  }

  bool isTooLong() const { return steps_ > kLimits.unify.instructions; }

  llvm::Function *full_;
  unsigned gangs_, lanes_;
  llvm::SmallVector<Term> terms_;
  /// What is to be tested of values from the least to the most: that they do not wrap, with a sign
  /// or without; that sums of two that move, and products of one with what is the same everywhere,
  /// move by less than half of all numbers.
  llvm::SmallVector<std::pair<Value *, bool>> orders_;
  llvm::SmallVector<Value *> sums_;
  llvm::SmallVector<std::pair<Value *, Value *>> products_;
  llvm::MapVector<Value *, std::pair<Value *, Value *>> ends_; ///< of what gangs alone say
  llvm::SmallVector<Value *> quotients_;
  llvm::DenseMap<const Value *, bool> uniform_, moves_;
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
  if (gangsPerCta < kLimits.ctaVersions.gangs ||
      full.getInstructionCount() > kLimits.ctaVersions.instructions)
    return std::nullopt;
  CtaTest test(full, gangsPerCta, context.lanes);
  llvm::SmallVector<BasicBlock *> choices = choicesIn(full, test);
  if (!test.quotients().empty()) { // what is asked about and what is used is to be one value
    cleanUp(full, Tier::optimised);
    test = CtaTest(full, gangsPerCta, context.lanes);
    choices = choicesIn(full, test);
  }
  if (choices.empty())
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
