// Gathers and scatters for which the CPU has no instruction: lane by lane, in lane order.
//
//   masked.scatter <32 x i32> %v, <32 x ptr> %p, %mask
//     =>  for each lane:  store i32 %v[lane], (%mask[lane] ? %p[lane] : %nobody)       in place
//     =>  call scatter(pointers in memory, values in memory, %mask as bits)            by calls
//
// Bytes and halves are gathered as the words that they lie in, where the CPU gathers words.
//
// In place, that is a hundred instructions. Kernels that have many such accesses (sorting, merging
// and selecting by CUB has hundreds, which run once a tile) compile twice as long by it, and
// outgrow the first caches for instructions: theirs are calls. So are all in baseline code: what an
// instruction for each lane takes to compile, the code that comes after it does not take to run.
#pragma once
#include <llvm/IR/Module.h>

#include "translate/simt/target.h"

namespace ptxrun::jit {

/// Before anything is optimised: in place as many as the module can bear, more in loops; none in
/// baseline code. Gathers of bytes and halves become those of words, in any code.
void accessLanesInPlace(llvm::Module &, const simt::Target &, bool isBaseline);
/// In the end: all that are left, by calls of functions that the module gets, one for each type.
void accessLanesByCalls(llvm::Module &, const simt::Target &, bool isBaseline);

} // namespace ptxrun::jit
