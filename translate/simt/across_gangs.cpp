#include "translate/simt/across_gangs.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <vector>

#include "translate/simt/cost.h"
#include "translate/simt/lane_access.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/transposes.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;

namespace {

/// The constant of a scalar, or of all elements of a vector.
const llvm::APInt *constantOf(const Value *v) {
  const llvm::APInt *c = nullptr;
  return match(v, m_APInt(c)) && c->getSignificantBits() <= 40 ? c : nullptr;
}

} // namespace

unsigned AcrossGangs::elementBytes() const { return LaneAccess(*access).elementBits() / 8; }

bool AcrossGangs::isOfWholeGangs() const { return LaneAccess(*access).isOfAll(); }

std::optional<AcrossGangs> GangSteps::across(Instruction &i) {
  if (!LaneAccess::is(i))
    return std::nullopt;
  auto *access = llvm::cast<llvm::IntrinsicInst>(&i);
  const LaneAccess parts(*access);
  const unsigned bits = parts.elementBits();
  if (parts.lanes() != lanes_ || parts.type->getElementType()->isPointerTy() ||
      (bits != 32 && bits != 64))
    return std::nullopt;
  known_.clear();
  numbers_.clear();
  const std::optional<Step> step = stepOf(parts.pointers);
  const auto mayGoUp = [](const AcrossGangs::Number &n) { // as far as any number of gangs takes it
    const unsigned width = std::min(n.value->getType()->getScalarSizeInBits(), 32u);
    return n.step > 0 && n.step <= (int64_t{1} << (width - 1)) / 128;
  };
  if (!step || step->by != bits / 8 || !llvm::all_of(numbers_, mayGoUp))
    return std::nullopt;
  return AcrossGangs{access, numbers_};
}

std::optional<GangSteps::Step> GangSteps::times(const Step &step, int64_t factor) {
  int64_t product = 0;
  return __builtin_mul_overflow(step.by, factor, &product) ? std::nullopt
                                                           : std::optional(Step{product, false});
}

std::optional<GangSteps::Step> GangSteps::stepOf(Value *v) {
  if (v == &firstThread_)
    return Step{lanes_, true};
  if (gangs_.isUniform(v))
    return Step{0, false};
  const auto [it, isNew] = known_.try_emplace(v);
  if (!isNew)
    return it->second; // or itself, in a loop: unknown
  std::optional<Step> found = find(v);
  if (constexpr int64_t kFar = int64_t{1} << 40; found && std::abs(found->by) > kFar)
    found.reset();
  return known_[v] = found;
}

std::optional<GangSteps::Step> GangSteps::find(Value *v) {
  auto *i = llvm::dyn_cast<Instruction>(v);
  if (!i)
    return std::nullopt;
  if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(i))
    return findOfBinary(*binary);
  switch (i->getOpcode()) {
  case Instruction::IntToPtr:
  case Instruction::PtrToInt:
  case Instruction::Freeze:
  case Instruction::Trunc:
    return stepOf(i->getOperand(0));
  case Instruction::SExt:
  case Instruction::ZExt: {
    std::optional<Step> of = stepOf(i->getOperand(0));
    if (of && of->by != 0 && !of->isSmall)
      numbers_.push_back({i->getOperand(0), i->getOpcode() == Instruction::SExt, of->by});
    return of;
  }
  case Instruction::InsertElement: // the first step of a splat
    return match(i->getOperand(2), m_ZeroInt()) && llvm::isa<llvm::PoisonValue>(i->getOperand(0))
               ? stepOf(i->getOperand(1))
               : std::nullopt;
  case Instruction::ShuffleVector:
    return llvm::cast<llvm::ShuffleVectorInst>(i)->isZeroEltSplat() ? stepOf(i->getOperand(0))
                                                                    : std::nullopt;
  case Instruction::GetElementPtr: {
    auto *gep = llvm::cast<llvm::GetElementPtrInst>(i);
    const std::optional<Step> base = stepOf(gep->getPointerOperand());
    if (!base || gep->getNumIndices() != 1 ||
        gep->getOperand(1)->getType()->getScalarSizeInBits() != 64)
      return std::nullopt;
    const std::optional<Step> index = stepOf(gep->getOperand(1));
    const auto size =
        int64_t(gep->getDataLayout().getTypeAllocSize(gep->getSourceElementType()).getFixedValue());
    const std::optional<Step> offset = index ? times(*index, size) : std::nullopt;
    return offset ? std::optional(Step{base->by + offset->by, false}) : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

std::optional<GangSteps::Step> GangSteps::findOfBinary(llvm::BinaryOperator &i) {
  const std::optional<Step> left = stepOf(i.getOperand(0)), right = stepOf(i.getOperand(1));
  if (!left || !right)
    return std::nullopt;
  const llvm::APInt *by = constantOf(i.getOperand(1));
  switch (i.getOpcode()) {
  case Instruction::Add:
    return Step{left->by + right->by, false};
  case Instruction::Sub:
    return Step{left->by - right->by, false};
  case Instruction::Or:
    return llvm::cast<llvm::PossiblyDisjointInst>(i).isDisjoint()
               ? std::optional(Step{left->by + right->by, false})
               : std::nullopt;
  case Instruction::Mul:
    if (by)
      return times(*left, by->getSExtValue());
    return left->by == 0 && right->by == 0 ? std::optional(Step{0, false}) : std::nullopt;
  case Instruction::Shl:
    return by && by->ult(32) ? times(*left, int64_t{1} << by->getZExtValue()) : std::nullopt;
  case Instruction::And: // of what is a multiple, or of what is left of it
    if (by && by->isMask() && by->getActiveBits() < 40 &&
        left->by % int64_t(by->getZExtValue() + 1) == 0)
      return Step{0, left->isSmall};
    if (by && by->isNegatedPowerOf2() && left->by % -by->getSExtValue() == 0)
      return Step{left->by, left->isSmall};
    return std::nullopt;
  case Instruction::LShr:
  case Instruction::UDiv:
  case Instruction::URem: {
    const bool isShift = i.getOpcode() == Instruction::LShr;
    if (!by || !left->isSmall || (isShift ? by->uge(32) : !by->isStrictlyPositive()))
      return std::nullopt;
    const int64_t divisor = isShift ? int64_t{1} << by->getZExtValue() : by->getSExtValue();
    if (left->by % divisor != 0)
      return std::nullopt;
    return Step{i.getOpcode() == Instruction::URem ? 0 : left->by / divisor, true};
  }
  default:
    return std::nullopt;
  }
}

namespace {

/// Elements of a register of as many gangs, or lanes.
unsigned registerElements(unsigned bytes, unsigned lanes, unsigned gangs, const Target &target) {
  return std::min({target.preferredBits / 8 / bytes, lanes, gangs});
}

/// The thread's number along the block's second axis.
bool isSecondNumber(const Value &v) {
  auto *i = llvm::dyn_cast<Instruction>(&v);
  if (!i)
    return false;
  const Word word = wordAt(*i);
  return word.kind == Word::Kind::threadIndex && word.axis == 1;
}

bool isMadeOfSecondNumber(const Value &v) {
  llvm::SmallVector<const Value *> stack{&v};
  llvm::SmallPtrSet<const Value *, 16> seen;
  while (!stack.empty()) {
    const Value *each = stack.pop_back_val();
    auto *i = llvm::dyn_cast<Instruction>(each);
    if (!i || !seen.insert(i).second)
      continue;
    if (isSecondNumber(*i) || seen.size() > kLimits.search.operands)
      return true;
    stack.append(i->value_op_begin(), i->value_op_end());
  }
  return false;
}

/// Moves what only `to` needs of the block before it there.
void sinkInto(llvm::BasicBlock &to, llvm::BasicBlock &from) {
  for (Instruction &i : llvm::make_early_inc_range(llvm::reverse(from)))
    if (!i.isTerminator() && !i.use_empty() && !i.mayReadOrWriteMemory() &&
        !i.mayHaveSideEffects() && !llvm::isa<llvm::PHINode, llvm::AllocaInst>(i) &&
        llvm::all_of(i.users(), [&](const llvm::User *u) {
          return llvm::cast<Instruction>(u)->getParent() == &to;
        }))
      i.moveBefore(to, to.begin());
}

/// Whether all lanes of all gangs take part, and none of the numbers wraps on the way from the
/// first gang to the last.
Value *areAllInLine(const AcrossGangs &a, llvm::ArrayRef<llvm::IntrinsicInst *> ofGangs,
                    llvm::IRBuilder<> &b) {
  Value *lanes = LaneAccess(*a.access).mask, *all = b.getTrue();
  for (const llvm::IntrinsicInst *access : ofGangs.drop_front())
    lanes = b.CreateAnd(lanes, LaneAccess(*access).mask);
  for (const AcrossGangs::Number &n : a.numbers) {
    const unsigned bits = n.value->getType()->getScalarSizeInBits();
    const llvm::APInt most =
        (n.isSigned ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits)) -
        llvm::APInt(bits, uint64_t(n.step) * (ofGangs.size() - 1));
    Value *bound = llvm::ConstantInt::get(n.value->getType(), most);
    // Lanes that take no part may hold anything.
    Value *isBelow = b.CreateFreeze(n.isSigned ? b.CreateICmpSLE(n.value, bound)
                                               : b.CreateICmpULE(n.value, bound));
    (isBelow->getType()->isVectorTy() ? lanes : all) =
        b.CreateAnd(isBelow->getType()->isVectorTy() ? lanes : all, isBelow);
  }
  return match(lanes, m_AllOnes()) ? all : b.CreateAnd(all, b.CreateAndReduce(lanes));
}

class Across {
 public:
  Across(llvm::ArrayRef<llvm::IntrinsicInst *> ofGangs, unsigned each, llvm::IRBuilder<> &b)
      : each_(each), b_(b), first_(*ofGangs[0]), element_(first_.type->getElementType()),
        lanes_(first_.lanes()) {
    for (const llvm::IntrinsicInst *access : ofGangs)
      values_.push_back(LaneAccess(*access).values);
  }

  void store() {
    for (unsigned lane = 0; lane < lanes_; lane += each_)
      for (unsigned gang = 0; gang < values_.size(); gang += each_) {
        llvm::SmallVector<Value *> rows;
        for (unsigned k = 0; k < each_; ++k)
          rows.push_back(part(values_[gang + k], lane));
        for (auto [k, ofLane] : llvm::enumerate(transpose(b_, rows)))
          b_.CreateAlignedStore(ofLane, place(lane + unsigned(k), gang), first_.align);
      }
  }

  /// What each gang loads.
  llvm::SmallVector<Value *> load() {
    std::vector<llvm::SmallVector<Value *>> parts(values_.size());
    for (unsigned lane = 0; lane < lanes_; lane += each_)
      for (unsigned gang = 0; gang < values_.size(); gang += each_) {
        llvm::SmallVector<Value *> rows;
        for (unsigned k = 0; k < each_; ++k)
          rows.push_back(b_.CreateAlignedLoad(llvm::FixedVectorType::get(element_, each_),
                                              place(lane + k, gang), first_.align));
        for (auto [k, ofGang] : llvm::enumerate(transpose(b_, rows)))
          parts[gang + k].push_back(ofGang);
      }
    llvm::SmallVector<Value *> loaded;
    for (const auto &ofGang : parts)
      loaded.push_back(llvm::concatenateVectors(b_, ofGang));
    return loaded;
  }

 private:
  Value *part(Value *whole, unsigned first) {
    return each_ == lanes_
               ? whole
               : b_.CreateShuffleVector(whole, llvm::createSequentialMask(first, each_, 0));
  }

  Value *place(unsigned lane, unsigned gang) {
    Value *at = b_.CreateExtractElement(first_.pointers, lane);
    return b_.CreateConstGEP1_64(element_, at, gang);
  }

  unsigned each_;
  llvm::IRBuilder<> &b_;
  LaneAccess first_;
  llvm::Type *element_;
  unsigned lanes_;
  llvm::SmallVector<Value *> values_; ///< of each gang; null for gathers
};

} // namespace

llvm::SmallVector<unsigned, 3> gangsForAcross(unsigned bytes, unsigned lanes, unsigned gangsPerCta,
                                              const Target &target) {
  llvm::SmallVector<unsigned, 3> numbers;
  for (unsigned gangs = target.lineBytes / bytes; gangs * bytes >= 16; gangs /= 2)
    if (const unsigned each = registerElements(bytes, lanes, gangs, target);
        gangsPerCta % gangs == 0 && gangs % each == 0 && lanes % each == 0 && each * bytes >= 16)
      numbers.push_back(gangs);
  return numbers;
}

bool mayGoAcross(const Instruction &access, const ShapeAnalysis &shapes, const Target &target) {
  const Value *place = llvm::getLoadStorePointerOperand(&access);
  const auto [x, y, z] = shapes.block();
  const unsigned bits =
      llvm::getLoadStoreType(const_cast<Instruction *>(&access))->getScalarSizeInBits();
  // Gangs are rows, and the next gang the next row.
  if (!place || (bits != 32 && bits != 64) || x != shapes.lanes() || shapes.areGangsRows() ||
      !shapes.loops().empty() || gangsForAcross(bits / 8, x, y * z, target).empty())
    return false;
  int64_t step = 0;
  for (const auto &[value, times] : sumOf(place, Extensions::through).terms)
    if (isSecondNumber(*value))
      step = total(step, times);
    else if (isMadeOfSecondNumber(*value))
      return false;
  return step == bits / 8;
}

llvm::BasicBlock *accessAcross(const AcrossGangs &a, llvm::ArrayRef<llvm::IntrinsicInst *> ofGangs,
                               const Target &target, llvm::BasicBlock *otherwise) {
  const unsigned each = registerElements(a.elementBytes(), LaneAccess(*a.access).lanes(),
                                         unsigned(ofGangs.size()), target);
  llvm::IRBuilder<> b(a.access);
  llvm::MDNode *weights = llvm::MDBuilder(b.getContext()).createLikelyBranchWeights();
  Value *areAllInLine = simt::areAllInLine(a, ofGangs, b);
  llvm::BasicBlock *before = a.access->getParent();
  Instruction *across = a.access, *apart = nullptr;
  llvm::BasicBlock *behind = nullptr;
  if (otherwise) {
    behind = llvm::SplitBlock(before, a.access);
    llvm::ReplaceInstWithInst(before->getTerminator(),
                              llvm::BranchInst::Create(behind, otherwise, areAllInLine));
    before->getTerminator()->setMetadata(llvm::LLVMContext::MD_prof, weights);
  } else {
    llvm::SplitBlockAndInsertIfThenElse(areAllInLine, a.access->getIterator(), &across, &apart,
                                        weights);
    behind = across->getSuccessor(0);
  }
  b.SetInsertPoint(across);
  b.SetCurrentDebugLocation(a.access->getDebugLoc());
  Across accesses(ofGangs, each, b);
  llvm::SmallVector<Value *> loaded;
  if (LaneAccess(*a.access).isStore)
    accesses.store();
  else
    loaded = accesses.load();
  if (otherwise) {
    for (auto [gang, access] : llvm::enumerate(ofGangs)) {
      if (!loaded.empty())
        access->replaceAllUsesWith(loaded[gang]);
      access->eraseFromParent();
    }
    return behind;
  }
  for (auto [gang, value] : llvm::enumerate(loaded)) {
    auto *phi = llvm::PHINode::Create(value->getType(), 2, "", behind->begin());
    ofGangs[gang]->replaceAllUsesWith(phi);
    phi->addIncoming(value, across->getParent());
    phi->addIncoming(ofGangs[gang], apart->getParent());
  }
  for (llvm::IntrinsicInst *access : ofGangs)
    access->moveBefore(apart);
  sinkInto(*apart->getParent(), *before);
  return behind;
}

} // namespace ptxrun::simt
