// Which lanes a warp operation's membermask names: those that are active, or groups that part
// together.
#pragma once
#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <optional>

#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Lanes that a membermask names together, each those of its group.
struct Groups {
  llvm::SmallVector<uint32_t, 1> masks;   ///< of every warp; or
  const llvm::Value *predicate = nullptr; ///< those that find the same of it

  /// Whether no group parts where lanes go by the condition.
  bool goTogether(const llvm::Value *condition, const ShapeAnalysis &) const;

 private:
  bool isSettled(const llvm::Value *condition, const ShapeAnalysis &) const;
};
/// Of a constant, tiles (`0xffff << (%laneid & 16)`), or lanes that voted alike (`p ? b : ~b` of a
/// ballot b of p); nothing where the mask tells no groups, or warps are not gangs.
std::optional<Groups> groupsOf(const llvm::Value *members, const ShapeAnalysis &);

/// A membermask that names only lanes that are active in block `at`: asked from activemask, a
/// ballot or a match on the way there, with nothing in between at which its lanes could have
/// parted; or a constant, or a tile's, whose lanes are there together or not at all (`if (%tid.x <
/// 16)`, 0xffff).
bool namesActiveLanes(const llvm::Value *members, const llvm::BasicBlock *at,
                      const ShapeAnalysis &);

/// Tests of whether a lane's own group of the warp (match.any, or those that voted as it did) is
/// the whole warp: where it is for one lane, it is for all, and the first tells.
void takeWholeWarpsForOne(llvm::Function &kernel);

} // namespace ptxrun::simt
