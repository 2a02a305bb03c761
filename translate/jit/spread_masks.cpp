#include "translate/jit/spread_masks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// The operand of `user` that is a mask, one bit for each element of `type`; null if there is none.
Use *maskOf(Instruction &user, FixedVectorType *&type) {
  if (auto *choice = dyn_cast<SelectInst>(&user)) {
    type = dyn_cast<FixedVectorType>(choice->getType());
    return type && choice->getCondition()->getType()->isVectorTy() ? &choice->getOperandUse(0)
                                                                   : nullptr;
  }
  auto *access = dyn_cast<IntrinsicInst>(&user);
  if (!access)
    return nullptr;
  if (access->getIntrinsicID() == Intrinsic::masked_store) {
    type = dyn_cast<FixedVectorType>(access->getArgOperand(0)->getType());
    return &access->getArgOperandUse(3);
  }
  if (access->getIntrinsicID() == Intrinsic::masked_load) {
    type = dyn_cast<FixedVectorType>(access->getType());
    return &access->getArgOperandUse(2);
  }
  return nullptr;
}

/// Whether lanes leave their places.
bool isSpread(const Value *conditions) {
  auto *shuffle = dyn_cast<ShuffleVectorInst>(conditions);
  if (!shuffle)
    return false;
  ArrayRef<int> order = shuffle->getShuffleMask();
  for (size_t k = 1; k < order.size(); ++k)
    if (order[k] >= 0 && order[k - 1] >= 0 && order[k] != order[k - 1] + 1)
      return true;
  return isSpread(shuffle->getOperand(0)) || isSpread(shuffle->getOperand(1));
}

/// Whether some of the conditions are known. Lanes far apart, with nothing in between, are bytes
/// that are extended as fast (`blelloch` of bench_kinds_avx2).
bool takesConstants(const Value *conditions) {
  auto *shuffle = dyn_cast<ShuffleVectorInst>(conditions);
  return shuffle ? takesConstants(shuffle->getOperand(0)) || takesConstants(shuffle->getOperand(1))
                 : isa<Constant>(conditions) && !isa<UndefValue>(conditions);
}

/// Conditions as numbers of `bits`, all ones or zero: shuffled as those, whatever shuffles them.
Value *asNumbers(Value *conditions, unsigned bits, IRBuilder<> &ir) {
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(conditions))
    return ir.CreateShuffleVector(asNumbers(shuffle->getOperand(0), bits, ir),
                                  asNumbers(shuffle->getOperand(1), bits, ir),
                                  shuffle->getShuffleMask());
  auto *type = cast<FixedVectorType>(conditions->getType());
  return ir.CreateSExt(conditions,
                       FixedVectorType::get(ir.getIntNTy(bits), type->getNumElements()));
}
} // namespace

void spreadMasksAsNumbers(Function &function) {
  SmallVector<WeakTrackingVH> replaced;
  for (Instruction &instruction : instructions(function)) {
    FixedVectorType *type = nullptr;
    Use *use = maskOf(instruction, type);
    auto *mask = use ? dyn_cast<ShuffleVectorInst>(use->get()) : nullptr;
    const unsigned bits = type ? type->getScalarSizeInBits() : 0;
    if (!mask || (bits != 32 && bits != 64))
      continue;
    if (!isSpread(mask) || takesConstants(mask))
      continue;
    IRBuilder<> ir(mask->getNextNode());
    Value *numbers = asNumbers(mask, bits, ir);
    mask->replaceAllUsesWith(ir.CreateICmpSLT(numbers, Constant::getNullValue(numbers->getType())));
    replaced.emplace_back(mask);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
