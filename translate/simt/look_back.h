// Waits that look back: blocks in a row, each of which publishes something at a place of its own
// and waits for what the blocks before it publish (decoupled look-back; scans and sorts in one
// pass).
#pragma once
#include "translate/simt/shape.h"
#include "translate/simt/waits.h"

namespace ptxrun::simt {

/// All threads that write where somebody polls write at one place of their own, `own`, and poll
/// below the places of all threads of their block. Then lockstep keeps nobody waiting for good: of
/// the gangs that wait, the one with the lowest place waits for a block below all of them, in which
/// nobody waits.
class LookBack {
 public:
  /// `f`: a kernel with these shapes; it and `waits` are referred to.
  LookBack(const llvm::Function &f, const ShapeAnalysis &shapes, const Waits &waits)
      : function_(f), shapes_(shapes), waits_(waits) {}

  /// The write ends only waits that look back. (Indices that wrap are taken for ones that do not:
  /// they would leave the array.)
  bool endsOnlyLookBack(const llvm::Instruction &write) const;

 private:
  const llvm::Function &function_;
  const ShapeAnalysis &shapes_;
  const Waits &waits_;
};

} // namespace ptxrun::simt
