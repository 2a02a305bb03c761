// Bounds that blocks round, around barriers that name all threads of a warp (.aligned):
//
//     do {                                         do {
//       barrier;                                     barrier;
//     } while (i - i % 256 < n);           ->        c = i - i % 256 < n;
//                                                    if (!ptx.same(c)) ptx.parted;
//                                                  } while (ptx.first(c));
//
// Signed remainders and quotients are rounded towards zero: below zero, lanes that share a multiple
// of 256 get two different ones. Nothing tells that `i` stays above, but nobody means it to be
// below: lanes that part there come to the barrier apart, which .aligned forbids (9.7.13.1). So the
// lanes go as the first one does. Where they do not agree, the launch ends, and says so.
//
// Only for conditions that nothing but the sign can part, and only where lanes that part cannot go
// on as threads (thread_mode.cpp): beside warp operations, or copies that somebody waits for.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

#include "translate/lower/vocabulary.h"
#include "translate/simt/prepare.h"
#include "translate/simt/waits.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

bool isAligned(const llvm::Instruction &i) {
  return wordAt(i).kind == Word::Kind::barrier && i.hasMetadata(lower::vocabulary::kAligned);
}

} // namespace

std::optional<Rounded> roundedTowardsZero(const llvm::Value *v) {
  using namespace llvm::PatternMatch;
  const llvm::Value *x = nullptr, *corrected = nullptr;
  const llvm::APInt *c = nullptr, *by = nullptr;
  if (match(v, m_SDiv(m_Value(x), m_Power2(c))))
    return Rounded{x, c->logBase2(), false};
  if (match(v, m_Sub(m_Value(x), m_SRem(m_Deferred(x), m_Power2(c)))))
    return Rounded{x, c->logBase2(), true};
  // As lower writes it, where only the launch tells what is divided by (exact in double).
  const llvm::APFloat *divisor = nullptr;
  if (match(v, m_FPToSI(m_FDiv(m_SIToFP(m_Value(x)), m_APFloat(divisor)))) &&
      x->getType()->isIntegerTy(32) && v->getType()->isIntegerTy(32) &&
      &divisor->getSemantics() == &llvm::APFloat::IEEEdouble() && divisor->getExactLog2() >= 0)
    return Rounded{x, unsigned(divisor->getExactLog2()), false};
  // As compilers write it: x + (x < 0 ? 2^k - 1 : 0), then without its low bits.
  unsigned k;
  const bool isMultiple = match(v, m_And(m_Value(corrected), m_NegatedPower2(c)));
  if (isMultiple)
    k = c->countr_zero();
  else if (match(v, m_AShr(m_Value(corrected), m_APInt(c))))
    k = unsigned(c->getLimitedValue(64));
  else
    return std::nullopt;
  const unsigned width = v->getType()->getIntegerBitWidth();
  if (k == 0 || k >= width ||
      !match(corrected, m_c_Add(m_LShr(m_AShr(m_Value(x), m_SpecificInt(width - 1)), m_APInt(by)),
                                m_Deferred(x))) ||
      *by != width - k)
    return std::nullopt;
  return Rounded{x, k, isMultiple};
}

namespace {

using RoundedValues = llvm::SmallVector<std::pair<llvm::Instruction *, Rounded>>;
RoundedValues roundedValues(llvm::Function &f) {
  RoundedValues found;
  for (llvm::BasicBlock &b : f)
    for (llvm::Instruction &i : b)
      if (i.getType()->isIntegerTy())
        if (const auto rounded = roundedTowardsZero(&i))
          found.emplace_back(&i, *rounded);
  return found;
}

/// Those that are the same for all lanes unless they are below zero.
llvm::SmallVector<llvm::Instruction *> sameAboveZero(const RoundedValues &values,
                                                     const ShapeAnalysis &shapes) {
  llvm::SmallVector<llvm::Instruction *> found;
  for (const auto &[value, rounded] : values) {
    const Shape x = shapes.shape(rounded.x);
    if (shapes.isUniform(value) || !x.hasOffsets() || x.isConditional || !shapes.isDisjoint(x))
      continue;
    if (llvm::all_of(*x.offsets,
                     [&, k = rounded.k](int64_t o) { return o >> k == (*x.offsets)[0] >> k; }))
      found.push_back(value);
  }
  return found;
}

/// Whether lanes that part at the end of the block may come to a barrier before they meet.
bool partsBeforeBarrier(const llvm::BasicBlock &block, const ShapeAnalysis &shapes) {
  for (const llvm::BasicBlock *way : llvm::successors(&block))
    for (const llvm::BasicBlock *b : reachable(way, shapes.meetingPoint(&block)))
      if (llvm::any_of(*b, isAligned))
        return true;
  return false;
}

bool hasAlignedBarriersOnly(const llvm::Function &f) {
  bool hasAny = false;
  for (const llvm::BasicBlock &b : f)
    for (const llvm::Instruction &i : b)
      if (wordAt(i).kind == Word::Kind::barrier) {
        if (!isAligned(i))
          return false;
        hasAny = true;
      }
  return hasAny;
}

void goAsTheFirst(llvm::BasicBlock &block) {
  auto *branch = llvm::cast<llvm::BranchInst>(block.getTerminator());
  llvm::BasicBlock *agreed = llvm::SplitBlock(&block, branch);
  auto *parted = llvm::BasicBlock::Create(block.getContext(), "parted", block.getParent(), agreed);
  llvm::Value *condition = branch->getCondition();
  llvm::IRBuilder<> b(block.getTerminator());
  b.SetCurrentDebugLocation(branch->getDebugLoc());
  b.CreateCondBr(callWord(b, Op::same, b.getInt1Ty(), condition), agreed, parted);
  block.getTerminator()->eraseFromParent();
  b.SetInsertPoint(parted);
  callWord(b, Op::parted, b.getVoidTy(), {});
  b.CreateBr(agreed); // no lane does
  b.SetInsertPoint(branch);
  branch->setCondition(callWord(b, Op::first, b.getInt1Ty(), condition));
}

} // namespace

bool agreeBeforeAlignedBarriers(llvm::Function &f, const GangShape &gang) {
  const RoundedValues values = roundedValues(f);
  if (values.empty() || !hasAlignedBarriersOnly(f))
    return false;
  const ShapeAnalysis shapes(f, gang, false);
  const llvm::SmallVector<llvm::Instruction *> rounded = sameAboveZero(values, shapes);
  if (rounded.empty())
    return false;
  const Waits waits(*f.getParent());
  const ShapeAnalysis hoped(f, gang, false, rounded);
  if (examine(f, shapes, waits, true).needsThreads.empty() ||
      !examine(f, hoped, waits, true).needsThreads.empty())
    return false;
  llvm::SmallVector<llvm::BasicBlock *> parting;
  for (llvm::BasicBlock &b : f)
    if (shapes.isDivergentBranch(&b) && !hoped.isDivergentBranch(&b) &&
        partsBeforeBarrier(b, shapes))
      parting.push_back(&b);
  for (llvm::BasicBlock *b : parting)
    goAsTheFirst(*b);
  return !parting.empty();
}

} // namespace ptxrun::simt
