// Stores that every round of a loop repeats.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Gives innermost loops of a kernel that store to one place in each round, as the language demands
/// of `sum[i] += a[k]` where sum and a might overlap, a version for threads in which they do not:
/// it stores once, behind the loop. Returns true if the function changed.
bool sinkRepeatedStores(llvm::Function &, const GangShape &);

} // namespace ptxrun::simt
