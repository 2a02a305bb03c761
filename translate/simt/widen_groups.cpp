// Lanes that read or write in a row in groups, wherever the groups are (lane_groups.h): four lanes
// for each row of a tile, whose pitch only the launch knows.
#include <llvm/ADT/Sequence.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include "translate/simt/accesses.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

/// In groups of how many lanes elements of `size` bytes follow each other, so that one access for
/// each group is worth more than a gather.
std::optional<unsigned> Accesses::groupsInRow(const Value *pointer, int64_t size, bool doGuess) {
  for (unsigned group = lanes_ / 2; group > 1; group /= 2) {
    if (group * size < kLimits.accesses.leastPiece)
      return std::nullopt;
    auto known = laneGroups_.try_emplace({group, doGuess}, shapes_, group, doGuess).first;
    const LaneGroups::Offsets offsets = known->second.offsetsOf(pointer);
    bool isRow = offsets.has_value();
    for (unsigned l = 0; isRow && l < lanes_; ++l)
      isRow = (*offsets)[l] == int64_t(l % group) * size;
    if (isRow)
      return group;
  }
  return std::nullopt;
}

/// The first address of each group: a constant distance from those of an access before, where that
/// is known, so that they are taken out of vectors once.
llvm::SmallVector<llvm::Value *> Accesses::startsOfGroups(const Value *pointer, const Address &a,
                                                          unsigned group) {
  const LinearSum sum = sumOf(pointer);
  const bool isKept = !isOffMainLine_ && widthOf(pointer) == 64;
  llvm::SmallVector<Value *> starts;
  if (auto known = groupStarts_.find({sum.key(), group}); isKept && known != groupStarts_.end()) {
    for (Value *start : known->second.pointers)
      starts.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), start,
                                             uint64_t(sum.constant - known->second.bytes)));
    return starts;
  }
  Value *each = pointers(a);
  for (unsigned first = 0; first < lanes_; first += group)
    starts.push_back(b_.CreateExtractElement(each, first));
  if (isKept)
    groupStarts_[{sum.key(), group}] = {sum.constant, starts};
  return starts;
}

/// Lanes that read neighbouring elements in groups, wherever the groups are: one load for each
/// group, ahead for the next round too, whose addresses no CPU guesses where gangs take turns. Null
/// where that is not so.
llvm::Value *Accesses::loadGroups(const llvm::LoadInst &load, const Address &a) {
  auto *wideType = llvm::cast<llvm::FixedVectorType>(wide(&load));
  llvm::Type *element = wideType->getElementType();
  const unsigned perLane = wideType->getNumElements() / lanes_;
  const int64_t size = int64_t(load.getDataLayout().getTypeStoreSize(plain(&load)).getFixedValue());
  if (mask() || !load.isSimple() || element->isPointerTy() ||
      int64_t(element->getScalarSizeInBits()) * perLane != size * 8)
    return nullptr;
  const std::optional<unsigned> group = groupsInRow(load.getPointerOperand(), size);
  if (!group)
    return nullptr;
  const llvm::Loop *loop = shapes_.loops().getLoopFor(load.getParent());
  const int64_t ahead =
      loop && load.getPointerAddressSpace() != lower::kShared
          ? stepPerRound(sumOf(load.getPointerOperand(), Extensions::through), *loop).value_or(0)
          : 0;
  llvm::SmallVector<Value *> pieces;
  for (Value *at : startsOfGroups(load.getPointerOperand(), a, *group)) {
    if (ahead)
      fetchAhead(b_, at, ahead);
    llvm::LoadInst *l = b_.CreateAlignedLoad(vec(element, *group * perLane), at, load.getAlign());
    copyAccessTraits(l, load);
    pieces.push_back(l);
  }
  return concatenate(pieces);
}

/// The same where the groups' beginnings are guessed, and where lanes are missing:
///     if (all active lanes: address == address[first lane of the group] + distance from it)
///       one load for each group
///     else
///       a gather, lane by lane below AVX-512
/// Null where that is unlikely. (A load under a mask never begins outside `.shared` memory.)
llvm::Value *Accesses::loadGuessedGroups(const llvm::LoadInst &load, const Address &a) {
  llvm::Type *type = plain(&load);
  const unsigned bits = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  if (!context_.passes.isOn(Pass::guesses) || isBaseline() || isOffMainLine_ || !load.isSimple() ||
      type->isVectorTy() || !context_.target.hasMaskedAccess(bits) ||
      load.getPointerAddressSpace() == lower::kShared)
    return nullptr;
  const std::optional<unsigned> group = groupsInRow(load.getPointerOperand(), bits / 8, true);
  if (!group)
    return nullptr;
  auto *addresses = vec(b_.getInt64Ty(), lanes_);
  Value *each = pointers(a), *at = b_.CreateFreeze(b_.CreatePtrToInt(each, addresses));
  llvm::SmallVector<int> firsts;
  llvm::SmallVector<llvm::Constant *> distances;
  for (unsigned l = 0; l < lanes_; ++l) {
    firsts.push_back(int(l / *group * *group));
    distances.push_back(b_.getInt64(l % *group * (bits / 8)));
  }
  Value *differs = b_.CreateICmpNE(
      at, b_.CreateAdd(b_.CreateShuffleVector(at, firsts), llvm::ConstantVector::get(distances)));
  Block *inGroups = newBlock("load.groups"), *slow = newBlock("load.each"),
        *done = newBlock("load.end");
  b_.CreateCondBr(anyLane(mask() ? b_.CreateAnd(differs, mask()) : differs), slow, inGroups,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1 << 20));
  const auto loadEachGroup = [&] {
    llvm::SmallVector<Value *> pieces;
    for (unsigned first = 0; first < lanes_; first += *group) {
      const auto lanes = llvm::to_vector(llvm::seq(int(first), int(first + *group)));
      Value *start = b_.CreateIntToPtr(b_.CreateExtractElement(at, first), b_.getPtrTy());
      pieces.push_back(b_.CreateMaskedLoad(vec(type, *group), start, load.getAlign(),
                                           b_.CreateShuffleVector(fullMask(), lanes)));
    }
    return concatenate(pieces);
  };
  return joined({slow, [&] { return loadEach(load, each); }}, {inGroups, loadEachGroup}, done,
                load.getName());
}

/// Lanes that write neighbouring elements in groups: one store for each group, in the order of the
/// lanes. False where that is not so.
bool Accesses::storeGroups(const llvm::StoreInst &store, const Address &a, Value *v) {
  auto *wideType = llvm::cast<llvm::FixedVectorType>(v->getType());
  llvm::Type *element = wideType->getElementType();
  const unsigned perLane = wideType->getNumElements() / lanes_;
  const llvm::TypeSize stored =
      store.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType());
  const int64_t size = int64_t(stored.getFixedValue());
  if (mask() || !store.isSimple() || element->isPointerTy() ||
      int64_t(element->getScalarSizeInBits()) * perLane != size * 8)
    return false;
  const std::optional<unsigned> group = groupsInRow(store.getPointerOperand(), size);
  if (!group)
    return false;
  int first = 0;
  for (Value *at : startsOfGroups(store.getPointerOperand(), a, *group)) {
    const auto order = llvm::to_vector(llvm::seq(first, first + int(*group * perLane)));
    b_.CreateAlignedStore(b_.CreateShuffleVector(v, order), at, store.getAlign());
    first += int(order.size());
  }
  return true;
}

} // namespace ptxrun::simt
