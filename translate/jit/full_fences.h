// Fences that also keep loads behind stores, as a locked operation.
//
//   fence seq_cst   =>   atomicrmw or ptr %own, i32 0 seq_cst      (lock orl $0, -64(%rsp))
//
// Both wait until all stores before them can be seen. MFENCE, which LLVM takes, orders more (reads
// of devices, instructions of other kinds) and costs eight times as much: 17 and 2 ns on Zen 4
// where stores hit, 60 and 4 where they miss (`__threadfence()`, `membar.gl`, `fence.sc`).
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// The last thing before code is generated: passes know more about fences.
void lockForFences(llvm::Function &);

} // namespace ptxrun::jit
