// The scalar pass list. Short: nvcc and clang have optimised the PTX already, and compile time is a
// bar.
#pragma once
#include <llvm/IR/Module.h>

#include "translate/lower/lower.h"

namespace ptxrun::lower {

/// Of the options, tier and NaNs count. Promotes registers, inlines, cleans up: for Tier::baseline
/// one InstCombine and LICM, for Tier::optimised GVN and so on as well. Makes no vectors, unrolls
/// nothing, and moves no convergent call. Afterwards only the kernel, recursive functions and those
/// too large to inline are left.
void optimise(llvm::Module &, llvm::Function &kernel, const CodeOptions &);

} // namespace ptxrun::lower
