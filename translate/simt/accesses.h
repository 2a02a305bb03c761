// Accesses to memory: loads, stores, read-modify-write, and what is done lane by lane.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "translate/simt/cost.h"
#include "translate/simt/guesses.h"
#include "translate/simt/lane_groups.h"
#include "translate/simt/value_map.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

/// Lanes whose accesses follow each other in memory.
struct Run {
  unsigned firstLane, lanes;
  int64_t offset;
};

/// What a load that replaces (part of) another keeps of it: volatile, invariant.
void copyAccessTraits(llvm::LoadInst *to, const llvm::LoadInst &from);

/// Whether so many bytes from there on are in one page: memory is open or closed by whole pages, so
/// that all of them may be read where one of them may.
llvm::Value *isInPage(llvm::IRBuilderBase &, llvm::Value *at, uint64_t bytes);

class Accesses : protected ValueMap {
 public:
  using ValueMap::ValueMap;

 protected:
  void forgetBlock();
  void emitLoad(const llvm::LoadInst &);
  void emitStore(const llvm::StoreInst &);
  void emitAtomic(const llvm::Instruction &);
  void emitFence(const llvm::FenceInst &);
  /// Whether lanes that count up from a base leave the range of the index. widen_addresses.cpp
  Value *wrapsWithin(const Value *index, bool isSigned);
  /// Vectors one behind the other.
  Value *concatenate(llvm::ArrayRef<Value *> pieces);
  /// Elements of vectors that every lane has. widen_interleaved.cpp
  Value *separatedElement(const llvm::ExtractElementInst &, unsigned k);
  Value *joinedElements(const llvm::InsertElementInst &);

  struct LaneByLane {
    bool isLong = false;       // a loop, whatever the mask
    bool doesUpdate = false;   // the body loads and stores one place
    bool areAllActive = false; // whatever the mask
    bool isForKnown = false;   // written out for some lanes that are known, too
  };
  /// What is done for one lane, with its operands.
  using LaneBody = llvm::function_ref<Value *(llvm::ArrayRef<Value *>, Value *lane)>;
  Value *laneByLane(llvm::ArrayRef<Value *> operands, llvm::Type *result, LaneBody,
                    LaneByLane how = {false, false, false, false});

  /// One of two ways that a branch leads to.
  struct Way {
    Block *block;
    llvm::function_ref<Value *()> emit; // what it gives, or null
  };
  Value *joined(Way, Way, Block *done, const llvm::Twine &name = "");

 private:
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
  bool stridesAcrossLanes(const Value *pointer) const;
  Value *wrapTest(const Value *pointer);

  Value *ofLastLane(const Value *, const llvm::Instruction &user);

  // widen_guessed.cpp
  Value *plus(Value *v, const LinearSum &);
  Value *asNumber(Value *);
  Value *addressOf(const LinearAddress &, Value *index);
  /// What an access of a gang whose lanes are mostly neighbours is known by.
  struct Guess {
    LinearAddress linear;
    Value *lanes = nullptr; // the index of each lane, frozen
    Value *part = nullptr;  // what of it differs between lanes; often the same in all rounds
    int64_t step = 0;       // of the index between neighbours
    int64_t size = 0;       // bytes of one lane's element
    bool isShared = false;
    Address row; // as if they were neighbours; `wraps`: they are not
    bool isSigned() const {
      return !linear.extension || llvm::isa<llvm::SExtInst>(linear.extension);
    }
  };
  bool mayGuess(const llvm::Type &) const;
  std::optional<Guess> guessNeighbours(const Value *pointer, llvm::Type *);
  Value *rowFrom(const Guess &, Value *first);
  Value *leavesRange(const Guess &, unsigned first, unsigned lanes);
  Value *placeOf(const Guess &, Value *index);
  Value *startsOfRows(const Guess &);
  Value *areFewRows(Value *starts);
  /// Some of the lanes, which are neighbours: who, where lane 0 would be, and where the first is.
  struct Row {
    Value *lanes, *place, *first;
  };
  Value *rowByRow(const Guess &, Value *starts, Value *value,
                  llvm::function_ref<Value *(const Row &, Value *)> access);
  Value *loadOneForAll(const llvm::LoadInst &, const Address &);
  Value *loadRowsOrEach(const llvm::LoadInst &, const Guess &, const Address &);
  void storeRowsOrEach(const llvm::StoreInst &, const Guess &, const Address &, Value *v);

  // widen_windows.cpp
  Value *elementsBehind(const Guess &);
  Value *loadWindowsOrEach(const llvm::LoadInst &, const Guess &, const Address &);
  void storeRegistersOrEach(const llvm::StoreInst &, const Guess &, const Address &, Value *v);
  bool mayTakeRegisters(unsigned number);

  // widen_groups.cpp
  std::optional<unsigned> groupsInRow(const Value *pointer, int64_t size,
                                      LaneGroups::Kind kind = LaneGroups::Kind::neighbours);
  llvm::SmallVector<Value *> startsOfGroups(const Value *pointer, const Address &, unsigned group);
  int64_t stepOfGroups(const llvm::LoadInst &) const;
  Value *loadGroups(const llvm::LoadInst &, const Address &);
  Value *loadColumns(const llvm::LoadInst &, const Address &);
  Value *loadGuessedGroups(const llvm::LoadInst &, const Address &);
  bool storeGroups(const llvm::StoreInst &, const Address &, Value *);

  // widen_known.cpp
  llvm::SmallVector<unsigned> knownLanes();
  llvm::SmallVector<unsigned> lanesToServe();
  Value *loadKnown(const llvm::LoadInst &, const Address &, llvm::ArrayRef<unsigned> active);

  // widen_copies.cpp
  const llvm::StoreInst *copyOf(const llvm::LoadInst &);
  bool beginCopy(const llvm::LoadInst &, const Address &);
  void emitCopy(const llvm::LoadInst &, const llvm::StoreInst &, Value *from);

  // widen_memory.cpp
  bool fetchNextRound(const llvm::LoadInst &, Value *at, int64_t bytes);
  /// From one CTA to the next along x: bytes, or so many times a number that only the launch knows.
  struct StepToCta {
    int64_t bytes;
    const Value *by;
  };
  std::optional<StepToCta> stepToNextCta(const llvm::Instruction &access, int64_t size) const;
  void fetchForNextCta(Value *at, int64_t bytes, StepToCta, Fetch = Fetch::toRead);
  /// Bytes of elements of this size that a row of the block has.
  int64_t rowOfBlock(int64_t size) const { return int64_t(context_.options.block[0]) * size; }
  void prefetchForNextGangs(const llvm::LoadInst &, Value *at, int64_t size);
  Value *loadOffsets(const llvm::LoadInst &, const Address &);
  Value *loadWithinPage(const llvm::LoadInst &, const Address &, Value *from, int64_t bytes,
                        llvm::function_ref<Value *()> loadWhole);
  std::optional<int64_t> elementStride(const llvm::LoadInst &) const;
  Value *rowOf(const Address &);
  Value *loadByLanes(const llvm::LoadInst &, Value *row, int64_t stride);
  llvm::AllocaInst *slowBuffer(llvm::Type *wideType);
  Value *loadFewRuns(const llvm::LoadInst &, const Address &, llvm::ArrayRef<Run>);
  Value *loadRuns(const llvm::LoadInst &, const Address &, llvm::ArrayRef<Run>, int64_t span);
  Value *loadWindow(const llvm::LoadInst &, Value *at, llvm::Type *element, unsigned count,
                    llvm::ArrayRef<int> order);
  Value *orDummy(Value *pointers, uint64_t size, int64_t before = 0);
  bool isOneOfMany(const llvm::StoreInst &);
  llvm::Type *gatheredAs(const llvm::Instruction &access, llvm::Type *, size_t lanes);
  Value *loadEach(const llvm::LoadInst &, Value *pointers);
  Value *loadEither(const llvm::LoadInst &, const Address &, llvm::function_ref<Value *()> slowly);
  void storeOffsetsOrEach(const llvm::StoreInst &, const Address &, Value *v);
  void storeEither(const Address &, llvm::function_ref<void()> asSaid,
                   llvm::function_ref<void()> slowly);
  bool storeOffsets(const llvm::StoreInst &, const Address &, Value *);
  bool isBlended(const llvm::StoreInst &) const;
  llvm::Function *blendingStore(const llvm::StoreInst &, llvm::FixedVectorType *);
  void storeEach(const llvm::StoreInst &, Value *pointers, Value *);

  // widen_slow.cpp
  /// The narrow index that an address is made of: `scale` times what `cast` makes of it.
  struct IndexExtension {
    const llvm::CastInst *cast = nullptr;
    int64_t scale = 0;
  };
  std::optional<IndexExtension> indexExtension(const Value *pointer) const;
  llvm::Constant *wrappedAccess(const IndexExtension &, const std::vector<int64_t> &addressOffsets,
                                uint64_t bytes);
  bool isGatherSmall(const llvm::Type *) const;
  llvm::AllocaInst *accessWrapped(const llvm::Instruction &, const Address &, llvm::Type *,
                                  Value *stored);
  Value *loadSlowly(const llvm::LoadInst &, const Address &);
  void storeSlowly(const llvm::StoreInst &, const Address &, Value *);

  // widen_interleaved.cpp
  unsigned elementsPerRegister(const llvm::Type *element) const;
  unsigned halvesOf(unsigned perRegister, const llvm::Type *element) const;
  void takeApart(llvm::ArrayRef<Value *> pieces, unsigned halves, unsigned first, unsigned step,
                 llvm::MutableArrayRef<Value *> out);
  llvm::SmallVector<Value *> putTogether(llvm::ArrayRef<Value *> in, unsigned first, unsigned step);
  llvm::SmallVector<Value *> separate(unsigned n, const llvm::Type *element,
                                      llvm::function_ref<Value *(unsigned, unsigned)> piece);
  using Siblings = std::map<int64_t, llvm::SmallVector<const llvm::LoadInst *>>;
  Siblings loadsNear(const llvm::LoadInst &) const;
  bool loadRows(const llvm::LoadInst &, const Address &);
  void fetchNextRows(const llvm::LoadInst &, const Address &,
                     llvm::function_ref<Value *(unsigned lane)> row, int64_t start);
  llvm::SmallVector<const llvm::StoreInst *> storesNear(const llvm::StoreInst &, int64_t size,
                                                        int64_t n) const;
  llvm::SmallVector<Value *> interleave(llvm::ArrayRef<Value *>);
  int64_t structureElements(const llvm::StoreInst &, const Address &) const;
  bool storeStrided(const llvm::StoreInst &, const Address &);
  bool storeStructuresOrEach(const llvm::StoreInst &, const Address &);
  bool storeRows(const llvm::StoreInst &, const Address &);
  void storeAtLast(const llvm::SmallVector<const llvm::StoreInst *> &);
  void storeStructures(const llvm::StoreInst &, const Address &,
                       llvm::ArrayRef<const llvm::StoreInst *>, unsigned n);
  bool loadNeighbours(const llvm::LoadInst &, const Address &);
  bool loadSomeOfStructures(const llvm::LoadInst &, const Address &, const Siblings &);

  // widen_atomics.cpp
  /// What keeps others from coming in between the load and the store of an update.
  enum class UpdateBy {
    host,       ///< the host's atomics
    oneThread,  ///< nothing: all who may take part run on one thread of the host
    soleLaunch, ///< nothing, where no other launch runs (abi::Launch::isSole)
  };
  UpdateBy updateBy(llvm::SyncScope::ID, const Value *pointer);
  Value *isSoleLaunch();
  Value *update(const llvm::Instruction &, UpdateBy);
  std::pair<Value *, Value *> addedBefore(const Value *value);
  /// Where each lane's update goes: a host pointer (null: none) and signed offsets of 32 or 64
  /// bits, or pointers.
  struct Places {
    Value *base, *index;
  };
  Places placesOf(const Value *pointer);
  Value *placeAt(const Places &, Value *index);
  Value *indexOrNowhere(const Places &, Value *nowhere);
  void whereDense(llvm::function_ref<Value *()> ofMany, llvm::function_ref<Value *()> ofFew);
  void updateDenseOrSparse(const Places &, Value *values, llvm::Type *, LaneBody update);
  Value *updateInLoop(const llvm::AtomicRMWInst &, Value *p, UpdateBy,
                      llvm::function_ref<Value *(Value *)> next);
  /// Flushes subnormal numbers where the memory at a pointer is such that additions do.
  std::function<Value *(Value *)> flushAt(const llvm::AtomicRMWInst &, Value *p);
  void exchangeUnless(const llvm::AtomicRMWInst &, Value *p, llvm::PHINode *seen, Value *wanted,
                      Block *again, Block *done);
  /// The bits at lanes' places, and what is to come there.
  struct Ahead {
    Value *seen, *wanted;
  };
  Value *placesOfAll(const Places &);
  bool areGathered(const llvm::Type &) const;
  bool mayAllBeDone(const llvm::Instruction &, const Value *pointer, const Value *value);
  Value *unlessAllAreDone(const llvm::Instruction &, const Places &,
                          llvm::function_ref<Value *()> byLane);
  std::optional<Ahead> updateAhead(const llvm::AtomicRMWInst &, const Places &);
  void updateInRuns(const llvm::AtomicRMWInst &, const Places &);
  struct UpdatedRuns;
  UpdatedRuns updatedRuns(const llvm::AtomicRMWInst &, const Places &);
  Value *next(const llvm::AtomicRMWInst &, Value *place, Value *old, Value *operand);
  Value *loadForUpdate(llvm::Type *, Value *place, llvm::Align, UpdateBy);
  bool areAddedUp(const llvm::AtomicRMWInst &);
  void addUp(const llvm::AtomicRMWInst &, Value *addends, llvm::function_ref<void(Value *)> add,
             llvm::function_ref<Value *()> addSome);
  Value *forEachLane(Value *none, llvm::function_ref<Value *(Value *lane, Value *soFar)> body);
  struct LaneScalars {
    Value *vector;            // or one scalar for all
    llvm::AllocaInst *memory; // where the vector has been stored; null: nowhere
    bool isIndex;             // in memory: is taken sign-extended to 64 bits
  };
  llvm::SmallVector<LaneScalars> laneScalars(llvm::ArrayRef<Value *> operands, bool doSpill);
  llvm::AllocaInst *laneMemory(llvm::Type *, unsigned of);
  Value *gatherInMemory(llvm::ArrayRef<Value *> operands, llvm::StructType &result, LaneBody);
  Value *scalarAt(const LaneScalars &, Value *lane);
  bool isTakenFromRegister(const Value *) const;
  std::vector<llvm::SmallVector<Value *>> takenTogether(llvm::ArrayRef<LaneScalars> operands,
                                                        unsigned first, unsigned count);

  // widen_row_atomics.cpp
  bool isRowUpdate(const llvm::AtomicRMWInst &, UpdateBy, bool isLong);
  Value *updateWholeRow(const llvm::AtomicRMWInst &, Value *row, UpdateBy);
  Value *exchangeRow(const llvm::AtomicRMWInst &, Value *row);
  Value *updateRow(const llvm::AtomicRMWInst &, UpdateBy, llvm::function_ref<Value *()> slowly);

  std::map<std::pair<unsigned, LaneGroups::Kind>, LaneGroups> laneGroups_; // by how many lanes
  /// Where groups begin in the block being emitted, by the address less its bytes and how
  /// many lanes they have.
  struct Starts {
    int64_t bytes;
    llvm::SmallVector<Value *> pointers;
  };
  std::map<std::pair<LinearSum::Terms, unsigned>, Starts> groupStarts_;
  std::optional<bool> hasManyScattered_;                       // short vectors
  llvm::DenseMap<const llvm::LoadInst *, Value *> neighbours_; // loaded together with another
  llvm::DenseMap<const llvm::StoreInst *, Value *> copies_;    // what is copied: from where
  llvm::DenseSet<const llvm::StoreInst *> putOff_;             // to be stored together with another
  llvm::DenseMap<const llvm::StoreInst *, llvm::SmallVector<const llvm::StoreInst *>>
      structures_; // all that are stored together, by the last of them
  llvm::DenseMap<const Value *, llvm::SmallVector<Value *>>
      separated_; // elements of vectors, of the block being emitted
  llvm::DenseMap<llvm::Type *, llvm::AllocaInst *> slowBuffers_;           // by what lies in them
  std::map<std::pair<llvm::Type *, unsigned>, llvm::AllocaInst *> spills_; // by operand
};

} // namespace ptxrun::simt
