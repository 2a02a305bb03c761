// Loads and stores that lie apart in memory, lane after lane.
#pragma once
#include <llvm/IR/Function.h>

#include <vector>

#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// Makes functions of one thread, which lanes call one after the other, of a kernel's accesses that
/// a gang could only do lane by lane, where that is cheaper. Returns these functions.
std::vector<llvm::Function *> accessLaneAfterLane(llvm::Function &kernel, const GangShape &,
                                                  const Target &);

} // namespace ptxrun::simt
