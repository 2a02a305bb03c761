// Turns one scalar function into a function of W lanes. The heart of simt.
//
// Control flow is linearised partially: blocks are emitted in the order of ShapeAnalysis. A uniform
// branch stays a branch. At a divergent branch both ways run one after the other, each under its
// mask; a way whose mask is empty is jumped over. What still has to run later is kept as a set of
// pending items that travels along the emitted edges:
//
//     b: br divergent c, T, F    =>   mask[T] |= m & c; mask[F] |= m & ~c
//                                     if any(mask[T]) goto T (pending: F)  else goto F
//     end of T                   =>   if any(mask[F]) goto F (pending: join) else goto join
//
// A loop that lanes leave in different iterations gets an item of its own behind its blocks
// (LoopEnd):
//
//     LoopEnd: if any(mask[header]) goto header  else goto the first exit whose mask is not empty
//
// Values that other blocks ask for live in stack slots while code is emitted and are
// promoted at the end, so that no dominance has to be repaired by hand. Masks are slots too: a
// block consumes its mask (reads and clears it).
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "intrinsics/matrix/warp.h"
#include "translate/simt/accumulators.h"
#include "translate/simt/cost.h"
#include "translate/simt/gang_module.h"
#include "translate/simt/shape.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

/// Lanes whose accesses follow each other in memory.
struct Run {
  unsigned firstLane, lanes;
  int64_t offset;
};

/// What all functions of one gang module share.
struct ModuleContext {
  llvm::Module &module; ///< the module under construction: scalar functions in, wide functions out
  unsigned lanes;
  CodeOptions options;
  Target target; ///< of the options' level and model
  PassRun &passes;
  bool tracksExits = false; ///< barriers count exited lanes
  bool hasBarriers = false;
  bool hasPlainUpdates =
      false; ///< atomics of memory that one thread works on: a load, then a store
  /// Lanes access places as far from each other as a number known only at run time says: lines of
  /// memory that later rows of the block may share.
  bool stridesAcrossLanes = false;
  /// Wide versions of device functions that were not inlined.
  std::map<const llvm::Function *, llvm::Function *> wide = {};
  /// Activemasks, by their PTX lines and those of the calls they were inlined through, in the order
  /// in which gangs come to them.
  std::map<std::vector<unsigned>, unsigned> activeMaskSites = {};
  /// The first thing that could not be widened: widen() ends in it. Empty: none.
  std::string problem = {};
  void fail(const llvm::Twine &what) {
    if (problem.empty())
      problem = what.str();
  }
  /// abi::WrappedAccess records, by content.
  std::map<const llvm::Constant *, llvm::GlobalVariable *> wrappedAccesses = {};
};

/// Leading parameters of every wide function.
enum WideArgument : unsigned {
  kLaunch,
  kCta,
  kGang,
  kCtaX,
  kCtaY,
  kCtaZ,
  kFirstThread,
  kMask,
  kFirstOwn
};

/// What a load that replaces (part of) another keeps of it: volatile, invariant.
void copyAccessTraits(llvm::LoadInst *to, const llvm::LoadInst &from);

class Widener {
 public:
  /// `target` is empty and has the wide signature; with `isFull` its mask argument is known to be
  /// all ones.
  Widener(ModuleContext &, llvm::Function &source, llvm::Function &target, const ShapeAnalysis &,
          bool isFull, bool isKernel);
  void run();

  /// The wide type of a scalar type: <W x T>; vectors become <W*n x T> lane by lane; structs
  /// element by element.
  static llvm::Type *widenType(llvm::Type *, unsigned lanes);
  /// Pointers to `.shared` are 32-bit offsets, all other pointers host pointers.
  static llvm::Type *plainType(llvm::Type *);

 private:
  using Value = llvm::Value;
  using Block = llvm::BasicBlock;

  // A place in the emission order: a block, or the end of a divergent loop.
  struct Item {
    const Block *block = nullptr;
    const llvm::Loop *loopEnd = nullptr;
    Block *head = nullptr;
    std::set<unsigned> pending; // item numbers that wait while control is here
    std::set<unsigned> exits;   // loopEnd: blocks that lanes left to
  };

  // linearize.cpp
  void planItems();
  void emitItem(unsigned);
  /// What is built from now on belongs to this PTX line. Scopes of the scalar function are left
  /// behind.
  void emitBlock(unsigned);
  void emitLoopEnd(unsigned);
  void emitTerminator(const Block *, unsigned item);
  bool exitsMatter(const Block *);
  void emitEdge(const Block *from, const Block *to, Value *edgeMask);
  void
  emitGotos(std::set<unsigned> targets, std::optional<unsigned> certain,
            const llvm::DenseMap<unsigned, Value *> &known = llvm::DenseMap<unsigned, Value *>());
  std::optional<unsigned> controlTarget(const Block *from, const Block *to);
  bool isCertain(unsigned item) const;
  const Block *partedAt(const Block *) const;
  bool isCheap(const Block *) const;
  const llvm::Loop *divergentLoopLeft(const Block *from, const Block *to) const;
  Value *maskOf(const Block *);
  void storePhis(const Block *from, const Block *to, Value *edgeMask);
  llvm::AllocaInst *maskSlot(const Block *);
  Value *anyLane(Value *mask);

  // widen_values.cpp
  llvm::AllocaInst *slotFor(const Value *);
  llvm::AllocaInst *incomingSlot(const llvm::PHINode &);
  llvm::Type *representation(const llvm::Instruction &);
  Value *laneSelect(Value *mask, Value *onTrue, Value *onFalse);
  void define(const llvm::Instruction &, Value *);
  void checkIncoming();
  Value *base(const Value *);
  Value *vector(const Value *);
  std::optional<int64_t> strideOf(const Value *pointer) const;
  Value *ofLastLane(const Value *, const llvm::Instruction &user);
  Value *plainConstant(const llvm::Constant *);
  Value *splat(Value *scalar, llvm::Type *scalarType);
  Value *exactVector(const Value *);
  Value *fromOffsets(Value *base, const Shape &, llvm::Type *scalarType);
  static llvm::Type *plain(const Value *v) { return plainType(v->getType()); }
  llvm::Type *wide(const Value *v) { return widenType(v->getType(), lanes_); }

  // widen_instructions.cpp
  void emitInstruction(const llvm::Instruction &);
  Value *emitUniform(const llvm::Instruction &);
  Value *emitOffsets(const llvm::Instruction &);
  Value *emitVarying(const llvm::Instruction &);
  Value *emitElementwise(const llvm::Instruction &, llvm::ArrayRef<Value *> operands);
  Value *emitVaryingDivision(const llvm::Instruction &);
  Value *emitVectorElement(const llvm::Instruction &);
  Value *emitAddress(const llvm::GEPOperator &, bool isWide);
  Value *updateInLoop(const llvm::AtomicRMWInst &, Value *p, bool isLocal,
                      llvm::function_ref<Value *(Value *)> next);
  Value *flushingAdd(const llvm::AtomicRMWInst &, Value *p, Value *v, bool isLocal);
  Value *forEachLane(Value *none, llvm::function_ref<Value *(Value *lane, Value *soFar)> body);
  struct LaneByLane {
    bool isLong = false;       // a loop, whatever the mask
    bool doesUpdate = false;   // the body loads and stores one place
    bool areAllActive = false; // whatever the mask
  };
  Value *laneByLane(llvm::ArrayRef<Value *> operands, llvm::Type *result,
                    llvm::function_ref<Value *(llvm::ArrayRef<Value *>, Value *lane)>,
                    LaneByLane how = {false, false, false});
  struct LaneScalars {
    Value *vector;            // or one scalar for all
    llvm::AllocaInst *memory; // where the vector has been stored; null: nowhere
    bool isIndex;             // in memory: is taken sign-extended to 64 bits
  };
  llvm::SmallVector<LaneScalars> laneScalars(llvm::ArrayRef<Value *> operands, bool doSpill);
  Value *scalarAt(const LaneScalars &, Value *lane);
  bool isTakenFromRegister(const Value *) const;
  std::vector<llvm::SmallVector<Value *>> takenTogether(llvm::ArrayRef<LaneScalars> operands,
                                                        unsigned first, unsigned count);

  // widen_addresses.cpp
  struct Address {
    Value *base = nullptr;                         // host pointer
    const std::vector<int64_t> *offsets = nullptr; // bytes per lane; null with index null: uniform
    Value *index = nullptr;                        // <W x i64> byte offsets, varying
    Value *wraps = nullptr;                        // i1: offsets do not hold, use exact pointers
  };
  Address address(const Value *pointer);
  Value *pointers(const Address &);
  Value *inArena(Value *offsets);
  Value *exactPointers(const Value *pointer);
  Value *hostPointer(const Value *pointer);
  Value *wrapsWithin(const Value *index, bool isSigned);
  bool stridesAcrossLanes(const Value *pointer) const;
  Value *isClamped(const llvm::MinMaxIntrinsic &);
  Value *exchangesLanes(const llvm::Instruction &exclusive);
  Value *wrapTest(const Value *pointer);
  Value *beginsBelowShared(const llvm::LoadInst &, const Address &);

  // widen_memory.cpp
  void emitLoad(const llvm::LoadInst &);
  void emitStore(const llvm::StoreInst &);
  void prefetchForNextGangs(const llvm::LoadInst &, Value *at, int64_t size);
  Value *loadOffsets(const llvm::LoadInst &, const Address &);
  Value *loadRuns(const llvm::LoadInst &, const Address &, llvm::ArrayRef<Run>, int64_t span);
  Value *loadWindow(const llvm::LoadInst &, Value *at, llvm::Type *element, unsigned count,
                    llvm::ArrayRef<int> order);
  Value *concatenate(llvm::SmallVector<Value *> pieces);
  Value *orDummy(Value *pointers, uint64_t size, int64_t before = 0);
  bool isGathered(const llvm::Type *);
  Value *loadEach(const llvm::LoadInst &, Value *pointers);
  bool storeOffsets(const llvm::StoreInst &, const Address &, Value *);
  void storeEach(const llvm::StoreInst &, Value *pointers, Value *);
  Value *repeatMask(Value *mask, unsigned times);

  // widen_slow.cpp
  /// The narrow index that an address is made of: `scale` times what `cast` makes of it.
  struct IndexExtension {
    const llvm::CastInst *cast = nullptr;
    int64_t scale = 0;
  };
  bool addExtension(const Value *address, int64_t factor, IndexExtension &) const;
  llvm::Constant *wrappedAccess(const IndexExtension &, const std::vector<int64_t> &addressOffsets,
                                uint64_t bytes);
  bool isGatherSmall(const llvm::Type *) const;
  llvm::AllocaInst *accessWrapped(const llvm::Instruction &, const Address &, llvm::Type *,
                                  Value *stored);
  Value *loadSlowly(const llvm::LoadInst &, const Address &);
  void storeSlowly(const llvm::StoreInst &, const Address &, Value *);

  // widen_interleaved.cpp
  unsigned elementsPerRegister(const llvm::Type *element) const;
  void takeApart(llvm::ArrayRef<Value *> pieces, unsigned first, unsigned step,
                 llvm::MutableArrayRef<Value *> out);
  llvm::SmallVector<Value *> putTogether(llvm::ArrayRef<Value *> in, unsigned first, unsigned step);
  llvm::SmallVector<Value *> separate(unsigned n, unsigned perRegister,
                                      llvm::function_ref<Value *(unsigned)> piece);
  using Siblings = std::map<int64_t, llvm::SmallVector<const llvm::LoadInst *>>;
  Siblings loadsNear(const llvm::LoadInst &) const;
  llvm::SmallVector<Value *> transposeBlocks(llvm::SmallVector<Value *> rows);
  llvm::SmallVector<Value *> transposeElements(llvm::SmallVector<Value *> rows);
  bool loadRows(const llvm::LoadInst &, const Address &);
  llvm::SmallVector<const llvm::StoreInst *> storesNear(const llvm::StoreInst &, int64_t size,
                                                        int64_t n) const;
  llvm::SmallVector<Value *> interleave(llvm::ArrayRef<Value *>);
  bool storeStrided(const llvm::StoreInst &, const Address &);
  void storeStructures(const llvm::StoreInst &, const Address &,
                       llvm::ArrayRef<const llvm::StoreInst *>, unsigned n);
  bool loadNeighbours(const llvm::LoadInst &, const Address &);
  Value *separatedElement(const llvm::ExtractElementInst &, unsigned k);
  Value *joinedElements(const llvm::InsertElementInst &);

  // widen_atomics.cpp
  std::pair<Value *, Value *> addedBefore(const Value *value);
  /// Where each lane's update goes: a host pointer (null: none) and signed offsets of 32 or 64
  /// bits, or pointers.
  struct Places {
    Value *base, *index;
  };
  Places placesOf(const Value *pointer);
  Value *placeAt(const Places &, Value *index);
  Value *indexOrNowhere(const Places &, Value *nowhere);
  void emitAtomic(const llvm::Instruction &);
  void emitFence(const llvm::FenceInst &);

  // widen_calls.cpp, widen_collectives.cpp
  void emitCall(const llvm::CallBase &);
  Value *holdsForAll(const Value *condition, bool isNegated);
  Value *holdsForSome(const Value *condition, bool isNegated);
  Value *emitWord(const llvm::CallBase &, const Word &);
  Value *allOf(Value *condition);
  Value *emitNoWrap(const llvm::CallBase &, const Word &);
  Value *emitFirst(const llvm::CallBase &, const Word &);
  Value *emitSame(const llvm::CallBase &, const Word &);
  Value *emitAllOrAny(const llvm::CallBase &, const Word &);
  Value *emitYield(const llvm::CallBase &, const Word &);
  Value *emitExit(const llvm::CallBase &, const Word &);
  Value *emitExited(const llvm::CallBase &, const Word &);
  Value *emitLibraryCall(const llvm::CallBase &, const Word &);
  Value *emitTrap(const llvm::CallBase &, const Word &);
  Value *emitAssertFail(const llvm::CallBase &, const Word &);
  Value *emitIsLocal(const llvm::CallBase &, const Word &);
  Value *emitFunctionCall(const llvm::CallBase &);
  Value *callWide(llvm::FunctionType *, Value *callee, llvm::ArrayRef<Value *> arguments,
                  Value *mask);
  struct Warp;
  void noteWhoIsGone(const llvm::CallBase &);
  Value *emitActiveMask(const llvm::CallBase &, const Word &);
  Value *emitWarpBarrier(const llvm::CallBase &, const Word &);
  Value *emitShuffle(const llvm::CallBase &, const Word &);
  Value *emitVote(const llvm::CallBase &, const Word &);
  Value *emitMatch(const llvm::CallBase &, const Word &);
  Value *emitRedux(const llvm::CallBase &, const Word &);
  Value *reduceIntegers(Value *values, Value *mask, Op);
  Value *reduceFloats(Value *values, Value *mask, Op);
  Value *emitElect(const llvm::CallBase &, const Word &);
  Value *ballot(llvm::StringRef operation, const Value *predicate, Value *members,
                Value *&participants);
  Value *nameConstant(llvm::StringRef);
  Warp gatherWarp(llvm::StringRef operation, Value *own, Value *members);
  Value *gatherLanes(llvm::StringRef operation, Value *own, Value *members);
  Value *emitMatrix(const llvm::CallBase &, const Word &);
  Value *emitPreparedMatrix(const llvm::CallBase &, const matrix::WarpOperation &);
  Value *preparedOperand(const llvm::CallBase &, const matrix::WarpOperation &, bool isA);
  void findAccumulators();
  llvm::AllocaInst *accumulatorHome(unsigned home, unsigned rows);
  Value *accumulatorAt(Accumulators::Place);
  llvm::AllocaInst *matrixMemory(llvm::StringRef purpose, llvm::Type *);
  Value *operationConstant(const matrix::WarpOperation &);
  Value *gatherRegisters(const llvm::CallBase &, Value *in);
  Value *placeInWarp(Value *own, const Warp &);
  Value *takeOwn(Value *whole, const Warp &);
  Value *permute(Value *whole, Value *index);
  Value *laneNumbers();
  Value *gatherPointers(llvm::StringRef operation, Value *own, Value *members);
  Value *emitWarpOperation(const llvm::CallBase &, const Word &);
  llvm::AllocaInst *registerRows(unsigned rows);
  Value *firstLaneOf(const Value *);
  Value *emitBarrier(const llvm::CallBase &, const Word &);
  Value *emitBarrierReduction(const llvm::CallBase &, const Word &);

  // widen_registers.cpp
  Value *launchField(size_t offset, llvm::Type *);
  Value *blockExtent(unsigned axis);
  Value *firstLaneOfGang();
  Value *emitThreadIndex(const llvm::CallBase &, const Word &);
  Value *emitLaneNumber(const llvm::CallBase &, const Word &);
  Value *emitLaneMask(const llvm::CallBase &, const Word &);
  Value *emitBlockExtent(const llvm::CallBase &, const Word &);
  Value *emitGridPlace(const llvm::CallBase &, const Word &);
  Value *emitClusterRegister(const llvm::CallBase &, const Word &);
  Value *emitWarpNumber(const llvm::CallBase &, const Word &);
  Value *emitRecordField(const llvm::CallBase &, const Word &);
  Value *emitClock(const llvm::CallBase &, const Word &);
  Value *emitEnvironment(const llvm::CallBase &, const Word &);
  Value *emitSharedWindow(const llvm::CallBase &, const Word &);

  // widen_rounded.cpp
  Value *emitRounded(const llvm::CallBase &, const Word &);

  // widen_runtime.cpp
  Value *emitRuntimeWord(const llvm::CallBase &, const Word &);
  Value *emitPerLane(const llvm::CallBase &, const lower::RuntimeWord &, bool isArrival);
  Value *emitWait(const llvm::CallBase &, const lower::RuntimeWord &);
  void emitCopies(const llvm::CallBase &, const lower::RuntimeWord &);

  // widen_texture.cpp
  Value *emitTexture(const llvm::CallBase &);
  llvm::AllocaInst *&textureMemory(llvm::Type *, bool isSecond);

  Value *convertSaturating(Value *x, llvm::Type *result, bool isSigned);
  Value *emitIntrinsic(const llvm::CallBase &);

  // common
  Value *mask() { return mask_; } ///< of the block being emitted; null = all lanes
  Value *fullMask() { return mask_ ? mask_ : allOnes(); }
  Value *allOnes();
  Value *maskBits(Value *mask); ///< i32, one bit per lane
  Value *bitsToMask(Value *bits);
  Value *runtime(llvm::StringRef name, llvm::Type *result, llvm::ArrayRef<Value *> arguments);
  Value *kernelParams(const llvm::Argument &params);
  Value *field(unsigned argument, size_t offset, llvm::Type *, bool isInvariant);
  Value *argument(unsigned n) { return n == kFirstThread ? firstThread_ : target_.getArg(n); }
  llvm::AllocaInst *entryAlloca(llvm::Type *, const llvm::Twine &name);
  Block *newBlock(const llvm::Twine &name);
  /// Notes that something has no wide form; a value that stands in for it until the stage ends.
  Value *missing(const llvm::Twine &what, llvm::Type *);
  void setLine(const llvm::DebugLoc &);
  llvm::FixedVectorType *vec(llvm::Type *element, unsigned n) {
    return llvm::FixedVectorType::get(element, n);
  }

  ModuleContext &context_;
  llvm::Function &source_;
  llvm::Function &target_;
  const ShapeAnalysis &shapes_;
  const bool isFull_, isKernel_;
  const unsigned lanes_;
  llvm::IRBuilder<> b_;
  llvm::IRBuilder<> entry_;
  std::vector<Item> items_;
  llvm::DenseMap<const Block *, unsigned> itemOf_;
  llvm::DenseMap<const llvm::Loop *, unsigned> loopEndOf_;
  std::set<unsigned> everPending_;
  std::optional<llvm::DenseSet<const Block *>> exitsMatter_;
  // A value as it was emitted, and behind what.
  struct Definition {
    Value *value = nullptr;
    Block *block = nullptr;
    llvm::Instruction *last = nullptr; ///< null: at the beginning of the block
  };
  llvm::DenseMap<const Value *, Definition> definitions_;
  llvm::DenseMap<const Value *, llvm::AllocaInst *> slots_, incoming_;
  llvm::DenseMap<const Block *, llvm::AllocaInst *> maskSlots_, maskValues_;
  llvm::DenseMap<const Block *, const Block *>
      maskRoot_; // block whose consumed mask this block shares; null: entry mask
  llvm::DenseMap<const Value *, Value *> local_, localVector_; // of the block being emitted
  llvm::AllocaInst *registerRows_ = nullptr; // what operations of the warp take and give
  llvm::DenseMap<const llvm::LoadInst *, Value *> neighbours_; // loaded together with another
  llvm::DenseSet<const llvm::StoreInst *> putOff_;             // to be stored together with another
  llvm::DenseMap<const llvm::StoreInst *, llvm::SmallVector<const llvm::StoreInst *>>
      structures_; // all that are stored together, by the last of them
  llvm::DenseMap<const Value *, llvm::SmallVector<Value *>>
      separated_; // elements of vectors, of the block being emitted
  llvm::DenseMap<llvm::Type *, llvm::AllocaInst *> slowBuffers_;           // by what lies in them
  std::map<std::pair<llvm::Type *, unsigned>, llvm::AllocaInst *> spills_; // by operand
  std::map<std::pair<llvm::Type *, bool>, llvm::AllocaInst *> textureMemory_;
  std::map<std::pair<std::string, llvm::Type *>, llvm::AllocaInst *> matrixMemories_; // by purpose
  std::optional<Accumulators> accumulators_;                                          // of W = 32
  llvm::DenseMap<unsigned, llvm::AllocaInst *> accumulatorHomes_;
  std::map<std::vector<const Value *>, Value *> preparedOperands_; // by block, form and registers
  std::vector<llvm::AllocaInst *> promotable_;
  llvm::DenseMap<const Value *, Value *> allocas_;
  Value *mask_ = nullptr;
  Value *entryMask_ = nullptr;
  Value *firstThread_ = nullptr; ///< known to be a multiple of W
  bool areOthersGone_ = false;   // at the collective being emitted
  bool isOffMainLine_ = false;   // inside a slow path: what is computed must not be cached
};

} // namespace ptxrun::simt
