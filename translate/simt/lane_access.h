// What a gather or scatter (llvm.masked.gather, llvm.masked.scatter) is made of.
#pragma once
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IntrinsicInst.h>

namespace ptxrun::simt {

struct LaneAccess {
  bool isStore;
  llvm::Value *values, *pointers, *mask; ///< `values`: null for a gather
  llvm::FixedVectorType *type;
  llvm::Align align;

  /// Whether it is one.
  static bool is(const llvm::Instruction &i) {
    auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    return intrinsic && (intrinsic->getIntrinsicID() == llvm::Intrinsic::masked_gather ||
                         intrinsic->getIntrinsicID() == llvm::Intrinsic::masked_scatter);
  }
  /// Of one.
  explicit LaneAccess(const llvm::IntrinsicInst &i)
      : isStore(i.getIntrinsicID() == llvm::Intrinsic::masked_scatter),
        values(isStore ? i.getArgOperand(0) : nullptr), pointers(i.getArgOperand(isStore ? 1 : 0)),
        mask(i.getArgOperand(isStore ? 3 : 2)),
        type(llvm::cast<llvm::FixedVectorType>(isStore ? values->getType() : i.getType())),
        align(llvm::cast<llvm::ConstantInt>(i.getArgOperand(isStore ? 2 : 1))->getAlignValue()) {}

  unsigned lanes() const { return type->getNumElements(); }
  unsigned elementBits() const { return type->getScalarSizeInBits(); }
  bool isOfAll() const {
    auto *c = llvm::dyn_cast<llvm::Constant>(mask);
    return c && c->isAllOnesValue();
  }
};

} // namespace ptxrun::simt
