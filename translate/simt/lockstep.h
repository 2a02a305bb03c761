// Programs that take a warp for one: lanes hand values to each other through `.shared` memory with
// nothing in between that makes them wait. GPUs whose warps are converged run them as if each
// instruction were done by all lanes before the next one begins; a gang of 32 does, narrower ones
// and rows do not.
#pragma once
#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Whether, with no barrier in between, lanes access what others of their warp store:
///  - the kernel loads and stores volatile `.shared` memory,
///  - or all read one place that one of them sets before or behind,
///  - or each reads its neighbour's element behind a store to its own.
/// `shapes`: of gangs of 32 consecutive threads.
bool relyOnLockstep(const llvm::Function &, const ShapeAnalysis &shapes);

} // namespace ptxrun::simt
