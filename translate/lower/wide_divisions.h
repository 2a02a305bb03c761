// Divisions of 64-bit integers that compilers have written twice, as one.
//
// A GPU divides 32 bits many times faster than 64. nvcc and clang ask first what the operands are:
//
//     if (((a | b) & 0xffffffff00000000) == 0) q = uint32_t(a) / uint32_t(b); else q = a / b;
//
// CPUs divide small numbers fast by themselves, or LLVM asks again where they do not. Here the
// question hides what simt makes most of: that neighbouring threads have the same quotient.
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// Keeps the 64-bit way where all that the other one computes are quotients and remainders of the
/// same operands in 32 bits. Runs before the lane library is inlined. The manual leaves open what
/// division by zero gives (9.7.1.7): then it is what 64 bits give, for small a, too. Leaves
/// branches on constants behind.
struct WideDivisionsPass : llvm::PassInfoMixin<WideDivisionsPass> {
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
