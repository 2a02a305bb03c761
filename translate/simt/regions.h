// `cta_range` of a kernel with barriers: the CTA region by region, without suspending anything.
//
// A region is what a gang runs from one barrier to the next. Where all gangs provably come to the
// same barriers in the same order, the whole CTA can run region after region in ordinary loops:
//
//     a; bar.sync; b      =>      for each gang: a      for each gang: b
//     loop { a; bar.sync; b }  => for each gang: (test; a)   while (...) { for each gang: (b; test;
//     a) }
//
// Where they part by what they read in one place right behind a barrier (a flag, how much is left),
// all go by what the first gang has read.
//
// What lives across a barrier is of one of three kinds: computed again by each region where that is
// cheap; kept once per CTA where it is the same for all gangs; else kept per gang, in an array on
// the stack (the context).
#pragma once
#include "translate/simt/entry.h"

namespace ptxrun::simt {

/// Builds `cta_range` from `body`, which runs `gangsPerBody` gangs at once (jam.h), and leaves it
/// without a use; false, and nothing but `body` cleaned up, where that is not possible: the block's
/// shape is unknown or no multiple of W, gangs wait for something else than barriers of the whole
/// CTA or keep records in rt, or which barrier comes next may differ between gangs.
bool buildRegions(ModuleContext &, llvm::Function &body, unsigned gangsPerBody);

} // namespace ptxrun::simt
