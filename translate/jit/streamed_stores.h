// Large results that a kernel does not read go past the caches.
//
//   store <16 x float> %v, %p
//     =>  if (the launch stores more than caches keep && %p is at a line's start)
//           store <16 x float> %v, %p, non-temporal
//         else
//           store <16 x float> %v, %p
//
// A line that is stored to is read from memory first, unless it is written as a whole and past the
// caches: a third less traffic for a kernel that copies. What finds room in the caches should stay
// there for the next kernel, and what the kernel itself reads is there already.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/target.h"

namespace ptxrun::jit {

/// `entry`: a CtaRangeFunction (intrinsics/abi.h), `threadsAtOnce`: lanes of its gangs in lockstep.
/// All stores are in order again where it returns; functions that order memory on their way stay as
/// they are.
void streamStores(llvm::Function &entry, const simt::Target &, unsigned threadsAtOnce);

} // namespace ptxrun::jit
