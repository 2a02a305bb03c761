#include "translate/jit/one_nan.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

namespace ptxrun::jit {

using namespace llvm;

namespace {

constexpr uint32_t kOneNan = 0x7fffffff;
/// What the instruction makes of each kind of number, four bits each, from below: quiet and
/// signalling NaNs leave the destination, all others are taken.
constexpr uint32_t kTable = 0x11111100;

/// The floats of which `choice` takes the one NaN or the number; null if it does something else.
Value *numbersOf(Instruction &choice) {
  using namespace PatternMatch;
  Value *isNan, *nan, *number, *compared;
  if (!match(&choice, m_Select(m_Value(isNan), m_Value(nan), m_Value(number))))
    return nullptr;
  auto *constant = dyn_cast<Constant>(nan);
  auto *type = dyn_cast<FixedVectorType>(choice.getType());
  if (!constant || !type || type->getScalarSizeInBits() != 32)
    return nullptr;
  Constant *one = constant->getSplatValue();
  auto *bits = dyn_cast_or_null<ConstantInt>(one);
  auto *value = dyn_cast_or_null<ConstantFP>(one);
  if ((!bits || bits->getValue() != kOneNan) &&
      (!value || value->getValueAPF().bitcastToAPInt() != kOneNan))
    return nullptr;
  FCmpInst::Predicate predicate;
  Value *other;
  if (!match(isNan, m_FCmp(predicate, m_Value(compared), m_Value(other))) ||
      predicate != FCmpInst::FCMP_UNO || !compared->getType()->getScalarType()->isFloatTy() ||
      (other != compared && !match(other, m_AnyZeroFP())))
    return nullptr;
  return number == compared || match(number, m_BitCast(m_Specific(compared))) ? compared : nullptr;
}

/// The operation on one register.
Value *fixUp(IRBuilder<> &ir, Value *numbers) {
  const unsigned lanes = cast<FixedVectorType>(numbers->getType())->getNumElements();
  Value *nans =
      ir.CreateBitCast(ir.CreateVectorSplat(lanes, ir.getInt32(kOneNan)), numbers->getType());
  SmallVector<Value *> arguments = {nans, numbers, ir.CreateVectorSplat(lanes, ir.getInt32(kTable)),
                                    ir.getInt32(0), Constant::getAllOnesValue(ir.getIntNTy(lanes))};
  if (lanes == 8)
    return ir.CreateIntrinsic(Intrinsic::x86_avx512_mask_fixupimm_ps_256, {}, arguments);
  constexpr uint32_t kCurrentDirection = 4;
  arguments.push_back(ir.getInt32(kCurrentDirection));
  return ir.CreateIntrinsic(Intrinsic::x86_avx512_mask_fixupimm_ps_512, {}, arguments);
}

Value *fixUpAll(IRBuilder<> &ir, Value *numbers) {
  const unsigned lanes = cast<FixedVectorType>(numbers->getType())->getNumElements();
  if (lanes <= 16)
    return fixUp(ir, numbers);
  SmallVector<int> low, high;
  for (unsigned i = 0; i < lanes / 2; ++i) {
    low.push_back(int(i));
    high.push_back(int(i + lanes / 2));
  }
  Value *first = fixUpAll(ir, ir.CreateShuffleVector(numbers, low)),
        *second = fixUpAll(ir, ir.CreateShuffleVector(numbers, high));
  low.append(high);
  return ir.CreateShuffleVector(first, second, low);
}

} // namespace

void fixUpNans(Function &function) {
  SmallVector<WeakTrackingVH> replaced;
  for (Instruction &instruction : instructions(function)) {
    Value *numbers = numbersOf(instruction);
    if (!numbers)
      continue;
    const unsigned lanes = cast<FixedVectorType>(numbers->getType())->getNumElements();
    if (lanes != 8 && lanes != 16 && lanes != 32)
      continue;
    IRBuilder<> ir(&instruction);
    instruction.replaceAllUsesWith(ir.CreateBitCast(fixUpAll(ir, numbers), instruction.getType()));
    replaced.emplace_back(&instruction);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
