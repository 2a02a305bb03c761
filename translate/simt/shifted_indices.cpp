// Indices of 32 bits among numbers of 64 are computed in the upper half of a register, where the
// shift back extends them:
//
//     x = shl i64 n, 32;  y = add i64 x, 1 << 32;  i = ashr i64 y, 32
//       =>  i = sext i32 (trunc n + 1) to i64
//
// LLVM prefers the shifts. What lanes differ by, and that no index wraps, is known of extensions.
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/simt/cost.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

using namespace llvm::PatternMatch;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned kHalf = 32;

/// Numbers of 64 bits whose lower half is 0, by their upper half.
class UpperHalves {
 public:
  /// The upper half of `v`, made where `v` is; null where the lower half is not known to be 0.
  Value *of(Value *v, unsigned depth = kLimits.search.halfSteps) {
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(v)) {
      const llvm::APInt n = c->getValue();
      if (n.countr_zero() < kHalf)
        return nullptr;
      return llvm::ConstantInt::get(llvm::Type::getInt32Ty(v->getContext()),
                                    n.extractBits(kHalf, kHalf));
    }
    auto *i = llvm::dyn_cast<Instruction>(v);
    if (!i || depth == 0)
      return nullptr;
    if (Value *known = made_.lookup(i))
      return known;
    Value *half = make(*i, depth);
    if (half)
      made_[i] = half;
    return half;
  }

  /// Takes away what nobody asked for in the end.
  void eraseUnused() {
    llvm::SmallVector<llvm::WeakTrackingVH, 8> halves;
    for (auto &[whole, half] : made_)
      if (llvm::isa<Instruction>(half))
        halves.push_back(half);
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(halves);
  }

 private:
  Value *make(Instruction &i, unsigned depth) {
    llvm::IRBuilder<> ir(&i);
    Value *n;
    uint64_t by;
    if (match(&i, m_Shl(m_Value(n), m_ConstantInt(by))) && by >= kHalf && by < 2 * kHalf) {
      Value *half = ir.CreateTrunc(n, ir.getInt32Ty());
      return by == kHalf ? half : ir.CreateShl(half, by - kHalf);
    }
    auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(&i);
    if (!sum || (i.getOpcode() != Instruction::Add && i.getOpcode() != Instruction::Sub))
      return nullptr;
    Value *a = of(i.getOperand(0), depth - 1);
    Value *b = a ? of(i.getOperand(1), depth - 1) : nullptr;
    if (!b)
      return nullptr;
    Value *half = ir.CreateBinOp(sum->getOpcode(), a, b);
    if (auto *made = llvm::dyn_cast<Instruction>(half))
      made->copyIRFlags(&i); // halves wrap where the sums do
    return half;
  }

  llvm::DenseMap<Instruction *, Value *> made_;
};

} // namespace

void restoreShiftedIndices(llvm::Function &f) {
  UpperHalves halves;
  llvm::SmallVector<llvm::WeakTrackingVH, 8> shifts;
  for (Instruction &i : llvm::instructions(f))
    if (i.getType()->isIntegerTy(2 * kHalf) && match(&i, m_Shr(m_Value(), m_SpecificInt(kHalf))))
      shifts.push_back(&i);
  for (Value *v : shifts) {
    auto *shift = llvm::cast<Instruction>(v);
    Value *half = halves.of(shift->getOperand(0));
    if (!half)
      continue;
    llvm::IRBuilder<> ir(shift);
    const auto extension =
        shift->getOpcode() == Instruction::AShr ? Instruction::SExt : Instruction::ZExt;
    // Not RAUW, which handles follow.
    shift->replaceUsesWithIf(ir.CreateCast(extension, half, shift->getType()),
                             [](const llvm::Use &) { return true; });
  }
  halves.eraseUnused();
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(shifts);
}

} // namespace ptxrun::simt
