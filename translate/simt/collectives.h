// Calls: words of the vocabulary (gang_ops.def), what lanes of a warp do together, calls of the
// runtime and of functions that were not inlined.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "translate/simt/accesses.h"
#include "translate/simt/accumulators.h"
#include "translate/simt/matrix_groups.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

class Collectives : protected Accesses {
 public:
  using Accesses::Accesses;

 protected:
  void emitCall(const llvm::CallBase &);
  /// Whether a condition holds for some active lane, where its bounds tell; null: they do not.
  Value *holdsForSome(const Value *condition, bool isNegated);
  /// Who is active behind a condition, whichever gang it is. widen_known.cpp
  llvm::Constant *lanesIfAny(const Value *condition, bool isNegated, bool doPart);
  llvm::Constant *lanesIfParted(const Value *condition, bool isNegated);
  llvm::Constant *lanesLedTo(const llvm::BasicBlock *, const llvm::BranchInst &);
  std::optional<unsigned> partedSide(const llvm::BranchInst &version);
  /// Registers between matrix instructions that stay in one place (accumulators.h).
  void findAccumulators();
  Value *accumulatorAt(Accumulators::Place);

  /// What depends on it are ptx.same and ptx.first, which compute it themselves. widen_agreed.cpp
  bool isOnlyForEnds(const llvm::Instruction &, unsigned depth);

  std::optional<Accumulators> accumulators_; // of W = 32

 private:
  Value *holdsForAll(const Value *condition, bool isNegated);
  Value *isSomeEqual(const Value *left, const Value *right);
  Value *emitWord(const llvm::CallBase &, const Word &);
  Value *allOf(Value *condition);
  Value *firstOf(Value *bits);
  Value *emitNoWrap(const llvm::CallBase &, const Word &);
  struct Ends;
  /// How neighbouring lanes are compared: only whether they hold the same, or as numbers.
  enum class Order : uint8_t { none, asSigned, asUnsigned };
  std::optional<Ends> endsOf(const Value *, Order, Value **wraps);
  std::optional<Ends> endsOfResult(const llvm::Instruction &, Order, Value **wraps);
  Value *safeQuotient(const llvm::Instruction &, Value *dividend);
  Value *firstActiveLane(const llvm::CallBase &);
  Value *firstActive(const llvm::CallBase &, Value *);
  Value *comparisonInFirst(const llvm::CallBase &);
  Value *inLane(Value *first, int64_t step, Value *lane, bool staysPositive);
  Value *emitFirst(const llvm::CallBase &, const Word &);
  Value *emitSame(const llvm::CallBase &, const Word &);
  Value *emitFew(const llvm::CallBase &, const Word &);
  Value *emitStragglers(const llvm::CallBase &, const Word &);
  Value *emitNext(const llvm::CallBase &, const Word &);
  Value *emitAllOrAny(const llvm::CallBase &, const Word &);
  Value *emitYield(const llvm::CallBase &, const Word &);
  Value *emitExit(const llvm::CallBase &, const Word &);
  Value *emitExited(const llvm::CallBase &, const Word &);
  Value *emitLibraryCall(const llvm::CallBase &, const Word &);
  Value *emitTrap(const llvm::CallBase &, const Word &);
  Value *emitAssertFail(const llvm::CallBase &, const Word &);
  Value *emitIsLocal(const llvm::CallBase &, const Word &);
  Value *emitFunctionCall(const llvm::CallBase &);
  Value *callAlone(const llvm::CallBase &, llvm::Function &);
  Value *callWide(llvm::FunctionType *, Value *callee, llvm::ArrayRef<Value *> arguments,
                  Value *mask);
  struct Warp;
  void noteWhoIsGone(const llvm::CallBase &);
  Value *emitActiveMask(const llvm::CallBase &, const Word &);
  Value *emitWarpBarrier(const llvm::CallBase &, const Word &);
  Value *emitShuffle(const llvm::CallBase &, const Word &);
  Value *emitVote(const llvm::CallBase &, const Word &);
  Value *emitMatch(const llvm::CallBase &, const Word &);
  Value *forEachGroup(Value *members, llvm::Type *, llvm::function_ref<Value *(Value *)> made);
  Value *emitRedux(const llvm::CallBase &, const Word &);
  Value *reduceIntegers(Value *values, Value *mask, Op);
  Value *reduceFloats(Value *values, Value *mask, Op);
  Value *emitElect(const llvm::CallBase &, const Word &);
  Value *ballot(llvm::StringRef operation, const Value *predicate, Value *members,
                Value *&participants);
  Value *nameConstant(llvm::StringRef);
  Warp gatherWarp(llvm::StringRef operation, Value *own, Value *members);
  struct Comparison {
    llvm::CmpInst::Predicate predicate;
    const Value *left, *right;
  };
  std::optional<Comparison> comparisonOf(const Value *condition, bool isNegated) const;
  Value *gatherLanes(llvm::StringRef operation, Value *own, Value *members);
  Value *emitMatrix(const llvm::CallBase &, const Word &);
  MatrixRun matrixRunFrom(const llvm::CallBase &) const;
  llvm::StoreInst *storeFragmentRegister(const llvm::CallBase &user, const Value *, Value *in,
                                         unsigned offset);
  void emitMatrixGroup(const MatrixRun &);
  llvm::AllocaInst *accumulatorHome(unsigned home, unsigned rows);
  llvm::AllocaInst *matrixMemory(llvm::StringRef purpose, llvm::Type *);
  llvm::AllocaInst *groupMemory(llvm::StringRef purpose, llvm::Type *);
  /// Not in code that is compiled soonest: there, nobody puts their memory in one place.
  bool haveGroupsOwnMemory() const { return !isBaseline(); }
  Value *operationConstant(llvm::ArrayRef<std::byte>);
  Value *gatherRegisters(const llvm::CallBase &, Value *in);
  Value *placeInWarp(Value *own, const Warp &);
  Value *takeOwn(Value *whole, const Warp &);
  Value *permute(Value *whole, Value *index);
  Value *permuteRegisters(Value *whole, Value *index);
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
  Value *emitReportedThreads(const llvm::CallBase &, const Word &);

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

  llvm::AllocaInst *registerRows_ = nullptr; // what operations of the warp take and give
  std::map<std::pair<llvm::Type *, bool>, llvm::AllocaInst *> textureMemory_;
  std::map<std::pair<std::string, llvm::Type *>, llvm::AllocaInst *> matrixMemories_; // by purpose
  llvm::DenseMap<unsigned, llvm::AllocaInst *> accumulatorHomes_;
  llvm::DenseMap<const llvm::CallBase *, Value *> groupResults_; // of matrix instructions
  llvm::DenseMap<const Block *, unsigned> matrixGroups_;         // how many, so far
  bool areOthersGone_ = false;                                   // at the collective being emitted
};

} // namespace ptxrun::simt
