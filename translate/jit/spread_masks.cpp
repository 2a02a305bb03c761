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

/// The width in which lanes of a mask are compared: that of most of the elements under it, of at
/// least as many bits as the mask has.
unsigned widthOfElements(Instruction &mask, unsigned lanes) {
  SmallDenseMap<unsigned, unsigned> users;
  for (User *user : mask.users()) {
    FixedVectorType *type = nullptr;
    if (Use *use = maskOf(*cast<Instruction>(user), type); use && type && use->get() == &mask)
      ++users[type->getScalarSizeInBits()];
  }
  unsigned width = 32, most = 0;
  for (const unsigned bits : {16u, 32u, 64u})
    if (const unsigned count = users.lookup(bits); count > most)
      std::tie(width, most) = std::pair(bits, count);
  return std::max(width, lanes);
}

/// The lanes of a mask that is a number.
Value *lanesOf(BitCastInst &mask) {
  const unsigned lanes = cast<FixedVectorType>(mask.getType())->getNumElements();
  const unsigned bits = widthOfElements(mask, lanes);
  IRBuilder<> ir(&mask);
  SmallVector<Constant *> own;
  for (unsigned lane = 0; lane < lanes; ++lane)
    own.push_back(ConstantInt::get(ir.getIntNTy(bits), uint64_t(1) << lane));
  Value *all = ir.CreateVectorSplat(lanes, ir.CreateZExt(mask.getOperand(0), ir.getIntNTy(bits)));
  return ir.CreateICmpNE(ir.CreateAnd(all, ConstantVector::get(own)),
                         Constant::getNullValue(all->getType()));
}

/// Whether `i` makes a mask of 8, 16 or 32 lanes of a number.
bool isMaskOfNumber(const Instruction &i) {
  auto *type = dyn_cast<FixedVectorType>(i.getType());
  return isa<BitCastInst>(i) && i.getOperand(0)->getType()->isIntegerTy() && type &&
         type->getElementType()->isIntegerTy(1) && type->getNumElements() >= 8 &&
         type->getNumElements() <= 32 && isPowerOf2_32(type->getNumElements());
}
} // namespace

void spreadMasksAsNumbers(Function &function) {
  SmallVector<WeakTrackingVH> replaced;
  for (Instruction &instruction : instructions(function))
    if (isMaskOfNumber(instruction)) {
      instruction.replaceAllUsesWith(lanesOf(cast<BitCastInst>(instruction)));
      replaced.emplace_back(&instruction);
    }
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
