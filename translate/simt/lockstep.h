// Programs that take a warp for one: lanes hand values to each other through memory with nothing in
// between that makes them wait. GPUs whose warps are converged run them as if each instruction were
// done by all lanes before the next one begins; a gang of 32 does, narrower ones and rows do not.
#pragma once
#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Whether, with no barrier in between, a lane may access what another one of its warp stores:
///  - the kernel loads and stores volatile memory,
///  - or a load of `.shared` memory follows a store there, and they are not known to be of each
///  lane's own elements or of one lane,
///  - or all lanes read one place of `.shared` memory that one of them then sets.
/// `shapes`: of gangs of 32 consecutive threads.
bool relyOnLockstep(const llvm::Function &, const ShapeAnalysis &shapes);

} // namespace ptxrun::simt
