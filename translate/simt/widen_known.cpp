// Masks that are known wherever control comes: `if (tid < 16)` leaves a gang no lanes or the same
// sixteen, `if (tid == 0)` none or the first, because gangs begin at multiples of W. A block is
// jumped over where it has no lanes, so inside it the mask is a constant. Accesses of such lanes
// need no mask: stores can be forwarded to loads, and few lanes are few scalar accesses.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "translate/simt/collectives.h"
#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

/// The lanes of a full gang for which a condition (its opposite) holds if it holds for any, or,
/// with `doPart`, for any but not for all; null where that depends on the gang.
llvm::Constant *Collectives::lanesIfAny(const Value *condition, bool isNegated, bool doPart) {
  using namespace llvm::PatternMatch;
  const Value *x, *y;
  if (shapes_.isUniform(condition))
    return llvm::Constant::getAllOnesValue(vec(b_.getInt1Ty(), lanes_));
  if (match(condition, m_Not(m_Value(x))))
    return lanesIfAny(x, !isNegated, doPart);
  if (isNegated ? match(condition, m_LogicalOr(m_Value(x), m_Value(y)))
                : match(condition, m_LogicalAnd(m_Value(x), m_Value(y)))) {
    llvm::Constant *first = lanesIfAny(x, isNegated, false),
                   *second = first ? lanesIfAny(y, isNegated, false) : nullptr;
    return second ? llvm::cast<llvm::Constant>(b_.CreateAnd(first, second)) : nullptr;
  }
  const std::optional<Comparison> compared = comparisonOf(condition, isNegated);
  if (!compared)
    return nullptr;
  const auto [predicate, left, right] = *compared;
  const Shape shape = shapes_.shape(left);
  if (!shape.hasOffsets() || !shapes_.isDisjoint(shape))
    return nullptr;
  // left = base | offset; the base is a multiple of 2^alignment, which no offset reaches.
  const auto *number = llvm::dyn_cast<llvm::ConstantInt>(right);
  const bool isNarrow = number && number->getBitWidth() <= 64;
  const uint64_t low = bitsOfOffsets(shape);
  uint64_t from = 0, end = 0;
  if (predicate == llvm::CmpInst::ICMP_EQ && isNarrow) {
    from = number->getZExtValue() & low, end = from + 1;
  } else if (predicate == llvm::CmpInst::ICMP_EQ && shapes_.isUniform(right) &&
             shapes_.shape(right).alignment >= shape.alignment) {
    end = 1;
  } else if ((predicate == llvm::CmpInst::ICMP_ULT || predicate == llvm::CmpInst::ICMP_ULE) &&
             isNarrow && (doPart || number->getZExtValue() <= low)) {
    end = (number->getZExtValue() & low) + (predicate == llvm::CmpInst::ICMP_ULE);
  }
  llvm::SmallVector<llvm::Constant *> lanes;
  for (int64_t offset : *shape.offsets)
    lanes.push_back(b_.getInt1(uint64_t(offset) >= from && uint64_t(offset) < end));
  llvm::Constant *all = llvm::ConstantVector::get(lanes);
  return all->isNullValue() ? nullptr : all;
}

/// The lanes of a full gang that a branch leads to `block`, if it leads any; null where that
/// depends on the gang.
llvm::Constant *Collectives::lanesLedTo(const llvm::BasicBlock *block,
                                        const llvm::BranchInst &branch) {
  const bool isNegated = branch.getSuccessor(1) == block;
  const Value *condition = branch.getCondition();
  if (llvm::Constant *lanes = lanesIfAny(condition, isNegated, false))
    return lanes;
  const llvm::BasicBlock *before = branch.getParent()->getSinglePredecessor();
  auto *version = before ? llvm::dyn_cast<llvm::BranchInst>(before->getTerminator()) : nullptr;
  if (!version || !version->isConditional() || version->getSuccessor(1) != branch.getParent() ||
      partedSide(*version) != isNegated)
    return nullptr;
  return lanesIfParted(condition, isNegated);
}

/// The lanes of a full gang for which a condition (its opposite) holds where it neither holds for
/// all nor for none; null where that depends on the gang.
llvm::Constant *Collectives::lanesIfParted(const Value *condition, bool isNegated) {
  if (llvm::Constant *lanes = lanesIfAny(condition, isNegated, true))
    return lanes;
  llvm::Constant *others = lanesIfAny(condition, !isNegated, true);
  return others ? llvm::cast<llvm::Constant>(b_.CreateNot(others)) : nullptr;
}

/// Where gangs all of whose lanes take one side of a branch have gone another way (versions.cpp):
/// that side, 0 or 1, of the general version's branch, if lanes that still take it part from
/// others, and are the same in each gang; else nothing. Such a branch is no version for the passes
/// behind widening, which may send any gang the general way: none where gangs wait for each other.
std::optional<unsigned> Collectives::partedSide(const llvm::BranchInst &version) {
  if (!version.isConditional() || !version.hasMetadata(kVersion))
    return std::nullopt;
  const llvm::BasicBlock *rest = version.getSuccessor(1), *asked = version.getParent();
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(rest->getTerminator());
  auto *test = llvm::dyn_cast<llvm::CallInst>(version.getCondition());
  if (!branch || !branch->isConditional() || rest->getSinglePredecessor() != asked || !test ||
      wordAt(*test).op != Op::all)
    return std::nullopt;
  using namespace llvm::PatternMatch;
  const Value *condition = branch->getCondition(), *ofAll = test->getArgOperand(0);
  const bool isNegated = match(ofAll, m_Not(m_Specific(condition)));
  if ((!isNegated && ofAll != condition) || lanesIfAny(condition, isNegated, false) ||
      !lanesIfParted(condition, isNegated))
    return std::nullopt;
  const auto mayWait = [](const llvm::Instruction &i) {
    const Word word = wordAt(i);
    return llvm::isa<llvm::CallBase>(i) && !llvm::isa<llvm::IntrinsicInst>(i) &&
           !word.isSpecialRegister() && word.kind != Word::Kind::laneTest;
  };
  const llvm::BasicBlock *meet = shapes_.meetingPoint(asked);
  const bool mayWaitForOthers =
      llvm::any_of(llvm::successors(asked), [&](const llvm::BasicBlock *way) {
        return llvm::any_of(reachable(way, meet),
                            [&](const llvm::BasicBlock *b) { return llvm::any_of(*b, mayWait); });
      });
  return mayWaitForOthers ? std::nullopt : std::optional<unsigned>(isNegated);
}

/// The active lanes, where the mask is known and leaves some out; else none.
llvm::SmallVector<unsigned> Accesses::knownLanes() {
  llvm::SmallVector<unsigned> active;
  if (auto *known = llvm::dyn_cast_or_null<llvm::Constant>(mask()); known && lanes_ > 1)
    for (unsigned l = 0; l < lanes_; ++l)
      if (const llvm::Constant *lane = known->getAggregateElement(l); lane && lane->isOneValue())
        active.push_back(l);
  return active;
}

/// Those that are served one by one: the active ones where they are known, else all.
llvm::SmallVector<unsigned> Accesses::lanesToServe() {
  llvm::SmallVector<unsigned> lanes = knownLanes();
  for (unsigned l = 0, isAll = lanes.empty(); isAll && l < lanes_; ++l)
    lanes.push_back(l);
  return lanes;
}

/// Elements at constant offsets for lanes that are known: the window from the first to the last of
/// them, or one by one where that has fewer accesses. Null where neither will do, as in a row with
/// holes: under its mask it is read by whole registers.
llvm::Value *Accesses::loadKnown(const llvm::LoadInst &load, const Address &a,
                                 llvm::ArrayRef<unsigned> active) {
  llvm::Type *type = plain(&load);
  auto *wideType = llvm::cast<llvm::FixedVectorType>(wide(&load));
  llvm::Type *element = wideType->getElementType();
  const unsigned perLane = wideType->getNumElements() / lanes_;
  const int64_t elementSize = element->getScalarSizeInBits() / 8, size = elementSize * perLane;
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (unsigned l : active)
    low = std::min(low, (*a.offsets)[l]), high = std::max(high, (*a.offsets)[l]);
  const int64_t span = high - low + size;
  llvm::SmallVector<int> order(lanes_ * perLane, -1);
  bool isOnGrid = true;
  for (unsigned l : active) {
    isOnGrid &= ((*a.offsets)[l] - low) % elementSize == 0;
    for (unsigned k = 0; k < perLane; ++k)
      order[l * perLane + k] = int(((*a.offsets)[l] - low) / elementSize + k);
  }
  auto at = [&](int64_t offset) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t(offset));
  };
  // A register that is read and shuffled for every two elements that are read and inserted.
  const bool isWhole = span == size * int64_t(active.size());
  if (!isWhole && shapes_.step(load.getPointerOperand()) == size)
    return nullptr;
  const bool isWindow =
      isWhole || 2 * context_.target.registersFor(uint64_t(span) * 8) <= active.size();
  if (isOnGrid && isWindow && span <= context_.target.longestWindow())
    return loadWindow(load, at(low), element, unsigned(span / elementSize), order);
  if (perLane != 1)
    return nullptr;
  Value *result = llvm::PoisonValue::get(wideType);
  for (unsigned l : active) {
    llvm::LoadInst *one = b_.CreateAlignedLoad(type, at((*a.offsets)[l]), load.getAlign());
    copyAccessTraits(one, load);
    result = b_.CreateInsertElement(result, one, l);
  }
  return result;
}

} // namespace ptxrun::simt
