// Loops that lanes leave at different times: where few of them are left, each runs the rest alone.
#pragma once
#include <llvm/IR/Function.h>

#include <vector>

#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// Gives such loops of a kernel a way out: a function of one thread, for the rest of the loop, that
/// lanes call one after the other. Returns these functions; the kernel's form is to be restored
/// where there are any (normaliseLoops).
std::vector<llvm::Function *> runStragglersAlone(llvm::Function &kernel, const GangShape &,
                                                 const Target &);

} // namespace ptxrun::simt
