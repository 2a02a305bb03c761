// Lanes that update places in a row (columns that are added up, histograms that are joined).
//
// In memory that stays on one thread: a row that is loaded, combined and stored. Elsewhere 16 bytes
// at a time, as much as the host exchanges at once:
//     for each 16 bytes of the row with an active lane:
//         do { seen = old } while ((old = cmpxchg16b(p, seen, next(seen))) != seen)
// Lanes that are not active put back what they found, which nobody can tell from no exchange. A row
// that does not begin at 16 bytes is updated lane by lane.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include "translate/simt/accesses.h"

namespace ptxrun::simt {
namespace {

constexpr unsigned kExchanged = 16; // bytes

/// The bytes at `place`, in two halves: another thread may come between, as the exchange will tell.
llvm::Value *twoHalves(llvm::IRBuilder<> &b, llvm::Value *place) {
  llvm::Type *all = b.getInt128Ty();
  llvm::Value *halves[2];
  for (unsigned k = 0; k < 2; ++k) {
    llvm::LoadInst *half = b.CreateAlignedLoad(
        b.getInt64Ty(), b.CreateConstGEP1_32(b.getInt64Ty(), place, k), llvm::Align(8));
    half->setAtomic(llvm::AtomicOrdering::Monotonic);
    halves[k] = b.CreateZExt(half, all);
  }
  return b.CreateOr(halves[0], b.CreateShl(halves[1], 64));
}

} // namespace

/// Whether the operation takes place in a row, and that is worth doing together.
bool Accesses::isRowUpdate(const llvm::AtomicRMWInst &rmw, UpdateBy by, bool isLong) {
  llvm::Type *type = rmw.getType();
  const unsigned bits = type->getScalarSizeInBits(),
                 perExchange = kExchanged * 8 / std::max(bits, 1u);
  if (isBaseline() || type->isVectorTy() || !(type->isIntegerTy() || type->isFloatingPointTy()) ||
      (bits != 32 && bits != 64) || lanes_ < perExchange)
    return false;
  if (const unsigned known = unsigned(knownLanes().size()); known > 0 && known <= perExchange)
    return false;
  // Two short operations cost what an exchange of both does.
  if (by == UpdateBy::host ? bits == 64 && !isLong
                           : mask() && !context_.target.hasMaskedAccess(bits))
    return false;
  const Shape s = shapes_.shape(rmw.getPointerOperand());
  if (!s.hasOffsets())
    return false;
  for (unsigned l = 0; l < lanes_; ++l)
    if ((*s.offsets)[l] != (*s.offsets)[0] + int64_t(l) * (bits / 8))
      return false;
  return true;
}

/// The new values of a row that no other thread sees; gives the old ones.
llvm::Value *Accesses::updateWholeRow(const llvm::AtomicRMWInst &rmw, Value *row, UpdateBy by) {
  llvm::Type *type = wide(&rmw);
  if (!mask()) {
    Value *old = loadForUpdate(type, row, rmw.getAlign(), by);
    b_.CreateAlignedStore(next(rmw, row, old, vector(rmw.getValOperand())), row, rmw.getAlign());
    return old;
  }
  Value *old = b_.CreateMaskedLoad(type, row, rmw.getAlign(), mask());
  b_.CreateMaskedStore(next(rmw, row, old, vector(rmw.getValOperand())), row, rmw.getAlign(),
                       mask());
  return old;
}

/// The same of a row that others may update meanwhile.
llvm::Value *Accesses::exchangeRow(const llvm::AtomicRMWInst &rmw, Value *row) {
  llvm::Type *type = wide(&rmw), *i32 = b_.getInt32Ty(), *all = b_.getInt128Ty();
  const unsigned count = kExchanged * 8 / rmw.getType()->getScalarSizeInBits();
  llvm::Type *part = vec(rmw.getType(), count);
  const auto scratch = [&](const char *name) {
    llvm::AllocaInst *memory = entryAlloca(type, name);
    memory->setMetadata(kScratch, llvm::MDNode::get(b_.getContext(), {}));
    return memory;
  };
  llvm::AllocaInst *values = scratch("row.values"),
                   *found = rmw.use_empty() ? nullptr : scratch("row.found");
  b_.CreateStore(vector(rmw.getValOperand()), values);
  Value *active = mask() ? maskBits(mask()) : nullptr;

  Block *before = b_.GetInsertBlock(), *head = newBlock("row.part"), *first = newBlock("row.first"),
        *update = newBlock("row.update"), *updated = newBlock("row.updated"),
        *latch = newBlock("row.next"), *done = newBlock("row.done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode *lane = b_.CreatePHI(i32, 2, "row.lane");
  lane->addIncoming(b_.getInt32(0), before);
  Value *place = b_.CreateGEP(rmw.getType(), row, lane), *partMask = nullptr;
  if (active) {
    Value *bits = b_.CreateTrunc(b_.CreateLShr(active, lane), b_.getIntNTy(count));
    partMask = b_.CreateBitCast(bits, vec(b_.getInt1Ty(), count));
    b_.CreateCondBr(b_.CreateIsNull(bits), latch, first);
  } else {
    b_.CreateBr(first);
  }

  b_.SetInsertPoint(first);
  Value *value = b_.CreateLoad(part, b_.CreateGEP(rmw.getType(), values, lane));
  Value *atFirst = twoHalves(b_, place);
  b_.CreateBr(update);

  b_.SetInsertPoint(update);
  llvm::PHINode *seen = b_.CreatePHI(all, 2);
  seen->addIncoming(atFirst, first);
  Value *old = b_.CreateBitCast(seen, part), *wanted = next(rmw, row, old, value);
  if (partMask)
    wanted = b_.CreateSelect(partMask, wanted, old);
  Value *exchanged = b_.CreateAtomicCmpXchg(
      place, seen, b_.CreateBitCast(wanted, all), llvm::Align(kExchanged), rmw.getOrdering(),
      llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(rmw.getOrdering()));
  seen->addIncoming(b_.CreateExtractValue(exchanged, 0), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(exchanged, 1), updated, update,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1 << 10, 1));

  b_.SetInsertPoint(updated);
  if (found)
    b_.CreateStore(old, b_.CreateGEP(rmw.getType(), found, lane));
  b_.CreateBr(latch);

  b_.SetInsertPoint(latch);
  Value *following = b_.CreateAdd(lane, b_.getInt32(count));
  lane->addIncoming(following, latch);
  b_.CreateCondBr(b_.CreateICmpULT(following, b_.getInt32(lanes_)), head, done);
  b_.SetInsertPoint(done);
  return found ? b_.CreateLoad(type, found) : nullptr;
}

/// A row at once where it lies in one and can be exchanged, else `slowly`. Gives what was there, or
/// null where nobody asks.
llvm::Value *Accesses::updateRow(const llvm::AtomicRMWInst &rmw, UpdateBy by,
                                 llvm::function_ref<Value *()> slowly) {
  const Address a = address(rmw.getPointerOperand());
  Value *row = rowOf(a);
  const auto update = [&]() -> Value * {
    Value *old = by == UpdateBy::host ? exchangeRow(rmw, row) : updateWholeRow(rmw, row, by);
    return rmw.use_empty() ? nullptr : old;
  };
  Value *isNoRow = a.wraps;
  if (by == UpdateBy::host) {
    Value *beyond = b_.CreateAnd(b_.CreatePtrToInt(row, b_.getInt64Ty()), kExchanged - 1);
    Value *isAskew = b_.CreateIsNotNull(beyond);
    isNoRow = isNoRow ? b_.CreateOr(isNoRow, isAskew) : isAskew;
  }
  if (!isNoRow)
    return update();
  Block *slow = newBlock("row.slow"), *fast = newBlock("row.fast"), *done = newBlock("row.end");
  b_.CreateCondBr(isNoRow, slow, fast);
  return joined({slow, slowly}, {fast, update}, done);
}

} // namespace ptxrun::simt
