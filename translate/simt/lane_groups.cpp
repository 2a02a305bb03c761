// A tile whose rows are `pitch` bytes apart, copied by four lanes for each row:
//
//     p = base + (tid / 4) * pitch + (tid % 4) * 16
//
// No shape has that, since the pitch is known only at run time; but tid / 4 is one number in each
// group of four lanes, and so is everything that is computed of it alone: p counts up in the group.
// In the fragment of a matrix whose k is tid % 4, every fourth lane is in one row.
// So is what four lanes ask one other lane for: the row of a matrix that ldmatrix takes from there.
#include "translate/simt/lane_groups.h"

#include <llvm/Analysis/ValueTracking.h>
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

/// The first lane of a lane's group.
unsigned LaneGroups::firstOf(unsigned lane) const {
  return kind_ == Kind::columns ? lane % (shapes_.lanes() / lanes_) : lane / lanes_ * lanes_;
}

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
    offsets[l] = minus(offsets[l], (*shape.offsets)[firstOf(l)]);
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

/// How many low bits are zeros in the first lane of every group.
unsigned LaneGroups::zerosOfFirst(const llvm::Value *v) const {
  if (auto known = zeros_.find(v); known != zeros_.end())
    return known->second;
  const Shape shape = shapes_.shape(v);
  if (!shape.hasOffsets() || shape.isConditional)
    return 0;
  unsigned zeros = shape.alignment;
  for (unsigned l = 0; l < shapes_.lanes(); ++l)
    if (const int64_t first = (*shape.offsets)[firstOf(l)])
      zeros = std::min(zeros, unsigned(llvm::countr_zero(uint64_t(first))));
  return zeros;
}

/// x ^ y, x | y: y counts up in low bits, from a multiple of 2^n, where x, the same in each group,
/// has none (`(tid % 4) * 288 ^ (tid & 60)`, a swizzled tile).
LaneGroups::Offsets LaneGroups::ofDisjointBits(const llvm::BinaryOperator &i) {
  if (i.getOpcode() != llvm::Instruction::Xor && i.getOpcode() != llvm::Instruction::Or)
    return std::nullopt;
  for (const unsigned same : {0u, 1u}) {
    const llvm::Value *x = i.getOperand(same), *y = i.getOperand(1 - same);
    const Offsets offsets = offsetsOf(y);
    if (!offsets || !areSame(x))
      continue;
    const unsigned zeros =
        std::min({llvm::computeKnownBits(x, i.getDataLayout()).countMinTrailingZeros(),
                  zerosOfFirst(y), 31U});
    if (llvm::any_of(*offsets, [&](int64_t o) { return o < 0 || o >= int64_t(1) << zeros; }))
      continue;
    zeros_[&i] = zeros;
    return offsets;
  }
  return std::nullopt;
}

LaneGroups::Offsets LaneGroups::evaluate(const llvm::Value *v) {
  if (Offsets offsets = ofShape(v))
    return offsets;
  auto *i = llvm::dyn_cast<llvm::Instruction>(v);
  if (i && kind_ == Kind::guessed && depth_ <= kLimits.search.operands)
    if (Offsets offsets = guess(*i))
      return offsets;
  const llvm::CallInst *shuffle = i ? shuffleOfWarpAt(*i, Op::shflIdx) : nullptr;
  if (shuffle && areSame(shuffle->getArgOperand(1))) // lanes that ask one lane
    return same();
  if (!i || !isArithmetic(*i) || i->getType()->isVectorTy() || depth_ > kLimits.search.operands)
    return std::nullopt;
  if (llvm::all_of(i->operands(), [&](const llvm::Use &u) { return areSame(u.get()); }))
    return same();
  if (auto *bits = llvm::dyn_cast<llvm::BinaryOperator>(i))
    if (Offsets offsets = ofDisjointBits(*bits))
      return offsets;
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
