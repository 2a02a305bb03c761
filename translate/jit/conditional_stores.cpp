#include "translate/jit/conditional_stores.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

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

} // namespace

void storeLanesOrNowhere(Function &function, const simt::Target &target) {
  Value *nobody = nullptr;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *store = dyn_cast<IntrinsicInst>(&instruction);
    if (!store || store->getIntrinsicID() != Intrinsic::masked_store ||
        isa<Constant>(store->getArgOperand(3)))
      continue;
    auto *type = cast<FixedVectorType>(store->getArgOperand(0)->getType());
    const unsigned bits = type->getScalarSizeInBits(), lanes = type->getNumElements();
    if (bits < 32 || !target.hasMaskedAccess(bits) || lanes > 32)
      continue;
    const unsigned registers = target.registersFor(uint64_t(bits) * lanes);
    if (target.costs.maskedStore * float(registers) <= target.costs.chosenStore * float(lanes))
      continue;
    if (!nobody)
      nobody = new AllocaInst(ArrayType::get(Type::getInt8Ty(function.getContext()), 8), 0, nullptr,
                              Align(8), "nobody", function.getEntryBlock().begin());
    storeEachLane(*store, nobody);
  }
}

} // namespace ptxrun::jit
