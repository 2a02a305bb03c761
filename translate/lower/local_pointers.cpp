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
  if (match(value, m_PtrToInt(m_Value(pointer))) && isVariable(pointer)) {
    if (sum.variable)
      return false;
    sum.variable = pointer;
    return true;
  }
  sum.terms.push_back(value);
  return true;
}

llvm::Value *rebuild(llvm::IntToPtrInst &cast, const Sum &sum) {
  llvm::IRBuilder<> ir(&cast);
  llvm::Value *offset = ir.getInt64(0);
  for (llvm::Value *term : sum.terms)
    offset = ir.CreateAdd(offset, term);
  return ir.CreateGEP(ir.getInt8Ty(), sum.variable, offset);
}

} // namespace

llvm::PreservedAnalyses LocalPointersPass::run(llvm::Function &function,
                                               llvm::FunctionAnalysisManager &) {
  const llvm::DataLayout &layout = function.getParent()->getDataLayout();
  bool isChanged = false;
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
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
