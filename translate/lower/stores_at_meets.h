// Stores to one element of a `.local` array or another, by where control comes from: what compilers
// make of unrolled loops that look for the place of a value in a short list.
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// A, B -> C: d = phi [4, A], [8, B]; store v, array + d   becomes
/// A: store v, array + 4;   B: store v, array + 8;   C
/// (in blocks of their own where A and B also go elsewhere), and SROA makes registers of the array.
struct StoresAtMeetsPass : llvm::PassInfoMixin<StoresAtMeetsPass> {
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
