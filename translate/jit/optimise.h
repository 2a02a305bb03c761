// The pass list for widened code.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace ptxrun::jit {

/// How much work a module is worth, by its size.
struct Effort {
  size_t instructions = 0; ///< in defined functions
  bool isLarge() const { return instructions > 20000; }
  bool isHuge() const { return instructions > 100000; }
};
Effort measure(const llvm::Module &);

/// Optimises what simt made: it is SSA already, mostly straight vector code, so cleaning up, moving
/// invariants out of loops, and unrolling a little is what pays. No pass that changes
/// floating-point results, no loop or SLP vectoriser.
void optimise(llvm::Module &, llvm::TargetMachine &, const Effort &);

} // namespace ptxrun::jit
