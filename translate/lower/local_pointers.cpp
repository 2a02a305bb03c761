#include "translate/lower/local_pointers.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace ptxrun::lower {

namespace {

using namespace llvm::PatternMatch;

/// Deeper sums than nvcc or clang write are left alone.
constexpr unsigned kMaxDepth = 16;

/// A sum as variable plus integer; `variable` null where there is none. False where two variables
/// meet.
struct Sum {
  llvm::Value *variable = nullptr;
  llvm::SmallVector<llvm::Value *, 4> terms;
};

bool isVariable(llvm::Value *pointer) {
  return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

/// clang adds small constants to aligned addresses by `or`.
bool takeApart(llvm::Value *value, Sum &sum, unsigned depth, const llvm::DataLayout &layout) {
  llvm::Value *left, *right, *pointer;
  const bool isSum = match(value, m_Add(m_Value(left), m_Value(right))) ||
                     (match(value, m_Or(m_Value(left), m_Value(right))) &&
                      llvm::haveNoCommonBitsSet(left, right, llvm::SimplifyQuery(layout)));
  if (depth < kMaxDepth && isSum)
    return takeApart(left, sum, depth + 1, layout) && takeApart(right, sum, depth + 1, layout);
  if ((match(value, m_PtrToInt(m_Value(pointer))) ||
       match(value, m_Trunc(m_PtrToInt(m_Value(pointer))))) &&
      isVariable(pointer)) {
    if (sum.variable)
      return false;
    sum.variable = pointer;
    return true;
  }
  sum.terms.push_back(value);
  return true;
}

llvm::Value *rebuild(llvm::Instruction &before, const Sum &sum) {
  llvm::IRBuilder<> ir(&before);
  llvm::Value *offset = ir.getInt64(0);
  for (llvm::Value *term : sum.terms)
    offset = ir.CreateAdd(offset, ir.CreateSExt(term, ir.getInt64Ty()));
  return ir.CreateGEP(ir.getInt8Ty(), sum.variable, offset);
}

/// Programs may hold addresses of local memory in 32 bits, where they fit on a GPU (Triton and LLVM
/// with short pointers do). Where such an address becomes 64 bits wide again it is whole.
bool widenShortAddress(llvm::ZExtInst &extension, const llvm::DataLayout &layout) {
  Sum sum;
  if (!extension.getSrcTy()->isIntegerTy(32) || !extension.getDestTy()->isIntegerTy(64) ||
      !takeApart(extension.getOperand(0), sum, 0, layout) || !sum.variable)
    return false;
  llvm::IRBuilder<> ir(&extension);
  extension.replaceAllUsesWith(ir.CreatePtrToInt(rebuild(extension, sum), ir.getInt64Ty()));
  extension.eraseFromParent();
  return true;
}

} // namespace

llvm::PreservedAnalyses LocalPointersPass::run(llvm::Function &function,
                                               llvm::FunctionAnalysisManager &) {
  const llvm::DataLayout &layout = function.getParent()->getDataLayout();
  bool isChanged = false;
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto *extension = llvm::dyn_cast<llvm::ZExtInst>(&instruction)) {
      isChanged |= widenShortAddress(*extension, layout);
      continue;
    }
    auto *cast = llvm::dyn_cast<llvm::IntToPtrInst>(&instruction);
    if (!cast || cast->getType()->getPointerAddressSpace() != 0)
      continue;
    Sum sum;
    if (!takeApart(cast->getOperand(0), sum, 0, layout) || !sum.variable)
      continue;
    cast->replaceAllUsesWith(rebuild(*cast, sum));
    cast->eraseFromParent();
    isChanged = true;
  }
  if (!isChanged)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

} // namespace ptxrun::lower
