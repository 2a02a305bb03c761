// A tile whose rows are `pitch` bytes apart, copied by four lanes for each row:
//
//     p = base + (tid / 4) * pitch + (tid % 4) * 16
//
// No shape has that, since the pitch is known only at run time; but tid / 4 is one number in each
// group of four lanes, and so is everything that is computed of it alone: p counts up in the group.
// So is what four lanes ask one other lane for: the row of a matrix that ldmatrix takes from there.
#include "translate/simt/lane_groups.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "translate/simt/cost.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/shape.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

/// What gives the same value for the same operands.
bool isArithmetic(const llvm::Instruction &i) {
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                   llvm::SelectInst, llvm::GetElementPtrInst, llvm::FreezeInst>(i);
}

} // namespace

LaneGroups::Offsets LaneGroups::same() const { return std::vector<int64_t>(shapes_.lanes(), 0); }

bool LaneGroups::areSame(const llvm::Value *v) {
  const Offsets offsets = offsetsOf(v);
  return offsets && llvm::all_of(*offsets, [](int64_t o) { return o == 0; });
}

LaneGroups::Offsets LaneGroups::ofShape(const llvm::Value *v) const {
  const Shape shape = shapes_.shape(v);
  if (shape.isUniform())
    return same();
  if (!shape.hasOffsets() || shape.isConditional)
    return std::nullopt;
  std::vector<int64_t> offsets = *shape.offsets;
  for (unsigned l = 0; l < offsets.size(); ++l)
    offsets[l] = minus(offsets[l], (*shape.offsets)[l / lanes_ * lanes_]);
  return offsets;
}

/// A row of a sparse matrix, whose beginning a group loads, and what it counts on from there.
LaneGroups::Offsets LaneGroups::guess(const llvm::Instruction &i) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isSimple() && areSame(load->getPointerOperand()) ? same() : std::nullopt;
  if (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(i)) // indices hardly ever wrap
    return offsetsOf(i.getOperand(0));
  auto *phi = llvm::dyn_cast<llvm::PHINode>(&i);
  const llvm::Loop *loop = phi ? shapes_.loops().getLoopFor(phi->getParent()) : nullptr;
  const llvm::BasicBlock *before = loop ? loop->getLoopPredecessor() : nullptr,
                         *latch = loop ? loop->getLoopLatch() : nullptr;
  if (!before || !latch || loop->getHeader() != phi->getParent())
    return std::nullopt;
  const Offsets first = offsetsOf(phi->getIncomingValueForBlock(before));
  if (!first)
    return std::nullopt;
  known_[phi] = first; // if it is so behind a round
  return offsetsOf(phi->getIncomingValueForBlock(latch)) == first ? first : std::nullopt;
}

LaneGroups::Offsets LaneGroups::evaluate(const llvm::Value *v) {
  if (Offsets offsets = ofShape(v))
    return offsets;
  auto *i = llvm::dyn_cast<llvm::Instruction>(v);
  if (i && doGuess_ && depth_ <= kLimits.search.operands)
    if (Offsets offsets = guess(*i))
      return offsets;
  const llvm::CallInst *shuffle = i ? shuffleOfWarpAt(*i, Op::shflIdx) : nullptr;
  if (shuffle && areSame(shuffle->getArgOperand(1))) // lanes that ask one lane
    return same();
  if (!i || !isArithmetic(*i) || i->getType()->isVectorTy() || depth_ > kLimits.search.operands)
    return std::nullopt;
  if (llvm::all_of(i->operands(), [&](const llvm::Use &u) { return areSame(u.get()); }))
    return same();
  const LinearSum sum = sumOf(v);
  Offsets all = same();
  for (const auto &[term, times] : sum.terms) {
    const Offsets offsets = term == v ? std::nullopt : offsetsOf(term);
    if (!offsets)
      return std::nullopt;
    for (unsigned l = 0; l < all->size(); ++l)
      (*all)[l] = total((*all)[l], product(times, (*offsets)[l]));
  }
  return all;
}

LaneGroups::Offsets LaneGroups::offsetsOf(const llvm::Value *v) {
  if (auto it = known_.find(v); it != known_.end())
    return it->second;
  ++depth_;
  Offsets offsets = evaluate(v);
  --depth_;
  return known_[v] = std::move(offsets);
}

} // namespace ptxrun::simt
