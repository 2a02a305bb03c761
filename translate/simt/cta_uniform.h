// What is the same for all gangs of a CTA: the values, and the way that control takes to the
// barriers.
#pragma once
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Function.h>

namespace ptxrun::simt {

/// Looks at wide code: a value is uniform if it is computed from constants, parameters and the
/// CTA's own coordinates alone, along a way that all gangs take. Memory that a kernel may write
/// never is.
class CtaUniformity {
 public:
  /// `perGang`: the values that differ between gangs to begin with. `inLockstep`: all gangs execute
  /// an instruction at once, so that ordinary loads from one address give all the same. `agreed`:
  /// ends of blocks where gangs will be made to go the same way. `same`: uses that gangs reach only
  /// with the same value.
  CtaUniformity(llvm::Function &, llvm::ArrayRef<const llvm::Value *> perGang,
                bool inLockstep = false, llvm::DenseSet<const llvm::BasicBlock *> agreed = {},
                llvm::DenseSet<const llvm::Use *> same = {});

  bool isUniform(const llvm::Value *v) const { return !varying_.contains(v); }
  /// Whether gangs may part at the end of the block.
  bool varies(const llvm::BasicBlock &b) const { return varyingBranches_.contains(&b); }
  /// Where gangs that part at the end of the block have all come to; null if there is no such
  /// place.
  const llvm::BasicBlock *meetingPoint(const llvm::BasicBlock *) const;
  /// Whether each gang comes to the same of these blocks, in the same order, as every other gang.
  bool agreeOn(llvm::ArrayRef<llvm::BasicBlock *> blocks) const;

 private:
  void mark(const llvm::Value *);
  void branchVaries(const llvm::BasicBlock *);

  llvm::Function &function_;
  llvm::PostDominatorTree postDominators_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseSet<const llvm::Value *> varying_;
  const llvm::DenseSet<const llvm::BasicBlock *> agreed_;
  const llvm::DenseSet<const llvm::Use *> same_;
  llvm::DenseSet<const llvm::BasicBlock *> varyingBranches_;
  llvm::SmallVector<const llvm::Value *> worklist_;
};

} // namespace ptxrun::simt
