// Read-modify-write operations and fences.
//
// What needs the host's atomics is the table in intrinsics/memory_order.h. Lanes run one after the
// other in lane order. Lanes that all address one place without using the result are combined first
// where the result cannot differ (integer operations), or added up in one update (floats). Lanes
// that update places in a row do so together, as far as memory can be exchanged at once.
//
// What other launches could take part in is written twice:
//     Launch::isSole ? load, compute, store : the host's atomics
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include "translate/lower/canonical_nan.h"
#include "translate/lower/memory_order.h"
#include "translate/lower/vocabulary.h"
#include "translate/simt/accesses.h"

namespace ptxrun::simt {
namespace {

/// Integers of the same size, as many as there are.
llvm::Type *bitsOf(llvm::Type *type) {
  return type->getWithNewType(
      llvm::IntegerType::get(type->getContext(), type->getScalarSizeInBits()));
}

/// The lesser or greater number as min and max have it (9.7.4.9): -0 is less than +0, a number wins
/// over NaN, of two NaNs comes the canonical one. (What LLVM makes of fmin and fmax leaves the sign
/// of zero open.)
llvm::Value *extreme(llvm::IRBuilder<> &b, llvm::Value *old, llvm::Value *v, bool isMax) {
  const llvm::fltSemantics &format = v->getType()->getScalarType()->getFltSemantics();
  const unsigned width = v->getType()->getScalarSizeInBits();
  llvm::Type *bits = bitsOf(v->getType());
  auto constant = [&](const llvm::APInt &n) { return llvm::ConstantInt::get(bits, n); };
  llvm::Value *magnitude = constant(llvm::APInt::getSignedMaxValue(width));
  llvm::Value *infinity = constant(llvm::APFloat::getInf(format).bitcastToAPInt());
  llvm::Value *x = b.CreateBitCast(old, bits), *y = b.CreateBitCast(v, bits);
  auto isNan = [&](llvm::Value *n) { return b.CreateICmpUGT(b.CreateAnd(n, magnitude), infinity); };
  auto rank = [&](llvm::Value *n) { // signed integers in the order of the floats
    return b.CreateXor(n, b.CreateAnd(b.CreateAShr(n, width - 1), magnitude));
  };
  llvm::Value *isOldLess = b.CreateICmpSLT(rank(x), rank(y));
  llvm::Value *number = isMax ? b.CreateSelect(isOldLess, y, x) : b.CreateSelect(isOldLess, x, y);
  llvm::Value *other = b.CreateSelect(isNan(y), magnitude, y); // 0x7fff: the canonical NaN
  llvm::Value *r = b.CreateSelect(isNan(x), other, b.CreateSelect(isNan(y), x, number));
  return b.CreateBitCast(r, v->getType());
}

bool isExtreme(llvm::AtomicRMWInst::BinOp op) {
  return op == llvm::AtomicRMWInst::FMin || op == llvm::AtomicRMWInst::FMax;
}

bool hasOneNan(const llvm::Type &type, const CodeOptions &options) {
  return !type.getScalarType()->isDoubleTy() || options.hasOneDoubleNan;
}

/// old + v, or old and all of the vector v one after the other; of floats and halves with one NaN,
/// as all arithmetic (lower/canonical_nan.h). NaN stays NaN: it is enough to look at the end.
llvm::Value *sum(llvm::IRBuilder<> &b, llvm::Value *old, llvm::Value *v,
                 const CodeOptions &options) {
  llvm::Value *added =
      v->getType() == old->getType() ? b.CreateFAdd(old, v) : b.CreateFAddReduce(old, v);
  llvm::Type *type = added->getType();
  if (!hasOneNan(*type, options))
    return added;
  llvm::Type *bits = bitsOf(type);
  llvm::Value *canonical =
      llvm::ConstantInt::get(bits, lower::canonicalNanBits(type->getScalarSizeInBits()));
  return b.CreateBitCast(
      b.CreateSelect(b.CreateFCmpUNO(added, added), canonical, b.CreateBitCast(added, bits)), type);
}

bool isGlobalForCertain(const llvm::AtomicRMWInst &rmw) {
  return rmw.hasMetadata(lower::vocabulary::kAlwaysFlushes);
}

/// Additions flush subnormal numbers in memory that is not shared.
bool mayFlush(const llvm::AtomicRMWInst &rmw) {
  return isGlobalForCertain(rmw) || (rmw.hasMetadata(lower::vocabulary::kFlushes) &&
                                     rmw.getPointerAddressSpace() != lower::kShared);
}

bool hasOneNan(const llvm::AtomicRMWInst &rmw, const CodeOptions &options) {
  return rmw.getOperation() == llvm::AtomicRMWInst::FAdd && hasOneNan(*rmw.getType(), options);
}

/// The new value that a read-modify-write stores.
llvm::Value *combine(llvm::IRBuilder<> &b, const llvm::AtomicRMWInst &rmw, llvm::Value *old,
                     llvm::Value *v, const CodeOptions &options) {
  using A = llvm::AtomicRMWInst;
  switch (rmw.getOperation()) {
  case A::Xchg:
    return v;
  case A::Add:
    return b.CreateAdd(old, v);
  case A::Sub:
    return b.CreateSub(old, v);
  case A::And:
    return b.CreateAnd(old, v);
  case A::Nand:
    return b.CreateNot(b.CreateAnd(old, v));
  case A::Or:
    return b.CreateOr(old, v);
  case A::Xor:
    return b.CreateXor(old, v);
  case A::Max:
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, old, v);
  case A::Min:
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, old, v);
  case A::UMax:
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, old, v);
  case A::UMin:
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, old, v);
  case A::FAdd:
    return sum(b, old, v, options);
  case A::FSub:
    return b.CreateFSub(old, v);
  case A::FMax:
    return extreme(b, old, v, true);
  case A::FMin:
    return extreme(b, old, v, false);
  case A::UIncWrap:
    return b.CreateSelect(b.CreateICmpUGE(old, v), llvm::ConstantInt::get(old->getType(), 0),
                          b.CreateAdd(old, llvm::ConstantInt::get(old->getType(), 1)));
  case A::UDecWrap:
    return b.CreateSelect(b.CreateOr(b.CreateIsNull(old), b.CreateICmpUGT(old, v)), v,
                          b.CreateSub(old, llvm::ConstantInt::get(old->getType(), 1)));
  case A::BAD_BINOP:
    break;
  }
  llvm_unreachable("no read-modify-write operation");
}

/// Zero of the same sign where the float is subnormal.
llvm::Value *flushed(llvm::IRBuilder<> &b, llvm::Value *v) {
  llvm::Value *isSmall = b.CreateFCmpOLT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v),
                                         llvm::ConstantFP::get(v->getType(), 0x1p-126));
  return b.CreateSelect(isSmall,
                        b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                                llvm::ConstantFP::get(v->getType(), 0.0), v),
                        v);
}

/// Whether a place that has its new value already may be left alone: nobody can tell, where the
/// operation orders nothing.
bool mayBeLeftAlone(const llvm::AtomicRMWInst &rmw) {
  using A = llvm::AtomicRMWInst;
  const auto op = rmw.getOperation();
  const bool isMinOrMax =
      isExtreme(op) || op == A::Max || op == A::Min || op == A::UMax || op == A::UMin;
  return isMinOrMax && rmw.getOrdering() == llvm::AtomicOrdering::Monotonic;
}

/// More than an instruction or two on the host: a loop around a compare and swap. It stands in a
/// loop over lanes, which costs a third as much again; written out for 32 lanes, three of them
/// double the time of compilation.
bool isLong(const llvm::AtomicRMWInst &rmw) {
  switch (rmw.getOperation()) {
  case llvm::AtomicRMWInst::Xchg:
  case llvm::AtomicRMWInst::Add:
  case llvm::AtomicRMWInst::Sub:
    return false;
  case llvm::AtomicRMWInst::And:
  case llvm::AtomicRMWInst::Or:
  case llvm::AtomicRMWInst::Xor:
    return !rmw.use_empty();
  default:
    return true;
  }
}

/// The reduction of all lanes that a single operation can stand for; null where the order shows.
llvm::Value *reduce(llvm::IRBuilder<> &b, llvm::AtomicRMWInst::BinOp op, llvm::Value *v,
                    llvm::Value *mask) {
  using A = llvm::AtomicRMWInst;
  auto *type = llvm::cast<llvm::FixedVectorType>(v->getType());
  if (!type->getElementType()->isIntegerTy())
    return nullptr;
  const unsigned bits = type->getScalarSizeInBits();
  auto neutral = [&](llvm::APInt n) {
    return mask ? b.CreateSelect(mask, v, llvm::ConstantInt::get(type, n)) : v;
  };
  switch (op) {
  case A::Add:
    return b.CreateAddReduce(neutral(llvm::APInt(bits, 0)));
  case A::Or:
    return b.CreateOrReduce(neutral(llvm::APInt(bits, 0)));
  case A::Xor:
    return b.CreateXorReduce(neutral(llvm::APInt(bits, 0)));
  case A::And:
    return b.CreateAndReduce(neutral(llvm::APInt::getAllOnes(bits)));
  case A::Max:
    return b.CreateIntMaxReduce(neutral(llvm::APInt::getSignedMinValue(bits)), true);
  case A::Min:
    return b.CreateIntMinReduce(neutral(llvm::APInt::getSignedMaxValue(bits)), true);
  case A::UMax:
    return b.CreateIntMaxReduce(neutral(llvm::APInt(bits, 0)), false);
  case A::UMin:
    return b.CreateIntMinReduce(neutral(llvm::APInt::getAllOnes(bits)), false);
  default:
    return nullptr;
  }
}

} // namespace

/// What an atomic operation of one thread at a time replaces. Where other code than the gang's may
/// come in between (gangs in lockstep), the load stays where it is and is one of its own: volatile.
llvm::Value *Accesses::loadForUpdate(llvm::Type *type, Value *p, llvm::Align align,
                                     UpdateBy update) {
  llvm::LoadInst *old = b_.CreateAlignedLoad(type, p, align, update == UpdateBy::soleLaunch);
  old->setMetadata(kUpdate, llvm::MDNode::get(b_.getContext(), {}));
  return old;
}

/// Puts `wanted` where `seen` has been and goes on to `done`; back to `again`, where `seen` begins,
/// if something else is there by now.
void Accesses::exchangeUnless(const llvm::AtomicRMWInst &rmw, Value *p, llvm::PHINode *seen,
                              Value *wanted, Block *again, Block *done) {
  wanted = b_.CreateBitCast(wanted, seen->getType());
  if (mayBeLeftAlone(rmw)) {
    Block *exchange = newBlock("exchange");
    b_.CreateCondBr(b_.CreateICmpEQ(wanted, seen), done, exchange);
    b_.SetInsertPoint(exchange);
  }
  Value *exchanged = b_.CreateAtomicCmpXchg(
      p, seen, wanted, rmw.getAlign(), rmw.getOrdering(),
      llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(rmw.getOrdering()));
  seen->addIncoming(b_.CreateExtractValue(exchanged, 0), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(exchanged, 1), done, again);
}

// What the host has no instruction for:
//     old = load; do { seen = old; old = cmpxchg(p, seen, next(seen)) } while (old != seen)
// without an exchange where that changes nothing.
llvm::Value *Accesses::updateInLoop(const llvm::AtomicRMWInst &rmw, Value *p, UpdateBy update,
                                    llvm::function_ref<Value *(Value *)> next) {
  const llvm::Align align = rmw.getAlign();
  if (update != UpdateBy::host) {
    Value *old = loadForUpdate(rmw.getType(), p, align, update);
    b_.CreateAlignedStore(next(old), p, align);
    return old;
  }
  llvm::Type *bits = b_.getIntNTy(rmw.getType()->getPrimitiveSizeInBits());
  llvm::LoadInst *first = b_.CreateAlignedLoad(bits, p, align);
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  Block *before = b_.GetInsertBlock(), *loop = newBlock("update"), *done = newBlock("updated");
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode *seen = b_.CreatePHI(bits, 2);
  seen->addIncoming(first, before);
  Value *old = b_.CreateBitCast(seen, rmw.getType());
  exchangeUnless(rmw, p, seen, next(old), loop, done);
  b_.SetInsertPoint(done);
  return old;
}

// Through a generic address the memory may be shared, where nothing is flushed. `p` may be a
// vector.
std::function<llvm::Value *(llvm::Value *)> Accesses::flushAt(const llvm::AtomicRMWInst &rmw,
                                                              Value *p) {
  Value *mayFlush = b_.getTrue();
  if (!isGlobalForCertain(rmw) && rmw.getPointerAddressSpace() == lower::kGeneric) {
    Value *shared = b_.CreatePtrToInt(sharedBase(), b_.getInt64Ty());
    llvm::Type *type = p->getType()->getWithNewType(b_.getInt64Ty());
    if (p->getType()->isVectorTy())
      shared = b_.CreateVectorSplat(lanes_, shared);
    mayFlush =
        b_.CreateICmpUGE(b_.CreateSub(b_.CreatePtrToInt(p, type), shared),
                         llvm::ConstantInt::get(type, uint64_t(16) << abi::kSharedWindowShift));
  }
  return [this, mayFlush](Value *x) { return b_.CreateSelect(mayFlush, flushed(b_, x), x); };
}

llvm::Value *Accesses::placesOfAll(const Places &places) {
  if (!places.base)
    return places.index;
  Value *offsets = b_.CreateSExt(places.index, vec(b_.getInt64Ty(), lanes_));
  return b_.CreateGEP(b_.getInt8Ty(), places.base, offsets);
}

/// Whether values of all lanes' places are to be had by one instruction for each register.
bool Accesses::areGathered(const llvm::Type &type) const {
  const unsigned bits = unsigned(type.getPrimitiveSizeInBits().getFixedValue());
  return !type.isVectorTy() && context_.target.gathers(bits);
}

/// What lanes find at their places, and make of it, all at once; each exchange tells whether it is
/// still there. Nothing where gathering is no instruction.
std::optional<Accesses::Ahead> Accesses::updateAhead(const llvm::AtomicRMWInst &rmw,
                                                     const Places &places) {
  llvm::Type *type = wide(&rmw);
  if (!areGathered(*rmw.getType()))
    return std::nullopt;
  Value *each = placesOfAll(places);
  Value *seen = b_.CreateMaskedGather(type, each, rmw.getAlign(), fullMask(),
                                      llvm::Constant::getNullValue(type));
  Value *value = b_.CreateFreeze(vector(rmw.getValOperand()));
  Value *wanted = next(rmw, each, seen, value);
  return Ahead{b_.CreateBitCast(seen, bitsOf(type)), b_.CreateBitCast(wanted, bitsOf(type))};
}

/// What lanes find, where that says that none of them has anything to exchange; else lane by lane:
///     found = gather(places)
///     old = any active lane of (compare and swap: found == expected, minimum or maximum: it
///           changes what is found) ? byLane() : found
/// It comes out as in the order of lanes.
llvm::Value *Accesses::unlessAllAreDone(const llvm::Instruction &i, const Places &places,
                                        llvm::function_ref<Value *()> byLane) {
  Value *found, *who;
  auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i);
  if (cas) {
    llvm::Type *type = vec(plain(cas->getCompareOperand()), lanes_);
    found = b_.CreateMaskedGather(type, placesOfAll(places), cas->getAlign(), fullMask(),
                                  llvm::Constant::getNullValue(type));
    who = b_.CreateICmpEQ(found, b_.CreateFreeze(vector(cas->getCompareOperand())));
  } else {
    const Ahead ahead = *updateAhead(llvm::cast<llvm::AtomicRMWInst>(i), places);
    found = b_.CreateBitCast(ahead.seen, wide(&i));
    who = b_.CreateICmpNE(ahead.seen, ahead.wanted);
  }
  Block *some = newBlock("found.some"), *none = newBlock("found.none"),
        *done = newBlock("found.done");
  b_.CreateCondBr(anyLane(b_.CreateAnd(fullMask(), who)), some, none);
  const auto asFound = [&]() -> Value * {
    if (!cas)
      return found;
    Value *result = b_.CreateInsertValue(llvm::PoisonValue::get(wide(&i)), found, 0);
    return b_.CreateInsertValue(result, llvm::Constant::getNullValue(vec(b_.getInt1Ty(), lanes_)),
                                1);
  };
  return joined({some, byLane}, {none, asFound}, done);
}

/// Lanes on end that update one place, and what they update it by; in memory, an element for each
/// lane.
struct Accesses::UpdatedRuns {
  llvm::AllocaInst *indices, *values;
  /// What those by themselves find and leave there; null where that is not found out ahead.
  llvm::AllocaInst *seenAhead = nullptr, *wantedAhead = nullptr;
  Value *active; ///< lanes that update, a bit for each
  Value *same;   ///< those whose place is that of the lane before, which updates, too
};

Accesses::UpdatedRuns Accesses::updatedRuns(const llvm::AtomicRMWInst &rmw, const Places &places) {
  const auto inMemory = [&](Value *v, const char *name) {
    llvm::AllocaInst *memory = entryAlloca(v->getType(), name);
    memory->setMetadata(kScratch, llvm::MDNode::get(b_.getContext(), {}));
    b_.CreateStore(v, memory);
    return memory;
  };
  UpdatedRuns runs;
  Value *index = b_.CreateFreeze(places.index);
  runs.indices = inMemory(index, "run.places");
  runs.values = inMemory(vector(rmw.getValOperand()), "run.values");
  llvm::SmallVector<int> before{0};
  for (unsigned l = 1; l < lanes_; ++l)
    before.push_back(int(l) - 1);
  Value *isSame = b_.CreateICmpEQ(index, b_.CreateShuffleVector(index, before));
  Value *lanesToUpdate = fullMask();
  if (const std::optional<Ahead> ahead = updateAhead(rmw, places)) {
    runs.seenAhead = inMemory(ahead->seen, "run.seen");
    runs.wantedAhead = inMemory(ahead->wanted, "run.wanted");
    if (mayBeLeftAlone(rmw))
      lanesToUpdate = b_.CreateAnd(lanesToUpdate, b_.CreateICmpNE(ahead->seen, ahead->wanted));
  }
  llvm::Type *i64 = b_.getInt64Ty();
  runs.active = b_.CreateZExt(maskBits(lanesToUpdate), i64);
  runs.same = b_.CreateAnd(b_.CreateZExt(maskBits(isSame), i64),
                           b_.CreateAnd(runs.active, b_.CreateShl(runs.active, 1)));
  return runs;
}

/// Lanes that follow each other in the gang and update one place do so in one exchange, in their
/// order (rows of a sparse matrix, sorted keys): nobody comes in between, which is one of the
/// orders. Those by themselves exchange what has been found out for all lanes together, so that
/// they do not wait for each other's loads.
///     same = the active lanes whose place is that of the lane before, which is active
///     for (lane = 0; there are active lanes from `lane` on;)
///       first = lane = the first of them
///       if (same has no lane + 1 and (old = cmpxchg(place[first], ahead)) is as expected)
///         continue with the next
///       old = load place[first]
///       do { x = seen = old; lane = first
///            do x = next(x, value[lane]); while (same has ++lane)
///       } while ((old = cmpxchg(place[first], seen, x)) != seen)
void Accesses::updateInRuns(const llvm::AtomicRMWInst &rmw, const Places &places) {
  llvm::Type *type = rmw.getType(), *bits = bitsOf(type), *i64 = b_.getInt64Ty();
  const auto loadOf = [&](llvm::Type *element, Value *memory, Value *lane) {
    return b_.CreateLoad(element, b_.CreateGEP(element, memory, lane));
  };
  llvm::Type *indexType = places.index->getType()->getScalarType();
  const UpdatedRuns runs = updatedRuns(rmw, places);
  Block *entry = b_.GetInsertBlock(), *run = newBlock("run"),
        *alone = runs.seenAhead ? newBlock("run.alone") : nullptr, *load = newBlock("run.load"),
        *update = newBlock("run.update"), *lanes = newBlock("run.lanes"),
        *exchange = newBlock("run.exchange"), *latch = newBlock("run.next"),
        *done = newBlock("run.done");
  b_.CreateCondBr(b_.CreateIsNotNull(runs.active), run, done);

  b_.SetInsertPoint(run);
  llvm::PHINode *left = b_.CreatePHI(i64, 2, "lanes.left");
  left->addIncoming(runs.active, entry);
  Value *first = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {i64}, {left, b_.getTrue()});
  Value *second = b_.CreateAdd(first, b_.getInt64(1));
  Value *place = placeAt(places, loadOf(indexType, runs.indices, first));
  const auto isInRun = [&](Value *lane) {
    return b_.CreateTrunc(b_.CreateLShr(runs.same, lane), b_.getInt1Ty());
  };
  llvm::PHINode *seen = llvm::PHINode::Create(bits, 3, "", update);
  if (alone) {
    b_.CreateCondBr(isInRun(second), load, alone);
    b_.SetInsertPoint(alone);
    Value *exchanged = b_.CreateAtomicCmpXchg(
        place, loadOf(bits, runs.seenAhead, first), loadOf(bits, runs.wantedAhead, first),
        rmw.getAlign(), rmw.getOrdering(),
        llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(rmw.getOrdering()));
    seen->addIncoming(b_.CreateExtractValue(exchanged, 0), alone);
    b_.CreateCondBr(b_.CreateExtractValue(exchanged, 1), latch, update);
  } else {
    b_.CreateBr(load);
  }

  b_.SetInsertPoint(load);
  llvm::LoadInst *atFirst = b_.CreateAlignedLoad(bits, place, rmw.getAlign());
  atFirst->setAtomic(llvm::AtomicOrdering::Monotonic);
  seen->addIncoming(atFirst, load);
  b_.CreateBr(update);

  b_.SetInsertPoint(update);
  Value *old = b_.CreateBitCast(seen, type);
  b_.CreateBr(lanes);

  b_.SetInsertPoint(lanes);
  llvm::PHINode *lane = b_.CreatePHI(i64, 2, "lane"), *soFar = b_.CreatePHI(type, 2);
  lane->addIncoming(first, update);
  soFar->addIncoming(old, update);
  Value *wanted = next(rmw, place, soFar, loadOf(type, runs.values, lane));
  Value *behind = b_.CreateAdd(lane, b_.getInt64(1));
  lane->addIncoming(behind, b_.GetInsertBlock());
  soFar->addIncoming(wanted, b_.GetInsertBlock());
  b_.CreateCondBr(isInRun(behind), lanes, exchange);

  b_.SetInsertPoint(exchange);
  exchangeUnless(rmw, place, seen, wanted, update, latch);

  b_.SetInsertPoint(latch);
  llvm::PHINode *following = b_.CreatePHI(i64, 3);
  for (Block *from : llvm::predecessors(latch))
    following->addIncoming(from == alone ? second : behind, from);
  Value *rest = b_.CreateAnd(left, b_.CreateShl(b_.getInt64(~uint64_t(0)), following));
  left->addIncoming(rest, latch);
  b_.CreateCondBr(b_.CreateIsNotNull(rest), run, done);
  b_.SetInsertPoint(done);
}

/// What the operation at `p` makes of what is there and an operand, both scalars or both vectors;
/// of additions that flush also of one scalar and all of a vector, one after the other.
///
///     added = old + v
///     all of added are zero or at least 2^-100 ? added : flush(flush(old) + flush(v))
///
/// It comes to the same: behind a sum of 2^-100 stands at most one subnormal number, and that is
/// less than half of the other's last bit; of sums that are zero both numbers are subnormal or
/// neither is. Comparisons with NaN are false.
llvm::Value *Accesses::next(const llvm::AtomicRMWInst &rmw, Value *p, Value *old, Value *v) {
  if (!mayFlush(rmw))
    return combine(b_, rmw, old, v, context_.options);
  const bool isOneAfterTheOther = v->getType() != old->getType();
  llvm::SmallVector<Value *> addends{v};
  if (isOneAfterTheOther) {
    addends.clear();
    for (unsigned l = 0; l < llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements(); ++l)
      addends.push_back(b_.CreateExtractElement(v, l));
  }
  const auto exactly = [&] {
    const auto flush = flushAt(rmw, p);
    Value *soFar = flush(old);
    for (Value *addend : addends)
      soFar = flush(sum(b_, soFar, flush(addend), context_.options));
    return soFar;
  };
  if (isBaseline())
    return exactly();
  Value *added = old, *isRare = nullptr;
  for (Value *addend : addends) {
    added = b_.CreateFAdd(added, addend);
    Value *seen = b_.CreateFreeze(added); // of lanes that are not active: anything
    Value *isSmall = b_.CreateFCmpULT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, seen),
                                      llvm::ConstantFP::get(seen->getType(), 0x1p-100));
    Value *isRareHere = b_.CreateAnd(
        isSmall, b_.CreateFCmpUNE(seen, llvm::Constant::getNullValue(seen->getType())));
    isRare = isRare ? b_.CreateOr(isRare, isRareHere) : isRareHere;
  }
  if (added->getType()->isVectorTy())
    isRare = b_.CreateOrReduce(isRare);
  Block *rare = newBlock("sum.rare"), *usual = newBlock("sum.usual"), *done = newBlock("sum.done");
  b_.CreateCondBr(isRare, rare, usual,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1 << 20));
  return joined({rare, exactly}, {usual, [&] { return added; }}, done);
}

/// Whether lanes, not known to be few, add numbers to one place, which can be one update: nobody
/// comes in between.
bool Accesses::areAddedUp(const llvm::AtomicRMWInst &rmw) {
  llvm::Type *type = rmw.getType();
  return rmw.getOperation() == llvm::AtomicRMWInst::FAdd && rmw.use_empty() &&
         (type->isFloatTy() || type->isDoubleTy()) && shapes_.isUniform(rmw.getPointerOperand()) &&
         knownLanes().empty() && !isBaseline();
}

/// All lanes in one update, where many are active; else `addSome`.
void Accesses::addUp(const llvm::AtomicRMWInst &rmw, Value *addends,
                     llvm::function_ref<void(Value *)> add, llvm::function_ref<Value *()> addSome) {
  if (!mask()) {
    add(addends);
    return;
  }
  const auto addAll = [&]() -> Value * { // -0 changes no sum
    Value *nothing = llvm::ConstantFP::getNegativeZero(wide(rmw.getValOperand()));
    add(b_.CreateSelect(mask(), addends, nothing));
    return nullptr;
  };
  whereDense(addAll, addSome);
}

/// What the active lanes below each lane have of `value`, together; and what all have.
std::pair<llvm::Value *, llvm::Value *> Accesses::addedBefore(const Value *value) {
  llvm::Type *type = plain(value), *wideType = wide(value);
  if (shapes_.isUniform(value)) {
    llvm::SmallVector<llvm::Constant *> below;
    for (unsigned l = 0; l < lanes_; ++l)
      below.push_back(b_.getInt32(uint32_t((uint64_t(1) << l) - 1)));
    Value *bits = maskBits(fullMask());
    Value *lanesBelow = b_.CreateUnaryIntrinsic(
        llvm::Intrinsic::ctpop,
        b_.CreateAnd(b_.CreateVectorSplat(lanes_, bits), llvm::ConstantVector::get(below)));
    Value *active = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
    return {b_.CreateMul(b_.CreateZExtOrTrunc(lanesBelow, wideType), vector(value)),
            b_.CreateMul(b_.CreateZExtOrTrunc(active, type), base(value))};
  }
  Value *none = llvm::Constant::getNullValue(wideType);
  Value *own = mask() ? b_.CreateSelect(mask(), vector(value), none) : vector(value);
  Value *upTo = own; // of 2 lanes, 4, 8, ...
  for (unsigned distance = 1; distance < lanes_; distance *= 2) {
    llvm::SmallVector<int> order;
    for (unsigned l = 0; l < lanes_; ++l)
      order.push_back(l < distance ? int(lanes_) : int(l - distance));
    upTo = b_.CreateAdd(upTo, b_.CreateShuffleVector(upTo, none, order));
  }
  return {b_.CreateSub(upTo, own), b_.CreateExtractElement(upTo, lanes_ - 1)};
}

Accesses::Places Accesses::placesOf(const Value *pointer) {
  Address a = address(pointer);
  if (a.wraps)
    return {nullptr, exactPointers(pointer)};
  if (!a.base || !a.index)
    return {nullptr, pointers(a)};
  auto *extended = llvm::dyn_cast<llvm::SExtInst>(a.index);
  return {a.base, extended ? extended->getOperand(0) : a.index};
}

llvm::Value *Accesses::placeAt(const Places &places, Value *index) {
  if (!places.base)
    return index;
  return b_.CreateGEP(b_.getInt8Ty(), places.base, b_.CreateSExt(index, b_.getInt64Ty()));
}

/// The same, but `nowhere` for lanes that are not active.
llvm::Value *Accesses::indexOrNowhere(const Places &places, Value *nowhere) {
  if (!places.base)
    return b_.CreateSelect(mask(), places.index, b_.CreateVectorSplat(lanes_, nowhere));
  Value *elsewhere = b_.CreatePtrDiff(b_.getInt8Ty(), nowhere, places.base);
  return b_.CreateSelect(mask(), b_.CreateSExt(places.index, vec(b_.getInt64Ty(), lanes_)),
                         b_.CreateVectorSplat(lanes_, elsewhere));
}

/// One way where many lanes are active, the other where few are.
void Accesses::whereDense(llvm::function_ref<Value *()> ofMany,
                          llvm::function_ref<Value *()> ofFew) {
  Block *dense = newBlock("atomic.dense"), *sparse = newBlock("atomic.sparse"),
        *done = newBlock("atomic.done");
  Value *active = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, maskBits(mask()));
  b_.CreateCondBr(b_.CreateICmpUGE(active, b_.getInt32(lanes_ / kLimits.atomics.dense)), dense,
                  sparse);
  joined({dense, ofMany}, {sparse, ofFew}, done);
}

/// Where most lanes are active, for all of them, those that are not somewhere else.
void Accesses::updateDenseOrSparse(const Places &places, Value *values, llvm::Type *type,
                                   LaneBody update) {
  const auto updateAll = [&]() -> Value * {
    llvm::AllocaInst *nowhere = entryAlloca(type, "nowhere");
    laneByLane({indexOrNowhere(places, nowhere), values}, b_.getVoidTy(), update,
               {.doesUpdate = true, .areAllActive = true});
    return nullptr;
  };
  const auto updateSome = [&]() -> Value * {
    laneByLane({places.index, values}, b_.getVoidTy(), update, {.doesUpdate = true});
    return nullptr;
  };
  whereDense(updateAll, updateSome);
}

/// Whether what lanes find may tell that an operation, whose results are wanted, changes nothing.
bool Accesses::mayAllBeDone(const llvm::Instruction &i, const Value *pointer, const Value *value) {
  auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i);
  const bool isTold = cas ? cas->getSuccessOrdering() == llvm::AtomicOrdering::Monotonic &&
                                cas->getFailureOrdering() == llvm::AtomicOrdering::Monotonic
                          : mayBeLeftAlone(llvm::cast<llvm::AtomicRMWInst>(i));
  return isTold && areGathered(*plain(value)) && !shapes_.isUniform(pointer) &&
         knownLanes().empty() && !isBaseline();
}

/// Who may come in between the load and the store of an update.
Accesses::UpdateBy Accesses::updateBy(llvm::SyncScope::ID scope, const Value *pointer) {
  llvm::LLVMContext &c = b_.getContext();
  if (lower::staysOnOneThread(c, scope, pointer->getType()->getPointerAddressSpace()))
    return UpdateBy::oneThread;
  if (!lower::staysOnDevice(c, scope))
    return UpdateBy::host;
  context_.hasDeviceUpdates = true;
  const bool isOnceMore =
      context_.passes.isOn(Pass::soleUpdates) && !isBaseline() && !context_.options.isWatched;
  return isOnceMore ? UpdateBy::soleLaunch : UpdateBy::host;
}

/// Asked anew for each operation: it may have changed since. Gangs in lockstep take it for a choice
/// of each one's, and pass what follows one after the other.
llvm::Value *Accesses::isSoleLaunch() {
  auto *flag = llvm::cast<llvm::LoadInst>(
      field(kLaunch, offsetof(abi::Launch, isSole), b_.getInt32Ty(), /*isInvariant=*/false));
  flag->setAtomic(llvm::AtomicOrdering::Monotonic);
  return b_.CreateIsNotNull(flag);
}

void Accesses::emitAtomic(const llvm::Instruction &i) {
  auto *rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&i);
  auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i);
  const Value *pointer = rmw ? rmw->getPointerOperand() : cas->getPointerOperand();
  const UpdateBy by = updateBy(rmw ? rmw->getSyncScopeID() : cas->getSyncScopeID(), pointer);
  context_.hasPlainUpdates |= by == UpdateBy::oneThread;
  Value *old;
  if (by == UpdateBy::soleLaunch) {
    for (const Value *operand : i.operands()) // both ways take them from here
      if (lanes_ > 1 && shapes_.shape(operand).isVarying())
        vector(operand);
    Block *sole = newBlock("atomic.sole"), *others = newBlock("atomic.host"),
          *done = newBlock("atomic.either");
    b_.CreateCondBr(isSoleLaunch(), sole, others);
    const bool wasOff = std::exchange(isOffMainLine_, true);
    old = joined({sole, [&] { return update(i, UpdateBy::soleLaunch); }},
                 {others, [&] { return update(i, UpdateBy::host); }}, done);
    isOffMainLine_ = wasOff;
  } else {
    old = update(i, by);
  }
  if (old)
    define(i, old);
}

/// The update of all active lanes; gives what they have found, or null where nobody asks.
llvm::Value *Accesses::update(const llvm::Instruction &i, UpdateBy by) {
  auto *rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&i);
  auto *cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i);
  const Value *pointer = rmw ? rmw->getPointerOperand() : cas->getPointerOperand();
  const Value *value = rmw ? rmw->getValOperand() : cas->getNewValOperand();
  const llvm::Align align = rmw ? rmw->getAlign() : cas->getAlign();
  const bool isByHost = by == UpdateBy::host;
  auto one = [&](Value *p, Value *v, Value *expected) -> Value * {
    if (rmw) {
      if (isByHost && !mayFlush(*rmw) && !isExtreme(rmw->getOperation()) && !mayBeLeftAlone(*rmw) &&
          !hasOneNan(*rmw, context_.options) && v->getType() == rmw->getType())
        return b_.CreateAtomicRMW(rmw->getOperation(), p, v, align, rmw->getOrdering());
      return updateInLoop(*rmw, p, by, [&](Value *old) { return next(*rmw, p, old, v); });
    }
    if (isByHost)
      return b_.CreateAtomicCmpXchg(p, expected, v, align, cas->getSuccessOrdering(),
                                    cas->getFailureOrdering());
    Value *old = loadForUpdate(v->getType(), p, align, by);
    Value *isEqual = b_.CreateICmpEQ(old, expected);
    b_.CreateAlignedStore(b_.CreateSelect(isEqual, v, old), p, align);
    Value *result = b_.CreateInsertValue(llvm::PoisonValue::get(plain(&i)), old, 0);
    return b_.CreateInsertValue(result, isEqual, 1);
  };
  const auto ifAsked = [&](Value *old) { return i.use_empty() ? nullptr : old; };
  if (lanes_ == 1)
    return ifAsked(
        one(hostPointer(pointer), base(value), cas ? base(cas->getCompareOperand()) : nullptr));
  if (rmw && i.use_empty() && shapes_.isUniform(pointer)) {
    if (Value *sum = reduce(b_, rmw->getOperation(), vector(value), mask())) {
      one(hostPointer(pointer), sum, nullptr);
      return nullptr;
    }
  }
  if (rmw && rmw->getOperation() == llvm::AtomicRMWInst::Add && shapes_.isUniform(pointer)) {
    // All lanes count up one place: a single operation of all they add, and each has found there
    // what the lanes before it have left. Nobody came in between, which is one of the orders.
    auto [before, sum] = addedBefore(value);
    Value *old = one(hostPointer(pointer), sum, nullptr);
    return ifAsked(b_.CreateAdd(b_.CreateVectorSplat(lanes_, old), before));
  }
  Places places = placesOf(pointer);
  llvm::SmallVector<Value *> operands{places.index, vector(value)};
  if (cas)
    operands.push_back(vector(cas->getCompareOperand()));
  auto updateOne = [&](llvm::ArrayRef<Value *> v, Value *) {
    return one(placeAt(places, v[0]), v[1], cas ? v[2] : nullptr);
  };
  const auto byLane = [&](bool isLong) -> Value * {
    return ifAsked(laneByLane(operands, i.use_empty() ? b_.getVoidTy() : plain(&i), updateOne,
                              {.isLong = isLong, .doesUpdate = !isByHost}));
  };
  if (rmw && areAddedUp(*rmw)) {
    addUp(
        *rmw, operands[1], [&](Value *all) { one(hostPointer(pointer), all, nullptr); },
        [&] { return byLane(false); });
    return nullptr;
  }
  if (rmw && isRowUpdate(*rmw, by, isLong(*rmw)))
    return updateRow(*rmw, by, [&] { return byLane(true); });
  if (rmw && isByHost && i.use_empty() && isLong(*rmw) && !shapes_.isUniform(pointer) &&
      !plain(value)->isVectorTy() && knownLanes().empty() && !isBaseline()) {
    updateInRuns(*rmw, places);
    return nullptr;
  }
  if (isByHost && mayAllBeDone(i, pointer, value))
    return unlessAllAreDone(i, places, [&] { return byLane(rmw != nullptr); });
  if (rmw && by == UpdateBy::oneThread && i.use_empty() && mask() &&
      lanes_ > kLimits.atomics.denseFrom && !isBaseline()) {
    updateDenseOrSparse(places, operands[1], plain(value), updateOne);
    return nullptr;
  }
  return byLane(rmw && isLong(*rmw) && by != UpdateBy::oneThread);
}

// Code that updates memory lane by lane takes its operands from memory, some lanes ahead. A move
// out of a vector register to another kind between two updates costs 14 cycles on Zen 4 (4.7 ns an
// update, 1.8 where eight moves come first, 0.4 by way of memory; elsewhere there is no
// difference).

/// Whether taking one lane of it is a move from a vector register to one of another kind.
bool Accesses::isTakenFromRegister(const Value *v) const {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return type && type->getNumElements() == lanes_ && !type->getElementType()->isFloatingPointTy() &&
         type->getScalarSizeInBits() <= 64 && !llvm::isa<llvm::Constant>(v) &&
         !llvm::getSplatValue(v);
}

/// Vectors whose lanes are to be taken one by one; what would be moved from its register lies in
/// memory with `doSpill`; the first of them is then an index of addresses, taken as 64 bits: each
/// address gets registers of its own (Zen 4 expects the same place behind the same registers).
llvm::SmallVector<Accesses::LaneScalars> Accesses::laneScalars(llvm::ArrayRef<Value *> operands,
                                                               bool doSpill) {
  llvm::SmallVector<LaneScalars> r;
  for (Value *v : operands) {
    llvm::AllocaInst *memory = nullptr;
    if (doSpill && isTakenFromRegister(v)) {
      memory = laneMemory(v->getType(), unsigned(r.size()));
      b_.CreateStore(v, memory, true);
    }
    r.push_back({v, memory, r.empty() && v->getType()->isIntOrIntVectorTy()});
  }
  return r;
}

/// For the lanes of an operand (its number), or of a result (its number's complement).
llvm::AllocaInst *Accesses::laneMemory(llvm::Type *type, unsigned of) {
  llvm::AllocaInst *&known = spills_[{type, of}];
  if (!known) {
    known = entryAlloca(type, "lanes");
    known->setMetadata(kScratch, llvm::MDNode::get(b_.getContext(), {}));
  }
  return known;
}

/// scalars[operand][lane] of `count` lanes from `first` on. What comes from memory is in registers
/// before any of it is used.
std::vector<llvm::SmallVector<llvm::Value *>>
Accesses::takenTogether(llvm::ArrayRef<LaneScalars> operands, unsigned first, unsigned count) {
  std::vector<llvm::SmallVector<Value *>> scalars(operands.size());
  llvm::SmallVector<Value **> loaded;
  for (size_t k = 0; k < operands.size(); ++k)
    for (unsigned l = first; l < first + count; ++l)
      scalars[k].push_back(scalarAt(operands[k], b_.getInt32(l)));
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k].memory)
      for (Value *&v : scalars[k])
        loaded.push_back(&v);
  if (loaded.empty())
    return scalars;
  std::string outputs, inputs;
  llvm::SmallVector<llvm::Type *> types;
  llvm::SmallVector<Value *> values;
  for (Value **v : loaded) {
    outputs += "=r,";
    inputs += (types.empty() ? "" : ",") + std::to_string(types.size());
    types.push_back((*v)->getType());
    values.push_back(*v);
  }
  auto *type = llvm::FunctionType::get(llvm::StructType::get(b_.getContext(), types), types, false);
  Value *all = b_.CreateCall(llvm::InlineAsm::get(type, "", outputs + inputs, false), values);
  for (unsigned k = 0; k < loaded.size(); ++k)
    *loaded[k] = b_.CreateExtractValue(all, k);
  return scalars;
}

llvm::Value *Accesses::scalarAt(const LaneScalars &of, Value *lane) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(of.vector->getType());
  if (!type)
    return of.vector; // uniform
  if (of.memory) {    // volatile: LLVM would make a move from the register of it again
    Value *scalar =
        b_.CreateLoad(type->getElementType(),
                      b_.CreateInBoundsGEP(type->getElementType(), of.memory, lane), true);
    return of.isIndex ? b_.CreateSExt(scalar, b_.getInt64Ty()) : scalar;
  }
  if (type->getNumElements() == lanes_)
    return b_.CreateExtractElement(of.vector, lane);
  const unsigned n = type->getNumElements() / lanes_;
  Value *r = llvm::PoisonValue::get(vec(type->getElementType(), n));
  for (unsigned k = 0; k < n; ++k)
    r = b_.CreateInsertElement(
        r,
        b_.CreateExtractElement(of.vector,
                                b_.CreateAdd(b_.CreateMul(lane, b_.getInt32(n)), b_.getInt32(k))),
        k);
  return r;
}

/// Runs `body` once per active lane, in lane order, on that lane's scalars; gathers its results. It
/// is written out for each lane where all are active, or which are is known, and it is not long,
/// else (and in baseline code) a loop runs over the set bits of the mask.
llvm::Value *
Accesses::laneByLane(llvm::ArrayRef<Value *> operands, llvm::Type *result,
                     llvm::function_ref<Value *(llvm::ArrayRef<Value *>, Value *)> body,
                     LaneByLane how) {
  const bool hasResult = !result->isVoidTy();
  auto *structure = llvm::dyn_cast<llvm::StructType>(result);
  auto insert = [&](Value *into, Value *v, Value *lane) -> Value * {
    if (!structure)
      return b_.CreateInsertElement(into, v, lane);
    for (unsigned k = 0; k < structure->getNumElements(); ++k)
      into = b_.CreateInsertValue(
          into,
          b_.CreateInsertElement(b_.CreateExtractValue(into, k), b_.CreateExtractValue(v, k), lane),
          k);
    return into;
  };
  Value *none = hasResult ? llvm::PoisonValue::get(widenType(result, lanes_)) : nullptr;
  const llvm::SmallVector<LaneScalars> all = laneScalars(operands, how.doesUpdate);
  if ((!mask() || how.areAllActive) && !how.isLong && !isBaseline()) {
    const auto fromMemory =
        unsigned(llvm::count_if(all, [](const LaneScalars &of) { return of.memory; }));
    const unsigned ahead =
        fromMemory ? std::min(llvm::bit_floor(kLimits.atomics.registers / fromMemory), lanes_) : 1;
    Value *gathered = none;
    for (unsigned l = 0; l < lanes_; l += ahead) {
      const auto scalars = takenTogether(all, l, ahead);
      for (unsigned k = 0; k < ahead; ++k) {
        llvm::SmallVector<Value *> ofLane;
        for (const auto &of : scalars)
          ofLane.push_back(of[k]);
        Value *r = body(ofLane, b_.getInt32(l + k));
        if (hasResult)
          gathered = insert(gathered, r, b_.getInt32(l + k));
      }
    }
    return gathered;
  }
  auto scalars = [&](Value *lane) {
    llvm::SmallVector<Value *> s;
    for (const LaneScalars &of : all)
      s.push_back(scalarAt(of, lane));
    return s;
  };
  if (const auto known = knownLanes();
      how.isForKnown && !known.empty() && !how.isLong && !isBaseline()) {
    Value *gathered = none;
    for (unsigned l : known) {
      Value *lane = b_.getInt32(l), *r = body(scalars(lane), lane);
      if (hasResult)
        gathered = insert(gathered, r, lane);
    }
    return gathered;
  }
  if (structure)
    return gatherInMemory(operands, *structure, body);
  return forEachLane(none, [&](Value *lane, Value *soFar) -> Value * {
    Value *r = body(scalars(lane), lane);
    return hasResult ? insert(soFar, r, lane) : nullptr;
  });
}

/// What `body` makes of each active lane in a loop: one lane of many vectors is taken from memory,
/// and put there. In registers, each would have to be looked for in all of a vector's.
llvm::Value *Accesses::gatherInMemory(llvm::ArrayRef<Value *> operands, llvm::StructType &result,
                                      LaneBody body) {
  const auto isBit = [](const Value *v) { return v->getType()->isIntOrIntVectorTy(1); };
  llvm::SmallVector<Value *> bytes; // a bit has no place of its own
  for (Value *v : operands)
    bytes.push_back(
        isBit(v) && v->getType()->isVectorTy() ? b_.CreateZExt(v, vec(b_.getInt8Ty(), lanes_)) : v);
  llvm::SmallVector<LaneScalars> all = laneScalars(bytes, true);
  for (LaneScalars &of : all)
    of.isIndex = false;
  llvm::SmallVector<llvm::AllocaInst *> rows(result.getNumElements());
  forEachLane(nullptr, [&](Value *lane, Value *) -> Value * {
    llvm::SmallVector<Value *> scalars;
    for (const auto &[of, operand] : llvm::zip(all, operands)) {
      Value *v = scalarAt(of, lane);
      scalars.push_back(isBit(operand) ? b_.CreateTrunc(v, b_.getInt1Ty()) : v);
    }
    Value *made = body(scalars, lane);
    for (unsigned k = 0; k < rows.size(); ++k) {
      Value *v = b_.CreateExtractValue(made, k);
      if (isBit(v))
        v = b_.CreateZExt(v, b_.getInt8Ty());
      rows[k] = laneMemory(vec(v->getType(), lanes_), ~k);
      b_.CreateStore(v, b_.CreateInBoundsGEP(v->getType(), rows[k], lane));
    }
    return nullptr;
  });
  Value *gathered = llvm::PoisonValue::get(widenType(&result, lanes_));
  for (unsigned k = 0; k < rows.size(); ++k) {
    Value *row = b_.CreateLoad(rows[k]->getAllocatedType(), rows[k]);
    if (result.getElementType(k)->isIntegerTy(1))
      row = b_.CreateTrunc(row, vec(b_.getInt1Ty(), lanes_));
    gathered = b_.CreateInsertValue(gathered, row, k);
  }
  return gathered;
}

/// bits = mask; do { lane = lowest set bit; body; clear it } while (bits). Starting from `none`,
/// body makes the next state of what it has so far; null where there is no state.
llvm::Value *Accesses::forEachLane(Value *none,
                                   llvm::function_ref<Value *(Value *, Value *)> body) {
  if (const llvm::SmallVector<unsigned> known = knownLanes(); known.size() == 1)
    return body(b_.getInt32(known[0]), none);
  Block *before = b_.GetInsertBlock(), *loop = newBlock("lane"), *done = newBlock("lanes.done");
  Value *start = maskBits(fullMask());
  b_.CreateCondBr(b_.CreateIsNotNull(start), loop, done);
  b_.SetInsertPoint(loop);
  llvm::PHINode *bits = b_.CreatePHI(b_.getInt32Ty(), 2, "lanes.left");
  llvm::PHINode *soFar = none ? b_.CreatePHI(none->getType(), 2) : nullptr;
  Value *lane = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {bits, b_.getTrue()});
  Value *next = body(lane, soFar);
  Value *left = b_.CreateAnd(bits, b_.CreateSub(bits, b_.getInt32(1)));
  Block *after = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateIsNotNull(left), loop, done);
  bits->addIncoming(start, before);
  bits->addIncoming(left, after);
  b_.SetInsertPoint(done);
  if (!none)
    return nullptr;
  soFar->addIncoming(none, before);
  soFar->addIncoming(next, after);
  llvm::PHINode *end = b_.CreatePHI(none->getType(), 2);
  end->addIncoming(none, before);
  end->addIncoming(next, after);
  return end;
}

/// `.cta` and `.cluster` fences order the compiler only.
void Accesses::emitFence(const llvm::FenceInst &fence) {
  const bool isLocal =
      lower::staysOnOneThread(b_.getContext(), fence.getSyncScopeID(), lower::kGeneric);
  b_.CreateFence(fence.getOrdering(),
                 isLocal ? llvm::SyncScope::SingleThread : llvm::SyncScope::System);
}

} // namespace ptxrun::simt
