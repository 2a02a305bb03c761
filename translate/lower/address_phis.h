// Addresses of `.local` variables that meet or come round a loop, as phis of 64-bit integers. This
// pass makes phis of their distances from the variable, so that the variable is in sight of every
// access (VariablePointersPass).
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::lower {

/// p = phi [ptrtoint(alloca)], [p + 16]  becomes  p = ptrtoint(alloca) + d, d = phi [0], [d + 16];
/// a choice between two addresses likewise. Only where all that comes in are addresses of one
/// variable; anything else stays as it is.
struct AddressPhisPass : llvm::PassInfoMixin<AddressPhisPass> {
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::lower
