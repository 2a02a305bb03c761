// Sums over a warp that come out alike in all lanes.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// What the lanes of a warp make alike of all their values, by exchanging them over every distance,
/// is one lane's from there on. For gangs that are whole warps.
void shareButterflies(llvm::Function &, const GangShape &);

} // namespace ptxrun::simt
