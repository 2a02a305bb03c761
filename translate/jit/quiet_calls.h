// Calls of the runtime off the main line, which leave the registers of the main line alone.
//
//   call void @ptxrun_load_wrapped(...)   =>   call preserve_allcc void @load_wrapped.quiet(...)
//
// Each access whose index may wrap has such a call behind a branch that is hardly ever taken. A C
// function keeps no vector register, so whatever lives across the call would be spilled, mostly
// beside the call, but in part where it is used at every turn (`convolution7` of bench_kinds_avx2:
// two of three spills). A function in between saves what the kernel may hold and calls the runtime.
//
// Only below AVX-512: LLVM's preserve_allcc keeps registers of 256 bits, and no masks. There these
// accesses are gathers.
#pragma once
#include <llvm/IR/Module.h>

#include "translate/simt/target.h"

namespace ptxrun::jit {

/// `level` is below AVX-512.
void keepRegistersInSlowCalls(llvm::Module &, CpuLevel level);
/// A function of the module's own, still empty, that leaves its callers' registers alone; `caller`
/// is one of them.
llvm::Function *createQuietFunction(llvm::FunctionType *, const llvm::Twine &name, llvm::Module &,
                                    const llvm::Function &caller);

} // namespace ptxrun::jit
