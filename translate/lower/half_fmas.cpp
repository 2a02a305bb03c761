#include "translate/lower/half_fmas.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "translate/lower/library_calls.h"

namespace ptxrun::lower {

namespace {

using llvm::Value;

/// What the value is before anything is folded; null if it is not known.
llvm::Constant *constantOf(Value *value) {
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(value))
    return constant;
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || !(instruction->isCast() || instruction->isBinaryOp()))
    return nullptr;
  llvm::SmallVector<llvm::Constant *, 2> operands;
  for (Value *operand : instruction->operands()) {
    operands.push_back(constantOf(operand));
    if (!operands.back())
      return nullptr;
  }
  return llvm::ConstantFoldInstOperands(instruction, operands, instruction->getDataLayout());
}

const llvm::APFloat *numberOf(Value *value) {
  auto *constant = llvm::dyn_cast_or_null<llvm::ConstantFP>(constantOf(value));
  return constant ? &constant->getValueAPF() : nullptr;
}

/// Null if all of fma is needed.
Value *simplerForm(llvm::CallInst &fma) {
  Value *x = fma.getArgOperand(0), *y = fma.getArgOperand(1), *z = fma.getArgOperand(2);
  llvm::IRBuilder<> ir(&fma);
  for (auto [factor, other] : {std::pair(x, y), std::pair(y, x)})
    if (const llvm::APFloat *number = numberOf(factor);
        number && llvm::abs(*number).isExactlyValue(1))
      return ir.CreateFAdd(number->isNegative() ? ir.CreateFNeg(other) : other, z);
  const llvm::APFloat *addend = numberOf(z);
  if (!addend || !addend->isZero())
    return nullptr;
  Value *product = ir.CreateFMul(x, y);
  return addend->isNegative() ? product : ir.CreateFAdd(product, z);
}

} // namespace

llvm::PreservedAnalyses HalfFmasPass::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &) {
  bool isChanged = false;
  for (const char *name : {"ptx_fma_f16", "ptx_fma_bf16"})
    isChanged |= replaceCalls(function, name, simplerForm);
  if (!isChanged)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace ptxrun::lower
