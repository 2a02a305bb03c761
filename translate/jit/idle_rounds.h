// Rounds of loops over gangs in which nothing happens any more.
//
//     for (g = 0; g < 32; ++g)                      =>   for (g = 0; g < 4; ++g)
//       if (g < 4) round of a tree                         round of a tree
//
// Between two barriers of a tree over a block of 1024, a few gangs work: the others would only be
// asked. Where one is left, no loop is, and its values stay in registers from barrier to barrier
// (shared_values.h).
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::jit {

struct EndIdleRounds : llvm::PassInfoMixin<EndIdleRounds> {
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::jit
