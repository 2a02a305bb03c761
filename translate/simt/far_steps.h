// Loops that step far: by the threads of the grid, or by the rows of a matrix.
#pragma once
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "translate/simt/target.h"

namespace ptxrun::simt {

/// A value that a loop steps by one it has not computed and that is no constant.
struct FarStep {
  llvm::PHINode *phi;
  llvm::Value *by;
};

/// The first such value that `address` is computed from.
std::optional<FarStep> findFarStep(const llvm::Value *address, const llvm::Loop &);

/// Loads of gangs in lockstep that step far fetch ahead what they read some rounds later. What the
/// gangs that follow will read there is left: lines so many rounds apart share few sets of the
/// caches, and would be gone when those gangs come. Where CPUs take few lines at once, those of the
/// first gangs; the others lie behind them.
/// `rounds`: how many ahead; `gangs`: in lockstep, whose loads of one place follow each other.
void fetchNextRounds(llvm::Function &, unsigned rounds, unsigned gangs, const Target &);

} // namespace ptxrun::simt
