// Versions of code for gangs whose lanes all pass several guards in a row.
//
//   br c, [load x]                br ptx.all(c) & ptx.all(d), special, rest
//   br d, [load y]          =>    special: load x, load y, z = x + y, store z
//   z = x + y                     rest:    as it was
//   br c, [store z]
//
// Code that is generated for tiles asks before each access whether the tile's edge is near: the
// same few conditions over and over, with code for all lanes in between. Where lanes access
// structures (`float4`), a version of each guarded access by itself takes apart what it loads for
// the other way around the guard, and puts together what it stores; in a row without branches all
// is computed as it lies in memory (memory_order.cpp).
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"
#include "translate/simt/version_regions.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Value;

/// Metadata: whether guards from this branch on have a version of their own was settled.
constexpr const char *kTried = "ptx.guards.tried";

/// Whether a condition asks on which side of a bound lanes are that lie in a row: most gangs have
/// all of theirs on one side of every such edge, whereas conditions of other kinds part them as
/// often as not, each in its own way.
bool isOfEdges(const ShapeAnalysis &shapes, const Value *condition) {
  using namespace llvm::PatternMatch;
  const Value *x, *y;
  if (shapes.isUniform(condition))
    return true;
  if (match(condition, m_Not(m_Value(x))))
    return isOfEdges(shapes, x);
  if (match(condition, m_LogicalAnd(m_Value(x), m_Value(y))) ||
      match(condition, m_LogicalOr(m_Value(x), m_Value(y))))
    return isOfEdges(shapes, x) && isOfEdges(shapes, y);
  auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
  return compare && compare->isRelational() &&
         llvm::all_of(compare->operands(),
                      [&](const llvm::Use &side) { return !shapes.shape(side).isVarying(); });
}

/// A branch over one block, for lanes that miss a condition.
struct Guard {
  llvm::BranchInst *branch;
  unsigned side;    ///< the guarded successor
  Value *condition; ///< with which lanes go there, or (`isNegated`) without which
  bool isNegated;
};

std::optional<Guard> guardAt(const ShapeAnalysis &shapes, const BasicBlock *block) {
  if (!shapes.isDivergentBranch(block))
    return std::nullopt;
  auto *branch =
      const_cast<llvm::BranchInst *>(llvm::dyn_cast<llvm::BranchInst>(block->getTerminator()));
  const BasicBlock *meet = shapes.meetingPoint(block);
  if (!branch || !meet)
    return std::nullopt;
  for (unsigned side = 0; side < 2; ++side) {
    const BasicBlock *guarded = branch->getSuccessor(side);
    if (branch->getSuccessor(1 - side) != meet || guarded->getSingleSuccessor() != meet ||
        guarded->getSinglePredecessor() != block)
      continue;
    Guard g{branch, side, branch->getCondition(), side == 1};
    for (Value *x; match(g.condition, llvm::PatternMatch::m_Not(llvm::PatternMatch::m_Value(x)));) {
      g.condition = x;
      g.isNegated = !g.isNegated;
    }
    return g;
  }
  return std::nullopt;
}

/// Guards one behind the other, all of which the version's conditions decide.
struct Stretch {
  llvm::SmallVector<Guard> guards;
  llvm::MapVector<Value *, bool> conditions; ///< and whether lanes pass without them
  llvm::DenseSet<const BasicBlock *> wanted; ///< the blocks at whose ends they are, and the guarded
};

/// Whether lanes access structures that lie side by side, or elements of such.
bool isOfStructures(const ShapeAnalysis &shapes, const llvm::Instruction &i) {
  const Value *pointer = llvm::getLoadStorePointerOperand(&i);
  const Shape shape = pointer ? shapes.shape(pointer) : Shape{};
  if (!shape.hasOffsets())
    return false;
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
  const llvm::Type *type = load ? load->getType() : i.getOperand(0)->getType();
  const int64_t element = int64_t(type->getScalarSizeInBits() / 8),
                step = minus((*shape.offsets)[1], (*shape.offsets)[0]);
  return step > element && step <= element * kLimits.accesses.structureElements;
}

/// The guards from `first` on, as far as their conditions are known there.
Stretch stretchFrom(const ShapeAnalysis &shapes, const Guard &first) {
  Stretch s;
  const BasicBlock *start = first.branch->getParent();
  const llvm::Loop *loop = shapes.loops().getLoopFor(start);
  for (const BasicBlock *b = start;
       b && shapes.loops().getLoopFor(b) == loop && shapes.dominators().dominates(start, b) &&
       (b == start || (!shapes.isInDivergentRegion(b) && !mayMeetOtherGangs(*b)));
       b = shapes.meetingPoint(b)) {
    const std::optional<Guard> g = guardAt(shapes, b);
    if (!g)
      continue;
    if (!s.conditions.contains(g->condition)) {
      if (s.conditions.size() == kLimits.search.agreed || !isOfEdges(shapes, g->condition) ||
          neverHoldsForAll(shapes, g->condition, g->isNegated) ||
          !isComputableBefore(g->condition, first.branch, shapes.dominators(),
                              kLimits.search.repeated))
        continue;
      s.conditions.insert({g->condition, g->isNegated});
    }
    s.guards.push_back(*g);
    s.wanted.insert(b);
    s.wanted.insert(g->branch->getSuccessor(g->side));
  }
  return s;
}

/// What a condition compares: the side that differs between lanes, and the other one.
struct Edge {
  const Value *index, *bound;
};
std::optional<Edge> edgeOf(const ShapeAnalysis &shapes, const Value *condition) {
  auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (!compare)
    return std::nullopt;
  const unsigned side = shapes.isUniform(compare->getOperand(0)) ? 1 : 0;
  return Edge{compare->getOperand(side), compare->getOperand(1 - side)};
}

/// Whether most gangs that miss one condition miss others, too: indices that lie no further apart
/// than a gang's lanes do, and are compared with one bound.
bool areAtOneEdge(const ShapeAnalysis &shapes, const Stretch &stretch) {
  if (stretch.conditions.size() == 1)
    return true;
  const std::optional<Edge> first = edgeOf(shapes, stretch.conditions.front().first);
  const Shape shape = first ? shapes.shape(first->index) : Shape{};
  if (!shape.hasOffsets())
    return false;
  const LinearSum sum = sumOf(first->index);
  const int64_t reach = std::abs(minus(shape.offsets->back(), shape.offsets->front()));
  return llvm::all_of(stretch.conditions, [&](const auto &condition) {
    const std::optional<Edge> edge = edgeOf(shapes, condition.first);
    if (!edge || edge->bound != first->bound)
      return false;
    const LinearSum theirs = sumOf(edge->index);
    return theirs.key() == sum.key() && std::abs(minus(theirs.constant, sum.constant)) <= reach;
  });
}

/// `condition` where it may be anything: its own branch may not be come to. What it compares stays
/// a comparison, which says more of the lanes than their answers.
Value *frozen(Value *condition, llvm::IRBuilder<> &b) {
  using namespace llvm::PatternMatch;
  Value *x, *y;
  if (llvm::isa<llvm::Constant>(condition))
    return condition;
  if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition)) {
    const auto operand = [&](unsigned n) {
      Value *v = compare->getOperand(n);
      return llvm::isa<llvm::Constant>(v) ? v : b.CreateFreeze(v);
    };
    return b.CreateICmp(compare->getPredicate(), operand(0), operand(1));
  }
  if (match(condition, m_Not(m_Value(x))))
    return b.CreateNot(frozen(x, b));
  if (match(condition, m_LogicalAnd(m_Value(x), m_Value(y))))
    return b.CreateAnd(frozen(x, b), frozen(y, b));
  if (match(condition, m_LogicalOr(m_Value(x), m_Value(y))))
    return b.CreateOr(frozen(x, b), frozen(y, b));
  return b.CreateFreeze(condition);
}

/// Whether all conditions hold for all lanes, told before the first guard.
Value *holdForAll(const Stretch &stretch, const Guard &first,
                  const llvm::DominatorTree &dominators) {
  llvm::IRBuilder<> b(first.branch);
  Value *hold = nullptr;
  for (const auto &[condition, isNegated] : stretch.conditions) {
    Value *early = computedBefore(condition, first.branch, dominators);
    if (condition != first.condition)
      early = frozen(early, b);
    Value *all = callWord(b, Op::all, b.getInt1Ty(), isNegated ? b.CreateNot(early) : early);
    hold = hold ? b.CreateAnd(hold, all) : all;
  }
  return hold;
}

/// Lets the copies of guards' branches go where the conditions send all lanes. The copied blocks
/// that are left.
llvm::SmallVector<BasicBlock *> settle(const Stretch &stretch, llvm::ArrayRef<BasicBlock *> copies,
                                       llvm::ValueToValueMapTy &map) {
  llvm::SmallVector<BasicBlock *> left(copies);
  for (const Guard &g : stretch.guards) {
    auto &branch = *llvm::cast<llvm::BranchInst>(&*map[g.branch]);
    const bool isPassed = stretch.conditions.find(g.condition)->second == g.isNegated;
    BasicBlock *from = branch.getParent(),
               *to = branch.getSuccessor(isPassed ? g.side : 1 - g.side),
               *other = branch.getSuccessor(isPassed ? 1 - g.side : g.side);
    other->removePredecessor(from, /*KeepOneInputPHIs=*/true);
    llvm::BranchInst::Create(to, from)->setDebugLoc(branch.getDebugLoc());
    branch.eraseFromParent();
    if (isPassed)
      continue;
    llvm::erase(left, other);
    llvm::DeleteDeadBlock(other);
  }
  return left;
}

} // namespace

bool addVersionForGuards(const ShapeAnalysis &shapes, const GangShape &gang,
                         const BasicBlock &block, llvm::DenseSet<const BasicBlock *> &rests,
                         llvm::function_ref<bool(llvm::ArrayRef<BasicBlock *>)> isAffordable) {
  const std::optional<Guard> first = guardAt(shapes, &block);
  if (!first || first->branch->hasMetadata(kTried))
    return false;
  first->branch->setMetadata(kTried, llvm::MDNode::get(block.getContext(), {}));
  const Stretch stretch = stretchFrom(shapes, *first);
  if (stretch.guards.size() < 2 || llvm::none_of(stretch.wanted, [&](const BasicBlock *b) {
        return llvm::any_of(*b, [&](const auto &i) { return isOfStructures(shapes, i); });
      }))
    return false;
  const Region region = regionFrom(shapes, first->branch->getParent(), stretch.wanted);
  if (region.blocks.empty() || mayMeetOtherGangs(region) || !isAffordable(region.blocks))
    return false;
  const bool isOneEdge = areAtOneEdge(shapes, stretch);
  Value *hold = holdForAll(stretch, *first, shapes.dominators());
  llvm::ValueToValueMapTy map;
  const Fork f = fork(*first->branch, region, map, [&](llvm::IRBuilder<> &) { return hold; });
  const llvm::SmallVector<BasicBlock *> special = settle(stretch, f.special, map);
  assumeNoWraps(*f.choice, special, gang);
  for (BasicBlock *b : llvm::drop_begin(special))
    llvm::MergeBlockIntoPredecessor(b);
  if (isOneEdge) // else some often hold where another does not
    rests.insert(f.rest.begin(), f.rest.end());
  return true;
}

} // namespace ptxrun::simt
