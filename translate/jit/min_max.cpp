#include "translate/jit/min_max.h"

#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>

#include "translate/lower/bits_of.h"

namespace ptxrun::jit {

using namespace llvm;
using lower::bitsOf;

namespace {

/// A vector whose elements are put in another order; else null.
ShuffleVectorInst *permutationAt(Value *v) {
  auto *shuffle = dyn_cast<ShuffleVectorInst>(v);
  return shuffle && isa<UndefValue>(shuffle->getOperand(1)) && !shuffle->changesLength() &&
                 !is_contained(shuffle->getShuffleMask(), PoisonMaskElem)
             ? shuffle
             : nullptr;
}

/// Where the elements of a vector come from.
Value *sourceOf(Value *v) {
  for (;;) {
    v = bitsOf(v);
    ShuffleVectorInst *moved = permutationAt(v);
    if (!moved)
      return v;
    v = moved->getOperand(0);
  }
}

bool hasParts(Value *v) {
  auto *type = dyn_cast<FixedVectorType>(v->getType());
  const unsigned lanes = type ? type->getNumElements() : 0;
  return lanes == 8 || lanes == 16 || lanes == 32;
}

/// How numbers become integers of the same order, which minima and maxima compare.
enum class By {
  floats,     ///< they do not: choices as lower writes them
  order,      ///< -0 below +0, and NaN at the end that loses
  magnitudes, ///< maxima of numbers without a sign: their own bits, and -1 for NaN
};

/// What one takes, what an operand takes first, and a result in the end. In instructions.
struct Costs {
  int one, operand, result;
};
constexpr Costs kFloats{8, 0, 0}, kOrder{2, 5, 3}, kMagnitudes{1, 2, 1};

/// Whether no element has its sign set.
bool isMagnitude(Value *source, const DataLayout &layout) {
  return PatternMatch::match(source, PatternMatch::m_FAbs(PatternMatch::m_Value())) ||
         (source->getType()->isIntOrIntVectorTy() &&
          computeKnownBits(source, layout).isNonNegative());
}

/// Minima and maxima that share operands or results, and what is best for all of these.
class Chains {
 public:
  Chains(ArrayRef<std::pair<Instruction *, MinMax>> all, const DataLayout &layout) {
    DenseMap<Value *, bool> isResult, isOperand;
    for (const auto &[choice, m] : all) {
      isResult[choice] = true;
      for (Value *v : {m.x, m.y}) {
        isOperand[sourceOf(v)] = true;
        together_.unionSets(choice, sourceOf(v));
      }
    }
    for (const auto &[choice, m] : all) {
      Chain &chain = chains_[leader(choice)];
      ++chain.choices;
      chain.results += !isOperand.contains(choice);
      chain.areMagnitudes &= !m.isMin;
    }
    for (const auto &[v, is] : isOperand)
      if (!isResult.contains(v)) {
        Chain &chain = chains_[leader(v)];
        ++chain.operands;
        chain.areMagnitudes = chain.areMagnitudes && isMagnitude(v, layout);
      }
  }
  By best(Value *choice) const {
    const Chain chain = chains_.lookup(leader(choice));
    const auto cost = [&](const Costs &c) {
      return c.one * chain.choices + c.operand * chain.operands + c.result * chain.results;
    };
    const Costs &byIntegers = chain.areMagnitudes ? kMagnitudes : kOrder;
    return cost(byIntegers) >= cost(kFloats) ? By::floats
           : chain.areMagnitudes             ? By::magnitudes
                                             : By::order;
  }

 private:
  struct Chain {
    int choices = 0, operands = 0, results = 0;
    bool areMagnitudes = true;
  };
  Value *leader(Value *v) const { return *together_.findLeader(v); }

  EquivalenceClasses<Value *> together_;
  DenseMap<Value *, Chain> chains_;
};

class Orders {
 public:
  explicit Orders(Function &function) : function_(function) {}

  void replace(Instruction &choice, const MinMax &m, bool areMagnitudes) {
    const Kind kind = areMagnitudes ? Kind::magnitudes : m.isMin ? Kind::least : Kind::greatest;
    IRBuilder<> ir(function_.getContext());
    Value *x = orderOf(m.x, kind), *y = orderOf(m.y, kind);
    ir.SetInsertPoint(&choice);
    Value *order = ir.CreateBinaryIntrinsic(m.isMin ? Intrinsic::smin : Intrinsic::smax, x, y),
          *bits = bitsIn(ir, order, kind);
    known_[{bits, kind}] = order;
    replaceChoice(choice, ir.CreateBitCast(bits, m.x->getType()));
  }

 private:
  /// Order for minima; one more, for maxima; or the bits, and -1 for NaN, for maxima of magnitudes.
  enum class Kind : unsigned { greatest, least, magnitudes };

  /// The bits below the sign, turned over where it is set.
  static Value *turned(IRBuilder<> &ir, Value *bits) {
    return ir.CreateXor(bits, ir.CreateLShr(ir.CreateAShr(bits, 31), 1));
  }

  /// The bits of the number that has this order.
  static Value *bitsIn(IRBuilder<> &ir, Value *order, Kind kind) {
    const auto number = [&](uint64_t n) { return ConstantInt::get(order->getType(), n); };
    if (kind == Kind::magnitudes)
      return ir.CreateAnd(order, number(lower::kOneNan));
    return turned(ir, kind == Kind::least ? order : ir.CreateSub(order, number(1)));
  }

  Value *orderOf(Value *v, Kind kind) {
    Value *bits = bitsOf(v);
    if (Value *known = known_.lookup({bits, kind}))
      return known;
    IRBuilder<> ir(function_.getContext());
    setInsertPointBehind(ir, bits, function_);
    if (ShuffleVectorInst *moved = permutationAt(bits)) {
      Value *before = orderOf(moved->getOperand(0), kind);
      return known_[{bits, kind}] = ir.CreateShuffleVector(before, moved->getShuffleMask());
    }
    if (Value *other = kind == Kind::least      ? known_.lookup({bits, Kind::greatest})
                       : kind == Kind::greatest ? orderOf(v, Kind::least)
                                                : nullptr) {
      setInsertPointBehind(ir, other, function_);
      Constant *one = ConstantInt::get(other->getType(), 1);
      return known_[{bits, kind}] =
                 kind == Kind::least ? ir.CreateSub(other, one) : ir.CreateAdd(other, one);
    }
    auto *lanes = cast<FixedVectorType>(v->getType());
    auto *type = FixedVectorType::getInteger(lanes);
    Value *number =
        ir.CreateBitCast(bits, FixedVectorType::get(ir.getFloatTy(), lanes->getNumElements()));
    Value *isNan = ir.CreateFCmpUNO(number, number), *own = ir.CreateBitCast(bits, type);
    return known_[{bits, kind}] =
               kind == Kind::magnitudes
                   ? ir.CreateOr(own, ir.CreateSExt(isNan, type))
                   : turned(ir,
                            ir.CreateSelect(isNan, ConstantInt::get(type, lower::kOneNan), own));
  }

  Function &function_;
  DenseMap<std::pair<Value *, Kind>, Value *> known_; ///< by the bits of floats
};

/// The same as lower writes it, with choices between floats: minps and maxps make those by order.
Value *chosenAsFloats(Instruction &choice, const MinMax &m) {
  IRBuilder<> ir(&choice);
  auto *bits = FixedVectorType::getInteger(cast<FixedVectorType>(m.x->getType()));
  auto pick = [&](Value *a, Value *b) {
    Value *isA = m.isMin ? ir.CreateFCmpOLT(a, b) : ir.CreateFCmpOGT(a, b);
    return ir.CreateBitCast(ir.CreateSelect(isA, a, b), bits);
  };
  Value *one = pick(m.x, m.y), *other = pick(m.y, m.x);
  Value *number = ir.CreateBitCast(m.isMin ? ir.CreateOr(one, other) : ir.CreateAnd(one, other),
                                   m.x->getType());
  Value *xIsNan = ir.CreateFCmpUNO(m.x, m.x), *yIsNan = ir.CreateFCmpUNO(m.y, m.y);
  Value *nan = ir.CreateBitCast(ConstantInt::get(bits, lower::kOneNan), m.x->getType());
  return ir.CreateSelect(yIsNan, ir.CreateSelect(xIsNan, nan, m.x),
                         ir.CreateSelect(xIsNan, m.y, number));
}

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

void takeMinMax(Function &function) {
  if (function.isDeclaration())
    return;
  SmallVector<std::pair<Instruction *, MinMax>> all;
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &instruction : *block)
      if (const std::optional<MinMax> m = minMaxInParts(instruction))
        all.emplace_back(&instruction, *m);
  const Chains chains(all, function.getDataLayout());
  SmallVector<WeakTrackingVH> replaced;
  Orders orders(function);
  for (const auto &[choice, operands] : all) {
    const MinMax m = *minMaxInParts(*choice); // operands may have been replaced
    const By by = chains.best(choice);
    if (by == By::floats)
      replaceChoice(*choice, chosenAsFloats(*choice, m));
    else
      orders.replace(*choice, m, by == By::magnitudes);
    replaced.emplace_back(choice);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
