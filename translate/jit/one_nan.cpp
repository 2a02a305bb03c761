#include "translate/jit/one_nan.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

namespace ptxrun::jit {

using namespace llvm;

namespace {

constexpr uint32_t kOneNan = 0x7fffffff;
/// What the instruction makes of each kind of number, four bits each, from below: quiet and
/// signalling NaNs leave the destination, all others are taken.
constexpr uint32_t kTable = 0x11111100;

constexpr uint32_t kCurrentDirection = 4; // of rounding

/// The same bits, as floats or as integers.
bool isSame(Value *a, Value *b) {
  auto bits = [](Value *v) {
    while (auto *cast = dyn_cast<BitCastInst>(v))
      v = cast->getOperand(0);
    return v;
  };
  return bits(a) == bits(b);
}

/// Whether `test` asks if a number, `of`, is a NaN.
bool isNan(Value *test, Value *&of) {
  using namespace PatternMatch;
  FCmpInst::Predicate predicate;
  Value *other;
  return match(test, m_FCmp(predicate, m_Value(of), m_Value(other))) &&
         predicate == FCmpInst::FCMP_UNO && (other == of || match(other, m_AnyZeroFP()));
}

/// The floats of which `choice` takes the one NaN or the number; null if it does something else.
Value *numbersOf(Instruction &choice) {
  using namespace PatternMatch;
  Value *test, *nan, *number, *compared;
  if (!match(&choice, m_Select(m_Value(test), m_Value(nan), m_Value(number))))
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
  if (!isNan(test, compared) || !compared->getType()->getScalarType()->isFloatTy())
    return nullptr;
  return isSame(number, compared) ? compared : nullptr;
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
  arguments.push_back(ir.getInt32(kCurrentDirection));
  return ir.CreateIntrinsic(Intrinsic::x86_avx512_mask_fixupimm_ps_512, {}, arguments);
}

/// The lanes of `numbers`, sixteen at a time: what `make` makes of them and of the same lanes of
/// `others`.
Value *inParts(IRBuilder<> &ir, Value *numbers, Value *others,
               function_ref<Value *(Value *, Value *)> make) {
  const unsigned lanes = cast<FixedVectorType>(numbers->getType())->getNumElements();
  if (lanes <= 16)
    return make(numbers, others);
  SmallVector<int> low, high;
  for (unsigned i = 0; i < lanes / 2; ++i) {
    low.push_back(int(i));
    high.push_back(int(i + lanes / 2));
  }
  auto half = [&](ArrayRef<int> of) {
    return inParts(ir, ir.CreateShuffleVector(numbers, of), ir.CreateShuffleVector(others, of),
                   make);
  };
  Value *first = half(low), *second = half(high);
  low.append(high);
  return ir.CreateShuffleVector(first, second, low);
}

Value *fixUpAll(IRBuilder<> &ir, Value *numbers) {
  return inParts(ir, numbers, numbers, [&](Value *x, Value *) { return fixUp(ir, x); });
}

bool hasParts(Value *v) {
  auto *type = dyn_cast<FixedVectorType>(v->getType());
  const unsigned lanes = type ? type->getNumElements() : 0;
  return type && type->getElementType()->isFloatTy() && (lanes == 8 || lanes == 16 || lanes == 32);
}

/// Which of `x` and `y` an ordered choice of the lesser (greater) one takes where both are equal;
/// null if it is none.
Value *tieOf(Value *choice, Value *x, Value *y, bool isMin) {
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
  if (!isSame(ifTrue, left) || !isSame(ifFalse, right))
    return nullptr;
  return FCmpInst::isTrueWhenEqual(predicate) ? left : right;
}

struct MinMax {
  Value *x, *y;
  bool isMin;
};

/// What lower/floating.cpp writes for min and max of two numbers, at the choice that ends it.
std::optional<MinMax> minMaxOf(Instruction &choice) {
  using namespace PatternMatch;
  Value *xTest, *yTest, *partner, *rest, *number, *yBits, *one, *other;
  MinMax m{};
  if (!match(&choice, m_Select(m_Value(yTest), m_Value(partner), m_Value(rest))) ||
      !match(rest, m_Select(m_Value(xTest), m_Value(yBits), m_Value(number))) ||
      !isNan(yTest, m.y) || !isNan(xTest, m.x) || !hasParts(m.x) || !hasParts(m.y) ||
      !isSame(yBits, m.y))
    return std::nullopt;
  auto *canonical = dyn_cast<Instruction>(partner);
  if (!canonical || numbersOf(*canonical) != m.x)
    return std::nullopt;
  m.isMin = match(number, m_Or(m_Value(one), m_Value(other)));
  if (!m.isMin && !match(number, m_And(m_Value(one), m_Value(other))))
    return std::nullopt;
  Value *first = tieOf(one, m.x, m.y, m.isMin), *second = tieOf(other, m.x, m.y, m.isMin);
  return first && second && first != second ? std::optional(m) : std::nullopt;
}

/// min and max by vrangeps, which takes the number of a number and a quiet NaN, of two quiet NaNs
/// the first, and tells zeros apart: all that is left to do is to make the NaNs that come in the
/// one, once for each value.
class Ranges {
 public:
  explicit Ranges(Function &function) : function_(function) {}

  bool replace(Instruction &choice) {
    const std::optional<MinMax> m = minMaxOf(choice);
    if (!m)
      return false;
    Value *x = withOneNan(m->x), *y = withOneNan(m->y);
    IRBuilder<> ir(&choice);
    Value *range = inParts(ir, x, y, [&](Value *a, Value *b) { return take(ir, a, b, m->isMin); });
    known_[range] = range;
    for (User *u : make_early_inc_range(choice.users()))
      if (auto *cast = dyn_cast<BitCastInst>(u); cast && cast->getType() == range->getType())
        cast->replaceAllUsesWith(range);
    choice.replaceAllUsesWith(ir.CreateBitCast(range, choice.getType()));
    return true;
  }

 private:
  /// The sign is that of the number that is taken.
  static Value *take(IRBuilder<> &ir, Value *a, Value *b, bool isMin) {
    const unsigned lanes = cast<FixedVectorType>(a->getType())->getNumElements();
    SmallVector<Value *> arguments = {a, b, ir.getInt32(isMin ? 4 : 5), a,
                                      Constant::getAllOnesValue(ir.getIntNTy(lanes))};
    if (lanes == 8)
      return ir.CreateIntrinsic(Intrinsic::x86_avx512_mask_range_ps_256, {}, arguments);
    arguments.push_back(ir.getInt32(kCurrentDirection));
    return ir.CreateIntrinsic(Intrinsic::x86_avx512_mask_range_ps_512, {}, arguments);
  }

  Value *withOneNan(Value *v) {
    if (Value *known = known_.lookup(v))
      return known;
    auto *i = dyn_cast<Instruction>(v);
    BasicBlock *block = i ? i->getParent() : &function_.getEntryBlock();
    IRBuilder<> ir(block, i && !isa<PHINode>(i) ? std::next(i->getIterator())
                                                : block->getFirstInsertionPt());
    if (i)
      ir.SetCurrentDebugLocation(i->getDebugLoc());
    Value *fixed = fixUpAll(ir, v);
    known_[v] = fixed;
    known_[fixed] = fixed;
    return fixed;
  }

  Function &function_;
  DenseMap<Value *, Value *> known_; ///< with one NaN for all
};

} // namespace

void fixUpNans(Function &function) {
  if (function.isDeclaration())
    return;
  SmallVector<WeakTrackingVH> replaced;
  Ranges ranges(function);
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &instruction : *block)
      if (ranges.replace(instruction))
        replaced.emplace_back(&instruction);
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
