#include "translate/simt/members.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include <array>

#include "translate/simt/prepare.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

/// What `condition` is the conjunction or disjunction of; nothing where it is neither.
std::optional<std::pair<const llvm::Value *, const llvm::Value *>>
partsOf(const llvm::Value *condition) {
  using namespace llvm::PatternMatch;
  const llvm::Value *x, *y;
  if (match(condition, m_LogicalAnd(m_Value(x), m_Value(y))) ||
      match(condition, m_LogicalOr(m_Value(x), m_Value(y))))
    return std::pair{x, y};
  return std::nullopt;
}

/// Whether all lanes for which `vote` holds find the same of the condition.
bool goTogether(const llvm::Value &vote, const llvm::Value &condition,
                const llvm::DataLayout &layout, const ShapeAnalysis &shapes) {
  if (shapes.isUniform(&condition) || llvm::isImpliedCondition(&vote, &condition, layout))
    return true;
  auto *both = llvm::dyn_cast<llvm::BinaryOperator>(&condition);
  return both &&
         (both->getOpcode() == llvm::Instruction::And ||
          both->getOpcode() == llvm::Instruction::Or) &&
         goTogether(vote, *both->getOperand(0), layout, shapes) &&
         goTogether(vote, *both->getOperand(1), layout, shapes);
}

/// True if lanes may part between `definition` and `at`, which it dominates. Where they part by
/// `vote`, the predicate that the members were chosen by, those go together.
bool partsBetween(const llvm::Instruction &definition, const llvm::BasicBlock *at,
                  const llvm::Value *vote, const ShapeAnalysis &shapes) {
  const llvm::BasicBlock *start = definition.getParent();
  const llvm::DataLayout &layout = definition.getModule()->getDataLayout();
  for (const llvm::BasicBlock *a : shapes.order()) {
    if (!shapes.isDivergentBranch(a) || !shapes.dominators().dominates(start, a))
      continue;
    auto *branch = llvm::cast<llvm::BranchInst>(a->getTerminator());
    if (vote && goTogether(*vote, *branch->getCondition(), layout, shapes))
      continue;
    // Does one of the ways lead to `at` without the members being named anew?
    llvm::SmallVector<const llvm::BasicBlock *> stack(llvm::succ_begin(a), llvm::succ_end(a));
    BlockSet seen;
    while (!stack.empty()) {
      const llvm::BasicBlock *b = stack.pop_back_val();
      if (b == shapes.meetingPoint(a) || b == start || !seen.insert(b).second)
        continue;
      if (b == at)
        return true;
      stack.append(llvm::succ_begin(b), llvm::succ_end(b));
    }
  }
  return false;
}

/// Whether the lanes of `members` find the same of the condition in every gang of 32, which is a
/// warp: numbers that go up by lanes, and begin at a multiple of 32, beside a constant.
bool decideTogether(uint32_t members, const llvm::Value *condition, const ShapeAnalysis &shapes) {
  using namespace llvm::PatternMatch;
  const llvm::Value *x;
  if (shapes.isUniform(condition))
    return true;
  if (match(condition, m_Not(m_Value(x))))
    return decideTogether(members, x, shapes);
  if (const auto parts = partsOf(condition))
    return decideTogether(members, parts->first, shapes) &&
           decideTogether(members, parts->second, shapes);
  llvm::CmpInst::Predicate predicate;
  const llvm::APInt *bound;
  if (!match(condition, m_ICmp(predicate, m_Value(x), m_APInt(bound))))
    return false;
  const Shape shape = shapes.shape(x);
  if (!shape.hasOffsets() || shape.isConditional || shape.alignment < 5 || bound->getBitWidth() < 6)
    return false;
  // x < n; x <= n is x < n + 1; x == n is both x < n + 1 and not x < n.
  const auto within = int64_t(bound->getLoBits(5).getZExtValue());
  const auto lie = [&](int64_t below) {
    bool isBelow = false, isAbove = false;
    for (unsigned lane = 0; lane < shapes.lanes(); ++lane)
      if (members >> lane & 1)
        ((*shape.offsets)[lane] < below ? isBelow : isAbove) = true;
    return !(isBelow && isAbove);
  };
  for (unsigned lane = 0; lane < shapes.lanes(); ++lane)
    if ((*shape.offsets)[lane] < 0 || (*shape.offsets)[lane] > 31)
      return false;
  const bool isEquality = llvm::ICmpInst::isEquality(predicate);
  const bool isOfNext =
      predicate == llvm::CmpInst::ICMP_ULE || predicate == llvm::CmpInst::ICMP_SLE ||
      predicate == llvm::CmpInst::ICMP_UGT || predicate == llvm::CmpInst::ICMP_SGT;
  return (isOfNext || lie(within)) && ((!isOfNext && !isEquality) || lie(within + 1));
}

/// Of a constant membermask; nothing where warps are not gangs, or it names lanes that are not.
std::optional<Groups> groupsOfConstant(uint32_t members, const ShapeAnalysis &shapes) {
  const auto [x, y, z] = shapes.block();
  const uint64_t inLastWarp = uint64_t(x) * y * z % 32;
  if (shapes.lanes() != 32 || shapes.areGangsRows() || (inLastWarp && members >> inLastWarp))
    return std::nullopt;
  return Groups{{members}};
}

/// Of masks of tiles (`0xffff << (%laneid & 16)`).
std::optional<Groups> groupsOfTiles(const llvm::Value *members, const ShapeAnalysis &shapes) {
  using namespace llvm::PatternMatch;
  const llvm::APInt *first;
  const llvm::Value *distance;
  if (shapes.lanes() != 32 || !match(members, m_Shl(m_APInt(first), m_Value(distance))) ||
      first->getBitWidth() != 32)
    return std::nullopt;
  const Shape shape = shapes.shape(distance);
  if (!shape.hasOffsets() || shape.isConditional || shape.alignment < 5) // a base is 0: no shift is
    return std::nullopt;                                                 // by 32 or more
  std::array<uint32_t, 32> tile;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const int64_t by = (*shape.offsets)[lane];
    if (by < 0 || by > 31)
      return std::nullopt;
    tile[lane] = uint32_t(first->getZExtValue()) << by;
  }
  Groups tiles;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned k = 0; k < 32; ++k)
      if ((tile[lane] >> k & 1) != (tile[k] == tile[lane])) // a lane's tile is that of its lanes
        return std::nullopt;
    if (lane != 0 && tile[lane] == tile[lane - 1])
      continue;
    const auto one = groupsOfConstant(tile[lane], shapes);
    if (!one)
      return std::nullopt;
    tiles.masks.push_back(one->masks[0]);
  }
  return tiles;
}

/// Whether `v` is 0 where the predicate holds, and all ones where it does not.
bool isNoneWhere(const llvm::Value *predicate, const llvm::Value *v,
                 const llvm::DataLayout &layout) {
  using namespace llvm::PatternMatch;
  const llvm::Value *other, *bit;
  if (match(v, m_Add(m_Value(bit), m_AllOnes()))) // bit - 1
    return llvm::MaskedValueIsZero(bit, llvm::APInt(32, ~1u), llvm::SimplifyQuery(layout)) &&
           match(predicate, m_SpecificICmp(llvm::ICmpInst::ICMP_NE, m_Specific(bit), m_Zero()));
  return match(v, m_CombineOr(m_SExt(m_Value(other)),
                              m_Select(m_Value(other), m_AllOnes(), m_Zero()))) &&
         other->getType()->isIntegerTy(1) &&
         llvm::isImpliedCondition(predicate, other, layout, true) == std::optional(false) &&
         llvm::isImpliedCondition(predicate, other, layout, false) == std::optional(true);
}

/// Of those lanes that find the same of a predicate as the lane itself:
///     b = ballot(p); p ? b : ~b, or all lanes where b says that they agree.
std::optional<Groups> groupsOfVote(const llvm::Value *members) {
  using namespace llvm::PatternMatch;
  const llvm::Value *agreed = nullptr, *vote, *rest;
  match(members, m_Select(m_Value(agreed), m_AllOnes(), m_Value(members)));
  if (!members->getType()->isIntegerTy(32) || !match(members, m_Xor(m_Value(vote), m_Value(rest))))
    return std::nullopt;
  const auto isBallot = [](const llvm::Value *v) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(v);
    return i && wordAt(*i).op == Op::voteBallot;
  };
  if (!isBallot(vote))
    std::swap(vote, rest);
  if (!isBallot(vote))
    return std::nullopt;
  auto *ballot = llvm::cast<llvm::CallBase>(vote);
  const llvm::Value *predicate = ballot->getArgOperand(0);
  if (!isNoneWhere(predicate, rest, ballot->getDataLayout()))
    return std::nullopt;
  const auto isNone = m_SpecificICmp(llvm::ICmpInst::ICMP_EQ, m_Specific(vote), m_Zero());
  const auto isEach = m_SpecificICmp(llvm::ICmpInst::ICMP_EQ, m_Specific(vote), m_AllOnes());
  if (agreed &&
      !match(agreed, m_SpecificICmp(llvm::ICmpInst::ICMP_ULT, m_Add(m_Specific(vote), m_One()),
                                    m_SpecificInt(2))) &&
      !match(agreed, m_c_Or(isNone, isEach)))
    return std::nullopt;
  Groups groups;
  groups.predicate = predicate;
  return groups;
}

} // namespace

bool Groups::goTogether(const llvm::Value *condition, const ShapeAnalysis &shapes) const {
  if (predicate)
    return isSettled(condition, shapes);
  return llvm::all_of(masks,
                      [&](uint32_t mask) { return decideTogether(mask, condition, shapes); });
}

/// Whether the predicate tells what the condition is, whichever it is itself.
bool Groups::isSettled(const llvm::Value *condition, const ShapeAnalysis &shapes) const {
  const llvm::DataLayout &layout = shapes.order().front()->getDataLayout();
  const auto follows = [&](bool isTrue) {
    return llvm::isImpliedCondition(predicate, condition, layout, isTrue).has_value();
  };
  if (shapes.isUniform(condition) || (follows(true) && follows(false)))
    return true;
  const auto parts = partsOf(condition);
  return parts && isSettled(parts->first, shapes) && isSettled(parts->second, shapes);
}

std::optional<Groups> groupsOf(const llvm::Value *members, const ShapeAnalysis &shapes) {
  if (auto *freeze = llvm::dyn_cast<llvm::FreezeInst>(members))
    return groupsOf(freeze->getOperand(0), shapes);
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(members))
    return groupsOfConstant(uint32_t(constant->getZExtValue()), shapes);
  if (auto tiles = groupsOfTiles(members, shapes))
    return tiles;
  return groupsOfVote(members);
}

namespace {

/// Whether the lanes of each group are all in block `at` or all elsewhere: they agree at every
/// branch that leads there.
bool areTogether(const Groups &groups, const llvm::BasicBlock *at, const ShapeAnalysis &shapes) {
  return llvm::all_of(shapes.order(), [&](const llvm::BasicBlock *a) {
    return !shapes.isDivergentBranch(a) ||
           llvm::none_of(llvm::successors(a),
                         [&](const llvm::BasicBlock *way) {
                           return way != shapes.meetingPoint(a) &&
                                  reachable(way, shapes.meetingPoint(a)).contains(at);
                         }) ||
           groups.goTogether(a->getTerminator()->getOperand(0), shapes);
  });
}

} // namespace

bool namesActiveLanes(const llvm::Value *members, const llvm::BasicBlock *at,
                      const ShapeAnalysis &shapes) {
  if (const auto groups = groupsOf(members, shapes); groups && !groups->predicate)
    if (areTogether(*groups, at, shapes))
      return true;
  auto *i = llvm::dyn_cast<llvm::Instruction>(members);
  if (!i)
    return false;
  if (i->getOpcode() == llvm::Instruction::And) // part of the active lanes is enough
    return namesActiveLanes(i->getOperand(0), at, shapes) ||
           namesActiveLanes(i->getOperand(1), at, shapes);
  if (llvm::isa<llvm::FreezeInst, llvm::ExtractValueInst>(i))
    return namesActiveLanes(i->getOperand(0), at, shapes);
  if (llvm::isa<llvm::SelectInst>(i))
    return namesActiveLanes(i->getOperand(1), at, shapes) &&
           namesActiveLanes(i->getOperand(2), at, shapes);
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i))
    return shapes.dominators().dominates(phi->getParent(), at) &&
           !partsBetween(*phi, at, nullptr, shapes) && llvm::all_of(phi->blocks(), [&](auto *from) {
             const llvm::Value *in = phi->getIncomingValueForBlock(from);
             auto *all = llvm::dyn_cast<llvm::ConstantInt>(in);
             return all && all->isMinusOne() ? !shapes.isInDivergentRegion(from)
                                             : namesActiveLanes(in, from, shapes);
           });
  auto *call = llvm::dyn_cast<llvm::CallBase>(i);
  const Op op = wordAt(*i).op;
  const bool isBallot = op == Op::voteBallot;
  if (!isBallot && op != Op::activemask && op != Op::matchAny && op != Op::matchAll)
    return false;
  return shapes.dominators().dominates(call->getParent(), at) &&
         !partsBetween(*call, at, isBallot ? call->getArgOperand(0) : nullptr, shapes);
}

void takeWholeWarpsForOne(llvm::Function &f) {
  using namespace llvm::PatternMatch;
  llvm::SmallVector<llvm::ICmpInst *> tests;
  for (llvm::Instruction &i : llvm::instructions(f)) {
    auto *test = llvm::dyn_cast<llvm::ICmpInst>(&i);
    if (!test || !test->isEquality() || !match(test->getOperand(1), m_AllOnes()))
      continue;
    const llvm::Value *members = test->getOperand(0);
    auto *call = llvm::dyn_cast<llvm::Instruction>(members);
    if ((call && wordAt(*call).op == Op::matchAny) || groupsOfVote(members))
      tests.push_back(test);
  }
  for (llvm::ICmpInst *test : tests) {
    llvm::IRBuilder<> b(test->getNextNode());
    b.SetCurrentDebugLocation(test->getDebugLoc());
    llvm::Value *one = callWord(b, Op::first, b.getInt1Ty(), test);
    test->replaceUsesWithIf(one, [&](const llvm::Use &use) { return use.getUser() != one; });
  }
}

} // namespace ptxrun::simt
