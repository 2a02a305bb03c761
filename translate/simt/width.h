// W, and what decides it.
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>

#include "translate/simt/shape.h"
#include "translate/support/code_options.h"

namespace ptxrun::simt {

struct Width {
  unsigned lanes;
  std::string reason;
  bool needsThreads = false; ///< 1, because lanes have to progress independently
};

/// W for a kernel as prepared, all functions of the module its: the options', or the one that is
/// predicted to be best; 1 where lanes have to progress independently. `takesWarpForOne`: whether
/// the kernel relies on a warp being one gang (lockstep.h), asked where it matters.
Width widthFor(llvm::Module &, const llvm::Function *kernel, const CodeOptions &, bool mayBeRows,
               llvm::function_ref<bool()> takesWarpForOne);

/// Threads of a CTA; 0 where the block is not known.
inline uint64_t threadsOf(const CodeOptions &o) {
  return uint64_t(o.block[0]) * o.block[1] * o.block[2];
}
/// Threads of a row of the block where each gang could get one: rows that would lie across gangs,
/// most of whose lanes they fill. 0: the block is another.
uint32_t rowAcrossGangs(const CodeOptions &, unsigned lanes);
/// The same in kernels without anything that knows warps or waits, but for barriers.
uint32_t rowOfGangs(const llvm::Module &, const CodeOptions &, unsigned lanes, bool spins);

/// Shapes of a kernel in all gangs, and in those that quotients do not part and of which no lane's
/// index is cut off, which have versions of their own (versions.h).
class UsualShapes {
 public:
  UsualShapes(llvm::Function &kernel, const GangShape &);
  const ShapeAnalysis &all() const { return all_; }
  const ShapeAnalysis &usual() const { return usual_ ? *usual_ : all_; }

 private:
  ShapeAnalysis all_;
  std::optional<ShapeAnalysis> usual_;
};

} // namespace ptxrun::simt
