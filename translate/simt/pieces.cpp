#include "translate/simt/pieces.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <optional>

namespace ptxrun::simt {

using llvm::Value;
using namespace llvm::PatternMatch;

unsigned elementBits(const Value *v) { return unsigned(v->getType()->getScalarSizeInBits()); }

unsigned elementCount(const Value *v) {
  return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
}

namespace {

/// How far a shift by the same constant in all elements moves pieces; nothing of other values.
std::optional<unsigned> piecesMoved(const Value *by, unsigned bits) {
  const llvm::APInt *distance;
  if (!match(by, m_APInt(distance)) || distance->uge(elementBits(by)) || distance->urem(bits) != 0)
    return std::nullopt;
  return unsigned(distance->getZExtValue() / bits);
}

Piece zero(const Value *like) { return {llvm::Constant::getNullValue(like->getType()), 0}; }

bool isZero(const Piece &piece) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(piece.first);
  return constant && constant->isNullValue();
}

constexpr unsigned kLeastPart = 8; // bits
constexpr unsigned kDepth = 4;     // of what puts one element together

/// One step back from a piece that is smaller than an element.
std::optional<Piece> stepInto(Value *v, unsigned at, unsigned bits, unsigned depth = kDepth) {
  const unsigned parts = elementBits(v) / bits, lane = at / parts, part = at % parts;
  Value *x, *y;
  if (match(v, m_ZExt(m_Value(x)))) {
    if (part * bits >= elementBits(x))
      return zero(v);
    if (elementBits(x) % bits != 0)
      return std::nullopt;
    return Piece{x, lane * (elementBits(x) / bits) + part};
  }
  if (match(v, m_Shl(m_Value(x), m_Value(y))))
    if (auto by = piecesMoved(y, bits))
      return part < *by ? zero(v) : Piece{x, at - *by};
  if (match(v, m_LShr(m_Value(x), m_Value(y))))
    if (auto by = piecesMoved(y, bits))
      return part + *by >= parts ? zero(v) : Piece{x, at + *by};
  const llvm::APInt *turned; // all elements round
  if (match(v, m_FShl(m_Value(x), m_Value(y), m_APInt(turned))) && x == y &&
      turned->urem(bits) == 0)
    return Piece{x, lane * parts +
                        unsigned(part + parts - turned->urem(elementBits(v)) / bits) % parts};
  llvm::Constant *masks;
  if (match(v, m_And(m_Value(x), m_Constant(masks)))) {
    llvm::Constant *own = masks->getType()->isVectorTy() ? masks->getAggregateElement(lane) : masks;
    auto *mask = llvm::dyn_cast_or_null<llvm::ConstantInt>(own);
    if (!mask)
      return std::nullopt;
    const llvm::APInt kept = mask->getValue().extractBits(bits, part * bits);
    return kept.isZero()      ? std::optional(zero(v))
           : kept.isAllOnes() ? std::optional(Piece{x, at})
                              : std::nullopt;
  }
  if (depth == 0 || !match(v, m_Or(m_Value(x), m_Value(y))))
    return std::nullopt;
  auto isNothing = [&](Value *side) {
    if (auto piece = stepInto(side, at, bits, depth - 1))
      return isZero(*piece);
    auto *i = llvm::dyn_cast<llvm::Instruction>(side);
    return i && llvm::computeKnownBits(i, i->getDataLayout())
                    .Zero.extractBits(bits, part * bits)
                    .isAllOnes();
  };
  if (isNothing(x))
    return Piece{y, at};
  if (isNothing(y))
    return Piece{x, at};
  return std::nullopt;
}

/// Whether more than the low parts of elements are used: x and x >> 16, each cut off to 16 bits.
bool isTakenApart(const Value *x, unsigned bits) {
  auto movesPieces = [&](const Value *v) {
    const Value *by;
    return match(v, m_LShr(m_Value(), m_Value(by))) && piecesMoved(by, bits).value_or(0) != 0;
  };
  return movesPieces(x) || llvm::any_of(x->users(), movesPieces);
}

} // namespace

Piece originOf(Value *vector, unsigned at, unsigned bits) {
  for (;;) {
    const unsigned width = elementBits(vector);
    const unsigned parts = std::max(1U, width / std::max(1U, bits));
    const unsigned lane = at / parts, part = at % parts;
    if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
      const int from = shuffle->getMaskValue(lane);
      if (from < 0)
        return {llvm::PoisonValue::get(vector->getType()), 0};
      const unsigned n = elementCount(shuffle->getOperand(0));
      vector = shuffle->getOperand(unsigned(from) < n ? 0 : 1);
      at = unsigned(from) % n * parts + part;
      continue;
    }
    if (auto *insert = llvm::dyn_cast<llvm::InsertElementInst>(vector)) {
      auto *place = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
      if (!place)
        return {vector, at};
      if (place->getZExtValue() == lane)
        return {insert->getOperand(1), part};
      vector = insert->getOperand(0);
      continue;
    }
    if (width > bits) {
      auto *cast = llvm::dyn_cast<llvm::BitCastInst>(vector);
      if (cast && cast->getSrcTy()->isVectorTy() && elementBits(cast->getOperand(0)) % bits == 0) {
        vector = cast->getOperand(0);
        continue;
      }
      auto before = stepInto(vector, at, bits);
      if (!before || isZero(*before))
        return before.value_or(Piece{vector, at});
      std::tie(vector, at) = *before;
      continue;
    }
    auto *cast = llvm::dyn_cast<llvm::CastInst>(vector);
    Value *wide = cast && cast->getSrcTy()->isVectorTy() ? cast->getOperand(0) : nullptr;
    if (!wide || bits == 0 || elementBits(wide) <= bits || elementBits(wide) % bits != 0)
      return {vector, at};
    if (llvm::isa<llvm::TruncInst>(cast) && isTakenApart(wide, bits))
      at *= elementBits(wide) / bits;
    else if (!llvm::isa<llvm::BitCastInst>(cast))
      return {vector, at};
    vector = wide;
  }
}

unsigned widthOfParts(const Value *vector) {
  auto *both = llvm::dyn_cast<llvm::Instruction>(vector);
  if (!both || both->getOpcode() != llvm::Instruction::Or)
    return 0;
  const llvm::DataLayout &layout = both->getDataLayout();
  const llvm::APInt x = llvm::computeKnownBits(both->getOperand(0), layout).Zero,
                    y = llvm::computeKnownBits(both->getOperand(1), layout).Zero;
  auto isOfParts = [&](unsigned bits) {
    for (unsigned at = 0; at < x.getBitWidth(); at += bits)
      if (!x.extractBits(bits, at).isAllOnes() && !y.extractBits(bits, at).isAllOnes())
        return false;
    return true;
  };
  unsigned bits = elementBits(vector) / 2;
  while (bits >= kLeastPart && !isOfParts(bits))
    bits /= 2;
  if (bits < kLeastPart)
    return 0;
  for (const Value *side : both->operands())
    if (const unsigned narrower = widthOfParts(side))
      bits = std::min(bits, narrower);
  return bits;
}

bool isElementwise(const llvm::Instruction &i) {
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID());
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                   llvm::SelectInst>(i);
}

bool isMove(const Value *v) {
  return llvm::isa<llvm::ShuffleVectorInst, llvm::InsertElementInst, llvm::TruncInst,
                   llvm::ZExtInst, llvm::BitCastInst>(v) ||
         match(v, m_Shl(m_Value(), m_Constant())) || match(v, m_LShr(m_Value(), m_Constant())) ||
         match(v, m_And(m_Value(), m_Constant())) || match(v, m_Or(m_Value(), m_Value()));
}

} // namespace ptxrun::simt
