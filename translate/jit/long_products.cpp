#include "translate/jit/long_products.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

namespace ptxrun::jit {

using namespace llvm;

namespace {

constexpr unsigned kBits = 64;

/// Bits from `from`, 64 or more, on of a product of numbers of 64 bits.
struct UpperHalf {
  Value *a, *b;
  bool isSigned;
  unsigned from;
};

/// What is extended to a number of 128 bits; null where it is more than 64 bits of it. Constants
/// are extended already.
Value *extended(Value *wide, bool isSigned) {
  if (auto *cast = dyn_cast<CastInst>(wide);
      cast && cast->getOpcode() == (isSigned ? Instruction::SExt : Instruction::ZExt) &&
      cast->getSrcTy()->getScalarSizeInBits() == kBits)
    return cast->getOperand(0);
  auto *constant = dyn_cast<Constant>(wide);
  auto *splat = constant ? dyn_cast_or_null<ConstantInt>(constant->getSplatValue()) : nullptr;
  if (!splat ||
      !(isSigned ? splat->getValue().isSignedIntN(kBits) : splat->getValue().isIntN(kBits)))
    return nullptr;
  auto *type = cast<VectorType>(wide->getType());
  return ConstantVector::getSplat(
      type->getElementCount(),
      ConstantInt::get(type->getContext(), splat->getValue().trunc(kBits)));
}

std::optional<UpperHalf> upperHalfAt(Instruction &i) {
  using namespace PatternMatch;
  Value *x, *y;
  const APInt *from;
  if (!i.getType()->isVectorTy() || i.getType()->getScalarSizeInBits() != kBits ||
      !match(&i, m_Trunc(m_Shr(m_Mul(m_Value(x), m_Value(y)), m_APInt(from)))) ||
      x->getType()->getScalarSizeInBits() != 2 * kBits || from->ult(kBits) || from->uge(2 * kBits))
    return std::nullopt;
  auto *shift = cast<Instruction>(i.getOperand(0));
  for (const bool isSigned : {false, true}) {
    Value *a = extended(x, isSigned), *b = a ? extended(y, isSigned) : nullptr;
    // What comes down behind bit 127 is the product's sign, or zeros.
    if (b && (*from == kBits || isSigned == (shift->getOpcode() == Instruction::AShr)))
      return UpperHalf{a, b, isSigned, unsigned(from->getZExtValue())};
  }
  return std::nullopt;
}

Value *byHalves(IRBuilder<> &ir, const UpperHalf &product) {
  Type *type = product.a->getType();
  const auto low = [&](Value *v) { return ir.CreateAnd(v, ConstantInt::get(type, ~0U)); };
  const auto high = [&](Value *v) { return ir.CreateLShr(v, kBits / 2); };
  Value *a = product.a, *b = product.b;
  Value *al = low(a), *ah = high(a), *bl = low(b), *bh = high(b);
  Value *cross = ir.CreateMul(al, bh);
  Value *middle =
      ir.CreateAdd(ir.CreateAdd(high(ir.CreateMul(al, bl)), low(cross)), ir.CreateMul(ah, bl));
  Value *upper = ir.CreateAdd(ir.CreateAdd(ir.CreateMul(ah, bh), high(cross)), high(middle));
  if (product.isSigned) // a number below zero is 2^64 more than it says
    for (auto [x, other] : {std::pair(a, b), std::pair(b, a)})
      upper = ir.CreateSub(upper, ir.CreateAnd(ir.CreateAShr(x, kBits - 1), other));
  const unsigned left = product.from - kBits;
  return product.isSigned ? ir.CreateAShr(upper, left) : ir.CreateLShr(upper, left);
}

} // namespace

void takeLongProductsApart(Function &function) {
  SmallVector<WeakTrackingVH> replaced;
  for (Instruction &i : instructions(function))
    if (const std::optional<UpperHalf> product = upperHalfAt(i)) {
      IRBuilder<> ir(&i);
      i.replaceAllUsesWith(byHalves(ir, *product));
      replaced.emplace_back(&i);
    }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
