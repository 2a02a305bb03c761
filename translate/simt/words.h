// The words of generated code as simt sees them: one table (gang_ops.def) of what a LaneModule may
// call, and one (gang_entries.def) of what of the runtime wide code calls.
#pragma once
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/IRBuilder.h>

namespace ptxrun::lower {
struct RuntimeWord;
}

namespace ptxrun::simt {

/// Words, by what they are called.
enum class Op : uint8_t {
  none,  ///< not a word of ours
  other, ///< named as one, but no word of the table
#define GANG_OP(id, name, kind, shape, emitter) id,
#define GANG_AXES GANG_OP
#define GANG_ROUNDED(operation) operation##Rz, operation##Rm, operation##Rp,
#define RUNTIME_WORD(id, word, entry, call, suspends) id,
#include "translate/simt/gang_ops.def"
#undef RUNTIME_WORD
#undef GANG_ROUNDED
#undef GANG_AXES
#undef GANG_OP
};

/// How the result looks across the lanes of a gang.
enum class ShapeRule : uint8_t {
  varying,
  uniform,
  threadIndex, ///< %tid
  laneNumber,  ///< %laneid
  blockExtent, ///< uniform; known where the block is compiled in
  ofMembers,   ///< the same for lanes that name the same members
  shuffle,     ///< of the operands (shuffle_shape.cpp)
  elementwise, ///< of the operands, as arithmetic
  answer,      ///< of the runtime: one for lanes that ask the same
};

struct Word {
  enum class Kind : uint8_t {
    none,            ///< not a word of ours
    threadIndex,     ///< %tid.{x,y,z}
    laneId,          ///< %laneid
    laneMask,        ///< %lanemask_*
    specialRegister, ///< the same for all lanes of a gang
    uniformValue,    ///< addresses of windows, counters: one value per gang
    laneTest,        ///< ptx.all, any, nowrap, same, few, ... (by versions.cpp): one for the gang
    warpUniform,     ///< a collective whose result is the same for all lanes that take part
    warpVarying,     ///< a collective with a result per lane
    barrier,         ///< CTA barriers
    schedule,        ///< nanosleep, yield
    stop,            ///< trap, brkpt, assertfail
    exit,            ///< ptx.exit, ptx.exited
    library,         ///< vprintf, malloc, free: lane by lane
    runtime,         ///< a call of the runtime, made as lower/runtime_words.h says
    runtimeWait,     ///< of these, one that waits for other threads
    addressTest,     ///< ptx.local.contains
    rounded,         ///< arithmetic with directed rounding, element by element
    other,           ///< no word of the vocabulary
  };
  Op op = Op::none;
  Kind kind = Kind::none;
  ShapeRule shape = ShapeRule::varying;
  uint8_t axis = 3; ///< 0..2 for registers of three dimensions
  /// The word's whole name, or how it begins; without what says of which type it is.
  std::string_view name = {};
  const lower::RuntimeWord *runtime = nullptr; ///< of those kinds

  bool isCollective() const { return kind == Kind::warpUniform || kind == Kind::warpVarying; }
  bool isSpecialRegister() const {
    return kind == Kind::threadIndex || kind == Kind::laneId || kind == Kind::laneMask ||
           kind == Kind::specialRegister;
  }
};

Word wordOf(const llvm::Function &);
/// The word that an instruction calls; none where it is no such call.
Word wordAt(const llvm::Instruction &);
Word wordFor(Op);
inline bool isBarrierWord(const llvm::Instruction &i) {
  return wordAt(i).kind == Word::Kind::barrier;
}
bool hasBarrier(const llvm::BasicBlock &);
/// The call of this shuffle (9.7.9.6) whose value `v` is, of segments of whole warps; null if it is
/// none.
const llvm::CallInst *shuffleOfWarpAt(const llvm::Value &v, Op shuffle);
/// Whether a shuffle's segments are whole warps.
bool isOfWholeWarps(const llvm::CallBase &shuffle);

/// Calls a word, which is declared where it was not. Names that end in the type have that of the
/// first argument, an integer.
llvm::CallInst *callWord(llvm::IRBuilder<> &, Op, llvm::Type *result,
                         llvm::ArrayRef<llvm::Value *> arguments);

/// Later: when so much else has been read that the first cache would have lost it.
enum class Fetch : uint8_t { toRead, toReadLater, toWrite };
/// Fetches the line of the cache with the byte at this distance from `at`.
void fetchAhead(llvm::IRBuilder<> &, llvm::Value *at, int64_t distance, Fetch = Fetch::toRead);

/// True for the arrivals at an mbarrier whose state tells nothing but the phase.
inline bool isArrival(Op op) { return op == Op::mbarrierArrive || op == Op::mbarrierArriveDrop; }
/// True for the tests of an mbarrier's phase.
inline bool isMbarrierTest(Op op) {
  return op == Op::mbarrierTestWait || op == Op::mbarrierTryWait;
}
/// True for what lanes do with an mbarrier itself.
bool isOfMbarrier(Op);
bool isOfCluster(Op);

/// Entry points of the runtime.
struct GangEntry {
  enum class Id : uint8_t {
    other,
#define GANG_ENTRY(id, name, suspension, needs) id,
#include "translate/simt/gang_entries.def"
#undef GANG_ENTRY
  };
  enum class Suspension : uint8_t { none, withoutResult, ofBarRed, byPointer };
  enum class Needs : uint8_t { record, place, access };
  Id id = Id::other;
  std::string_view name = {}; ///< empty for `other`
  Suspension suspension = Suspension::none;
  Needs needs = Needs::record;

  bool maySuspend() const { return suspension != Suspension::none; }
  /// A load or store.
  bool isAccess() const { return needs == Needs::access; }
};
GangEntry entryOf(const llvm::Function &);
/// That which an instruction calls; other where it calls none.
GangEntry entryAt(const llvm::Instruction &);

/// Functions of the gang module that store a row under a mask in one step (widen_memory.cpp).
inline constexpr const char *kBlendingStore = "simt.store.";
/// Calls one.
bool isBlendingStore(const llvm::Instruction &);

/// Declarations in a gang module, NAME.LANES.BYTES.ALIGNMENT: each lane's bytes go from one place
/// to another (widen_copies.cpp).
inline constexpr const char *kCopyOfLanes = "simt.copy.";
/// Calls one.
bool isCopyOfLanes(const llvm::Instruction &);

} // namespace ptxrun::simt
