// Lanes that part around barriers: from there on they are threads.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// For kernels that are kept from lockstep by lanes that may part around barriers of the whole CTA,
/// and by nothing else. Where they could part, gangs test that they do not; those that do run the
/// rest thread by thread. Returns what lanes call one by one then, from barrier to barrier; the
/// kernel has the form of normaliseLoops() before and after. Null, and the kernel is as it was,
/// where that cannot be.
llvm::Function *runPartedLanesAsThreads(llvm::Function &kernel, const GangShape &);

} // namespace ptxrun::simt
