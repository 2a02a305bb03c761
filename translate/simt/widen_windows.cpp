// Guessed neighbours that are none, where CPUs have no registers for masks: lanes whose places go
// on by one or stay (an index that is cut off at the border of an image, or halved) read what lies
// in a window no longer than a row of the gang. Each register of the result is one load, from the
// place of the first of its lanes on, and a permutation. What is stored is one store for each
// register if that is a row. So are the first accesses of a kernel: kernels with hundreds of them
// compile much longer by it.
//
//     element[k] = index[k] - index[0]                       in elements
//     of each register:  at = element[first lane];  places = element - at
//     if (all places are in a register, all windows within the row's length and page)
//       of each register:  permute(load(index[0] + at), places)
//     else
//       lane by lane
//
// One row after the other under masks, as with registers for them (widen_guessed.cpp), takes
// longer: masks for all of the gang's registers are made of bits, for each row.
#include <llvm/Analysis/VectorUtils.h>

#include "translate/simt/accesses.h"
#include "translate/simt/lane_permute.h"

namespace ptxrun::simt {

using llvm::Value;

/// Whether an access by so many registers is within what the kernel can bear; then it is counted.
bool Accesses::mayTakeRegisters(unsigned number) {
  const bool isWithin = context_.guessedRegisters + number <= kLimits.accesses.guessedRegisters;
  context_.guessedRegisters += isWithin ? number : 0;
  return isWithin;
}

/// How far each lane's place is behind that of lane 0, in elements; large where it is no element or
/// lies before it.
Value *Accesses::elementsBehind(const Guess &g) {
  Value *first = b_.CreateVectorSplat(lanes_, b_.CreateExtractElement(g.part, uint64_t(0)));
  Value *by = g.step > 0 ? b_.CreateSub(g.part, first) : b_.CreateSub(first, g.part);
  const auto step = uint64_t(std::abs(g.step));
  if (step == 1)
    return by;
  Value *shift = llvm::ConstantInt::get(by->getType(), llvm::Log2_64(step));
  return b_.CreateIntrinsic(llvm::Intrinsic::fshr, {by->getType()}, {by, by, shift});
}

Value *Accesses::loadWindowsOrEach(const llvm::LoadInst &load, const Guess &g, const Address &a) {
  const unsigned n = std::min(lanes_, lanesToPermute(unsigned(g.size), context_.target));
  if (!mayTakeRegisters(lanes_ / n))
    return loadEach(load, pointers(a));
  const auto lanesOf = [&](Value *v, unsigned l) {
    return b_.CreateShuffleVector(v, llvm::createSequentialMask(l, n, 0));
  };
  const auto none = [](Value *like) { return llvm::Constant::getNullValue(like->getType()); };
  Value *elements = elementsBehind(g);
  // Lanes that are not active follow lane 0, which is.
  if (mask())
    elements = b_.CreateSelect(mask(), elements, none(elements));
  Value *fit = b_.CreateAnd(isInPage(b_, g.row.base, uint64_t(g.size) * lanes_),
                            b_.CreateNot(leavesRange(g, 0, lanes_)));
  if (mask())
    fit = b_.CreateAnd(fit, b_.CreateExtractElement(mask(), uint64_t(0)));
  llvm::SmallVector<Value *> starts, places;
  Value *all = nullptr;
  for (unsigned l = 0; l < lanes_; l += n) {
    Value *at = b_.CreateExtractElement(elements, l);
    Value *own = b_.CreateSub(lanesOf(elements, l), b_.CreateVectorSplat(n, at));
    if (mask())
      own = b_.CreateSelect(lanesOf(mask(), l), own, none(own));
    all = all ? b_.CreateOr(all, own) : own;
    if (l != 0)
      fit = b_.CreateAnd(fit,
                         b_.CreateICmpULE(at, llvm::ConstantInt::get(at->getType(), lanes_ - n)));
    starts.push_back(b_.CreateZExtOrTrunc(at, b_.getInt64Ty()));
    places.push_back(b_.CreateZExtOrTrunc(own, vec(b_.getInt32Ty(), n)));
  }
  Value *beyond = b_.CreateAnd(all, llvm::ConstantInt::get(all->getType(), ~uint64_t(n - 1)));
  fit = b_.CreateAnd(fit, b_.CreateNot(anyLane(b_.CreateICmpNE(beyond, none(beyond)))));
  Block *inWindows = newBlock("load.windows"), *each = newBlock("load.each"),
        *done = newBlock("load.end");
  b_.CreateCondBr(fit, inWindows, each);
  const auto loadWindows = [&] {
    llvm::Type *element = plain(&load);
    auto *number = b_.getIntNTy(unsigned(g.size) * 8);
    llvm::SmallVector<Value *> loaded;
    for (auto [start, own] : llvm::zip(starts, places)) {
      Value *at = b_.CreateGEP(number, g.row.base, start);
      Value *window = b_.CreateAlignedLoad(vec(number, n), at, load.getAlign());
      loaded.push_back(permute(b_, window, own, context_.target));
    }
    return b_.CreateBitCast(concatenate(loaded), vec(element, lanes_));
  };
  return joined({inWindows, loadWindows}, {each, [&] { return loadEach(load, pointers(a)); }},
                done);
}

/// One store of each register, if its lanes lie in a row, and all are active.
void Accesses::storeRegistersOrEach(const llvm::StoreInst &store, const Guess &g, const Address &a,
                                    Value *v) {
  const unsigned n = std::min({8u, lanes_, context_.target.vectorBytes() / unsigned(g.size)});
  if (n == lanes_ || !mayTakeRegisters(lanes_ / n))
    return storeEach(store, pointers(a), v);
  Value *fit = b_.getTrue(), *areInRow = nullptr;
  if (mask())
    fit = b_.CreateAndReduce(mask());
  llvm::SmallVector<llvm::Constant *> steps;
  for (unsigned k = 0; k < n; ++k)
    steps.push_back(llvm::ConstantInt::getSigned(g.part->getType()->getScalarType(), k * g.step));
  for (unsigned l = 0; l < lanes_; l += n) {
    Value *own = b_.CreateShuffleVector(g.part, llvm::createSequentialMask(l, n, 0));
    Value *first = b_.CreateVectorSplat(n, b_.CreateExtractElement(own, uint64_t(0)));
    Value *isInRow = b_.CreateICmpEQ(own, b_.CreateAdd(first, llvm::ConstantVector::get(steps)));
    areInRow = areInRow ? b_.CreateAnd(areInRow, isInRow) : isInRow;
    fit = b_.CreateAnd(fit, b_.CreateNot(leavesRange(g, l, n)));
  }
  fit = b_.CreateAnd(fit, b_.CreateAndReduce(areInRow));
  Block *registers = newBlock("store.registers"), *each = newBlock("store.each"),
        *done = newBlock("store.end");
  b_.CreateCondBr(fit, registers, each);
  const auto storeRegisters = [&]() -> Value * {
    for (unsigned l = 0; l < lanes_; l += n)
      b_.CreateAlignedStore(b_.CreateShuffleVector(v, llvm::createSequentialMask(l, n, 0)),
                            placeOf(g, b_.CreateExtractElement(g.lanes, l)), store.getAlign());
    return nullptr;
  };
  const auto storeByLanes = [&]() -> Value * { return storeEach(store, pointers(a), v), nullptr; };
  joined({registers, storeRegisters}, {each, storeByLanes}, done);
}

} // namespace ptxrun::simt
