#include "translate/jit/min_max.h"

#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// The same bits, as floats or as integers.
Value *bitsOf(Value *v) {
  while (auto *cast = dyn_cast<BitCastInst>(v))
    v = cast->getOperand(0);
  return v;
}

bool hasParts(Value *v) {
  auto *type = dyn_cast<FixedVectorType>(v->getType());
  const unsigned lanes = type ? type->getNumElements() : 0;
  return lanes == 8 || lanes == 16 || lanes == 32;
}

/// What one takes as lower writes it, and by integers; what an operand takes first, and a result in
/// the end. In instructions.
constexpr int kUsual = 8, kByIntegers = 2, kOperand = 5, kResult = 3;

/// Minima and maxima that share operands or results, and what they gain by integers.
class Chains {
 public:
  explicit Chains(ArrayRef<std::pair<Instruction *, MinMax>> all) {
    DenseMap<Value *, bool> isResult, isOperand;
    for (const auto &[choice, m] : all) {
      isResult[choice] = true;
      for (Value *v : {m.x, m.y}) {
        isOperand[bitsOf(v)] = true;
        together_.unionSets(choice, bitsOf(v));
      }
    }
    for (const auto &[choice, m] : all)
      gain_[leader(choice)] += kUsual - kByIntegers - (isOperand.contains(choice) ? 0 : kResult);
    for (const auto &[v, is] : isOperand)
      if (!isResult.contains(v))
        gain_[leader(v)] -= kOperand;
  }
  bool isWorthIt(Value *choice) const { return gain_.lookup(leader(choice)) > 0; }

 private:
  Value *leader(Value *v) const { return *together_.findLeader(v); }

  EquivalenceClasses<Value *> together_;
  DenseMap<Value *, int> gain_;
};

class Orders {
 public:
  explicit Orders(Function &function) : function_(function) {}

  void replace(Instruction &choice, const MinMax &m) {
    IRBuilder<> ir(function_.getContext());
    Value *x = orderOf(m.x), *y = orderOf(m.y);
    ir.SetInsertPoint(&choice);
    Value *order;
    if (m.isMin) {
      order = ir.CreateBinaryIntrinsic(Intrinsic::smin, x, y);
    } else {
      Constant *one = ConstantInt::get(x->getType(), 1);
      order = ir.CreateSub(
          ir.CreateBinaryIntrinsic(Intrinsic::smax, ir.CreateAdd(x, one), ir.CreateAdd(y, one)),
          one);
    }
    Value *result = ir.CreateBitCast(turned(ir, order), m.x->getType());
    known_[result] = order;
    replaceChoice(choice, result);
  }

 private:
  /// The bits below the sign, turned over where it is set.
  static Value *turned(IRBuilder<> &ir, Value *bits) {
    return ir.CreateXor(bits, ir.CreateLShr(ir.CreateAShr(bits, 31), 1));
  }

  Value *orderOf(Value *v) {
    if (Value *known = known_.lookup(v))
      return known;
    IRBuilder<> ir(function_.getContext());
    setInsertPointBehind(ir, v, function_);
    auto *type = FixedVectorType::getInteger(cast<FixedVectorType>(v->getType()));
    Value *one = ir.CreateSelect(ir.CreateFCmpUNO(v, v), ConstantInt::get(type, lower::kOneNan),
                                 ir.CreateBitCast(v, type));
    return known_[v] = turned(ir, one);
  }

  Function &function_;
  DenseMap<Value *, Value *> known_; ///< what floats are ordered by
};

} // namespace

std::optional<MinMax> minMaxInParts(Instruction &choice) {
  const std::optional<MinMax> m = lower::minMaxOf(choice);
  return m && hasParts(m->x) ? m : std::nullopt;
}

void replaceChoice(Instruction &choice, Value *result) {
  for (User *u : make_early_inc_range(choice.users()))
    if (auto *cast = dyn_cast<BitCastInst>(u); cast && cast->getType() == result->getType())
      cast->replaceAllUsesWith(result);
  IRBuilder<> ir(&choice);
  choice.replaceAllUsesWith(ir.CreateBitCast(result, choice.getType()));
}

void setInsertPointBehind(IRBuilderBase &ir, Value *v, Function &function) {
  auto *i = dyn_cast<Instruction>(v);
  BasicBlock *block = i ? i->getParent() : &function.getEntryBlock();
  ir.SetInsertPoint(block, i && !isa<PHINode>(i) ? std::next(i->getIterator())
                                                 : block->getFirstInsertionPt());
  if (i)
    ir.SetCurrentDebugLocation(i->getDebugLoc());
}

void orderAsIntegers(Function &function) {
  if (function.isDeclaration())
    return;
  SmallVector<std::pair<Instruction *, MinMax>> all;
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &instruction : *block)
      if (const std::optional<MinMax> m = minMaxInParts(instruction))
        all.emplace_back(&instruction, *m);
  const Chains chains(all);
  SmallVector<WeakTrackingVH> replaced;
  Orders orders(function);
  for (const auto &[choice, operands] : all)
    if (chains.isWorthIt(choice)) {
      orders.replace(*choice, *minMaxInParts(*choice)); // operands may have been replaced
      replaced.emplace_back(choice);
    }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
