#include "translate/lower/scalar_form.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>

namespace ptxrun::lower {

namespace {

bool hasVector(const llvm::Instruction &instruction) {
  if (instruction.getType()->isVectorTy())
    return true;
  return llvm::any_of(instruction.operands(),
                      [](const llvm::Use &operand) { return operand->getType()->isVectorTy(); });
}

bool isMixedCast(const llvm::Instruction &instruction) {
  return llvm::isa<llvm::BitCastInst>(instruction) &&
         instruction.getType()->isVectorTy() != instruction.getOperand(0)->getType()->isVectorTy();
}

/// bitcast iN to <k x T>: k shifts, truncations and casts.
llvm::Value *scalarToVector(llvm::IRBuilder<> &ir, llvm::Value *value,
                            llvm::FixedVectorType *type) {
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Value *all =
      ir.CreateBitCast(value, ir.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
  llvm::Value *vector = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    llvm::Value *part = ir.CreateTrunc(ir.CreateLShr(all, uint64_t{i} * bits), ir.getIntNTy(bits));
    vector =
        ir.CreateInsertElement(vector, ir.CreateBitCast(part, type->getElementType()), uint64_t{i});
  }
  return vector;
}

/// bitcast <k x T> to iN: the elements shifted into their places.
llvm::Value *vectorToScalar(llvm::IRBuilder<> &ir, llvm::Value *vector, llvm::Type *type) {
  auto *from = llvm::cast<llvm::FixedVectorType>(vector->getType());
  const unsigned bits = from->getScalarSizeInBits();
  llvm::Type *whole = ir.getIntNTy(bits * from->getNumElements());
  llvm::Value *joined = llvm::Constant::getNullValue(whole);
  for (unsigned i = 0; i < from->getNumElements(); ++i) {
    llvm::Value *part =
        ir.CreateBitCast(ir.CreateExtractElement(vector, uint64_t{i}), ir.getIntNTy(bits));
    joined = ir.CreateOr(joined, ir.CreateShl(ir.CreateZExt(part, whole), uint64_t{i} * bits));
  }
  return ir.CreateBitCast(joined, type);
}

void expandMixedCasts(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!isMixedCast(instruction))
      continue;
    llvm::IRBuilder<> ir(&instruction);
    llvm::Value *from = instruction.getOperand(0);
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
    instruction.replaceAllUsesWith(vector ? scalarToVector(ir, from, vector)
                                          : vectorToScalar(ir, from, instruction.getType()));
    instruction.eraseFromParent();
  }
}

} // namespace

bool isVectorArithmetic(const llvm::Instruction &instruction) {
  return hasVector(instruction) &&
         !llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::InsertElementInst,
                    llvm::ExtractElementInst>(instruction);
}

llvm::PreservedAnalyses ScalarFormPass::run(llvm::Function &function,
                                            llvm::FunctionAnalysisManager &analyses) {
  if (llvm::none_of(llvm::instructions(function), isVectorArithmetic))
    return llvm::PreservedAnalyses::all();
  expandMixedCasts(function);
  llvm::ScalarizerPassOptions options;
  options.ScalarizeLoadStore = false;
  options.ScalarizeVariableInsertExtract = false;
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::ScalarizerPass(options).run(function, analyses);
  expandMixedCasts(function); // what casts between vectors have become
  return llvm::PreservedAnalyses::none();
}

} // namespace ptxrun::lower
