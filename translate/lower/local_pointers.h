// PTX computes addresses of `.local` variables as integers. This pass gives them back their
// variable, so that SROA, alias analysis and simt see which memory an access touches.
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// inttoptr (ptrtoint(alloca) + x + ...)  becomes  getelementptr i8, alloca, x + ...
/// zext (trunc(ptrtoint(alloca)) + x + ...) to i64  becomes  ptrtoint (getelementptr i8, alloca, sext(x) + ...)
/// Only sums with exactly one variable in them, taken with a positive sign; anything else stays as
/// it is.
struct LocalPointersPass : llvm::PassInfoMixin<LocalPointersPass> {
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
