// cvt to and from the formats of 8, 6 and 4 bits, and stochastic rounding (PTX ISA 9.7.9.21).
// Elements travel as f32, which holds each of them exactly; the lane library rounds once.
#include "translate/lower/conversion.h"
#include "translate/lower/packed.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using isa::Type;
using llvm::Value;

namespace {

/// A narrow format: its name in the lane library, the bits an element occupies when packed, and its
/// scale-factor rules.
struct Element {
  llvm::StringRef name;
  unsigned bits;
};

Element elementFormat(Type type) {
  switch (type) {
  case Type::e4m3x2:
  case Type::e4m3x4:
    return {"e4m3", 8};
  case Type::e5m2x2:
  case Type::e5m2x4:
    return {"e5m2", 8};
  case Type::e2m3x2:
  case Type::e2m3x4:
    return {"e2m3", 8};
  case Type::e3m2x2:
  case Type::e3m2x4:
    return {"e3m2", 8};
  case Type::e2m1x2:
  case Type::e2m1x4:
    return {"e2m1", 4};
  case Type::ue8m0x2:
    return {"ue8m0", 8};
  case Type::f16x2:
    return {"f16", 16};
  case Type::bf16x2:
    return {"bf16", 16};
  default:
    return {"s2f6", 8}; // s2f6x2
  }
}

using Values = llvm::SmallVector<Value *, 4>;

/// The two sources as f32, lowest first: of `cvt d, a, b` those are b, a; of a packed source its
/// halves.
Values sourcePair(LaneBuilder &b, const Instruction &in) {
  if (in.type(1) == Type::f32)
    return {b.read(in, 2), b.read(in, 1)};
  Values halves;
  for (Value *half : b.split(b.readBits(in.operands[1], 32), b.typeOf(elementOf(in.type(1)))))
    halves.push_back(widenHalf(b, half));
  return halves;
}

/// Joins results of the lane library, each cut to its format's width.
Value *pack(LaneBuilder &b, llvm::ArrayRef<Value *> elements, unsigned bits) {
  Values cut;
  for (Value *element : elements)
    cut.push_back(b.extend(element, b.intType(bits), false));
  return b.join(cut);
}

/// The two scale factors 2^(n - 127) as f32, lowest first; none where `.scaled` was not written.
Values scaleFactors(LaneBuilder &b, const Instruction &in) {
  Values factors;
  if (in.operands.empty() || !in.has(Token::scaled_n2_ue8m0))
    return factors;
  for (Value *byte : b.split(b.readBits(in.operands.back(), 16), b.intType(8)))
    factors.push_back(
        b.library("ptx_cvt_f32_ue8m0", b.ir.getFloatTy(), {b.extend(byte, b.intType(32), false)}));
  return factors;
}

} // namespace

/// d = {convert(a), convert(b)} or the conversions of a packed source's halves.
void lowerCvtToNarrow(LaneBuilder &b, const Instruction &in) {
  const Element format = elementFormat(in.type());
  const bool isScale = in.type() == Type::ue8m0x2; // elsewhere .satfinite is no choice
  const std::string name =
      isScale ? conversionTo(in, format.name) : ("ptx_cvt_rn_" + format.name).str();
  Values results;
  for (Value *x : sourcePair(b, in))
    results.push_back(b.library(name, b.intType(32), {reluIfAsked(b, in, x)}));
  b.write(in, 0, pack(b, results, format.bits));
}

/// d = convert(a) * scale-factor, in f16x2 or bf16x2. The f32 product is exact but for overflow.
void lowerCvtFromNarrow(LaneBuilder &b, const Instruction &in) {
  const Element format = elementFormat(in.type(1)), target = elementFormat(in.type());
  const Values factors = scaleFactors(b, in);
  const std::string widen = ("ptx_cvt_f32_" + format.name).str();
  const auto elements =
      b.split(b.readBits(in.operands[1], 2 * format.bits), b.intType(format.bits));
  Values results;
  for (size_t i = 0; i < elements.size(); ++i) {
    Value *x = b.library(widen, b.ir.getFloatTy(), {b.extend(elements[i], b.intType(32), false)});
    if (!factors.empty())
      x = b.ir.CreateFMul(x, factors[i]);
    results.push_back(
        b.library(conversionTo(in, target.name), b.intType(16), {reluIfAsked(b, in, x)}));
  }
  b.write(in, 0, b.join(results));
}

namespace {

/// The random bits of element i (lowest first) of `count`: 16 for each of two; the halves shared by
/// pairs of four; or, for e2m1, eight for each of four: the low bytes of both halves for the lower
/// pair, the high bytes for the upper.
Value *randomBits(LaneBuilder &b, Value *random, unsigned i, unsigned count, unsigned bits) {
  const unsigned shift = count == 2  ? 16 * i
                         : bits == 4 ? 16 * (i % 2) + 8 * (i / 2)
                                     : 16 * (i / 2);
  return b.ir.CreateLShr(random, shift);
}

} // namespace

/// .rs: pairs `d, a, b, rbits`; quadruples `d, {a, b, e, f}, rbits`. The first source is the
/// highest element.
void lowerCvtStochastic(LaneBuilder &b, const Instruction &in) {
  const Element format = elementFormat(in.type());
  const bool isPair = format.bits == 16;
  llvm::SmallVector<Value *, 8> sources = {b.read(in, 1)};
  if (isPair)
    sources.push_back(b.read(in, 2));
  else
    sources = b.readElements(in.operands[1], Type::f32);
  Value *random = b.read(in, isPair ? 3 : 2);
  const std::string name = isPair             ? conversionTo(in, format.name)
                           : format.bits == 4 ? std::string("ptx_cvt_rs8_e2m1")
                                              : ("ptx_cvt_rs_" + format.name).str();
  const unsigned count = sources.size();
  Values results;
  for (unsigned i = 0; i < count; ++i) {
    Value *x = reluIfAsked(b, in, sources[count - 1 - i]);
    Value *bits = randomBits(b, random, i, count, format.bits);
    results.push_back(b.library(name, b.intType(isPair ? 16 : 32), {x, bits}));
  }
  b.write(in, 0, pack(b, results, format.bits));
}

/// s2f6: to it, sources are divided by the scale factor first; from it, values are multiplied.
void lowerCvtFixedPoint(LaneBuilder &b, const Instruction &in) {
  if (in.type(1) == Type::s2f6x2)
    return lowerCvtFromNarrow(b, in);
  const Values factors = scaleFactors(b, in);
  const Values sources = sourcePair(b, in);
  Values results;
  for (size_t i = 0; i < sources.size(); ++i) {
    Value *x = factors.empty() ? sources[i] : b.ir.CreateFDiv(sources[i], factors[i]);
    results.push_back(b.library("ptx_cvt_rn_s2f6", b.intType(32), {reluIfAsked(b, in, x)}));
  }
  b.write(in, 0, pack(b, results, 8));
}

} // namespace ptxrun::lower
