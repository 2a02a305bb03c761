#include "translate/jit/one_nan.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/jit/min_max.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// What the instruction makes of each kind of number, four bits each, from below: quiet and
/// signalling NaNs leave the destination, all others are taken.
constexpr uint32_t kTable = 0x11111100;

constexpr uint32_t kCurrentDirection = 4; // of rounding

/// The operation on one register.
Value *fixUp(IRBuilder<> &ir, Value *numbers) {
  const unsigned lanes = cast<FixedVectorType>(numbers->getType())->getNumElements();
  Value *nans = ir.CreateBitCast(ir.CreateVectorSplat(lanes, ir.getInt32(lower::kOneNan)),
                                 numbers->getType());
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

/// min and max by vrangeps, which takes the number of a number and a quiet NaN, of two quiet NaNs
/// the first, and tells zeros apart: all that is left to do is to make the NaNs that come in the
/// one, once for each value.
class Ranges {
 public:
  explicit Ranges(Function &function) : function_(function) {}

  bool replace(Instruction &choice) {
    const std::optional<MinMax> m = minMaxInParts(choice);
    if (!m)
      return false;
    Value *x = withOneNan(m->x), *y = withOneNan(m->y);
    IRBuilder<> ir(&choice);
    Value *range = inParts(ir, x, y, [&](Value *a, Value *b) { return take(ir, a, b, m->isMin); });
    known_[range] = range;
    replaceChoice(choice, range);
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
    IRBuilder<> ir(function_.getContext());
    setInsertPointBehind(ir, v, function_);
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
    Value *numbers = lower::numbersOf(instruction);
    if (!numbers || !numbers->getType()->isVectorTy())
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
