// Brings a scalar function into the form that ShapeAnalysis and Widener need, and finds what
// decides the width.
#pragma once
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include <optional>
#include <string>

#include "translate/simt/gang_module.h"
#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

class Waits;

/// One return, no switches, no irreducible loops, loop-simplified LCSSA form, `exit` and the code
/// behind traps made ordinary control flow, %ntid constant where the block is known.
void prepareFunction(llvm::Function &, const GangShape &, bool isKernel);

/// The loop part of it: no switches, reducible, loop-simplified LCSSA form. Passes that copy code
/// restore it by this.
void normaliseLoops(llvm::Function &);

/// Addresses of a sum in which something cancels out become what is left (cancelled_terms.cpp).
void cancelTermsOfAddresses(llvm::Function &);

/// What was put in for a value where a condition tells it, is that value again (edge_values.cpp).
void restoreEdgeValues(llvm::Function &);

/// Extensions of 32 bits that are written as shifts are extensions again (shifted_indices.cpp).
void restoreShiftedIndices(llvm::Function &);

/// Indices that a guarded block moves on, and that are asked for under the same guard only, are
/// moved on for all lanes (guarded_indices.cpp). Loops are in LCSSA form.
void moveGuardedIndices(llvm::Function &);

/// Gives `made`, a function that does what `source` or a part of it does, a description of its own
/// with the source's place (DISubprogram), where that has one.
void describeAs(const llvm::Function &source, llvm::Function &made);

/// May be computed where nobody asked for it: touches no memory, has no effect, never faults.
bool isSpeculatable(const llvm::Instruction &);

/// What `v`, an integer, is where `known` is `number`; null where that does not follow, within
/// `depth` levels of arithmetic.
llvm::ConstantInt *foldedWith(llvm::Value *v, const llvm::Value *known, llvm::ConstantInt *number,
                              unsigned depth);

/// `v` as it is before `at`: itself or a copy that is made there, with copies of what it is made
/// of, at most `most` instructions in all; what their flags promise may not hold there, and is left
/// out. Null, and nothing is made, where it needs more, or what is not known there.
llvm::Value *computedBefore(llvm::Value *v, llvm::Instruction *at, const llvm::DominatorTree &,
                            size_t most = SIZE_MAX);
/// Whether that would give a value.
bool isComputableBefore(llvm::Value *v, const llvm::Instruction *at, const llvm::DominatorTree &,
                        size_t most = SIZE_MAX);

/// Waits for an mbarrier that loops repeat until they succeed lose their time limit
/// (endless_waits.cpp). Needs loops in the form above.
void removeLimitsOfEndlessWaits(llvm::Function &);
/// A wait for an mbarrier that has no time limit: it returns when the phase is complete.
bool isEndlessWait(const llvm::Instruction &);

/// Lanes agree where a bound that is rounded towards zero would part them, below zero only, before
/// a barrier that all lanes of a warp come to together (aligned_barriers.cpp). Same needs. Returns
/// true if the function changed.
bool agreeBeforeAlignedBarriers(llvm::Function &, const GangShape &);

/// x where a value is x / 2^k, or x without its remainder (a multiple), rounded towards zero.
struct Rounded {
  const llvm::Value *x = nullptr;
  unsigned k = 0;
  bool isMultiple = false;
};
std::optional<Rounded> roundedTowardsZero(const llvm::Value *);

/// What in a prepared function asks for a particular way of running.
struct Findings {
  bool hasCollectives = false;    ///< anything that waits for lanes of the warp
  bool hasVaryingMembers = false; ///< a collective whose membermask differs between lanes
  bool hasBarriers = false;
  /// Lanes return, or go where nobody waits any more, while others go on.
  bool mayExitEarly = false;
  bool spins = false;       ///< a loop that waits for memory to change, or for time to pass
  std::string needsThreads; ///< why lanes must progress independently; empty if they need not
};
Findings examine(const llvm::Function &, const ShapeAnalysis &, const Waits &, bool isKernel);
/// Blocks at whose ends lanes part around a barrier, so that some of them may wait at it while
/// others wait elsewhere: these are what keeps a function with barriers from lockstep.
llvm::SmallVector<llvm::BasicBlock *> partingAroundBarriers(const ShapeAnalysis &);
/// What `examine` finds in all functions of a module, as such gangs would run them.
Findings examineAll(llvm::Module &, const llvm::Function *kernel, const GangShape &);
/// Functions with a body: the kernel and device functions that were not inlined.
std::vector<llvm::Function *> bodies(llvm::Module &);

/// Of integers or floats, or a remainder: what takes several times as long as other arithmetic.
inline bool isDivision(const llvm::Instruction &i) {
  return i.isIntDivRem() || i.getOpcode() == llvm::Instruction::FDiv ||
         i.getOpcode() == llvm::Instruction::FRem;
}

using BlockSet = llvm::DenseSet<const llvm::BasicBlock *>;
/// Blocks reachable from `start` without passing `stop` (null: all).
BlockSet reachable(const llvm::BasicBlock *start, const llvm::BasicBlock *stop);
/// Where all ways from the blocks meet: in the same round of each loop around these and it. Null if
/// only at the end.
const llvm::BasicBlock *meetingPointOf(llvm::ArrayRef<const llvm::BasicBlock *>,
                                       const llvm::PostDominatorTree &, const llvm::LoopInfo &);
/// Of functions that contain no such operation.
inline constexpr const char *kWaitsForNobody = "ptx.waits.for.nobody";
/// A collective, barrier, mbarrier operation, or a call that may contain one.
bool waitsForOthers(const llvm::Instruction &);
/// Whether one of the blocks has one.
bool isWaitedIn(const BlockSet &);

/// Whether the condition is true (false) for at most one lane: `%tid.x == 0`, an election.
bool holdsForOneLane(const llvm::Value *condition, bool isTrue, const ShapeAnalysis &);

/// Adds versions of code for gangs in which all lanes agree (versions.cpp): the body behind a guard
/// `if (i < n)` and loops that all lanes still run get copies without masks; while these parts are
/// on, also for gangs in which all lanes hold one value (same_values.cpp), and of which no lane's
/// index is cut off (clamped_indices.cpp). Returns true if the function changed.
bool addFullGangVersions(llvm::Function &, const GangShape &, const PassRun &, const Target &);

} // namespace ptxrun::simt
