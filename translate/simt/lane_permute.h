// Elements of one register by places that only the run knows.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "translate/simt/target.h"

namespace ptxrun::simt {

/// Of how many elements of `bytes` bytes (1, 2, 4 or 8) a register has some in any order; below
/// AVX-512.
unsigned lanesToPermute(unsigned bytes, const Target &);

/// window[places[k]] for each k: `window` has no more elements than lanesToPermute says, a power of
/// two; `places` are as many numbers of 32 bits, of which each is one of them.
llvm::Value *permute(llvm::IRBuilderBase &, llvm::Value *window, llvm::Value *places,
                     const Target &);

} // namespace ptxrun::simt
