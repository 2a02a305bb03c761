// Values of `.shared` memory stay in registers between the gangs of a CTA.
//
//   store <16 x float> %a, %shared + 1024       =>   store as it was
//   store <16 x float> %b, %shared + 1088
//   %v = load <16 x float>, %shared + 1028           %v = shufflevector %a, %b, <1, 2 ... 16>
//
// Where a CTA runs from barrier to barrier in one piece of code, trees and scans read what other
// gangs have just written, at another place in the row. CPUs hand a load the bytes of a store that
// is still on its way only if one store has them all, and was not made under a mask: else the load
// waits until the stores have reached the cache, in each round again.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// In functions that alone access their CTA's `.shared` memory while they run (simt says so by an
/// attribute). `registerBytes` of the level's vectors; what was stored longer ago than that many
/// `bytes` were is loaded. What is stored and read by nothing goes; behind the `staticBytes` of
/// variables, whose size is known, all but what tells whether the launch has memory there.
void keepSharedValues(llvm::Function &, unsigned registerBytes, unsigned bytes,
                      uint32_t staticBytes);

} // namespace ptxrun::jit
