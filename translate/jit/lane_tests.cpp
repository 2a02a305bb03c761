#include "translate/jit/lane_tests.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

#include "translate/jit/register_parts.h"

namespace ptxrun::jit {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

unsigned lanesOf(const Value *v) { return cast<FixedVectorType>(v->getType())->getNumElements(); }

/// A question that many lanes have one answer to.
struct Test {
  Value *conditions;
  bool isOfAll;   ///< whether all lanes meet the condition; else whether any does
  bool isNegated; ///< the answer is the opposite
};

std::optional<Test> testIn(Instruction &i) {
  Value *conditions;
  CmpInst::Predicate predicate;
  const APInt *number;
  if (match(&i, m_Intrinsic<Intrinsic::vector_reduce_or>(m_Value(conditions))) ||
      match(&i, m_Intrinsic<Intrinsic::vector_reduce_and>(m_Value(conditions)))) {
    if (!i.getType()->isIntegerTy(1))
      return std::nullopt;
    const bool isOfAll = cast<IntrinsicInst>(i).getIntrinsicID() == Intrinsic::vector_reduce_and;
    return Test{conditions, isOfAll, false};
  }
  if (!match(&i, m_ICmp(predicate, m_OneUse(m_BitCast(m_Value(conditions))), m_APInt(number))) ||
      !ICmpInst::isEquality(predicate) || !(number->isZero() || number->isAllOnes()))
    return std::nullopt;
  auto *type = dyn_cast<FixedVectorType>(conditions->getType());
  if (!type || !type->getElementType()->isIntegerTy(1))
    return std::nullopt;
  return Test{conditions, number->isAllOnes(),
              (predicate == CmpInst::ICMP_EQ) != number->isAllOnes()};
}

/// The bits of the elements that all of it compares, if it is made of comparisons that serve
/// nothing else; 0 if not.
unsigned comparedBits(const Value *conditions) {
  auto *i = dyn_cast<Instruction>(conditions);
  if (!i || !i->hasOneUse())
    return 0;
  if (isa<CmpInst>(i)) {
    Type *element = i->getOperand(0)->getType()->getScalarType();
    const unsigned bits = element->isPointerTy() ? 0 : element->getScalarSizeInBits();
    return bits == 32 || bits == 64 ? bits : 0;
  }
  Value *of;
  if (match(i, m_Not(m_Value(of))))
    return comparedBits(of);
  if (!i->isBitwiseLogicOp())
    return 0;
  const unsigned bits = comparedBits(i->getOperand(0));
  return bits == comparedBits(i->getOperand(1)) ? bits : 0;
}

/// The conditions of `count` lanes from `first` on, as numbers of the elements' width.
Value *conditionsOf(IRBuilder<> &ir, Value *conditions, unsigned first, unsigned count,
                    IntegerType *number) {
  auto *i = cast<Instruction>(conditions);
  if (auto *compare = dyn_cast<CmpInst>(i))
    return comparedAsNumbers(ir, *compare, first, FixedVectorType::get(number, count));
  const auto of = [&](Value *operand) { return conditionsOf(ir, operand, first, count, number); };
  Value *negated;
  if (match(i, m_Not(m_Value(negated))))
    return ir.CreateNot(of(negated));
  return ir.CreateBinOp(cast<BinaryOperator>(i)->getOpcode(), of(i->getOperand(0)),
                        of(i->getOperand(1)));
}

} // namespace

void testLanesByRegisters(Function &function, unsigned vectorBytes) {
  SmallVector<WeakTrackingVH> replaced;
  for (Instruction &i : instructions(function)) {
    const std::optional<Test> test = testIn(i);
    const unsigned bits = test ? comparedBits(test->conditions) : 0;
    const unsigned inRegister = bits ? vectorBytes * 8 / bits : 0;
    const unsigned lanes = bits ? lanesOf(test->conditions) : 0;
    if (!bits || lanes <= inRegister || lanes % inRegister != 0)
      continue;
    IRBuilder<> ir(&i);
    Value *joined = nullptr;
    for (unsigned first = 0; first < lanes; first += inRegister) {
      Value *own = conditionsOf(ir, test->conditions, first, inRegister, ir.getIntNTy(bits));
      joined = !joined ? own : test->isOfAll ? ir.CreateAnd(joined, own) : ir.CreateOr(joined, own);
    }
    Type *number = ir.getIntNTy(inRegister);
    Value *met = ir.CreateBitCast(ir.CreateIsNeg(joined), number);
    Value *answer = test->isOfAll ? ir.CreateICmpEQ(met, Constant::getAllOnesValue(number))
                                  : ir.CreateIsNotNull(met);
    i.replaceAllUsesWith(test->isNegated ? ir.CreateNot(answer) : answer);
    replaced.emplace_back(&i);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
