// PTX computes addresses of `.local` variables as integers. This pass gives them back their
// variable, so that SROA, alias analysis and simt see which memory an access touches; and 32-bit
// addresses of `.local`, `.param` and `.const` the upper half that they have on the host.
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// inttoptr (ptrtoint(alloca) + x + ...)  becomes  getelementptr i8, alloca, x + ...
/// zext (trunc(ptrtoint(alloca)) + x + ...) to i64  becomes  ptrtoint (getelementptr i8, alloca,
/// sext(x) + ...), where a parameter or constant may stand for the alloca.
/// Only sums with exactly one variable in them, taken with a positive sign; anything else stays as
/// it is. Addresses that programs hold in 32 bits become whole also where they come round a loop
/// from one variable; the last time also those that come from anywhere (another variable of the
/// same space tells the upper half: all of a thread's local memory is close together, and so are a
/// kernel's parameters and a module's constants).
struct VariablePointersPass : llvm::PassInfoMixin<VariablePointersPass> {
  explicit VariablePointersPass(bool isLast) : isLast_(isLast) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

 private:
  bool isLast_;
};

} // namespace ptxrun::lower
