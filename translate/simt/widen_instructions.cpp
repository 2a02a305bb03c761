// One instruction of one thread -> the instruction(s) of a gang.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Operator.h>

#include "translate/simt/cost.h"
#include "translate/simt/local_rows.h"
#include "translate/simt/widener.h"

namespace ptxrun::simt {

void Widener::emitInstruction(const llvm::Instruction &i) {
  using I = llvm::Instruction;
  switch (i.getOpcode()) {
  case I::Load:
    emitLoad(llvm::cast<llvm::LoadInst>(i));
    return;
  case I::Store:
    emitStore(llvm::cast<llvm::StoreInst>(i));
    return;
  case I::AtomicRMW:
  case I::AtomicCmpXchg:
    emitAtomic(i);
    return;
  case I::Fence:
    emitFence(llvm::cast<llvm::FenceInst>(i));
    return;
  case I::Call:
    emitCall(llvm::cast<llvm::CallBase>(i));
    return;
  default:
    break;
  }
  Shape s = shapes_.shape(&i);
  if (s.isVarying() && isOnlyForEnds(i, kLimits.search.repeated))
    return;
  if (s.isVarying())
    define(i, emitVarying(i));
  else
    define(i, s.hasOffsets() || i.getOpcode() == I::Alloca ? emitOffsets(i) : emitUniform(i));
}

/// A scalar clone on bases. All special cases are conversions that lost their meaning with the
/// `.shared` pointer type.
llvm::Value *Widener::emitUniform(const llvm::Instruction &i) {
  if (auto *gep = llvm::dyn_cast<llvm::GEPOperator>(&i))
    return emitAddress(*gep, false);
  // Compares of gangs on one grid with a bound between gangs (ShapeAnalysis::evaluateCompare): the
  // bases decide.
  llvm::SmallVector<Value *> operands;
  for (const Value *op : i.operands())
    operands.push_back(base(op));
  if (llvm::none_of(i.operands(), [&](const Value *op) { return shapes_.shape(op).hasOffsets(); }))
    return emitElementwise(i, operands);
  // Flags were proven for each lane, not for the bases.
  if (i.getOpcode() == llvm::Instruction::Or &&
      llvm::cast<llvm::PossiblyDisjointInst>(i).isDisjoint())
    return b_.CreateAdd(operands[0], operands[1], i.getName());
  Value *v = emitElementwise(i, operands);
  if (auto *clone = llvm::dyn_cast<llvm::Instruction>(v))
    clone->dropPoisonGeneratingFlags();
  return v;
}

/// The base of a value with offsets; mirrors ShapeAnalysis::evaluate.
llvm::Value *Widener::emitOffsets(const llvm::Instruction &i) {
  using I = llvm::Instruction;
  if (auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
    const uint64_t size = localLayout(*alloca, lanes_).size;
    llvm::AllocaInst *frame = entryAlloca(llvm::ArrayType::get(b_.getInt8Ty(), size), i.getName());
    frame->setAlignment(std::max(alloca->getAlign(), llvm::Align(64)));
    return frame;
  }
  if (auto *gep = llvm::dyn_cast<llvm::GEPOperator>(&i))
    return emitAddress(*gep, false);
  llvm::SmallVector<Value *> operands;
  for (const Value *op : i.operands())
    operands.push_back(base(op));
  if (i.getOpcode() == I::Or && llvm::cast<llvm::PossiblyDisjointInst>(&i)->isDisjoint() &&
      !llvm::isa<llvm::Constant>(i.getOperand(1)))
    return b_.CreateAdd(operands[0], operands[1], i.getName());
  if (i.getOpcode() == I::Or || i.getOpcode() == I::Xor) {
    // base' = base op (c without the bits the offsets live in)
    if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1))) {
      Shape from = shapes_.shape(i.getOperand(0));
      const llvm::APInt low = llvm::APInt(64, bitsOfOffsets(from)).zextOrTrunc(c->getBitWidth());
      if (i.getOpcode() == I::Or && llvm::cast<llvm::PossiblyDisjointInst>(&i)->isDisjoint())
        return b_.CreateAdd(operands[0], operands[1], i.getName());
      if (i.getOpcode() == I::Xor && !shapes_.isDisjoint(from)) // -1 - x
        return b_.CreateNot(operands[0]);
      Value *high = llvm::ConstantInt::get(i.getType(), c->getValue() & ~low);
      return i.getOpcode() == I::Or ? b_.CreateOr(operands[0], high)
                                    : b_.CreateXor(operands[0], high);
    }
  }
  Value *v = emitElementwise(i, operands);
  // Flags were proven for each lane, not for the base.
  if (auto *clone = llvm::dyn_cast<llvm::Instruction>(v))
    clone->dropPoisonGeneratingFlags();
  return v;
}

llvm::Value *Widener::emitVarying(const llvm::Instruction &i) {
  using I = llvm::Instruction;
  switch (i.getOpcode()) {
  case I::UDiv:
  case I::SDiv:
  case I::URem:
  case I::SRem:
    return emitVaryingDivision(i);
  case I::FDiv:
    if (isQuotientByUniform(i))
      return emitQuotientByUniform(i);
    break;
  case I::ExtractElement:
  case I::InsertElement:
  case I::ShuffleVector:
    return emitVectorElement(i);
  case I::GetElementPtr:
    return emitAddress(llvm::cast<llvm::GEPOperator>(i), true);
  case I::Select:
    if (shapes_.isUniform(i.getOperand(0)))
      return b_.CreateSelect(base(i.getOperand(0)), vector(i.getOperand(1)),
                             vector(i.getOperand(2)));
    break;
  case I::Alloca:
    return missing("alloca of variable size outside W = 1", wide(&i));
  default:
    break;
  }
  llvm::SmallVector<Value *> operands;
  for (const Value *op : i.operands())
    operands.push_back(vector(op));
  return emitElementwise(i, operands);
}

/// x86 divides no vectors of integers, and a lane that is not active must not trap.
llvm::Value *Widener::emitVaryingDivision(const llvm::Instruction &i) {
  Value *a = vector(i.getOperand(0)), *d = vector(i.getOperand(1));
  if (llvm::isa<llvm::Constant>(i.getOperand(1)))
    return emitElementwise(i, {a, d});
  if (!isBaseline() && lanes_ > 1 && shapes_.isUniform(i.getOperand(1)) &&
      shapes_.shape(i.getOperand(0)).hasOffsets() && !shapes_.shape(i.getOperand(0)).isConditional)
    return emitRowDivision(i, a, d);
  return emitDivisionByLanes(i, a, d);
}

/// Lanes at known distances, divided by one number that is greater than all of these: those that
/// reach the next multiple have one more, and the others what lane 0 has.
///
///     q = x / d;  r = x % d                    of the first lane
///     isNext = distance >= d - r
///     quotient = q + isNext;  remainder = r + distance - (isNext ? d : 0)
llvm::Value *Widener::emitRowDivision(const llvm::Instruction &i, Value *a, Value *divisors) {
  using I = llvm::Instruction;
  const Value *numbers = i.getOperand(0);
  const std::vector<int64_t> &offsets = *shapes_.shape(numbers).offsets;
  const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  const auto span = uint64_t(*most - *least);
  const unsigned width = i.getType()->getScalarSizeInBits();
  const bool isSigned = i.getOpcode() == I::SDiv || i.getOpcode() == I::SRem;
  const auto number = [&](const llvm::APInt &n) { return llvm::ConstantInt::get(i.getType(), n); };
  const llvm::APInt greatest =
      isSigned ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
  if (greatest.ule(span))
    return emitDivisionByLanes(i, a, divisors);
  Value *x = b_.CreateFreeze(
      b_.CreateAdd(base(numbers), number(llvm::APInt(64, uint64_t(*least)).trunc(width))));
  Value *d = b_.CreateFreeze(base(i.getOperand(1)));
  // As numbers without a sign, of which none is a negative one, and none wraps.
  Value *isRow = b_.CreateAnd(b_.CreateICmpULE(x, number(greatest - span)),
                              b_.CreateICmpUGT(d, number(llvm::APInt(width, span))));
  isRow = b_.CreateAnd(isRow, b_.CreateICmpULE(d, number(greatest)));
  Block *row = newBlock("divide.row"), *each = newBlock("divide.each"), *end = newBlock("divided");
  b_.CreateCondBr(isRow, row, each,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1 << 10, 1));
  const auto divideRow = [&]() -> Value * {
    Value *q = b_.CreateUDiv(x, d), *r = b_.CreateSub(x, b_.CreateMul(q, d));
    llvm::SmallVector<llvm::Constant *> distances;
    for (const int64_t offset : offsets)
      distances.push_back(number(llvm::APInt(width, uint64_t(offset - *least))));
    const auto all = [&](Value *v) { return b_.CreateVectorSplat(lanes_, v); };
    Value *distance = llvm::ConstantVector::get(distances);
    Value *isNext = b_.CreateICmpUGE(distance, all(b_.CreateSub(d, r)));
    if (i.getOpcode() == I::UDiv || i.getOpcode() == I::SDiv)
      return b_.CreateSub(all(q), b_.CreateSExt(isNext, distance->getType()));
    Value *none = llvm::Constant::getNullValue(distance->getType());
    return b_.CreateSub(b_.CreateAdd(all(r), distance), b_.CreateSelect(isNext, all(d), none));
  };
  return joined({row, divideRow}, {each, [&] { return emitDivisionByLanes(i, a, divisors); }}, end);
}

llvm::Value *Widener::emitDivisionByLanes(const llvm::Instruction &i, Value *a, Value *d) {
  if (mask())
    d = b_.CreateSelect(mask(), d, llvm::ConstantInt::get(d->getType(), 1));
  const unsigned width = i.getType()->getScalarSizeInBits();
  if (width == 64 && !i.getType()->isVectorTy())
    return emitWideDivision(i, a, d);
  if (width > 32 || i.getType()->isVectorTy())
    return emitElementwise(i, {a, d});
  return quotientsByDoubles(i.getOpcode(), a, d);
}

/// 64-bit operands are small most of the time: where those of all lanes are, 32 bits do.
llvm::Value *Widener::emitWideDivision(const llvm::Instruction &i, Value *a, Value *d) {
  using I = llvm::Instruction;
  if (mask())
    a = b_.CreateSelect(mask(), a, llvm::Constant::getNullValue(a->getType()));
  Value *high = b_.CreateFreeze(b_.CreateLShr(b_.CreateOr(a, d), 32));
  Value *areSmall = b_.CreateIsNull(b_.CreateOrReduce(high));
  Block *narrow = newBlock("narrow"), *wide = newBlock("wide"), *end = newBlock("divided");
  b_.CreateCondBr(areSmall, narrow, wide);
  b_.SetInsertPoint(narrow);
  llvm::Type *ints = vec(b_.getInt32Ty(), lanes_);
  const bool isQuotient = i.getOpcode() == I::UDiv || i.getOpcode() == I::SDiv;
  Value *small = b_.CreateZExt(quotientsByDoubles(isQuotient ? I::UDiv : I::URem,
                                                  b_.CreateTrunc(a, ints), b_.CreateTrunc(d, ints)),
                               a->getType());
  b_.CreateBr(end);
  b_.SetInsertPoint(wide);
  Value *large = emitElementwise(i, {a, d});
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
  llvm::PHINode *result = b_.CreatePHI(a->getType(), 2);
  result->addIncoming(small, narrow);
  result->addIncoming(large, wide);
  return result;
}

/// 32-bit quotients are exact in double: |a/b - q| >= 1/b > the rounding error of a/b for 32-bit a
/// and b.
llvm::Value *Widener::quotientsByDoubles(unsigned opcode, Value *a, Value *d) {
  using I = llvm::Instruction;
  const bool isSigned = opcode == I::SDiv || opcode == I::SRem;
  llvm::Type *doubles = vec(b_.getDoubleTy(), lanes_);
  auto toDouble = [&](Value *v) {
    return isSigned ? b_.CreateSIToFP(v, doubles) : b_.CreateUIToFP(v, doubles);
  };
  Value *q = b_.CreateFDiv(toDouble(a), toDouble(d));
  // A 64-bit target holds INT_MIN / -1 too; the truncation wraps as two's complement does.
  llvm::Type *longs = vec(b_.getInt64Ty(), lanes_);
  q = b_.CreateTrunc(b_.CreateFPToSI(q, longs), a->getType());
  if (opcode == I::UDiv || opcode == I::SDiv)
    return q;
  return b_.CreateSub(a, b_.CreateMul(q, d));
}

llvm::Value *Widener::emitQuotientByUniform(const llvm::Instruction &i) {
  Value *r = reciprocalFor(i);
  return b_.CreateFMul(vector(i.getOperand(0)), b_.CreateVectorSplat(lanes_, r));
}

/// Vectors of one thread lie lane by lane in one wide vector: element k of lane l is element l * n
/// + k.
llvm::Value *Widener::emitVectorElement(const llvm::Instruction &i) {
  llvm::SmallVector<int> order;
  if (auto *e = llvm::dyn_cast<llvm::ExtractElementInst>(&i)) {
    auto *type = llvm::cast<llvm::FixedVectorType>(e->getVectorOperandType());
    const unsigned n = type->getNumElements();
    if (auto *k = llvm::dyn_cast<llvm::ConstantInt>(e->getIndexOperand())) {
      if (Value *separated = separatedElement(*e, unsigned(k->getZExtValue())))
        return separated;
      for (unsigned l = 0; l < lanes_; ++l)
        order.push_back(int(l * n + k->getZExtValue()));
      return b_.CreateShuffleVector(vector(e->getVectorOperand()), order);
    }
  } else if (auto *e = llvm::dyn_cast<llvm::InsertElementInst>(&i)) {
    const unsigned n = llvm::cast<llvm::FixedVectorType>(e->getType())->getNumElements();
    if (Value *joined = joinedElements(*e))
      return joined;
    if (auto *k = llvm::dyn_cast<llvm::ConstantInt>(e->getOperand(2))) {
      // Spread the scalars to element 0 of each lane's group, then pick from the two.
      Value *scalars = vector(e->getOperand(1));
      llvm::SmallVector<int> spread;
      for (unsigned l = 0; l < lanes_; ++l)
        for (unsigned m = 0; m < n; ++m)
          spread.push_back(m == k->getZExtValue() ? int(l) : -1);
      Value *wideScalars = b_.CreateShuffleVector(scalars, spread);
      if (llvm::isa<llvm::UndefValue>(e->getOperand(0)))
        return wideScalars;
      for (unsigned p = 0; p < lanes_ * n; ++p)
        order.push_back(int(p % n == k->getZExtValue() ? lanes_ * n + p : p));
      return b_.CreateShuffleVector(vector(e->getOperand(0)), wideScalars, order);
    }
  } else {
    auto &shuffle = llvm::cast<llvm::ShuffleVectorInst>(i);
    const unsigned n =
        llvm::cast<llvm::FixedVectorType>(shuffle.getOperand(0)->getType())->getNumElements();
    for (unsigned l = 0; l < lanes_; ++l)
      for (int m : shuffle.getShuffleMask())
        order.push_back(m < 0             ? -1
                        : unsigned(m) < n ? int(l * n + m)
                                          : int(lanes_ * n + l * n + m - n));
    return b_.CreateShuffleVector(vector(shuffle.getOperand(0)), vector(shuffle.getOperand(1)),
                                  order);
  }
  return missing("element of a vector with a variable index", wide(&i));
}

} // namespace ptxrun::simt
