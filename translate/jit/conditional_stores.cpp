#include "translate/jit/conditional_stores.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// What a masked store is made of.
struct Masked {
  Value *values, *to, *mask; ///< `mask`: an i32 with a bit for each lane, zeros above
  Align align;
  unsigned lanes, bytes; ///< `bytes`: of an element

  explicit Masked(IntrinsicInst &store)
      : values(store.getArgOperand(0)), to(store.getArgOperand(1)),
        align(cast<ConstantInt>(store.getArgOperand(2))->getAlignValue()) {
    auto *type = cast<FixedVectorType>(values->getType());
    lanes = type->getNumElements();
    bytes = type->getScalarSizeInBits() / 8;
    IRBuilder<> ir(&store);
    mask = ir.CreateZExtOrTrunc(ir.CreateBitCast(store.getArgOperand(3), ir.getIntNTy(lanes)),
                                ir.getInt32Ty());
  }
  Value *place(IRBuilder<> &ir, unsigned lane) const {
    return ir.CreateConstGEP1_64(ir.getInt8Ty(), to, uint64_t(lane) * bytes);
  }
  Align alignOf(unsigned lane) const { return commonAlignment(align, uint64_t(lane) * bytes); }
};

/// for `count` lanes from `first`: store %v[lane], (bits & 1 << lane ? its place : nobody)
void storeEachLane(IRBuilder<> &ir, const Masked &store, unsigned first, unsigned count,
                   Value *nobody) {
  for (unsigned lane = first; lane < first + count; ++lane) {
    Value *isStored =
        ir.CreateICmpNE(ir.CreateAnd(store.mask, uint64_t(1) << lane), ir.getInt32(0));
    ir.CreateAlignedStore(ir.CreateExtractElement(store.values, lane),
                          ir.CreateSelect(isStored, store.place(ir, lane), nobody),
                          store.alignOf(lane));
  }
}

/// A register's lanes at once where all are stored, else each: lanes part mostly at the ends of
/// rows. Whether any is stored is not asked as well, which mostly would be a matter of luck.
void storeRegister(Instruction *before, const Masked &store, unsigned first, unsigned count,
                   Value *nobody) {
  IRBuilder<> ir(before);
  const uint64_t all = maskTrailingOnes<uint64_t>(count) << first;
  Value *areAll = ir.CreateICmpEQ(ir.CreateAnd(store.mask, all), ir.getInt32(uint32_t(all)));
  Instruction *whole, *parted;
  SplitBlockAndInsertIfThenElse(areAll, before->getIterator(), &whole, &parted);
  IRBuilder<> atOnce(whole), byEach(parted);
  atOnce.CreateAlignedStore(
      atOnce.CreateShuffleVector(store.values, createSequentialMask(first, count, 0)),
      store.place(atOnce, first), store.alignOf(first));
  storeEachLane(byEach, store, first, count, nobody);
}

/// Whether it takes longer as one instruction than lane by lane.
bool isSlowStore(const IntrinsicInst &store, const simt::Target &target) {
  if (store.getIntrinsicID() != Intrinsic::masked_store || isa<Constant>(store.getArgOperand(3)))
    return false;
  auto *type = cast<FixedVectorType>(store.getArgOperand(0)->getType());
  const unsigned bits = type->getScalarSizeInBits(), lanes = type->getNumElements();
  if (bits < 32 || !target.hasMaskedAccess(bits) || lanes > 32)
    return false;
  const unsigned registers = target.registersFor(uint64_t(bits) * lanes);
  return target.costs.maskedStore * float(registers) > target.costs.chosenStore * float(lanes);
}

} // namespace

void storeLanesOrNowhere(Function &function, const simt::Target &target) {
  SmallVector<IntrinsicInst *> stores;
  for (Instruction &instruction : instructions(function))
    if (auto *store = dyn_cast<IntrinsicInst>(&instruction); store && isSlowStore(*store, target))
      stores.push_back(store);
  if (stores.empty())
    return;
  auto *nobody = new AllocaInst(ArrayType::get(Type::getInt8Ty(function.getContext()), 8), 0,
                                nullptr, Align(8), "nobody", function.getEntryBlock().begin());
  for (IntrinsicInst *intrinsic : stores) {
    const Masked store(*intrinsic);
    const unsigned inRegister = std::min(store.lanes, unsigned(target.vectorBytes()) / store.bytes);
    for (unsigned first = 0; first < store.lanes; first += inRegister)
      storeRegister(intrinsic, store, first, std::min(inRegister, store.lanes - first), nobody);
    intrinsic->eraseFromParent();
  }
}

} // namespace ptxrun::jit
