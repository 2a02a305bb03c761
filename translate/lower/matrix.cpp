// mma, mma.sp and wmma.mma (PTX ISA 9.7.14.4.5, 9.7.14.5.14, 9.7.14.6.3): one word of the warp,
//   {registers of d} = ptx.matrix.warp.bB.I.D(operation ..., registers of a, b, c ..., ~0)
// with the instruction itself as constants (intrinsics/matrix/warp.h), registers of B bits.
#include <charconv>
#include <cstring>

#include "intrinsics/matrix/warp.h"
#include "translate/lower/floating.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/matrix_forms.h"
#include "translate/lower/module_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::Token;
using isa::Type;
using matrix::Element;

matrix::Element matrixElement(Type type) {
  switch (type) {
  case Type::f16:
    return Element::f16;
  case Type::bf16:
    return Element::bf16;
  case Type::tf32:
    return Element::tf32;
  case Type::f32:
    return Element::f32;
  case Type::f64:
    return Element::f64;
  case Type::e4m3:
    return Element::e4m3;
  case Type::e5m2:
    return Element::e5m2;
  case Type::e3m2:
    return Element::e3m2;
  case Type::e2m3:
    return Element::e2m3;
  case Type::e2m1:
    return Element::e2m1;
  case Type::ue8m0:
    return Element::ue8m0;
  case Type::ue4m3:
    return Element::ue4m3;
  case Type::s8:
    return Element::s8;
  case Type::u8:
    return Element::u8;
  case Type::s4:
    return Element::s4;
  case Type::u4:
    return Element::u4;
  case Type::b1:
    return Element::b1;
  default:
    return Element::s32;
  }
}

MatrixShape shapeOf(const Instruction &in) {
  for (const Token token : in.modifiers) {
    const std::string_view text = isa::spelling(token);
    MatrixShape shape;
    const char *at = text.data(), *end = text.data() + text.size();
    const auto number = [&](char letter, unsigned &out) {
      if (at == end || *at != letter)
        return false;
      const auto [rest, error] = std::from_chars(at + 1, end, out);
      at = rest;
      return error == std::errc();
    };
    if (number('m', shape.m) && number('n', shape.n) && number('k', shape.k))
      return shape;
  }
  return {};
}

bool isLayoutRow(const Instruction &in, unsigned which) {
  for (const Token token : in.modifiers)
    if ((token == Token::row || token == Token::col) && which-- == 0)
      return token == Token::row;
  return true;
}

namespace {

bool hasSpelling(const Instruction &in, std::string_view text) {
  return llvm::any_of(in.modifiers, [&](Token t) { return isa::spelling(t) == text; });
}

/// The types of d, a, b and c. wmma with f16 factors names only d and c.
std::array<Element, 4> elementsOf(const Instruction &in) {
  if (in.types.size() == 2)
    return {matrixElement(in.types[0]), Element::f16, Element::f16, matrixElement(in.types[1])};
  return {matrixElement(in.types[0]), matrixElement(in.types[1]), matrixElement(in.types[2]),
          matrixElement(in.types[3])};
}

unsigned registerCount(const check::Operand &operand) {
  return operand.kind == check::Operand::Kind::vector ? unsigned(operand.elements.size()) : 1;
}

matrix::DoubleRounding roundingOf(const Instruction &in) {
  switch (LaneBuilder::rounding(in)) {
  case Rounding::zero:
    return matrix::DoubleRounding::zero;
  case Rounding::down:
    return matrix::DoubleRounding::down;
  case Rounding::up:
    return matrix::DoubleRounding::up;
  default:
    return matrix::DoubleRounding::nearest;
  }
}

void describeScales(const Instruction &in, matrix::WarpOperation &w) {
  const bool isNarrow = hasSpelling(in, "kind::mxf4") || hasSpelling(in, "kind::mxf4nvf4");
  w.operation.isScaled = true;
  w.operation.scale = matrixElement(in.types[4]);
  w.scaleVector = hasSpelling(in, "scale_vec::4X") ? 4 : isNarrow ? 2 : 1;
  w.isByteEach = !isNarrow;
}

matrix::WarpOperation describe(const Instruction &in, matrix::Unit unit) {
  matrix::WarpOperation w;
  const MatrixShape shape = shapeOf(in);
  const auto [d, a, bElement, c] = elementsOf(in);
  w.operation.unit = unit;
  w.operation.m = uint16_t(shape.m);
  w.operation.n = uint16_t(shape.n);
  w.operation.k = uint16_t(shape.k);
  w.operation.d = d;
  w.operation.a = a;
  w.operation.b = bElement;
  w.operation.c = c;
  w.isRowMajorA = isLayoutRow(in, 0);
  w.isRowMajorB = isLayoutRow(in, 1);
  w.isByteEach = matrix::isNarrow(a);
  w.operation.isSaturating = in.has(Token::satfinite);
  w.bitOperation =
      in.has(Token::and_) ? matrix::BitOperation::bitAnd : matrix::BitOperation::bitXor;
  w.rounding = roundingOf(in);
  w.registersD = uint8_t(registerCount(in.operands[0]));
  w.registersA = uint8_t(registerCount(in.operands[1]));
  w.registersB = uint8_t(registerCount(in.operands[2]));
  w.registersC = uint8_t(registerCount(in.operands[3]));
  return w;
}

/// The instruction as constants.
llvm::SmallVector<llvm::Value *, 48> constantsOf(LaneBuilder &b, matrix::WarpOperation w) {
  w.sum = matrix::sumOf(b.module().matrixPolicy(), w.operation);
  uint64_t words[kOperationWords] = {};
  std::memcpy(words, &w, sizeof w);
  llvm::SmallVector<llvm::Value *, 48> arguments;
  for (const uint64_t word : words)
    arguments.push_back(b.constant(64, word));
  return arguments;
}

class WarpWord {
 public:
  WarpWord(LaneBuilder &b, const Instruction &in, const matrix::WarpOperation &w)
      : b_(b), in_(in), arguments_(constantsOf(b, w)),
        bits_(w.operation.a == Element::f64 ? 64 : 32) {
    for (unsigned i : {1u, 2u, 3u})
      arguments_.append(b.readElements(in.operands[i], bits_ == 64 ? Type::b64 : Type::b32));
  }

  void add(llvm::Value *word) { arguments_.push_back(word); }

  /// scale data, {byte, thread} of A and of B.
  void addScales(size_t first) {
    for (size_t i : {first, first + 2}) {
      add(b_.readBits(in_.operands[i], 32));
      for (llvm::Value *half : b_.readElements(in_.operands[i + 1], Type::b16))
        add(b_.ir.CreateZExt(half, b_.intType(32)));
    }
  }

  void call() {
    const unsigned results = registerCount(in_.operands[0]);
    const std::string name = kWarpMatrix + std::to_string(bits_) + "." +
                             std::to_string(arguments_.size() - kOperationWords) + "." +
                             std::to_string(results);
    const llvm::SmallVector<llvm::Type *, 8> types(results, b_.intType(bits_));
    llvm::Type *type = llvm::StructType::get(b_.ir.getContext(), types);
    add(b_.constant(32, ~0u));
    llvm::Value *all = b_.word(name, type, arguments_, LaneBuilder::WordEffect::convergent);
    llvm::SmallVector<llvm::Value *, 8> registers;
    for (unsigned i = 0; i < results; ++i)
      registers.push_back(oneNan(b_.ir.CreateExtractValue(all, i)));
    b_.writeElements(in_.operands[0], registers);
  }

 private:
  /// The bits, or those of the one NaN of f64 where there is one.
  llvm::Value *oneNan(llvm::Value *bits) {
    if (bits_ != 64 || !b_.module().options().hasOneDoubleNan)
      return bits;
    llvm::Value *number = b_.cast(bits, b_.ir.getDoubleTy());
    return b_.select(b_.ir.CreateFCmpUNO(number, number),
                     b_.toBits(canonicalNaN(number->getType())), bits);
  }

  LaneBuilder &b_;
  const Instruction &in_;
  llvm::SmallVector<llvm::Value *, 48> arguments_;
  unsigned bits_;
};

} // namespace

void lowerMma(LaneBuilder &b, const Instruction &in) {
  WarpWord(b, in, describe(in, matrix::Unit::mma)).call();
}

void lowerWmmaMma(LaneBuilder &b, const Instruction &in) {
  WarpWord(b, in, describe(in, matrix::Unit::wmma)).call();
}

void lowerMmaSparse(LaneBuilder &b, const Instruction &in) {
  matrix::WarpOperation w = describe(in, matrix::Unit::mma);
  w.operation.isSparse = true;
  w.selector = uint8_t(in.operands[5].integer);
  WarpWord word(b, in, w);
  word.add(b.readBits(in.operands[4], 32));
  word.call();
}

void lowerMmaBlockScaled(LaneBuilder &b, const Instruction &in) {
  matrix::WarpOperation w = describe(in, matrix::Unit::mma);
  describeScales(in, w);
  const bool isSparse = in.operands.size() > 8;
  w.operation.isSparse = isSparse;
  if (isSparse)
    w.selector = uint8_t(in.operands[5].integer);
  WarpWord word(b, in, w);
  if (isSparse)
    word.add(b.readBits(in.operands[4], 32));
  word.addScales(isSparse ? 6 : 4);
  word.call();
}

} // namespace ptxrun::lower
