// Versions of code for gangs of which no lane is clamped.
//
//   x = min(max(i + 1, 0), width - 1)  =>  br ptx.all(i + 1 >= 0) & ptx.all(i + 1 <= width - 1),
//   a[x]                                   [a[i + 1]], rest
//
// Filters read beside a pixel, and at the image's border the pixel next to it once more, or the one
// at the other end (`x == 0 ? width - 1 : x - 1`), or the pixel itself, which compilers make a step
// of nothing (`x + (x == 0 ? 0 : -1)`). Such an index is no row for all that is known;
// inside the image, where nearly all gangs are, it is one.
//
// All that is clamped in a part of the code and can be told where it begins has one version there.
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"
#include "translate/simt/version_regions.h"
#include "translate/simt/versions.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;
using P = llvm::CmpInst;

/// Metadata: a version was added for this value, or would not help.
constexpr const char *kTried = "ptx.clamp.tried";

/// What a value is where `index predicate bound` holds: `inside`.
struct Clamp {
  Value *inside = nullptr;
  P::Predicate predicate = P::BAD_ICMP_PREDICATE;
  Value *index = nullptr, *bound = nullptr;
};

struct Condition {
  P::Predicate predicate;
  Value *index, *bound;
  bool operator==(const Condition &) const = default;
};
using Conditions = llvm::SmallVector<Condition>;

/// Finds what is clamped, from outer clamps inwards.
class Clamps {
 public:
  explicit Clamps(const ShapeAnalysis &shapes) : shapes_(shapes) {}

  std::optional<Clamp> at(Instruction &i, unsigned depth = 0) const {
    if (depth == kLimits.search.nested || !i.getType()->isIntegerTy() || widthOf(&i) < 16 ||
        !shapes_.shape(&i).isVarying())
      return std::nullopt;
    std::optional<Clamp> c;
    if (auto *minMax = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&i))
      c = ofMinMax(*minMax, depth);
    else if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i))
      c = ofChoice(*select->getCondition(), select->getTrueValue(), select->getFalseValue(), depth);
    else if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(i) &&
             i.getOperand(0)->getType()->isIntegerTy(1))
      c = ofChoice(*i.getOperand(0),
                   llvm::ConstantInt::get(i.getType(), llvm::isa<llvm::SExtInst>(i) ? -1 : 1, true),
                   llvm::ConstantInt::get(i.getType(), 0), depth);
    return c && mayHold(*c) ? c : std::nullopt;
  }

  /// What `v` is where nothing is clamped, which is where `conditions`, that it adds to, hold.
  Value *inside(Value *v, Conditions &conditions) const {
    auto *i = llvm::dyn_cast<Instruction>(v);
    const std::optional<Clamp> c = i ? at(*i) : std::nullopt;
    if (!c)
      return v;
    const Condition holds{c->predicate, inside(c->index, conditions), c->bound};
    if (!llvm::is_contained(conditions, holds))
      conditions.push_back(holds);
    return inside(c->inside, conditions);
  }

 private:
  bool isRow(Value *v, unsigned depth) const {
    const Shape s = shapes_.shape(v);
    if (s.isVarying())
      if (auto *i = llvm::dyn_cast<Instruction>(v))
        return at(*i, depth + 1).has_value();
    return s.hasOffsets() && !s.isUniform();
  }

  std::optional<Clamp> ofMinMax(llvm::MinMaxIntrinsic &m, unsigned depth) const {
    Value *x = m.getLHS(), *bound = m.getRHS();
    if (shapes_.isUniform(x))
      std::swap(x, bound);
    if (!shapes_.isUniform(bound) || !isRow(x, depth))
      return std::nullopt;
    return Clamp{x, P::getNonStrictPredicate(m.getPredicate()), x, bound};
  }

  /// The other end of a row, or its own end: chosen by comparing with a bound.
  std::optional<Clamp> ofChoice(Value &condition, Value *chosen, Value *other,
                                unsigned depth) const {
    auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&condition);
    if (!compare)
      return std::nullopt;
    Value *x = compare->getOperand(0), *bound = compare->getOperand(1);
    P::Predicate predicate = compare->getPredicate();
    if (shapes_.isUniform(x)) {
      std::swap(x, bound);
      predicate = P::getSwappedPredicate(predicate);
    }
    if (!shapes_.isUniform(bound) || !isRow(x, depth))
      return std::nullopt;
    if (shapes_.isUniform(chosen) && shapes_.isUniform(other))
      return ofStep({chosen, predicate, x, bound}, other);
    bool isChosenRow = isRow(chosen, depth), isOtherRow = isRow(other, depth);
    if (predicate == P::ICMP_EQ || !isChosenRow || other == x) {
      std::swap(chosen, other);
      std::swap(isChosenRow, isOtherRow);
      predicate = P::getInversePredicate(predicate);
    }
    if (predicate == P::ICMP_EQ || !isChosenRow ||
        (isOtherRow && predicate != P::ICMP_NE && chosen != x))
      return std::nullopt;
    return Clamp{chosen, predicate, x, bound};
  }

  /// How far the neighbour is, or nothing where there is none: `i + (i == 0 ? 0 : -1)`. `otherwise`
  /// is what stands for `c.inside` where the condition does not hold.
  static std::optional<Clamp> ofStep(Clamp c, Value *otherwise) {
    using namespace llvm::PatternMatch;
    const bool isUnequal = c.predicate == P::ICMP_NE, isEqual = c.predicate == P::ICMP_EQ;
    if (isEqual || (!isUnequal && match(c.inside, m_Zero()))) {
      std::swap(c.inside, otherwise);
      c.predicate = P::getInversePredicate(c.predicate);
    }
    return isUnequal || isEqual || match(otherwise, m_Zero()) ? std::optional(c) : std::nullopt;
  }

  /// Not where every gang has a lane at the start of the block's row, which the thread's number
  /// alone is compared for.
  bool mayHold(const Clamp &c) const {
    if (shapes_.block()[0] > shapes_.lanes())
      return true;
    const LinearSum sum = sumOf(c.index);
    return llvm::any_of(sum.terms, [](const auto &term) {
      auto *i = llvm::dyn_cast<Instruction>(term.first);
      return !i || wordAt(*i).kind != Word::Kind::threadIndex;
    });
  }

  const ShapeAnalysis &shapes_;
};

/// Whether all of it can be told at `at`.
bool areKnown(const Conditions &conditions, const Instruction &at,
              const llvm::DominatorTree &dominators) {
  return llvm::all_of(conditions, [&](const Condition &c) {
    return isComputableBefore(c.index, &at, dominators) &&
           isComputableBefore(c.bound, &at, dominators);
  });
}

/// What is clamped, and what it is where the version's conditions hold.
struct Clamped {
  llvm::MapVector<Instruction *, Value *> values;
  Conditions conditions;
  llvm::SmallVector<Instruction *> all() const {
    return llvm::to_vector(llvm::make_first_range(values));
  }
};

/// What of the blocks from `at` on is clamped, finds places in memory, and can be told at `at`.
Clamped clampedFrom(Instruction &at, llvm::ArrayRef<BasicBlock *> blocks,
                    const ShapeAnalysis &shapes) {
  const Clamps clamps(shapes);
  Clamped found;
  unsigned tried = 0;
  for (BasicBlock *block : blocks)
    for (Instruction &i : *block) {
      if ((block == at.getParent() && i.comesBefore(&at)) || tried == kLimits.search.clamped ||
          !clamps.at(i))
        continue;
      ++tried;
      Conditions conditions = found.conditions;
      Value *inside = clamps.inside(&i, conditions);
      if (!areKnown(conditions, at, shapes.dominators()) || dependents(shapes, i).empty())
        continue;
      found.values[&i] = inside;
      found.conditions = std::move(conditions);
    }
  return found;
}

/// Whether all conditions hold for all lanes.
Value *holdForAll(const Conditions &conditions, Instruction &at,
                  const llvm::DominatorTree &dominators) {
  llvm::IRBuilder<> b(&at);
  b.SetCurrentDebugLocation(at.getDebugLoc());
  Value *hold = nullptr;
  for (const Condition &c : conditions) {
    // Computed where nobody may have asked for it: it may be anything.
    const auto early = [&](Value *v) {
      v = computedBefore(v, &at, dominators);
      return llvm::isa<llvm::Constant>(v) ? v : b.CreateFreeze(v);
    };
    Value *index = early(c.index), *bound = early(c.bound);
    Value *all = callWord(b, Op::all, b.getInt1Ty(), b.CreateICmp(c.predicate, index, bound));
    hold = hold ? b.CreateAnd(hold, all) : all;
  }
  return hold;
}

void addVersion(Instruction &at, const Region &region, const Clamped &clamped,
                const ShapeAnalysis &shapes, const GangShape &gang,
                llvm::DenseSet<const BasicBlock *> &general) {
  llvm::ValueToValueMapTy map;
  Value *hold = holdForAll(clamped.conditions, at, shapes.dominators());
  const Fork f = fork(at, region, map, [&](llvm::IRBuilder<> &) { return hold; });
  const auto mapped = [&](Value *v) -> Value * {
    auto it = map.find(v);
    return it == map.end() ? v : &*it->second;
  };
  for (const auto &[value, inside] : clamped.values) {
    assert(map.count(value) && "what finds places in the region is computed in it");
    mapped(value)->replaceAllUsesWith(mapped(inside));
  }
  general.insert(f.rest.begin(), f.rest.end());
  assumeNoWraps(*f.choice, f.special, gang);
}

} // namespace

llvm::SmallVector<Instruction *> clampedIndices(const ShapeAnalysis &shapes,
                                                llvm::ArrayRef<BasicBlock *> blocks) {
  const Clamps clamps(shapes);
  llvm::SmallVector<Instruction *> found;
  unsigned tried = 0;
  for (BasicBlock *block : blocks)
    for (Instruction &i : *block)
      if (tried < kLimits.search.clamped && clamps.at(i) && ++tried &&
          !dependents(shapes, i).empty())
        found.push_back(&i);
  return found;
}

bool addVersionForClampedIndices(const ShapeAnalysis &shapes, llvm::Function &f,
                                 const GangShape &gang, unsigned &copied,
                                 llvm::DenseSet<const BasicBlock *> &general,
                                 llvm::function_ref<bool(const BasicBlock *)> isIn) {
  llvm::MDNode *tried = llvm::MDNode::get(f.getContext(), {});
  const Clamps clamps(shapes);
  for (BasicBlock *block : shapes.order()) {
    if (!isIn(block) || general.contains(block))
      continue;
    const auto first = llvm::find_if(
        *block, [&](Instruction &i) { return !i.hasMetadata(kTried) && clamps.at(i); });
    if (first == block->end())
      continue;
    first->setMetadata(kTried, tried);
    llvm::SmallVector<BasicBlock *> behind;
    shapes.dominators().getDescendants(block, behind);
    const Clamped clamped = clampedFrom(*first, behind, shapes);
    llvm::DenseSet<const BasicBlock *> wanted;
    for (const Instruction *i : clamped.all())
      for (const BasicBlock *b : dependents(shapes, *i))
        wanted.insert(b);
    const Region region = wanted.empty() ? Region{} : regionFrom(shapes, block, wanted);
    const unsigned size = sizeOf(region, &*first);
    if (region.blocks.empty() || mayMeetOtherGangs(region) ||
        copied + size > kLimits.versions.copied)
      continue;
    const ShapeAnalysis agreed(f, gang, false, clamped.all());
    if (worth(agreed, region.blocks) < worth(shapes, region.blocks) + size)
      continue;
    for (Instruction *i : clamped.all())
      i->setMetadata(kTried, tried);
    copied += size;
    addVersion(*first, region, clamped, shapes, gang, general);
    return true;
  }
  return false;
}

} // namespace ptxrun::simt
