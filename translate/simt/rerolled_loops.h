// Loops that a compiler unrolled, and that lanes stride through, as loops of one round.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Returns true if the function changed. It has the form of normaliseLoops() before and after.
bool rerollLoops(llvm::Function &, const GangShape &);

} // namespace ptxrun::simt
