// Tables that a thread fills with constants and then only reads: `const float weights[9] = {...}`
// with an index that is not known. nvcc stores them into the thread's own memory, anew in each
// thread.
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

inline constexpr const char *kTableName = "table"; ///< of the module's constants

/// Arrays of a function each byte of which is only ever given one value, a constant, become
/// constants of the module, one for all threads, and the stores go. It needs no order: what a
/// thread reads before it stores is undefined. Arrays whose address goes anywhere but into loads
/// and these stores stay.
struct ConstantArraysPass : llvm::PassInfoMixin<ConstantArraysPass> {
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
