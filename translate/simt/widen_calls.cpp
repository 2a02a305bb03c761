// Calls: words of the vocabulary, LLVM intrinsics, device functions that were not inlined.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <cmath>
#include <set>

#include "translate/lower/runtime_words.h"
#include "translate/simt/collectives.h"

namespace ptxrun::simt {

/// A condition (its opposite) that compares integers; what differs between lanes, if one of the two
/// alone does, is on the left.
std::optional<Collectives::Comparison> Collectives::comparisonOf(const Value *condition,
                                                                 bool isNegated) const {
  auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (!compare || !compare->getOperand(0)->getType()->isIntegerTy())
    return std::nullopt;
  const auto predicate = isNegated ? compare->getInversePredicate() : compare->getPredicate();
  const Value *left = compare->getOperand(0), *right = compare->getOperand(1);
  if (shapes_.isUniform(left))
    return Comparison{llvm::CmpInst::getSwappedPredicate(predicate), right, left};
  return Comparison{predicate, left, right};
}

/// Whether a condition (its opposite) holds for some lane of a full gang, by scalar arithmetic:
/// like holdsForAll, but right where it says no, so only where lanes cannot wrap.
llvm::Value *Collectives::holdsForSome(const Value *condition, bool isNegated) {
  using namespace llvm::PatternMatch;
  const Value *x, *y;
  if (shapes_.isUniform(condition)) {
    Value *c = base(condition);
    return isNegated ? b_.CreateNot(c) : c;
  }
  if (match(condition, m_Not(m_Value(x))))
    return holdsForSome(x, !isNegated);
  const bool isAnd = match(condition, m_LogicalAnd(m_Value(x), m_Value(y)));
  if (isAnd || match(condition, m_LogicalOr(m_Value(x), m_Value(y)))) {
    // Some lane has either if it has one or the other; both, if one of the two is the same for all.
    const bool needsBoth = isAnd != isNegated;
    if (needsBoth && !shapes_.isUniform(x) && !shapes_.isUniform(y))
      return nullptr;
    Value *first = holdsForSome(x, isNegated),
          *second = first ? holdsForSome(y, isNegated) : nullptr;
    if (!second)
      return nullptr;
    return needsBoth ? b_.CreateLogicalAnd(first, second) : b_.CreateLogicalOr(first, second);
  }
  const std::optional<Comparison> compared = comparisonOf(condition, isNegated);
  if (!compared)
    return nullptr;
  const auto [predicate, left, right] = *compared;
  // The low bits of the base are zero and the offsets fit into them: no carry, no change of sign.
  const Shape shape = shapes_.shape(left);
  if (!shape.hasOffsets() || !shapes_.isDisjoint(shape) || !shapes_.isUniform(right))
    return nullptr;
  if (predicate == llvm::CmpInst::ICMP_NE)
    return b_.getTrue(); // two lanes with different offsets are not both equal to it
  if (predicate == llvm::CmpInst::ICMP_EQ)
    return isSomeEqual(left, right);
  const auto [least, most] = std::minmax_element(shape.offsets->begin(), shape.offsets->end());
  const bool isBelow = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
  Value *from = base(left);
  Value *end = b_.CreateAdd(
      from, llvm::ConstantInt::get(from->getType(), uint64_t(isBelow ? *least : *most)));
  return b_.CreateFreeze(b_.CreateICmp(predicate, end, base(right)));
}

/// Whether a uniform value equals base | offset (disjoint) of some lane: its high bits are those of
/// the base, and some lane has its low ones. Null where the second depends on the gang.
llvm::Value *Collectives::isSomeEqual(const Value *left, const Value *right) {
  auto *type = llvm::cast<llvm::IntegerType>(left->getType());
  if (type->getBitWidth() > 64)
    return nullptr;
  const Shape shape = shapes_.shape(left);
  const uint64_t low = bitsOfOffsets(shape) & type->getBitMask();
  const std::set<uint64_t> offsets(shape.offsets->begin(), shape.offsets->end());
  const auto *number = llvm::dyn_cast<llvm::ConstantInt>(right);
  if (number || shapes_.shape(right).alignment >= shape.alignment) {
    if (!offsets.contains(number ? number->getZExtValue() & low : 0))
      return b_.getFalse();
  } else if (offsets.size() <= low) {
    return nullptr;
  }
  Value *high = b_.CreateAnd(base(right), llvm::ConstantInt::get(type, ~low & type->getBitMask()));
  return b_.CreateFreeze(b_.CreateICmpEQ(base(left), high));
}

/// Whether a condition (its opposite) holds for all lanes of a full gang, by scalar arithmetic: a
/// comparison of a value that has known offsets holds for all if it does at one end of them. False
/// too where lanes wrap. Null where that cannot be told so.
llvm::Value *Collectives::holdsForAll(const Value *condition, bool isNegated) {
  using namespace llvm::PatternMatch;
  const Value *x, *y;
  if (shapes_.isUniform(condition)) {
    Value *c = base(condition);
    return isNegated ? b_.CreateNot(c) : c;
  }
  if (match(condition, m_Not(m_Value(x))))
    return holdsForAll(x, !isNegated);
  if (isNegated ? match(condition, m_LogicalOr(m_Value(x), m_Value(y)))
                : match(condition, m_LogicalAnd(m_Value(x), m_Value(y)))) {
    Value *first = holdsForAll(x, isNegated), *second = first ? holdsForAll(y, isNegated) : nullptr;
    return second ? b_.CreateLogicalAnd(first, second) : nullptr;
  }
  const std::optional<Comparison> compared = comparisonOf(condition, isNegated);
  if (!compared || !llvm::ICmpInst::isRelational(compared->predicate))
    return nullptr;
  const auto [predicate, left, right] = *compared;
  const Shape shape = shapes_.shape(left);
  if (!shape.hasOffsets() || shape.isConditional || !shapes_.isUniform(right))
    return nullptr;
  const auto [least, most] = std::minmax_element(shape.offsets->begin(), shape.offsets->end());
  if (*least < 0)
    return nullptr;
  Value *from = base(left);
  auto plus = [&](int64_t offset) {
    return b_.CreateAdd(from, llvm::ConstantInt::get(from->getType(), uint64_t(offset)));
  };
  Value *end = plus(*most);
  Value *isInOrder = llvm::CmpInst::isSigned(predicate) ? b_.CreateICmpSGE(end, from)
                                                        : b_.CreateICmpUGE(end, from);
  const bool isBelow = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
  return b_.CreateAnd(b_.CreateICmp(predicate, isBelow ? end : plus(*least), base(right)),
                      isInOrder);
}

void Collectives::emitCall(const llvm::CallBase &call) {
  const llvm::Function *callee = call.getCalledFunction();
  Value *result = !callee || !callee->isDeclaration() ? emitFunctionCall(call)
                  : callee->isIntrinsic()             ? emitIntrinsic(call)
                                                      : emitWord(call, wordOf(*callee));
  if (result && !call.getType()->isVoidTy())
    define(call, result);
}

/// As the table says.
llvm::Value *Collectives::emitWord(const llvm::CallBase &call, const Word &word) {
  switch (word.op) {
#define GANG_OP(id, name, kind, shape, emitter)                                                    \
  case Op::id:                                                                                     \
    return emitter(call, word);
#define GANG_AXES GANG_OP
#define GANG_ROUNDED(operation)                                                                    \
  case Op::operation##Rz:                                                                          \
  case Op::operation##Rm:                                                                          \
  case Op::operation##Rp:                                                                          \
    return emitRounded(call, word);
#define RUNTIME_WORD(id, word_, entry, call_, suspends)                                            \
  case Op::id:                                                                                     \
    return emitRuntimeWord(call, word);
#include "translate/simt/gang_ops.def"
#undef RUNTIME_WORD
#undef GANG_ROUNDED
#undef GANG_AXES
#undef GANG_OP
  case Op::none:
  case Op::other:
    break;
  }
  return missing("unknown word " + call.getCalledFunction()->getName(), wide(&call));
}

llvm::Value *Collectives::emitNoWrap(const llvm::CallBase &call, const Word &word) {
  if (lanes_ == 1)
    return b_.getTrue();
  return b_.CreateNot(wrapsWithin(call.getArgOperand(0), word.op == Op::nowrapSigned));
}

/// What the first active lane holds.
llvm::Value *Collectives::emitNext(const llvm::CallBase &call, const Word &) {
  Value *v = vector(call.getArgOperand(0));
  return lanes_ == 1 ? v : b_.CreateExtractElement(v, firstOf(maskBits(mask())));
}

/// Whether active lanes hold two values: the first lane's, and that of the first lane that holds
/// another. (Lanes that all hold one are better off together.)
llvm::Value *Collectives::emitFew(const llvm::CallBase &call, const Word &) {
  if (lanes_ == 1)
    return b_.getFalse();
  Value *v = b_.CreateFreeze(vector(call.getArgOperand(0))), *active = maskBits(mask());
  auto isAsIn = [&](Value *lane) {
    return b_.CreateICmpEQ(v, b_.CreateVectorSplat(lanes_, b_.CreateExtractElement(v, lane)));
  };
  Value *asFirst = isAsIn(firstOf(active));
  Value *others = b_.CreateAnd(active, b_.CreateNot(maskBits(asFirst)));
  return b_.CreateAnd(b_.CreateIsNotNull(others),
                      allOf(b_.CreateOr(asFirst, isAsIn(firstOf(others)))));
}

/// The first of these lanes; where there are none, any.
llvm::Value *Collectives::firstOf(Value *bits) {
  return b_.CreateAnd(b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getFalse()),
                      llvm::ConstantInt::get(bits->getType(), lanes_ - 1));
}

llvm::Value *Collectives::emitAllOrAny(const llvm::CallBase &call, const Word &word) {
  Value *c = vector(call.getArgOperand(0));
  if (lanes_ == 1)
    return c;
  if (word.op == Op::any)
    return b_.CreateOrReduce(mask() ? b_.CreateAnd(b_.CreateFreeze(c), mask()) : c);
  if (!mask())
    if (Value *holds = holdsForAll(call.getArgOperand(0), false))
      return holds;
  return allOf(c);
}

/// Whether it holds for all active lanes.
llvm::Value *Collectives::allOf(Value *c) {
  Value *m = mask();
  return b_.CreateAndReduce(m ? b_.CreateOr(b_.CreateFreeze(c), b_.CreateNot(m)) : c);
}

llvm::Value *Collectives::emitYield(const llvm::CallBase &call, const Word &word) {
  Value *hint = call.arg_size()
                    ? (lanes_ == 1 || shapes_.isUniform(call.getArgOperand(0))
                           ? base(call.getArgOperand(0))
                           : b_.CreateExtractElement(vector(call.getArgOperand(0)), uint64_t(0)))
                    : b_.getInt32(0);
  const auto reason = word.op == Op::nanosleep       ? abi::WaitReason::sleep
                      : word.op == Op::yieldMbarrier ? abi::WaitReason::mbarrier
                      : word.op == Op::yieldTime     ? abi::WaitReason::time
                                                     : abi::WaitReason::spin;
  return runtime("ptxrun_yield", b_.getVoidTy(),
                 {argument(kGang), b_.getInt32(uint32_t(reason)), hint});
}

/// The lanes of the mask leave: the function returns for them, and callers ask ptx.exited.
llvm::Value *Collectives::emitExit(const llvm::CallBase &, const Word &) {
  Value *live = field(kGang, offsetof(abi::Gang, liveMask), b_.getInt32Ty(), false);
  Value *left = b_.CreateAnd(live, b_.CreateNot(maskBits(mask())));
  b_.CreateAlignedStore(
      left,
      b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), argument(kGang), offsetof(abi::Gang, liveMask)),
      llvm::Align(4));
  if (context_.tracksExits)
    runtime("ptxrun_exit_lanes", b_.getVoidTy(), {argument(kGang), maskBits(mask())});
  return nullptr;
}

llvm::Value *Collectives::emitExited(const llvm::CallBase &, const Word &) {
  Value *live = field(kGang, offsetof(abi::Gang, liveMask), b_.getInt32Ty(), false);
  return b_.CreateNot(bitsToMask(live));
}

/// vprintf, malloc and free: lane by lane. Addresses are numbers in PTX.
llvm::Value *Collectives::emitLibraryCall(const llvm::CallBase &call, const Word &word) {
  const bool isMalloc = word.op == Op::malloc;
  const char *entry = isMalloc              ? "ptxrun_malloc"
                      : word.op == Op::free ? "ptxrun_free"
                                            : "ptxrun_vprintf";
  auto callOne = [&](llvm::ArrayRef<Value *> v, Value *) -> Value * {
    llvm::SmallVector<Value *> arguments{argument(kGang)};
    for (Value *a : v)
      arguments.push_back(
          a->getType()->isIntegerTy(64) && !isMalloc ? b_.CreateIntToPtr(a, b_.getPtrTy()) : a);
    llvm::Type *result = isMalloc ? static_cast<llvm::Type *>(b_.getPtrTy()) : plain(&call);
    Value *r = runtime(entry, result, arguments);
    return isMalloc ? b_.CreatePtrToInt(r, b_.getInt64Ty()) : r;
  };
  llvm::SmallVector<Value *> operands;
  for (const Value *a : call.args())
    operands.push_back(lanes_ == 1 ? base(a) : vector(a));
  return lanes_ == 1 ? callOne(operands, nullptr) : laneByLane(operands, plain(&call), callOne);
}

/// Local memory is on the stack or, of a gang that suspends as a coroutine, in its frame.
llvm::Value *Collectives::emitIsLocal(const llvm::CallBase &call, const Word &) {
  Value *address = lanes_ == 1 ? base(call.getArgOperand(0)) : vector(call.getArgOperand(0));
  auto field = [&](Value *range, unsigned k) {
    return splat(b_.CreateExtractValue(range, k), b_.getInt64Ty());
  };
  auto *rangeType = llvm::StructType::get(b_.getInt64Ty(), b_.getInt64Ty());
  Value *isLocal = nullptr;
  for (llvm::StringRef entry : {"ptxrun_local_stack", "ptxrun_local_frame"}) {
    Value *range = runtime(entry, rangeType, {argument(kGang)});
    Value *isIn = b_.CreateICmpULT(b_.CreateSub(address, field(range, 0)), field(range, 1));
    isLocal = isLocal ? b_.CreateOr(isLocal, isIn) : isIn;
  }
  return isLocal;
}

/// LLVM's elementwise intrinsics take vectors as they are; others run lane by lane.
/// llvm.fptosi.sat and llvm.fptoui.sat of vectors, for which LLVM takes lane by lane: out of range
/// to the nearest integer there is, NaN to 0.
llvm::Value *Collectives::convertSaturating(Value *x, llvm::Type *result, bool isSigned) {
  const unsigned bits = result->getScalarSizeInBits();
  auto number = [&](double v) { return llvm::ConstantFP::get(x->getType(), v); };
  auto integer = [&](const llvm::APInt &v) { return llvm::ConstantInt::get(result, v); };
  Value *low = number(isSigned ? -std::ldexp(1, int(bits) - 1) : 0),
        *high = number(std::ldexp(1, int(bits) - isSigned)); // powers of two: exact
  Value *isTooHigh = b_.CreateFCmpOGE(x, high);
  Value *fits = b_.CreateAnd(b_.CreateFCmpOGE(x, low), b_.CreateNot(isTooHigh));
  Value *inRange = b_.CreateSelect(fits, x, number(0));
  Value *r = isSigned ? b_.CreateFPToSI(inRange, result) : b_.CreateFPToUI(inRange, result);
  r = b_.CreateSelect(
      isTooHigh,
      integer(isSigned ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits)), r);
  return isSigned ? b_.CreateSelect(b_.CreateFCmpOLT(x, low),
                                    integer(llvm::APInt::getSignedMinValue(bits)), r)
                  : r;
}

llvm::Value *Collectives::emitIntrinsic(const llvm::CallBase &call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (id == llvm::Intrinsic::dbg_value || id == llvm::Intrinsic::dbg_declare ||
      id == llvm::Intrinsic::lifetime_start || id == llvm::Intrinsic::lifetime_end ||
      id == llvm::Intrinsic::assume || id == llvm::Intrinsic::experimental_noalias_scope_decl)
    return nullptr;
  const bool isWide = lanes_ > 1 && shapes_.shape(&call).isVarying();
  llvm::Type *result = isWide ? wide(&call) : plain(&call);
  llvm::SmallVector<Value *> operands;
  for (unsigned k = 0; k < call.arg_size(); ++k) {
    const Value *a = call.getArgOperand(k);
    const bool isScalarOperand = llvm::isVectorIntrinsicWithScalarOpAtArg(id, k);
    operands.push_back(isWide && !isScalarOperand ? vector(a) : base(a));
  }
  auto build = [&](llvm::ArrayRef<Value *> v, llvm::Type *r) -> Value * {
    llvm::SmallVector<llvm::Type *> types;
    for (Value *o : v)
      types.push_back(o->getType());
    llvm::SmallVector<llvm::Type *> overloads;
    llvm::SmallVector<llvm::Intrinsic::IITDescriptor> table;
    llvm::Intrinsic::getIntrinsicInfoTableEntries(id, table);
    llvm::ArrayRef<llvm::Intrinsic::IITDescriptor> rest = table;
    if (llvm::Intrinsic::matchIntrinsicSignature(llvm::FunctionType::get(r, types, false), rest,
                                                 overloads))
      return missing("intrinsic does not widen: " + call.getCalledFunction()->getName(), r);
    llvm::Function *f = llvm::Intrinsic::getDeclaration(&context_.module, id, overloads);
    llvm::CallInst *c = b_.CreateCall(f, v);
    if (auto *fp = llvm::dyn_cast<llvm::FPMathOperator>(&call))
      c->setFastMathFlags(fp->getFastMathFlags());
    return c;
  };
  if (!isWide)
    return build(operands, result);
  if (id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat)
    return convertSaturating(operands[0], result, id == llvm::Intrinsic::fptosi_sat);
  if (llvm::isTriviallyVectorizable(id) || id == llvm::Intrinsic::fshl ||
      id == llvm::Intrinsic::fshr || result->isStructTy() || id == llvm::Intrinsic::is_fpclass ||
      id == llvm::Intrinsic::ldexp)
    return build(operands, result);
  return laneByLane(operands, plain(&call),
                    [&](llvm::ArrayRef<Value *> v, Value *) { return build(v, plain(&call)); });
}

/// Stops the launch for the lanes of the mask. Code behind it is never reached with a lane.
llvm::Value *Collectives::emitTrap(const llvm::CallBase &call, const Word &word) {
  const unsigned line = call.getDebugLoc() ? call.getDebugLoc().getLine() : 0;
  Value *bits = maskBits(mask());
  const auto kind = word.op == Op::brkpt    ? abi::TrapKind::breakpoint
                    : word.op == Op::parted ? abi::TrapKind::notConvergent
                                            : abi::TrapKind::trap;
  return runtime("ptxrun_trap", b_.getVoidTy(),
                 {argument(kGang), b_.getInt32(uint32_t(kind)), bits, b_.getInt32(line)});
}

/// All lanes fail with one text, but where it differs between them: then the first.
llvm::Value *Collectives::emitAssertFail(const llvm::CallBase &call, const Word &) {
  Value *failing = maskBits(mask());
  Value *lane =
      b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {failing, b_.getFalse()});
  auto ofLane = [&](const Value *v) -> Value * {
    const bool isOne = lanes_ == 1 || shapes_.isUniform(v);
    Value *x = isOne ? base(v) : nullptr;
    if (!isOne) {
      x = b_.CreateExtractElement(vector(v), lane);
      failing = b_.CreateShl(b_.getInt32(1), lane);
    }
    return x->getType()->isIntegerTy(64) ? b_.CreateIntToPtr(x, b_.getPtrTy()) : x;
  };
  llvm::SmallVector<Value *, 4> texts;
  for (unsigned k = 0; k < 4; ++k)
    texts.push_back(ofLane(call.getArgOperand(k)));
  return runtime("ptxrun_assertfail", b_.getVoidTy(),
                 {argument(kGang), failing, texts[0], texts[1], texts[2], texts[3]});
}

llvm::Value *Collectives::callWide(llvm::FunctionType *type, Value *callee,
                                   llvm::ArrayRef<Value *> own, Value *mask) {
  llvm::SmallVector<Value *> arguments;
  for (unsigned k = 0; k < kMask; ++k)
    arguments.push_back(argument(k));
  arguments.push_back(mask);
  arguments.append(own.begin(), own.end());
  return b_.CreateCall(type, callee, arguments);
}

/// Whether few of the gang's lanes are active.
llvm::Value *Collectives::emitStragglers(const llvm::CallBase &call, const Word &) {
  if (lanes_ == 1 || !mask())
    return b_.getFalse();
  Value *active = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, maskBits(mask()));
  return b_.CreateICmpULE(active, base(call.getArgOperand(0)));
}

/// first + step * lane; `staysPositive`: which is known to be far from 2^31.
llvm::Value *Collectives::inLane(Value *first, int64_t step, Value *lane, bool staysPositive) {
  if (step == 0)
    return first;
  llvm::Type *type = first->getType();
  return b_.CreateAdd(
      first,
      b_.CreateMul(b_.CreateZExtOrTrunc(lane, type), llvm::ConstantInt::getSigned(type, step)), "",
      false, staysPositive);
}

/// A function of one thread, for each lane after the other. Where an argument goes up in even steps
/// from lane to lane, it is computed.
llvm::Value *Collectives::callAlone(const llvm::CallBase &call, llvm::Function &function) {
  llvm::SmallVector<Value *> operands;
  llvm::SmallVector<int64_t> steps;
  for (const Value *a : call.args()) {
    const std::optional<int64_t> step = shapes_.isUniform(a) ? 0 : shapes_.step(a);
    steps.push_back(step.value_or(0));
    operands.push_back(step ? base(a) : vector(a));
  }
  // Places in .shared memory are far from 2^31.
  const auto staysPositive = [&](unsigned k) {
    auto *place = llvm::dyn_cast<llvm::PtrToIntInst>(call.getArgOperand(k));
    return place && place->getPointerAddressSpace() == lower::kShared;
  };
  return laneByLane(operands, plain(&call),
                    [&](llvm::ArrayRef<Value *> scalars, Value *lane) {
                      llvm::SmallVector<Value *> own(scalars);
                      for (unsigned k = 0; k < own.size(); ++k)
                        own[k] = inLane(own[k], steps[k], lane, staysPositive(k));
                      return callWide(function.getFunctionType(), &function, own, b_.getTrue());
                    },
                    {.isLong = lanes_ * function.getInstructionCount() > kLimits.serial.writtenOut,
                     .isForKnown = true});
}

/// Device functions that were not inlined take every argument as a vector and the mask. A function
/// pointer is called once per different callee among the active lanes.
llvm::Value *Collectives::emitFunctionCall(const llvm::CallBase &call) {
  if (auto it = context_.alone.find(call.getCalledFunction()); it != context_.alone.end())
    return callAlone(call, *it->second);
  llvm::SmallVector<Value *> own;
  llvm::SmallVector<llvm::Type *> types;
  for (unsigned k = 0; k < kMask; ++k)
    types.push_back(argument(k)->getType());
  types.push_back(lanes_ == 1 ? static_cast<llvm::Type *>(b_.getInt1Ty())
                              : vec(b_.getInt1Ty(), lanes_));
  for (const Value *a : call.args()) {
    own.push_back(vector(a));
    types.push_back(own.back()->getType());
  }
  auto *type = llvm::FunctionType::get(wide(&call), types, false);
  if (const llvm::Function *callee = call.getCalledFunction()) {
    auto it = context_.wide.find(callee);
    if (it == context_.wide.end())
      return missing("no wide version of " + callee->getName(), type->getReturnType());
    return callWide(type, it->second, own, fullMask());
  }
  const Value *pointer = call.getCalledOperand();
  if (lanes_ == 1 || shapes_.isUniform(pointer))
    return callWide(type, base(pointer), own, fullMask());
  // do { f = callee of the first lane left; call it for the lanes that have f; } while (lanes are
  // left)
  Value *callees = b_.CreatePtrToInt(vector(pointer), vec(b_.getInt64Ty(), lanes_));
  Block *before = b_.GetInsertBlock(), *loop = newBlock("callee"), *done = newBlock("callees.done");
  Value *all = fullMask();
  const bool hasResult = !type->getReturnType()->isVoidTy();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode *left = b_.CreatePHI(all->getType(), 2, "lanes.left");
  llvm::PHINode *soFar = hasResult ? b_.CreatePHI(type->getReturnType(), 2) : nullptr;
  Value *lane =
      b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {maskBits(left), b_.getTrue()});
  Value *f = b_.CreateExtractElement(callees, lane);
  Value *same = b_.CreateAnd(left, b_.CreateICmpEQ(callees, b_.CreateVectorSplat(lanes_, f)));
  Value *r = callWide(type, b_.CreateIntToPtr(f, b_.getPtrTy()), own, same);
  Value *merged = hasResult ? laneSelect(same, r, soFar) : nullptr;
  Value *rest = b_.CreateAnd(left, b_.CreateNot(same));
  Block *after = b_.GetInsertBlock();
  b_.CreateCondBr(anyLane(rest), loop, done);
  left->addIncoming(all, before);
  left->addIncoming(rest, after);
  if (soFar) {
    soFar->addIncoming(llvm::PoisonValue::get(type->getReturnType()), before);
    soFar->addIncoming(merged, after);
  }
  b_.SetInsertPoint(done);
  return merged;
}

} // namespace ptxrun::simt
