#include "translate/jit/conditional_stores.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "translate/jit/register_parts.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

constexpr unsigned kGang = 32; // lanes at most

/// What a masked store is made of.
struct Masked {
  Value *values, *to, *mask; ///< `mask`: a bit for each lane
  Align align;
  unsigned lanes, bytes; ///< `bytes`: of an element

  explicit Masked(IntrinsicInst &store)
      : values(store.getArgOperand(0)), to(store.getArgOperand(1)),
        align(cast<ConstantInt>(store.getArgOperand(2))->getAlignValue()) {
    auto *type = cast<FixedVectorType>(values->getType());
    lanes = type->getNumElements();
    bytes = type->getScalarSizeInBits() / 8;
    IRBuilder<> ir(&store);
    mask = ir.CreateBitCast(store.getArgOperand(3), ir.getIntNTy(lanes));
  }
  /// The bits of `count` lanes from `first` on, an i32 with zeros above.
  Value *bits(IRBuilder<> &ir, unsigned first, unsigned count) const {
    Value *from = ir.CreateZExtOrTrunc(ir.CreateLShr(mask, first), ir.getInt32Ty());
    return ir.CreateAnd(from, maskTrailingOnes<uint32_t>(count));
  }
  Value *place(IRBuilder<> &ir, unsigned lane) const {
    return ir.CreateConstGEP1_64(ir.getInt8Ty(), to, uint64_t(lane) * bytes);
  }
  Align alignOf(unsigned lane) const { return commonAlignment(align, uint64_t(lane) * bytes); }
};

/// for `count` lanes from `first`: store %v[lane], (bits & 1 << lane ? its place : nobody)
void storeEachLane(IRBuilder<> &ir, const Masked &store, Value *bits, unsigned first,
                   unsigned count, Value *nobody) {
  for (unsigned lane = first; lane < first + count; ++lane) {
    Value *isStored =
        ir.CreateICmpNE(ir.CreateAnd(bits, uint64_t(1) << (lane - first)), ir.getInt32(0));
    ir.CreateAlignedStore(ir.CreateExtractElement(store.values, lane),
                          ir.CreateSelect(isStored, store.place(ir, lane), nobody),
                          store.alignOf(lane));
  }
}

/// A register's lanes at once where all are stored, else each: lanes part mostly at the ends of
/// rows. Whether any is stored is not asked as well, which mostly would be a matter of luck. Of
/// several elements for each lane, parted registers are as slow as the CPU is: in code that many
/// instructions for each of a dozen registers would be too long.
void storeRegister(IntrinsicInst *before, const Masked &store, unsigned first, unsigned count,
                   Value *nobody) {
  IRBuilder<> ir(before);
  Value *bits = store.bits(ir, first, count);
  Value *areAll = ir.CreateICmpEQ(bits, ir.getInt32(maskTrailingOnes<uint32_t>(count)));
  Instruction *whole, *parted;
  SplitBlockAndInsertIfThenElse(areAll, before->getIterator(), &whole, &parted);
  IRBuilder<> atOnce(whole), byEach(parted);
  atOnce.CreateAlignedStore(part(atOnce, store.values, first, count), store.place(atOnce, first),
                            store.alignOf(first));
  if (store.lanes <= kGang)
    storeEachLane(byEach, store, bits, first, count, nobody);
  else
    byEach.CreateMaskedStore(part(byEach, store.values, first, count), store.place(byEach, first),
                             store.alignOf(first),
                             part(byEach, before->getArgOperand(3), first, count));
}

/// Whether it takes longer as one instruction than lane by lane.
bool isSlowStore(const IntrinsicInst &store, const simt::Target &target) {
  if (store.getIntrinsicID() != Intrinsic::masked_store || isa<Constant>(store.getArgOperand(3)))
    return false;
  auto *type = cast<FixedVectorType>(store.getArgOperand(0)->getType());
  const unsigned bits = type->getScalarSizeInBits(), lanes = type->getNumElements();
  if (bits < 32 || !target.hasMaskedAccess(bits))
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
