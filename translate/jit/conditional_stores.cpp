#include "translate/jit/conditional_stores.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// bits = mask;  for each lane: store %v[lane], (bits & 1 << lane ? its place : nobody)
void storeEachLane(IntrinsicInst &store, Value *nobody) {
  Value *values = store.getArgOperand(0), *to = store.getArgOperand(1);
  auto *type = cast<FixedVectorType>(values->getType());
  const unsigned lanes = type->getNumElements(), bytes = type->getScalarSizeInBits() / 8;
  const Align align = cast<ConstantInt>(store.getArgOperand(2))->getAlignValue();
  IRBuilder<> ir(&store);
  Value *mask = ir.CreateZExtOrTrunc(ir.CreateBitCast(store.getArgOperand(3), ir.getIntNTy(lanes)),
                                     ir.getInt32Ty());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value *isStored = ir.CreateICmpNE(ir.CreateAnd(mask, uint64_t(1) << lane), ir.getInt32(0));
    Value *place = ir.CreateConstGEP1_64(ir.getInt8Ty(), to, uint64_t(lane) * bytes);
    ir.CreateAlignedStore(ir.CreateExtractElement(values, lane),
                          ir.CreateSelect(isStored, place, nobody),
                          commonAlignment(align, uint64_t(lane) * bytes));
  }
  store.eraseFromParent();
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
  const BasicBlock *last = nullptr;
  for (IntrinsicInst *store : stores) {
    // LLVM's time for a block grows with the square of the stores in it.
    last = store->getParent() == last ? SplitBlock(store->getParent(), store->getIterator())
                                      : store->getParent();
    storeEachLane(*store, nobody);
  }
}

} // namespace ptxrun::jit
