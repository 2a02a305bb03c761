// The pass list for widened code.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "translate/simt/cost.h"
#include "translate/simt/gang_module.h"

namespace ptxrun::jit {

/// How much work a module is worth, by its tier and size.
struct Effort {
  Tier tier = Tier::optimised;
  size_t instructions = 0; ///< in defined functions
  bool isBaseline() const { return tier == Tier::baseline; }
  bool isLarge() const { return instructions > simt::kLimits.code.large; }
  bool isHuge() const { return instructions > simt::kLimits.code.huge; }
};
Effort measure(const llvm::Module &, Tier);

/// Optimises what simt made: it is SSA already, mostly straight vector code, so cleaning up, moving
/// invariants out of loops, and unrolling a little is what pays. No pass that changes
/// floating-point results, no loop or SLP vectoriser.
void optimise(llvm::Module &, llvm::TargetMachine &, const Effort &);

} // namespace ptxrun::jit
