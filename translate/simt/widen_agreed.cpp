// Whether the lanes of a gang hold the same value, and which (ptx.same, ptx.first).
//
// Values that only rise or only fall from lane to lane, as quotients of a row by one number do, are
// the same in all lanes if they are in the first and in the last: two scalars tell, and no lane's
// own value is computed.
#include <llvm/IR/Instructions.h>

#include "translate/simt/collectives.h"
#include "translate/simt/cost.h"

namespace ptxrun::simt {

/// What the first and the last lane hold.
struct Collectives::Ends {
  Value *first, *last;
};

/// Of a value that only rises or only falls from lane to lane. `wraps` is set where that is wrong,
/// as a row wraps round within the gang; null: nothing is emitted, this only asks.
std::optional<Collectives::Ends> Collectives::endsOf(const Value *v, Order order, Value **wraps) {
  const Shape shape = shapes_.shape(v);
  if (shape.isUniform())
    return wraps ? Ends{base(v), base(v)} : Ends{};
  if (shape.hasOffsets()) {
    const auto &offsets = *shape.offsets;
    if (shape.isConditional || !v->getType()->isIntegerTy() ||
        !(llvm::is_sorted(offsets) || llvm::is_sorted(offsets, std::greater<>())))
      return std::nullopt;
    if (!wraps)
      return Ends{};
    const bool isSigned = order == Order::asSigned;
    if (order != Order::none && !shapes_.isExtensionExact(v, isSigned))
      *wraps = b_.CreateOr(*wraps, wrapsWithin(v, isSigned));
    const unsigned last = shapes_.areGangsRows() ? shapes_.block()[0] - 1 : lanes_ - 1;
    auto at = [&](unsigned lane) {
      return b_.CreateAdd(base(v),
                          llvm::ConstantInt::get(v->getType(), uint64_t(offsets[lane]), true));
    };
    return Ends{at(0), at(last)};
  }
  auto *i = llvm::dyn_cast<llvm::Instruction>(v);
  if (!i || v->getType()->isVectorTy())
    return std::nullopt;
  return endsOfResult(*i, order, wraps);
}

/// The same, of what the ends of its operands make.
std::optional<Collectives::Ends> Collectives::endsOfResult(const llvm::Instruction &i, Order order,
                                                           Value **wraps) {
  using I = llvm::Instruction;
  const unsigned op = i.getOpcode();
  auto is = [&](Order result) { return order == Order::none || order == result; };
  auto ends = [&](unsigned operand, Order of, llvm::function_ref<Value *(Value *)> make) {
    std::optional<Ends> e = endsOf(i.getOperand(operand), of, wraps);
    return e && wraps ? Ends{make(e->first), make(e->last)} : e;
  };
  switch (op) {
  case I::Select: {
    if (!shapes_.isUniform(i.getOperand(0)))
      return std::nullopt;
    const auto x = endsOf(i.getOperand(1), order, wraps),
               y = x ? endsOf(i.getOperand(2), order, wraps) : std::nullopt;
    if (!y || !wraps)
      return y;
    Value *c = base(i.getOperand(0));
    return Ends{b_.CreateSelect(c, x->first, y->first), b_.CreateSelect(c, x->last, y->last)};
  }
  case I::Freeze:
    return ends(0, order, [&](Value *x) { return b_.CreateFreeze(x); });
  case I::SIToFP:
  case I::UIToFP:
  case I::SExt:
  case I::ZExt: {
    const bool isSigned = op == I::SIToFP || op == I::SExt;
    if (op == I::SExt && !is(Order::asSigned))
      return std::nullopt;
    return ends(0, isSigned ? Order::asSigned : Order::asUnsigned, [&](Value *x) {
      return b_.CreateCast(llvm::Instruction::CastOps(op), x, i.getType());
    });
  }
  case I::FPToSI:
  case I::FPToUI:
    if (!is(op == I::FPToSI ? Order::asSigned : Order::asUnsigned))
      return std::nullopt;
    return ends(0, Order::none, [&](Value *x) {
      return b_.CreateCast(llvm::Instruction::CastOps(op), x, i.getType());
    });
  case I::FDiv:
    if (!isQuotientByUniform(i))
      return std::nullopt;
    return ends(0, Order::none, [&](Value *x) { return b_.CreateFMul(x, reciprocalFor(i)); });
  case I::SDiv:
  case I::UDiv:
  case I::AShr:
  case I::LShr: {
    const Order by = op == I::SDiv || op == I::AShr ? Order::asSigned : Order::asUnsigned;
    if (!is(by) || !shapes_.isUniform(i.getOperand(1)))
      return std::nullopt;
    return ends(0, by, [&](Value *x) {
      return op == I::SDiv || op == I::UDiv
                 ? safeQuotient(i, x)
                 : b_.CreateBinOp(llvm::Instruction::BinaryOps(op), x, base(i.getOperand(1)));
    });
  }
  default:
    return std::nullopt;
  }
}

/// Divided as for an active lane; for another one, whose operands may be anything, without a trap.
llvm::Value *Collectives::safeQuotient(const llvm::Instruction &i, Value *x) {
  Value *d = base(i.getOperand(1));
  const bool isSigned = i.getOpcode() == llvm::Instruction::SDiv;
  auto by = [&](Value *divisor) {
    return isSigned ? b_.CreateSDiv(x, divisor) : b_.CreateUDiv(x, divisor);
  };
  if (llvm::isa<llvm::Constant>(d))
    return by(d);
  Value *one = llvm::ConstantInt::get(d->getType(), 1);
  Value *isZero = b_.CreateIsNull(d);
  if (!isSigned)
    return by(b_.CreateSelect(isZero, one, d));
  Value *isMinusOne = b_.CreateICmpEQ(d, llvm::Constant::getAllOnesValue(d->getType()));
  Value *q = by(b_.CreateSelect(b_.CreateOr(isZero, isMinusOne), one, d));
  return b_.CreateSelect(isMinusOne, b_.CreateNeg(q), q);
}

/// Nobody asks for the lanes' own values.
bool Collectives::isOnlyForEnds(const llvm::Instruction &i, unsigned depth) {
  if (lanes_ == 1 || depth == 0 || i.use_empty() || i.hasNUsesOrMore(4))
    return false;
  return llvm::all_of(i.users(), [&](const llvm::User *u) {
    const auto &user = *llvm::cast<llvm::Instruction>(u);
    const Op op = wordAt(user).op;
    if (op == Op::same || op == Op::first)
      return endsOf(user.getOperand(0), Order::none, nullptr).has_value();
    return !llvm::isa<llvm::PHINode, llvm::CallBase>(user) && shapes_.shape(&user).isVarying() &&
           isOnlyForEnds(user, depth - 1);
  });
}

/// Where all lanes of the gang come, if any does, lane 0 does.
llvm::Value *Collectives::firstActiveLane(const llvm::CallBase &call) {
  return mask() && shapes_.isInDivergentRegion(call.getParent()) ? firstOf(maskBits(mask()))
                                                                 : b_.getInt64(0);
}

/// What the first active lane holds.
llvm::Value *Collectives::firstActive(const llvm::CallBase &call, Value *v) {
  return b_.CreateExtractElement(v, firstActiveLane(call));
}

/// How numbers of the first active lane compare, where they go up by steps; else null.
llvm::Value *Collectives::comparisonInFirst(const llvm::CallBase &call) {
  auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(call.getArgOperand(0));
  if (!comparison || llvm::any_of(comparison->operands(), [&](const Value *v) {
        return !v->getType()->isIntegerTy() || !(shapes_.isUniform(v) || shapes_.step(v));
      }))
    return nullptr;
  Value *lane = firstActiveLane(call);
  const auto inFirst = [&](const Value *v) {
    return inLane(base(v), shapes_.step(v).value_or(0), lane, false);
  };
  Value *x = inFirst(comparison->getOperand(0));
  return b_.CreateICmp(comparison->getPredicate(), x, inFirst(comparison->getOperand(1)));
}

/// The first active lane's; where the ends tell, that is what all hold.
llvm::Value *Collectives::emitFirst(const llvm::CallBase &call, const Word &) {
  const Value *v = call.getArgOperand(0);
  if (lanes_ == 1)
    return vector(v);
  Value *wraps = b_.getFalse();
  if (const auto ends = endsOf(v, Order::none, &wraps))
    return ends->first;
  if (Value *compared = comparisonInFirst(call))
    return compared;
  return firstActive(call, vector(v));
}

llvm::Value *Collectives::emitSame(const llvm::CallBase &call, const Word &) {
  if (lanes_ == 1)
    return b_.getTrue();
  Value *wraps = b_.getFalse();
  if (const auto ends = endsOf(call.getArgOperand(0), Order::none, &wraps))
    return b_.CreateFreeze(
        b_.CreateAnd(b_.CreateNot(wraps), b_.CreateICmpEQ(ends->first, ends->last)));
  Value *v = vector(call.getArgOperand(0));
  Value *first = firstActive(call, v);
  return allOf(b_.CreateICmpEQ(v, b_.CreateVectorSplat(lanes_, first)));
}

} // namespace ptxrun::simt
