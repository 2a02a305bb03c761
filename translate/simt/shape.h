// Shapes: how a value of one thread looks across the W lanes of a gang, and which branches lanes
// may part at.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace ptxrun::simt {

/// A value across lanes. `offsets`: value(lane) = base + offsets[lane] modulo 2^width, with one
/// scalar base; the offsets are compile-time constants, all zero for a uniform value. `varying`:
/// nothing is known.
struct Shape {
  enum class Kind : uint8_t { unknown, offsets, varying };
  Kind kind = Kind::unknown;
  /// The base is a multiple of 2^alignment (trailing zero bits known); only meaningful for integers
  /// and pointers.
  uint8_t alignment = 0;
  /// W entries owned by the analysis; null means all zero (uniform).
  const std::vector<int64_t> *offsets = nullptr;
  /// The offsets hold only if some narrower index did not wrap between lanes; the emitter tests
  /// that at run time.
  bool isConditional = false;

  bool isUniform() const { return kind == Kind::offsets && !offsets; }
  bool hasOffsets() const { return kind == Kind::offsets && offsets; }
  bool isVarying() const { return kind == Kind::varying; }
  bool operator==(const Shape &o) const {
    return kind == o.kind && alignment == o.alignment && offsets == o.offsets &&
           isConditional == o.isConditional;
  }
};

/// Alignment of zero.
inline constexpr uint8_t kMaxAlignment = 63;
/// The bits of a value that its base leaves to the offsets: all of them where the base is zero.
inline uint64_t bitsOfOffsets(const Shape &s) {
  return s.alignment >= kMaxAlignment ? ~uint64_t{0} : (uint64_t{1} << s.alignment) - 1;
}
/// Bits of an integer or pointer as gangs compute with it (`.shared` pointers have 32); 0 for other
/// types.
unsigned widthOf(const llvm::Value *);

/// Metadata on sext and zext: the lanes were tested not to wrap on the way here, or may.
inline constexpr const char *kExact = "ptx.exact", *kWrapping = "ptx.wrapping";
/// Metadata: stack memory that nobody reads at a later place in the kernel than the one that filled
/// it.
inline constexpr const char *kScratch = "ptx.scratch";
/// Metadata: a branch to the version of code for the common case; the other version is right in any
/// case.
inline constexpr const char *kVersion = "ptx.version";
/// Metadata: a load of what an atomic operation of one thread at a time replaces.
inline constexpr const char *kUpdate = "ptx.update";

/// What is known of the block: decides the shapes of %tid.
struct GangShape {
  unsigned lanes = 32;
  std::array<uint32_t, 3> block{}; ///< 0,0,0: unknown
  /// Not 0: each gang has one row of the block, of so many threads, in its first lanes; the others
  /// are empty. 0: gangs have W consecutive threads.
  uint32_t row = 0;

  uint64_t threads() const { return uint64_t(block[0]) * block[1] * block[2]; }
  uint32_t threadsPerGang() const { return row ? row : lanes; } ///< of a full one
};

/// Shapes of all values of a function, and its divergent control. Optimistic data flow to a fixed
/// point; joins of divergent branches make phis varying (synchronisation dependence), leaving a
/// loop at different iterations makes its LCSSA phis varying (temporal divergence). The function
/// must be in loop-simplified LCSSA form, reducible, without switches.
class ShapeAnalysis {
 public:
  /// `varyingArguments`: the function's arguments differ per lane (non-inlined device functions).
  /// `taken`: taken for uniform, to see what would follow.
  ShapeAnalysis(llvm::Function &, const GangShape &, bool varyingArguments,
                llvm::ArrayRef<llvm::Instruction *> taken = {});

  Shape shape(const llvm::Value *) const;
  bool isUniform(const llvm::Value *v) const { return shape(v).isUniform(); }
  /// What a value that differs between lanes goes up by from each to the next, where that is the
  /// same for all and certain.
  std::optional<int64_t> step(const llvm::Value *) const;
  /// Lanes may part at the end of this block.
  bool isDivergentBranch(const llvm::BasicBlock *b) const { return divergentBranches_.contains(b); }
  /// Lanes may leave this loop in different iterations.
  bool isDivergentLoop(const llvm::Loop *l) const { return divergentLoops_.contains(l); }
  /// Some lanes that entered the function may be elsewhere while this block runs.
  bool isInDivergentRegion(const llvm::BasicBlock *b) const { return divergentRegion_.contains(b); }
  /// Where all ways from this block meet again, in the same round; null if only at the end.
  const llvm::BasicBlock *meetingPoint(const llvm::BasicBlock *) const;
  /// Every lane that enters `from` reaches `to` in the same iteration of every loop around them:
  /// the masks are the same.
  bool reconverges(const llvm::BasicBlock *from, const llvm::BasicBlock *to) const;
  /// Sign- or zero-extending this value cannot tear its lanes apart (no wrap within the gang).
  /// extension.cpp
  bool isExtensionExact(const llvm::Value *, bool isSigned) const;

  /// Offsets lie in [0, 2^alignment): base and offset do not share bits.
  bool isDisjoint(const Shape &) const;

  const llvm::DominatorTree &dominators() const { return dominators_; }
  const llvm::PostDominatorTree &postDominators() const { return postDominators_; }
  const llvm::LoopInfo &loops() const { return loops_; }
  /// Blocks in topological order of forward edges; loops and dominated regions are contiguous.
  const std::vector<llvm::BasicBlock *> &order() const { return order_; }
  unsigned index(const llvm::BasicBlock *b) const { return index_.lookup(b); }
  const std::vector<int64_t> *intern(std::vector<int64_t>) const;
  unsigned lanes() const { return gang_.lanes; }
  const std::array<uint32_t, 3> &block() const { return gang_.block; }
  /// Gangs are rows of the block (GangShape::row).
  bool areGangsRows() const { return gang_.row != 0; }

 private:
  static Shape uniform(unsigned alignment = 0);
  static Shape varying();
  void computeOrder();
  void run();
  Shape evaluate(const llvm::Instruction &) const;
  Shape evaluateCall(const llvm::CallBase &) const;
  Shape evaluateShuffle(const llvm::CallBase &) const;
  bool isStateOfOnePhase(const llvm::Value *) const;
  Shape evaluateBinary(const llvm::Instruction &) const;
  Shape evaluateLogic(const llvm::Instruction &, const Shape &, const Shape &) const;
  Shape evaluateAlloca(const llvm::AllocaInst &) const;
  Shape evaluateExtension(const llvm::Instruction &) const;
  Shape evaluateBits(const llvm::Instruction &, const Shape &, uint64_t constant) const;
  Shape evaluatePhi(const llvm::PHINode &) const;
  Shape evaluateCompare(const llvm::Instruction &) const;
  Shape evaluateGep(const llvm::Instruction &) const;
  Shape threadIndex(unsigned axis) const;
  Shape meetAll(const llvm::User &) const;
  bool holdsForBase(const llvm::OverflowingBinaryOperator &, bool isSigned) const;
  Shape make(std::vector<int64_t> offsets, unsigned alignment, unsigned width,
             bool isConditional) const;
  Shape makePlaces(std::vector<int64_t> offsets, unsigned alignment, unsigned width,
                   bool isConditional) const;
  void branchDiverges(const llvm::BasicBlock *);
  /// `seeds`: where lanes that part in the blocks `partAt` go first.
  void propagateJoins(llvm::ArrayRef<const llvm::BasicBlock *> seeds,
                      llvm::function_ref<bool(const llvm::BasicBlock *)> partAt,
                      const llvm::Loop *within, const llvm::BasicBlock *stop,
                      const llvm::Loop *&leftLoop);
  void loopDiverges(const llvm::Loop *);
  void markRegion(llvm::ArrayRef<const llvm::BasicBlock *> starts, const llvm::BasicBlock *stop);
  void push(const llvm::BasicBlock *);

  llvm::Function &function_;
  GangShape gang_;
  bool varyingArguments_;
  llvm::SmallPtrSet<const llvm::Instruction *, 4> taken_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree postDominators_;
  llvm::LoopInfo loops_;
  std::vector<llvm::BasicBlock *> order_;
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> index_;
  llvm::DenseMap<const llvm::Value *, Shape> shapes_;
  llvm::DenseSet<const llvm::BasicBlock *> divergentBranches_, divergentRegion_;
  /// Where lanes that parted meet: for each place where they part, the blocks they come from.
  llvm::DenseMap<const llvm::BasicBlock *,
                 llvm::SmallVector<llvm::SmallVector<const llvm::BasicBlock *, 4>, 1>>
      joins_;
  llvm::DenseSet<const llvm::Loop *> divergentLoops_;
  llvm::SmallVector<const llvm::Instruction *> worklist_;
  llvm::DenseSet<const llvm::Instruction *> queued_;
  mutable llvm::DenseMap<const llvm::BasicBlock *, const llvm::BasicBlock *> meetingPoints_;
  mutable std::set<std::vector<int64_t>> pool_;
};

} // namespace ptxrun::simt
