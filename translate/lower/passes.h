// The scalar pass list. Short: nvcc and clang have optimised the PTX already, and compile time is a
// bar.
#pragma once
#include <llvm/IR/Module.h>

#include "translate/lower/lower.h"

namespace ptxrun::lower {

/// Promotes registers, inlines, cleans up. Makes no vectors, unrolls nothing, and moves no
/// convergent call. Afterwards only the kernel, recursive functions and those too large to inline
/// are left.
void optimise(llvm::Module &, llvm::Function &kernel, Cleaning);

} // namespace ptxrun::lower
