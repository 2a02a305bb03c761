// fma of halves that are sums or products.
//
// Of two operands f32 has bits enough (half_precision.cpp), of three it has not. But where the CPU
// meant has no instruction for the sum or product of halves, nvcc writes them as fma:
//
//     fma(a, 1, b)      =>   a + b             of bf16 before sm_90
//     fma(a, -1, b)     =>   -a + b
//     fma(a, b, -0)     =>   a * b
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// Runs once registers are values, before CanonicalNanPass sees arithmetic and before the lane
/// library is inlined.
class HalfFmasPass : public llvm::PassInfoMixin<HalfFmasPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
