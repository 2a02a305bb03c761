// Loops around barriers whose number of rounds is known, and whose rounds say which lanes take part
// and where: unrolled.
#pragma once
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

#include "translate/simt/gang_module.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Unrolls a loop in LoopSimplify's and LCSSA form: `rounds` at once, with a loop for what is left
/// where `isRuntime`; otherwise the loop has just so many. Returns true if the function changed;
/// its form is to be restored then (normaliseLoops).
bool unroll(llvm::Loop &, unsigned rounds, bool isRuntime, llvm::FunctionAnalysisManager &);

/// Returns true if the function changed.
bool unrollRounds(llvm::Function &, const GangShape &);

} // namespace ptxrun::simt
