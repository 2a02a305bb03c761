// The part of a function that depends on a value, and copies of it: what versions for values and
// for guards are made of (same_values.cpp, clamped_indices.cpp, joint_guards.cpp).
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Blocks whose branch or whose accesses to memory depend on `v`.
llvm::DenseSet<const llvm::BasicBlock *> dependents(const ShapeAnalysis &, const llvm::Value &v);

struct Region {
  llvm::BasicBlock *meet = nullptr; // where all ways meet
  llvm::BasicBlock *end = nullptr;  // the same, if nobody comes there but from the blocks
  llvm::SmallVector<llvm::BasicBlock *> blocks;
};

/// What runs between `start` and the first meeting point behind all `wanted` blocks; no blocks
/// where there is no such part of the code.
Region regionFrom(const ShapeAnalysis &, llvm::BasicBlock *start,
                  const llvm::DenseSet<const llvm::BasicBlock *> &wanted);

/// Instructions that would be copied from `from` on.
unsigned sizeOf(const Region &, const llvm::Instruction *from);

/// Gangs may wait for each other in it.
bool mayMeetOtherGangs(const llvm::BasicBlock &);
bool mayMeetOtherGangs(const Region &);

/// What accesses to memory are worth in these blocks: those in a row or uniform, more so without
/// masks.
uint64_t worth(const ShapeAnalysis &, llvm::ArrayRef<llvm::BasicBlock *>);

/// Splits the region's first block before `at`, and lets all ways from the region to `end` (or
/// null) pass one block. The region's blocks then, that of `at` first, that one last.
llvm::SmallVector<llvm::BasicBlock *> setApart(llvm::Instruction &at, const Region &,
                                               llvm::BasicBlock *end);

/// Copies the blocks; what is used behind `end`, where the last of them and its copy meet, comes
/// from either.
void copyRegion(llvm::ArrayRef<llvm::BasicBlock *>, llvm::BasicBlock *end,
                llvm::ValueToValueMapTy &);

/// Two versions of what runs from `at` on:
///   before: ...; br test, special, rest      rest: at, ...      special: a copy of it
struct Fork {
  llvm::BranchInst *choice;
  llvm::SmallVector<llvm::BasicBlock *> rest, special; ///< the same blocks, in the same order
};
Fork fork(llvm::Instruction &at, const Region &, llvm::ValueToValueMapTy &,
          llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &)> test);

/// An index that might wrap between lanes, and is not made of another one.
bool mayWrap(const ShapeAnalysis &, const llvm::Instruction &);
/// A condition that some lane always misses, however the gang's base falls: equality with a value
/// that steps from lane to lane, or being above something for a lane that has 0.
bool neverHoldsForAll(const ShapeAnalysis &, const llvm::Value *condition, bool isNegated);
/// Lets the special version of a choice be the one for gangs in which no index of these blocks, of
/// the special version, wraps between lanes; as far as these are known before the choice.
void assumeNoWraps(llvm::BranchInst &choice, llvm::ArrayRef<llvm::BasicBlock *>, const GangShape &);

} // namespace ptxrun::simt
