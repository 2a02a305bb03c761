// Comparisons that come out alike in all lanes that agree on a number of rounds.
#pragma once
#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Instructions.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// In `blocks`, where active lanes agree on `rounds`, comparisons that follow are made by one lane
/// for all.
void settleComparisons(llvm::Instruction &rounds, llvm::ArrayRef<llvm::BasicBlock *> blocks,
                       const GangShape &);

} // namespace ptxrun::simt
