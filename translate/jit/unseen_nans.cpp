#include "translate/jit/unseen_nans.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

namespace ptxrun::jit {

using namespace llvm;
using namespace PatternMatch;

namespace {

Value *withoutCast(Value *value) {
  auto *cast = dyn_cast<BitCastInst>(value);
  return cast && cast->getType()->getScalarSizeInBits() ==
                     cast->getOperand(0)->getType()->getScalarSizeInBits()
             ? cast->getOperand(0)
             : value;
}

bool isNan(Value *constant, Type *type) {
  auto *bits = dyn_cast<Constant>(constant);
  if (bits && bits->getType()->isVectorTy())
    bits = bits->getSplatValue(/*AllowPoison=*/true);
  if (auto *number = dyn_cast_or_null<ConstantFP>(bits))
    return number->isNaN();
  auto *integer = dyn_cast_or_null<ConstantInt>(bits);
  return integer && APFloat(type->getScalarType()->getFltSemantics(), integer->getValue()).isNaN();
}

/// Whether a number is a NaN at all.
bool isTest(const User *user, const Value *number) {
  FCmpInst::Predicate predicate;
  Value *other;
  return match(user, m_FCmp(predicate, m_Specific(number), m_Value(other))) &&
         predicate == FCmpInst::FCMP_UNO && (other == number || match(other, m_NonNaN()));
}

/// The number that the choice passes on where it is no NaN; null if it is something else.
Value *numberOf(Value *choice) {
  Value *test, *nan, *bits;
  if (!match(choice, m_Select(m_Value(test), m_Value(nan), m_Value(bits))))
    return nullptr;
  Value *number = withoutCast(bits);
  if (!number->getType()->isFPOrFPVectorTy() || !isa<FCmpInst>(test) ||
      !isTest(cast<User>(test), number) || !isNan(nan, number->getType()))
    return nullptr;
  return number;
}

class Unseen {
 public:
  /// Whether the bits of a NaN that is, or is in, `value` make no difference: it ends where any NaN
  /// becomes the one.
  bool isUnseen(Value &value, unsigned depth = 0) {
    constexpr unsigned kDeepest = 64;
    if (auto known = known_.find(&value); known != known_.end())
      return known->second;
    known_[&value] = false; // round a loop
    const bool is = depth < kDeepest && all_of(value.users(), [&](User *user) {
                      return isBlind(*user, value, depth + 1);
                    });
    return known_[&value] = is;
  }

 private:
  bool isBlind(User &user, Value &value, unsigned depth) {
    if (isa<FCmpInst>(user) || numberOf(&user) == withoutCast(&value))
      return true;
    const bool isMoved = isa<ShuffleVectorInst, InsertElementInst>(user) ||
                         (isa<ExtractElementInst>(user) && user.getOperand(0) == &value) ||
                         (isa<BitCastInst>(user) && withoutCast(&user) == &value);
    return (isMoved || isArithmetic(user)) && isUnseen(user, depth);
  }

  static bool isArithmetic(const User &user) {
    if (!user.getType()->isFPOrFPVectorTy())
      return false;
    if (auto *call = dyn_cast<IntrinsicInst>(&user))
      return is_contained({Intrinsic::fma, Intrinsic::sqrt}, call->getIntrinsicID());
    auto *instruction = dyn_cast<Instruction>(&user);
    return instruction && is_contained({Instruction::FAdd, Instruction::FSub, Instruction::FMul,
                                        Instruction::FDiv},
                                       instruction->getOpcode());
  }

  DenseMap<const Value *, bool> known_;
};

} // namespace

void removeUnseenNans(Function &function) {
  Unseen unseen;
  SmallVector<WeakTrackingVH> removed;
  for (Instruction &choice : instructions(function)) {
    Value *number = numberOf(&choice);
    if (!number || number->getType() != choice.getType() || !unseen.isUnseen(choice))
      continue;
    choice.replaceAllUsesWith(number);
    removed.emplace_back(&choice);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(removed);
}

} // namespace ptxrun::jit
