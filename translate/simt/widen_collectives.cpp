// Warp collectives and CTA barriers (PTX ISA 9.7.13).
//
// Collectives are computed on whole warps, as 32-lane vectors. At W = 32 the gang is the warp.
// Narrower gangs exchange their lanes' values through ptxrun_warp_gather first, compute the same
// and keep their own part.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "translate/lower/matrix_forms.h"
#include "translate/simt/collectives.h"
#include "translate/simt/lane_permute.h"
#include "translate/simt/members.h"
#include "translate/simt/prepare.h"
#include "translate/simt/transposes.h"

namespace ptxrun::simt {
namespace {
constexpr unsigned kWarp = abi::kWarpSize;

/// The PTX lines of an instruction: the kernel's first, those of inlined calls, its own.
std::vector<unsigned> linesOf(const llvm::Instruction &i) {
  std::vector<unsigned> lines;
  for (const llvm::DILocation *at = i.getDebugLoc().get(); at; at = at->getInlinedAt())
    lines.insert(lines.begin(), at->getLine());
  return lines;
}
} // namespace

/// The name of a collective, as users know it.
static llvm::StringRef nameOf(const Word &word) {
  llvm::StringRef name(word.name);
  name.consume_front("ptx.");
  return name;
}

/// A warp as one collective sees it.
struct Collectives::Warp {
  Value *values = nullptr;       // <32 x T>; lanes that do not take part hold anything
  Value *participants = nullptr; // i32
  Value *first = nullptr;        // i32: lane 0 of the gang in the warp
};

llvm::Value *Collectives::firstLaneOf(const Value *v) {
  if (lanes_ == 1 || shapes_.isUniform(v))
    return base(v);
  Value *lane = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()},
                                   {maskBits(mask()), b_.getFalse()});
  return b_.CreateExtractElement(vector(v), lane);
}

/// A per-lane operand at its lanes' places in a vector of the whole warp.
llvm::Value *Collectives::placeInWarp(Value *own, const Warp &warp) {
  if (lanes_ == kWarp)
    return own;
  llvm::Type *element = own->getType()->getScalarType();
  auto *array = entryAlloca(vec(element, 2 * kWarp), "place");
  b_.CreateAlignedStore(own,
                        b_.CreateGEP(element, array, b_.CreateZExt(warp.first, b_.getInt64Ty())),
                        llvm::Align(1));
  return b_.CreateAlignedLoad(vec(element, kWarp), array, llvm::Align(1));
}

/// The gang's own part of a vector of the whole warp.
llvm::Value *Collectives::takeOwn(Value *whole, const Warp &warp) {
  if (lanes_ == kWarp)
    return whole;
  llvm::Type *element = whole->getType()->getScalarType();
  if (element->isIntegerTy(1))
    return b_.CreateTrunc(takeOwn(b_.CreateZExt(whole, vec(b_.getInt8Ty(), kWarp)), warp),
                          lanes_ == 1 ? static_cast<llvm::Type *>(b_.getInt1Ty())
                                      : vec(b_.getInt1Ty(), lanes_));
  auto *array = entryAlloca(vec(element, 2 * kWarp), "own");
  b_.CreateAlignedStore(whole, array, llvm::Align(1));
  llvm::Type *t = lanes_ == 1 ? element : vec(element, lanes_);
  return b_.CreateAlignedLoad(
      t, b_.CreateGEP(element, array, b_.CreateZExt(warp.first, b_.getInt64Ty())), llvm::Align(1));
}

/// The name of a collective, for the runtime.
llvm::Value *Collectives::nameConstant(llvm::StringRef text) {
  const std::string name = "name." + text.str();
  if (llvm::GlobalVariable *known = context_.module.getNamedGlobal(name))
    return known;
  llvm::Constant *bytes = llvm::ConstantDataArray::getString(b_.getContext(), text);
  return new llvm::GlobalVariable(context_.module, bytes->getType(), true,
                                  llvm::GlobalValue::PrivateLinkage, bytes, name);
}

/// Brings the values of all lanes named by `members` together.
Collectives::Warp Collectives::gatherWarp(llvm::StringRef operation, Value *own, Value *members) {
  Warp warp;
  warp.first = lanes_ == kWarp ? static_cast<Value *>(b_.getInt32(0))
                               : b_.CreateAnd(argument(kFirstThread), kWarp - 1);
  if (lanes_ == kWarp) {
    warp.values = own;
    warp.participants = maskBits(mask());
    return warp;
  }
  if (mask() && areOthersGone_)
    runtime("ptxrun_exit_lanes", b_.getVoidTy(), {argument(kGang), b_.CreateNot(maskBits(mask()))});
  auto *in = entryAlloca(llvm::ArrayType::get(b_.getInt64Ty(), lanes_), "gather.in");
  auto *out = entryAlloca(llvm::ArrayType::get(b_.getInt64Ty(), kWarp), "gather.out");
  llvm::Type *scalar = own ? own->getType()->getScalarType() : nullptr;
  if (own) {
    llvm::Type *bitsType = b_.getIntNTy(scalar->getScalarSizeInBits());
    Value *bits = b_.CreateBitCast(own, lanes_ == 1 ? bitsType : vec(bitsType, lanes_));
    bits = b_.CreateZExt(bits, lanes_ == 1 ? static_cast<llvm::Type *>(b_.getInt64Ty())
                                           : vec(b_.getInt64Ty(), lanes_));
    b_.CreateAlignedStore(bits, in, llvm::Align(8));
  }
  warp.participants =
      runtime("ptxrun_warp_gather", b_.getInt32Ty(),
              {argument(kGang), nameConstant(operation), members, maskBits(mask()), in, out});
  if (own) {
    Value *all = b_.CreateAlignedLoad(vec(b_.getInt64Ty(), kWarp), out, llvm::Align(8));
    all = b_.CreateTrunc(all, vec(b_.getIntNTy(scalar->getScalarSizeInBits()), kWarp));
    warp.values = b_.CreateBitCast(all, vec(scalar, kWarp));
  }
  return warp;
}

/// Where the gangs of the warp have something of theirs, as <32 x i64> by lane.
llvm::Value *Collectives::gatherPointers(llvm::StringRef operation, Value *own, Value *members) {
  Value *all = lanes_ == 1 ? own : b_.CreateVectorSplat(lanes_, own);
  return gatherWarp(operation, all, members).values;
}

/// A register of all lanes of the warp named by `members`.
llvm::Value *Collectives::gatherLanes(llvm::StringRef operation, Value *own, Value *members) {
  return gatherWarp(operation, own, members).values;
}

llvm::Value *Collectives::laneNumbers() {
  llvm::SmallVector<llvm::Constant *> n;
  for (unsigned l = 0; l < kWarp; ++l)
    n.push_back(b_.getInt32(l));
  return llvm::ConstantVector::get(n);
}

/// whole[index[lane]], where a register has eight lanes: what each of the four would give, chosen
/// by the upper bits of the index.
llvm::Value *Collectives::permuteRegisters(Value *whole, Value *index) {
  constexpr unsigned kLanes = 8, kRegisters = kWarp / kLanes;
  auto part = [&](Value *v, unsigned k) {
    return b_.CreateShuffleVector(v, llvm::createSequentialMask(k * kLanes, kLanes, 0));
  };
  llvm::SmallVector<Value *> results;
  for (unsigned k = 0; k < kRegisters; ++k) {
    Value *places = part(index, k);
    auto hasBit = [&](unsigned bit) {
      Value *upper = b_.CreateShl(places, 31 - bit);
      return b_.CreateICmpSLT(upper, llvm::Constant::getNullValue(upper->getType()));
    };
    auto from = [&](unsigned source) {
      return simt::permute(b_, part(whole, source), places, context_.target);
    };
    Value *isOdd = hasBit(3);
    Value *low = b_.CreateSelect(isOdd, from(1), from(0)),
          *high = b_.CreateSelect(isOdd, from(3), from(2));
    results.push_back(b_.CreateSelect(hasBit(4), high, low));
  }
  return llvm::concatenateVectors(b_, results);
}

/// whole[index[lane]] for every lane.
llvm::Value *Collectives::permute(Value *whole, Value *index) {
  if (auto *c = llvm::dyn_cast<llvm::Constant>(index)) {
    llvm::SmallVector<int> order;
    for (unsigned l = 0; l < kWarp; ++l)
      order.push_back(int(llvm::cast<llvm::ConstantInt>(c->getAggregateElement(l))->getZExtValue() &
                          (kWarp - 1)));
    for (llvm::ArrayRef<int> step : inSteps(order, context_.target.vectorBits / 32))
      whole = b_.CreateShuffleVector(whole, step);
    return whole;
  }
  llvm::SmallVector<int> low, high, both;
  for (unsigned l = 0; l < kWarp; ++l) {
    (l < 16 ? low : high).push_back(int(l));
    both.push_back(int(l));
  }
  if (context_.target.hasMaskRegisters()) {
    Value *a = b_.CreateShuffleVector(whole, low), *c = b_.CreateShuffleVector(whole, high);
    auto half = [&](llvm::ArrayRef<int> part) {
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                {a, b_.CreateShuffleVector(index, part), c});
    };
    return b_.CreateShuffleVector(half(low), half(high), both);
  }
  if (context_.target.level >= CpuLevel::avx2)
    return permuteRegisters(whole, index);
  auto *array = entryAlloca(vec(b_.getInt32Ty(), kWarp), "permute");
  b_.CreateStore(whole, array);
  Value *result = llvm::PoisonValue::get(whole->getType());
  for (unsigned l = 0; l < kWarp; ++l) {
    Value *from =
        b_.CreateZExt(b_.CreateAnd(b_.CreateExtractElement(index, l), kWarp - 1), b_.getInt64Ty());
    result = b_.CreateInsertElement(
        result, b_.CreateLoad(b_.getInt32Ty(), b_.CreateGEP(b_.getInt32Ty(), array, from)), l);
  }
  return result;
}

/// shfl.sync (9.7.9.6): the source lane j and the predicate, as in the manual's pseudo-code.
llvm::Value *Collectives::emitShuffle(const llvm::CallBase &call, const Word &word) {
  noteWhoIsGone(call);
  Warp warp =
      gatherWarp(nameOf(word), vector(call.getArgOperand(0)), firstLaneOf(call.getArgOperand(3)));
  if (const Shape shape = shapes_.shape(&call);
      lanes_ > 1 && !shape.isVarying()) { // ShapeAnalysis::evaluateShuffle
    const Value *from = call.getArgOperand(1);
    Value *d = shape.isUniform() && shapes_.isUniform(from)
                   ? b_.CreateExtractElement(warp.values, b_.CreateAnd(base(from), 31))
                   : base(call.getArgOperand(0));
    Value *result = b_.CreateInsertValue(llvm::PoisonValue::get(plain(&call)), d, 0);
    return b_.CreateInsertValue(result, b_.getTrue(), 1);
  }
  auto *ints = vec(b_.getInt32Ty(), kWarp);
  auto all = [&](uint32_t n) { return llvm::ConstantInt::get(ints, n); };
  auto operand = [&](const Value *v) -> Value * {
    if (lanes_ == 1 || shapes_.isUniform(v))
      return b_.CreateVectorSplat(kWarp, base(v));
    return placeInWarp(vector(v), warp);
  };
  Value *b = b_.CreateAnd(operand(call.getArgOperand(1)), all(31)),
        *c = operand(call.getArgOperand(2));
  Value *lane = laneNumbers();
  Value *segment = b_.CreateAnd(b_.CreateLShr(c, all(8)), all(31)),
        *clamp = b_.CreateAnd(c, all(31));
  Value *minLane = b_.CreateAnd(lane, segment);
  Value *maxLane = b_.CreateOr(minLane, b_.CreateAnd(clamp, b_.CreateNot(segment)));
  Value *j, *isInside;
  if (word.op == Op::shflUp) {
    j = b_.CreateSub(lane, b);
    isInside = b_.CreateICmpSGE(j, maxLane);
  } else {
    j = word.op == Op::shflDown   ? b_.CreateAdd(lane, b)
        : word.op == Op::shflBfly ? b_.CreateXor(lane, b)
                                  : b_.CreateOr(minLane, b_.CreateAnd(b, b_.CreateNot(segment)));
    isInside = b_.CreateICmpSLE(j, maxLane);
  }
  // By a constant distance: how far lanes may go need not be known.
  Value *d = llvm::isa<llvm::Constant>(j) && !llvm::isa<llvm::Constant>(isInside)
                 ? b_.CreateSelect(isInside, permute(warp.values, j), warp.values)
                 : permute(warp.values, b_.CreateSelect(isInside, j, lane));
  Value *result = llvm::PoisonValue::get(wide(&call));
  result = b_.CreateInsertValue(result, takeOwn(d, warp), 0);
  return b_.CreateInsertValue(result, takeOwn(isInside, warp), 1);
}

/// One i32 of bits for a predicate of the warp, zero where lanes do not take part.
llvm::Value *Collectives::ballot(llvm::StringRef operation, const Value *predicate, Value *members,
                                 Value *&participants) {
  Value *p = b_.CreateFreeze(vector(predicate));
  if (lanes_ == kWarp) {
    participants = maskBits(mask());
    return b_.CreateAnd(b_.CreateBitCast(p, b_.getInt32Ty()), participants);
  }
  Value *byte = b_.CreateZExt(p, lanes_ == 1 ? static_cast<llvm::Type *>(b_.getInt8Ty())
                                             : vec(b_.getInt8Ty(), lanes_));
  Warp warp = gatherWarp(operation, byte, members);
  participants = warp.participants;
  Value *bits =
      b_.CreateBitCast(b_.CreateTrunc(warp.values, vec(b_.getInt1Ty(), kWarp)), b_.getInt32Ty());
  return b_.CreateAnd(bits, participants);
}

llvm::Value *Collectives::emitVote(const llvm::CallBase &call, const Word &word) {
  noteWhoIsGone(call);
  const Value *memberOperand = call.getArgOperand(1);
  Value *participants;
  Value *bits =
      ballot(nameOf(word), call.getArgOperand(0), firstLaneOf(memberOperand), participants);
  const bool isOne = lanes_ == 1 || shapes_.isUniform(memberOperand);
  Value *members = isOne ? base(memberOperand) : vector(memberOperand);
  const auto forEach = [&](Value *v) { return isOne ? v : b_.CreateVectorSplat(lanes_, v); };
  Value *set = b_.CreateAnd(forEach(bits), members),
        *asked = b_.CreateAnd(forEach(participants), members);
  if (word.op == Op::voteBallot)
    return set;
  if (word.op == Op::voteAny)
    return b_.CreateIsNotNull(set);
  Value *allSet = b_.CreateICmpEQ(set, asked);
  return word.op == Op::voteAll ? allSet : b_.CreateOr(allSet, b_.CreateIsNull(set));
}

llvm::Value *Collectives::emitMatch(const llvm::CallBase &call, const Word &word) {
  noteWhoIsGone(call);
  const bool isAll = word.op == Op::matchAll;
  const std::string operation =
      std::string(isAll ? "match.all.sync.b" : "match.any.sync.b") +
      std::to_string(call.getArgOperand(0)->getType()->getIntegerBitWidth());
  Warp warp =
      gatherWarp(operation, vector(call.getArgOperand(0)), firstLaneOf(call.getArgOperand(1)));
  auto *ints = vec(b_.getInt32Ty(), kWarp);
  Value *members = lanes_ == 1 || shapes_.isUniform(call.getArgOperand(1))
                       ? b_.CreateVectorSplat(kWarp, base(call.getArgOperand(1)))
                       : placeInWarp(vector(call.getArgOperand(1)), warp);
  Value *asked = b_.CreateAnd(members, b_.CreateVectorSplat(kWarp, warp.participants));
  Value *same = llvm::ConstantInt::get(ints, 0);
  for (unsigned l = 0; l < kWarp; ++l) {
    Value *isEqual = b_.CreateICmpEQ(
        warp.values, b_.CreateVectorSplat(kWarp, b_.CreateExtractElement(warp.values, l)));
    same = b_.CreateOr(same, b_.CreateSelect(isEqual, llvm::ConstantInt::get(ints, 1u << l),
                                             llvm::ConstantInt::get(ints, 0)));
  }
  same = b_.CreateAnd(same, asked);
  if (!isAll)
    return takeOwn(same, warp);
  Value *agree = b_.CreateICmpEQ(same, asked);
  Value *result = llvm::PoisonValue::get(wide(&call));
  result = b_.CreateInsertValue(
      result, takeOwn(b_.CreateSelect(agree, asked, llvm::ConstantInt::get(ints, 0)), warp), 0);
  return b_.CreateInsertValue(result, takeOwn(agree, warp), 1);
}

/// redux.sync of integers (9.7.13.7) over the lanes of mask `m`.
llvm::Value *Collectives::reduceIntegers(Value *values, Value *m, Op op) {
  auto with = [&](uint32_t neutral) {
    return b_.CreateSelect(m, values, llvm::ConstantInt::get(values->getType(), neutral));
  };
  switch (op) {
  case Op::reduxAdd:
    return b_.CreateAddReduce(with(0));
  case Op::reduxAnd:
    return b_.CreateAndReduce(with(~0u));
  case Op::reduxOr:
    return b_.CreateOrReduce(with(0));
  case Op::reduxXor:
    return b_.CreateXorReduce(with(0));
  case Op::reduxMin:
    return b_.CreateIntMinReduce(with(0x7fffffff), true);
  case Op::reduxMax:
    return b_.CreateIntMaxReduce(with(0x80000000), true);
  case Op::reduxUmin:
    return b_.CreateIntMinReduce(with(~0u), false);
  default:
    return b_.CreateIntMaxReduce(with(0), false);
  }
}

/// The same of floats.
llvm::Value *Collectives::reduceFloats(Value *values, Value *m, Op op) {
  llvm::Type *t = values->getType();
  const bool isAbs = op == Op::reduxFminAbs || op == Op::reduxFmaxAbs ||
                     op == Op::reduxFminAbsNan || op == Op::reduxFmaxAbsNan;
  const bool keepsNan = op == Op::reduxFminNan || op == Op::reduxFmaxNan ||
                        op == Op::reduxFminAbsNan || op == Op::reduxFmaxAbsNan;
  const bool isMin = op == Op::reduxFmin || op == Op::reduxFminAbs || op == Op::reduxFminNan ||
                     op == Op::reduxFminAbsNan;
  if (isAbs)
    values = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, values);
  Value *isNan = b_.CreateFCmpUNO(values, values);
  Value *used = keepsNan ? m : b_.CreateAnd(m, b_.CreateNot(isNan));
  Value *neutral = llvm::ConstantFP::getInfinity(t, !isMin);
  Value *v = b_.CreateSelect(used, values, neutral);
  Value *r = b_.CreateIntrinsic(isMin ? llvm::Intrinsic::vector_reduce_fminimum
                                      : llvm::Intrinsic::vector_reduce_fmaximum,
                                {t}, {v});
  Value *isAnyNan = b_.CreateOrReduce(b_.CreateAnd(m, isNan)),
        *isNoneUsed = b_.CreateNot(b_.CreateOrReduce(used));
  Value *canonical = b_.CreateBitCast(b_.getInt32(0x7fffffff), b_.getFloatTy());
  return b_.CreateSelect(keepsNan ? isAnyNan : isNoneUsed, canonical, r);
}

/// What `made` makes of the members that lanes name, once for all lanes that name the same.
llvm::Value *Collectives::forEachGroup(Value *members, llvm::Type *type,
                                       llvm::function_ref<Value *(Value *)> made) {
  Block *before = b_.GetInsertBlock(), *loop = newBlock("group"), *done = newBlock("groups.done");
  members = b_.CreateFreeze(members); // of lanes that take no part, too
  Value *none = llvm::PoisonValue::get(vec(type, lanes_)), *start = maskBits(fullMask());
  b_.CreateCondBr(b_.CreateIsNotNull(start), loop, done);
  b_.SetInsertPoint(loop);
  llvm::PHINode *left = b_.CreatePHI(b_.getInt32Ty(), 2, "lanes.left");
  llvm::PHINode *soFar = b_.CreatePHI(none->getType(), 2);
  Value *lane = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
  Value *named = b_.CreateExtractElement(members, lane);
  Value *isOfGroup = b_.CreateICmpEQ(members, b_.CreateVectorSplat(lanes_, named));
  Value *next = b_.CreateSelect(isOfGroup, b_.CreateVectorSplat(lanes_, made(named)), soFar);
  Value *rest = b_.CreateAnd(left, b_.CreateNot(maskBits(isOfGroup)));
  Block *after = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateIsNotNull(rest), loop, done);
  left->addIncoming(start, before);
  left->addIncoming(rest, after);
  soFar->addIncoming(none, before);
  soFar->addIncoming(next, after);
  b_.SetInsertPoint(done);
  llvm::PHINode *end = b_.CreatePHI(none->getType(), 2);
  end->addIncoming(none, before);
  end->addIncoming(next, after);
  return end;
}

llvm::Value *Collectives::emitRedux(const llvm::CallBase &call, const Word &word) {
  noteWhoIsGone(call);
  const Value *memberOperand = call.getArgOperand(1);
  Warp warp = gatherWarp(nameOf(word), vector(call.getArgOperand(0)), firstLaneOf(memberOperand));
  auto over = [&](Value *members) {
    Value *bits = b_.CreateAnd(members, warp.participants);
    Value *m = b_.CreateBitCast(bits, vec(b_.getInt1Ty(), kWarp));
    return call.getType()->isFloatTy() ? reduceFloats(warp.values, m, word.op)
                                       : reduceIntegers(warp.values, m, word.op);
  };
  if (lanes_ == 1 || shapes_.isUniform(memberOperand))
    return over(base(memberOperand));
  return forEachGroup(vector(memberOperand), call.getType(), over);
}

/// elect.sync (9.7.13.14): the lowest lane that is named and takes part.
llvm::Value *Collectives::emitElect(const llvm::CallBase &call, const Word &) {
  noteWhoIsGone(call);
  const Value *memberOperand = call.getArgOperand(0);
  Warp warp = gatherWarp("elect.sync", nullptr, firstLaneOf(memberOperand));
  auto leaderOf = [&](Value *members) {
    return b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()},
                              {b_.CreateAnd(warp.participants, members), b_.getFalse()});
  };
  Value *leader;
  if (lanes_ == 1 || shapes_.isUniform(memberOperand)) {
    leader = leaderOf(base(memberOperand));
    if (lanes_ > 1)
      leader = b_.CreateVectorSplat(lanes_, leader);
  } else {
    leader = forEachGroup(vector(memberOperand), b_.getInt32Ty(), leaderOf);
  }
  Value *is = b_.CreateICmpEQ(leader, takeOwn(laneNumbers(), warp));
  Value *result = b_.CreateInsertValue(llvm::PoisonValue::get(wide(&call)), leader, 0);
  return b_.CreateInsertValue(result, is, 1);
}

llvm::Value *Collectives::emitActiveMask(const llvm::CallBase &call, const Word &) {
  Value *bits = maskBits(mask());
  if (lanes_ == kWarp)
    return bits;
  // Threads that execute a function's activemask by way of different calls are apart on hardware,
  // and use what they get in different places.
  auto &sites = context_.activeMaskSites;
  const unsigned site = sites.try_emplace(linesOf(call), unsigned(sites.size())).first->second;
  return runtime("ptxrun_active_lanes", b_.getInt32Ty(),
                 {argument(kGang), b_.getInt32(site), bits});
}

/// Lanes that are named but not here left for good (examine.cpp saw to that), though lockstep may
/// not have run their rest yet.
void Collectives::noteWhoIsGone(const llvm::CallBase &call) {
  areOthersGone_ =
      shapes_.isInDivergentRegion(call.getParent()) &&
      !namesActiveLanes(call.getArgOperand(call.arg_size() - 1), call.getParent(), shapes_);
}

llvm::Value *Collectives::emitWarpBarrier(const llvm::CallBase &call, const Word &word) {
  noteWhoIsGone(call);
  if (lanes_ == kWarp)
    b_.CreateFence(llvm::AtomicOrdering::AcquireRelease, llvm::SyncScope::SingleThread);
  else
    gatherWarp(nameOf(word), nullptr, firstLaneOf(call.getArgOperand(0)));
  return nullptr;
}

llvm::Value *Collectives::emitBarrier(const llvm::CallBase &call, const Word &word) {
  Value *id = firstLaneOf(call.getArgOperand(0)), *threads = firstLaneOf(call.getArgOperand(1)),
        *bits = maskBits(mask());
  return runtime(word.op == Op::barArrive ? "ptxrun_bar_arrive" : "ptxrun_bar_sync", b_.getVoidTy(),
                 {argument(kGang), id, threads, bits});
}

llvm::Value *Collectives::emitBarrierReduction(const llvm::CallBase &call, const Word &word) {
  Value *id = firstLaneOf(call.getArgOperand(0)), *threads = firstLaneOf(call.getArgOperand(1)),
        *bits = maskBits(mask());
  Value *p = b_.CreateFreeze(vector(call.getArgOperand(2)));
  Value *predicates = b_.CreateAnd(maskBits(p), bits);
  auto *participants = entryAlloca(b_.getInt32Ty(), "participants");
  Value *count = runtime("ptxrun_bar_red", b_.getInt32Ty(),
                         {argument(kGang), id, threads, bits, predicates, participants});
  if (word.op == Op::barRedAnd)
    return b_.CreateICmpEQ(count, b_.CreateLoad(b_.getInt32Ty(), participants));
  return word.op == Op::barRedOr ? b_.CreateIsNotNull(count) : count;
}

} // namespace ptxrun::simt
