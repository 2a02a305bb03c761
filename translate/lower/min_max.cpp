#include "translate/lower/min_max.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/PatternMatch.h>

#include "translate/lower/bits_of.h"

namespace ptxrun::lower {

using namespace llvm;

namespace {

bool isSame(Value *a, Value *b) { return bitsOf(a) == bitsOf(b); }

/// Whether `test` asks if a number, `of`, is a NaN.
bool isNan(Value *test, Value *&of) {
  using namespace PatternMatch;
  FCmpInst::Predicate predicate;
  Value *other;
  return match(test, m_FCmp(predicate, m_Value(of), m_Value(other))) &&
         predicate == FCmpInst::FCMP_UNO && (other == of || match(other, m_AnyZeroFP()));
}

/// What a number is without operations on its sign alone: it is a NaN where that is.
Value *withoutSign(Value *v) {
  using namespace PatternMatch;
  Value *of;
  while (match(v, m_FNeg(m_Value(of))) || match(v, m_FAbs(m_Value(of))))
    v = of;
  return v;
}

/// The float of which `bits` are the bits, if it is a NaN exactly where `tested` is; else null.
/// InstCombine tests numbers without their signs.
Value *floatOf(Value *bits, Value *tested) {
  if (isSame(bits, tested))
    return tested;
  Value *first = bitsOf(bits);
  return first->getType() == tested->getType() && withoutSign(first) == withoutSign(tested)
             ? first
             : nullptr;
}

/// Whether `number` is `v` without its sign.
bool isMagnitudeOf(Value *number, Value *v) {
  using namespace PatternMatch;
  Value *whole;
  return match(bitsOf(number), m_And(m_Value(whole), m_SpecificInt(0x7fffffff))) &&
         isSame(whole, v);
}

bool isOfFloats(Value *v) { return v->getType()->getScalarType()->isFloatTy(); }

/// Which of `x` and `y` an ordered choice of the lesser (greater) one takes where both are equal;
/// null if it is none. Where they are magnitudes, it may be a choice of what they are those of, and
/// `hasSigns` then: InstCombine takes the signs away once, behind both choices.
Value *tieOf(Value *choice, Value *x, Value *y, bool isMin, bool &hasSigns) {
  using namespace PatternMatch;
  FCmpInst::Predicate predicate;
  Value *left, *right, *ifTrue, *ifFalse;
  if (auto *cast = dyn_cast<BitCastInst>(choice))
    choice = cast->getOperand(0);
  if (!match(choice, m_Select(m_FCmp(predicate, m_Value(left), m_Value(right)), m_Value(ifTrue),
                              m_Value(ifFalse))) ||
      ((left != x || right != y) && (left != y || right != x)))
    return nullptr;
  const bool isLess = predicate == FCmpInst::FCMP_OLT || predicate == FCmpInst::FCMP_OLE;
  if (!isLess && predicate != FCmpInst::FCMP_OGT && predicate != FCmpInst::FCMP_OGE)
    return nullptr;
  if (isLess != isMin)
    std::swap(left, right);
  hasSigns = isMagnitudeOf(left, ifTrue) && isMagnitudeOf(right, ifFalse);
  if (!hasSigns && (!isSame(ifTrue, left) || !isSame(ifFalse, right)))
    return nullptr;
  return FCmpInst::isTrueWhenEqual(predicate) ? left : right;
}

} // namespace

Value *numbersOf(Instruction &choice) {
  using namespace PatternMatch;
  Value *test, *nan, *number, *compared;
  if (!match(&choice, m_Select(m_Value(test), m_Value(nan), m_Value(number))))
    return nullptr;
  auto *constant = dyn_cast<Constant>(nan);
  if (!constant || choice.getType()->getScalarSizeInBits() != 32)
    return nullptr;
  Constant *one =
      constant->getType()->isVectorTy() ? constant->getSplatValue(/*AllowPoison=*/true) : constant;
  auto *bits = dyn_cast_or_null<ConstantInt>(one);
  auto *value = dyn_cast_or_null<ConstantFP>(one);
  if ((!bits || bits->getValue() != kOneNan) &&
      (!value || value->getValueAPF().bitcastToAPInt() != kOneNan))
    return nullptr;
  if (!isNan(test, compared) || !compared->getType()->getScalarType()->isFloatTy())
    return nullptr;
  return floatOf(number, compared);
}

std::optional<MinMax> minMaxOf(Instruction &choice) {
  using namespace PatternMatch;
  Value *xTest, *yTest, *partner, *rest, *number, *yBits, *one, *other;
  MinMax m{};
  if (!match(&choice, m_Select(m_Value(yTest), m_Value(partner), m_Value(rest))) ||
      !match(rest, m_Select(m_Value(xTest), m_Value(yBits), m_Value(number))) ||
      !isNan(yTest, m.y) || !isNan(xTest, m.x) || !isOfFloats(m.x) || !isOfFloats(m.y))
    return std::nullopt;
  auto *canonical = dyn_cast<Instruction>(partner);
  Value *x = canonical ? numbersOf(*canonical) : nullptr;
  if (!x || floatOf(bitsOf(x), m.x) != x || !(m.y = floatOf(yBits, m.y)))
    return std::nullopt;
  m.x = x;
  m.isMin = match(number, m_Or(m_Value(one), m_Value(other)));
  if (!m.isMin && !match(number, m_And(m_Value(one), m_Value(other))))
    return std::nullopt;
  bool firstHasSigns = false, secondHasSigns = false;
  Value *first = tieOf(one, m.x, m.y, m.isMin, firstHasSigns),
        *second = tieOf(other, m.x, m.y, m.isMin, secondHasSigns);
  const bool isOne = first && second && first != second;
  return isOne && (m.isMin ? !firstHasSigns && !secondHasSigns : !firstHasSigns || !secondHasSigns)
             ? std::optional(m)
             : std::nullopt;
}

} // namespace ptxrun::lower
