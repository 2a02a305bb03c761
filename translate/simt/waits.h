// What lanes may wait for, and what may end such a wait: places in memory that loops poll,
// mbarriers. Tells examine.cpp where lockstep could keep a lane from doing what another lane of its
// gang waits for.
#pragma once
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ptxrun::simt {

/// A place in memory, as far as its address tells: the kernel parameters and variables that it
/// starts from. Pointers from different parameters are taken for different places, and so are
/// different fields of an array of structures; whatever else is not known may be anywhere.
struct Place {
  bool mayBeShared = false, mayBeGlobal = false;
  bool isLocal = false; ///< the lane's own memory
  bool isAny = false;   ///< no telling where it starts from
  bool isExact = false; ///< shared memory, within `bytes` from `offset` on
  int64_t offset = 0;
  uint64_t bytes = 0;
  llvm::SmallVector<std::pair<const llvm::Value *, int64_t>, 2>
      roots; ///< variable, or null and a parameter's offset
  /// Of a single parameter: how far from it, modulo a power of two (1: nothing is known).
  uint64_t rest = 0, step = 1;
};
Place placeOf(const llvm::Value *pointer, uint64_t bytes);
/// The address of a store or update; null for other instructions.
const llvm::Value *writtenPlace(const llvm::Instruction &);
bool mayOverlap(const Place &, const Place &);

/// What the condition is where a compare-and-swap found what it compares with; nothing where that
/// does not tell.
std::optional<bool> whereItSucceeds(const llvm::Value *condition, const llvm::AtomicCmpXchgInst &);

/// What a loop's branches hang on that other threads may change.
struct Polled {
  llvm::SmallVector<Place, 2> places;
  llvm::SmallVector<const llvm::Instruction *, 2> reads; ///< of each place; null: many
  const llvm::Instruction *first = nullptr;              ///< one of the reads, for messages
  bool mbarriers = false;
  bool isAny() const { return mbarriers || !places.empty(); }
};

/// Marks functions with kWaitsForNobody that neither wait for others nor read what others may write
/// to let them go on, themselves or through calls.
void markWhoWaitsForNobody(llvm::ArrayRef<llvm::Function *>);

/// Looks through a module whose functions are prepared.
class Waits {
 public:
  explicit Waits(const llvm::Module &);

  /// A loop that re-reads what others write until it likes what it sees: its back edge has to let
  /// others run.
  Polled polledBy(const llvm::Loop &) const;
  /// A loop that is left when a clock says so: nobody else has to do anything for it, but on a GPU
  /// all warps would let the same time pass.
  bool waitsForTime(const llvm::Loop &) const;
  /// Some loop of the module waits.
  bool isAny() const { return all_.isAny(); }
  /// The instruction may end a wait of some loop.
  bool mayEndWait(const llvm::Instruction &) const;
  /// The reads of waits that the write may end, null among them where one is not known: of stores
  /// and updates; none of other instructions.
  llvm::SmallVector<const llvm::Instruction *> endedBy(const llvm::Instruction &write) const;
  /// The function reads what others may write, itself or through calls, and can call itself: it may
  /// wait by recursion.
  bool pollsByRecursion(const llvm::Function &f) const { return recursivePolls_.contains(&f); }

 private:
  void addLoops(const llvm::Function &);
  bool mayEnd(const Place &written, const llvm::Instruction &write, size_t poll) const;
  void collect(const llvm::Instruction &, const llvm::Loop &, bool isPlainPolled, Polled &) const;

  bool readsClocks_ = false;
  llvm::DenseSet<const llvm::Function *> polls_, writes_, recursivePolls_;
  Polled all_;
  /// Of each place in it: the loops go on only while they do not find what they compare with, this
  /// constant; null: they may.
  std::vector<const llvm::Constant *> leftAt_;
};

} // namespace ptxrun::simt
