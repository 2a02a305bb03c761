// Video instructions, scalar and SIMD (PTX ISA 9.7.18).
//
// Operands are extracted to integers wide enough for every intermediate result (i64; vshl with .sat
// and vmad i128; lanes of the SIMD instructions i32), so that nothing but the final conversion
// loses bits.
#include "translate/isa/match.h"
#include "translate/lower/floating.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using isa::Type;
using llvm::Value;

namespace {

using Values = llvm::SmallVector<Value *, 4>;

/// The register of operand i, without `-` and selector.
Value *word(LaneBuilder &b, const Instruction &in, size_t i) {
  check::Operand plain = in.operands[i];
  plain.isNegated = false;
  return b.readBits(plain, 32);
}

/// Part `index` (bytes or half-words) of `source`, extended to `type` by sign.
Value *part(LaneBuilder &b, Value *source, unsigned index, unsigned bits, bool isSigned,
            llvm::Type *type) {
  Value *shifted = b.ir.CreateLShr(source, index * bits);
  return b.extend(b.ir.CreateTrunc(shifted, b.intType(bits)), type, isSigned);
}

/// partSelectSignExtend of the manual: operand i as selected, extended by the sign of `type`.
Value *select(LaneBuilder &b, const Instruction &in, size_t i, Type type, llvm::Type *wide) {
  const isa::Selector selector = isa::selectorOf(in.operands[i].selector);
  Value *source = word(b, in, i);
  if (selector.count == 0)
    return b.extend(source, wide, isa::isSigned(type));
  return part(b, source, selector.elements[0], selector.isHalf ? 16 : 8, isa::isSigned(type), wide);
}

Value *minimum(LaneBuilder &b, Value *x, Value *y) {
  return b.select(b.ir.CreateICmpSLT(x, y), x, y);
}
Value *maximum(LaneBuilder &b, Value *x, Value *y) {
  return b.select(b.ir.CreateICmpSGT(x, y), x, y);
}

/// x, a signed number, clamped to the range of `bits` bits.
Value *clampTo(LaneBuilder &b, Value *x, unsigned bits, bool isSigned) {
  const unsigned width = x->getType()->getIntegerBitWidth();
  using llvm::APInt;
  const APInt low = isSigned ? APInt::getSignedMinValue(bits).sext(width) : APInt(width, 0);
  const APInt high =
      isSigned ? APInt::getSignedMaxValue(bits).sext(width) : APInt::getMaxValue(bits).zext(width);
  return minimum(b, maximum(b, x, b.ir.getInt(low)), b.ir.getInt(high));
}

/// The operation that stands in the opcode behind "v": add, sub, absdiff, avrg, min, max.
Value *primary(LaneBuilder &b, llvm::StringRef operation, Value *x, Value *y) {
  if (operation == "add")
    return b.ir.CreateAdd(x, y);
  if (operation == "sub")
    return b.ir.CreateSub(x, y);
  if (operation == "absdiff")
    return b.intrinsic(llvm::Intrinsic::abs, {x->getType()},
                       {b.ir.CreateSub(x, y), b.ir.getFalse()});
  if (operation == "min")
    return minimum(b, x, y);
  if (operation == "max")
    return maximum(b, x, y);
  // avrg: rounds a half away from zero where the sum is positive, towards minus infinity where it
  // is negative
  Value *sum = b.ir.CreateAdd(x, y);
  Value *isNegative = b.ir.CreateICmpSLT(sum, llvm::ConstantInt::get(sum->getType(), 0));
  Value *increment = b.extend(b.ir.CreateNot(isNegative), sum->getType(), false);
  return b.ir.CreateAShr(b.ir.CreateAdd(sum, increment), 1);
}

llvm::StringRef operationOf(const Instruction &in) {
  return llvm::StringRef(in.form->opcode).drop_front().rtrim("24");
}

/// Bits of the destination: of the part that its selector names, else 32.
unsigned destinationBits(const Instruction &in) {
  const isa::Selector selector = isa::selectorOf(in.operands[0].selector);
  return selector.count == 0 ? 32 : selector.isHalf ? 16 : 8;
}

/// optSecondaryOp, optMerge: combines the 32-bit result with c, if there is one, and writes it.
void finish(LaneBuilder &b, const Instruction &in, Value *result, size_t third, bool isSigned) {
  if (!b.has(in, third))
    return b.write(in.operands[0], result, false);
  Value *c = word(b, in, third);
  check::Operand whole = in.operands[0];
  whole.selector = Token::none;
  if (in.has(Token::add))
    return b.write(whole, b.ir.CreateAdd(result, c), false);
  if (in.has(Token::min) || in.has(Token::max)) {
    const auto id = in.has(Token::min) ? (isSigned ? llvm::Intrinsic::smin : llvm::Intrinsic::umin)
                                       : (isSigned ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
    return b.write(whole, b.intrinsic(id, {result->getType()}, {result, c}), false);
  }
  const isa::Selector selector = isa::selectorOf(in.operands[0].selector);
  const unsigned bits = destinationBits(in), shift = bits == 32 ? 0 : selector.elements[0] * bits;
  const uint64_t mask = ((uint64_t{1} << bits) - 1) << shift;
  Value *kept = b.ir.CreateAnd(c, b.constant(32, ~mask & 0xffffffffu));
  Value *placed = b.ir.CreateAnd(b.ir.CreateShl(result, shift), b.constant(32, mask));
  b.write(whole, b.ir.CreateOr(kept, placed), false);
}

/// optSaturate and the cut to 32 bits.
Value *saturated(LaneBuilder &b, const Instruction &in, Value *x) {
  if (in.has(Token::sat))
    x = clampTo(b, x, destinationBits(in), isa::isSigned(in.type()));
  return b.ir.CreateTrunc(x, b.intType(32));
}

} // namespace

void lowerVideo(LaneBuilder &b, const Instruction &in) {
  Value *x = select(b, in, 1, in.type(1), b.intType(64)),
        *y = select(b, in, 2, in.type(2), b.intType(64));
  finish(b, in, saturated(b, in, primary(b, operationOf(in), x, y)), 3, isa::isSigned(in.type()));
}

/// .clamp: amounts above 32 shift by 32; .wrap: modulo 32.
void lowerVideoShift(LaneBuilder &b, const Instruction &in) {
  llvm::Type *wide = b.intType(in.has(Token::sat) ? 128 : 64);
  Value *x = select(b, in, 1, in.type(1), wide), *n = select(b, in, 2, Type::u32, b.intType(64));
  Value *amount = in.has(Token::wrap) ? b.ir.CreateAnd(n, 31) : minimum(b, n, b.constant(64, 32));
  amount = b.extend(amount, wide, false);
  Value *shifted =
      in.form->opcode == "vshl" ? b.ir.CreateShl(x, amount) : b.ir.CreateAShr(x, amount);
  finish(b, in, saturated(b, in, shifted), 3, isa::isSigned(in.type()));
}

/// d = scale(a * b + c), with at most one of -(a * b), -c, and .po adding one.
void lowerVideoMad(LaneBuilder &b, const Instruction &in) {
  const bool isProductNegated = in.operands[1].isNegated != in.operands[2].isNegated;
  const bool isAddendNegated = in.operands[3].isNegated;
  const bool isSigned =
      isa::isSigned(in.type(1)) || isa::isSigned(in.type(2)) || isProductNegated || isAddendNegated;
  llvm::Type *wide = b.intType(128);
  Value *product =
      b.ir.CreateMul(select(b, in, 1, in.type(1), wide), select(b, in, 2, in.type(2), wide));
  Value *addend = b.extend(word(b, in, 3), wide, isSigned);
  product = isProductNegated ? b.ir.CreateNeg(product) : product;
  addend = isAddendNegated ? b.ir.CreateNeg(addend) : addend;
  Value *sum =
      b.ir.CreateAdd(b.ir.CreateAdd(product, addend), b.constant(128, in.has(Token::po) ? 1 : 0));
  Value *scaled = b.ir.CreateAShr(sum, in.has(Token::shr7) ? 7 : in.has(Token::shr15) ? 15 : 0);
  if (in.has(Token::sat))
    scaled = clampTo(b, scaled, 32, isSigned);
  b.write(in.operands[0], b.ir.CreateTrunc(scaled, b.intType(32)), false);
}

void lowerVideoSet(LaneBuilder &b, const Instruction &in) {
  Value *x = select(b, in, 1, in.type(0), b.intType(64)),
        *y = select(b, in, 2, in.type(1), b.intType(64));
  Value *t = b.extend(compare(b, comparisonOf(in), x, y, true), b.intType(32), false);
  finish(b, in, t, 3, false);
}

namespace {

/// The lanes of operand i out of the parts of b:a, lowest first; without a selector a's or b's own
/// in order.
Values simdOperand(LaneBuilder &b, const Instruction &in, size_t i, Value *both, unsigned lanes,
                   bool isSigned) {
  const isa::Selector selector = isa::selectorOf(in.operands[i].selector);
  Values parts;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned index =
        selector.count == 0 ? lane + (i == 2 ? lanes : 0) : selector.elements[lanes - 1 - lane];
    parts.push_back(part(b, both, index, 32 / lanes, isSigned, b.intType(32)));
  }
  return parts;
}

/// Whether the destination's mask names the lane; all of them without a mask.
bool isMasked(const Instruction &in, unsigned lane) {
  const isa::Selector mask = isa::selectorOf(in.operands[0].selector);
  for (unsigned i = 0; i < mask.count; ++i)
    if (mask.elements[i] == lane)
      return true;
  return mask.count == 0;
}

/// .add: d = c + the sum of the masked lanes; else masked lanes over those of c.
void finishSimd(LaneBuilder &b, const Instruction &in, llvm::ArrayRef<Value *> results) {
  const unsigned lanes = results.size(), bits = 32 / lanes;
  Value *c = word(b, in, 3), *sum = c;
  const auto own = b.split(c, b.intType(bits));
  Values merged;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (isMasked(in, lane))
      sum = b.ir.CreateAdd(sum, results[lane]);
    merged.push_back(isMasked(in, lane) ? b.ir.CreateTrunc(results[lane], b.intType(bits))
                                        : own[lane]);
  }
  check::Operand whole = in.operands[0];
  whole.selector = Token::none;
  b.write(whole, in.has(Token::add) ? sum : b.join(merged), false);
}

/// Computes lane by lane; types[first] and types[first + 1] are atype and btype.
template <class Lane>
void lowerSimd(LaneBuilder &b, const Instruction &in, size_t first, Lane lane) {
  const unsigned lanes = in.form->opcode.ends_with("2") ? 2 : 4;
  Value *both = b.join({word(b, in, 1), word(b, in, 2)});
  const Values x = simdOperand(b, in, 1, both, lanes, isa::isSigned(in.type(first)));
  const Values y = simdOperand(b, in, 2, both, lanes, isa::isSigned(in.type(first + 1)));
  Values results;
  for (unsigned i = 0; i < lanes; ++i)
    results.push_back(lane(x[i], y[i], 32 / lanes));
  finishSimd(b, in, results);
}

} // namespace

void lowerVideoSimd(LaneBuilder &b, const Instruction &in) {
  lowerSimd(b, in, 1, [&](Value *x, Value *y, unsigned bits) {
    Value *t = primary(b, operationOf(in), x, y);
    return in.has(Token::sat) ? clampTo(b, t, bits, isa::isSigned(in.type())) : t;
  });
}

void lowerVideoSimdSet(LaneBuilder &b, const Instruction &in) {
  lowerSimd(b, in, 0, [&](Value *x, Value *y, unsigned) {
    return b.extend(compare(b, comparisonOf(in), x, y, true), b.intType(32), false);
  });
}

} // namespace ptxrun::lower
