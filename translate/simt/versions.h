// What the passes that add versions of code share. See versions.cpp.
#pragma once
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Copies blocks; edges that leave them gain a second source.
void copyBlocks(llvm::ArrayRef<llvm::BasicBlock *>, llvm::ValueToValueMapTy &);
/// Marks a choice between versions whose first successor is the one for the common case.
void expectFirst(llvm::BranchInst *, const llvm::DebugLoc &line);

/// Adds a version of code for gangs whose lanes hold the same in a value that the analysis knows
/// nothing of (same_values.cpp): a quotient by which lanes count the rounds of a loop, or find
/// their row. Only in blocks for which `isIn` holds. Adds to `copied` what it copies, and to
/// `general` the blocks for gangs whose lanes do not agree. Returns true if the function changed;
/// its loops then need to be normalised.
bool addVersionForSameValue(const ShapeAnalysis &, llvm::Function &, const GangShape &,
                            unsigned &copied, llvm::DenseSet<const llvm::BasicBlock *> &general,
                            llvm::function_ref<bool(const llvm::BasicBlock *)> isIn);
/// Adds none for this one: nothing that counts depends on it.
void wantNoVersionFor(llvm::Instruction &);
/// Such values in these blocks.
llvm::SmallVector<llvm::Instruction *> quotients(const ShapeAnalysis &,
                                                 llvm::ArrayRef<llvm::BasicBlock *>);
/// The same of code for gangs of which no lane's index is clamped (clamped_indices.cpp).
bool addVersionForClampedIndices(const ShapeAnalysis &, llvm::Function &, const GangShape &,
                                 unsigned &copied,
                                 llvm::DenseSet<const llvm::BasicBlock *> &general,
                                 llvm::function_ref<bool(const llvm::BasicBlock *)> isIn);
/// Such indices in these blocks.
llvm::SmallVector<llvm::Instruction *> clampedIndices(const ShapeAnalysis &,
                                                      llvm::ArrayRef<llvm::BasicBlock *>);
/// Adds a version of code for gangs whose lanes all pass the guards from the one at the end of
/// this block on (joint_guards.cpp), where these are several and copying the blocks is affordable.
/// Adds to `rests` blocks whose branches want no versions. Otherwise as above.
bool addVersionForGuards(const ShapeAnalysis &, const GangShape &, const llvm::BasicBlock &,
                         llvm::DenseSet<const llvm::BasicBlock *> &rests,
                         llvm::function_ref<bool(llvm::ArrayRef<llvm::BasicBlock *>)> isAffordable);
/// Lets lanes that hold the same in such a value take turns where they hold two of them, in loops
/// that only load. Adds to `rests` blocks whose branches want no versions. Otherwise as above.
bool addTurnsForFewValues(const ShapeAnalysis &, llvm::Function &, const GangShape &,
                          unsigned &copied, llvm::DenseSet<const llvm::BasicBlock *> &rests);

} // namespace ptxrun::simt
