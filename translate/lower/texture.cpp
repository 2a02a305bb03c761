// tex, tld4, txq, istypep (PTX ISA 9.7.10).
#include "translate/lower/texture_operands.h"
#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

using abi::TextureGeometry;
using abi::TextureLevel;
using abi::TextureQuery;
using check::Instruction;
using check::Operand;
using isa::Token;
using isa::Type;
using llvm::Value;

namespace {

/// The place of `[texture, ...]` among the operands; the level, offsets and depth follow it.
size_t placeOfImage(const Instruction &in) {
  size_t i = 0;
  while (in.operands[i].kind != Operand::Kind::tensor)
    ++i;
  return i;
}

/// The level operand or the two gradients; what follows them is at the place returned.
size_t readLevel(LaneBuilder &b, const Instruction &in, size_t next, TextureWord &word) {
  if (in.has(Token::level)) {
    word.operation.level = TextureLevel::given;
    word.set(b, abi::kRowLevel, b.readBits(in.operands[next], 32));
    return next + 1;
  }
  if (!in.has(Token::grad))
    return next;
  word.operation.level = TextureLevel::gradient;
  const unsigned count = dimensionsOf(word.operation.geometry);
  for (const uint32_t row : {abi::kRowDx, abi::kRowDy}) {
    const auto values = b.readElements(in.operands[next++], Type::b32);
    word.set(b, row, llvm::ArrayRef(values).take_front(count));
  }
  return next;
}

/// {, e} {, f}: offsets are a vector, or where there is one coordinate an s32; the depth is an f32.
void readOptional(LaneBuilder &b, const Instruction &in, size_t next, TextureWord &word) {
  for (; next < in.operands.size(); ++next) {
    const Operand &operand = in.operands[next];
    if (!operand)
      continue;
    if (operand.type == Type::f32) {
      word.operation.hasCompare = true;
      word.set(b, abi::kRowCompare, b.read(operand, Type::f32));
      continue;
    }
    word.operation.hasOffsets = true;
    const auto offsets = b.readElements(operand, Type::s32);
    const unsigned count =
        std::min<unsigned>(dimensionsOf(word.operation.geometry), offsets.size());
    Value *packed = b.constant(32, 0);
    for (unsigned i = 0; i < count; ++i) {
      Value *field = b.ir.CreateAnd(offsets[i], (1u << abi::kOffsetBits) - 1);
      packed = b.ir.CreateOr(packed, b.ir.CreateShl(field, abi::kOffsetBits * i));
    }
    word.set(b, abi::kRowOffsets, packed);
  }
}

Value *toHalf(LaneBuilder &b, Value *bits) {
  return b.ir.CreateFPTrunc(b.cast(bits, b.ir.getFloatTy()), b.ir.getHalfTy());
}

/// d and, where asked for, p: what is fetched is always there.
void writeTexel(LaneBuilder &b, const Instruction &in, llvm::ArrayRef<Value *> texel) {
  llvm::SmallVector<Value *, 4> elements;
  if (in.type() == Type::f16x2)
    elements = {b.join({toHalf(b, texel[0]), toHalf(b, texel[1])}),
                b.join({toHalf(b, texel[2]), toHalf(b, texel[3])})};
  else
    for (Value *bits : texel)
      elements.push_back(in.type() == Type::f16 ? toHalf(b, bits) : bits);
  b.writeElements(in.operands[0], elements);
  if (b.has(in, 1) && in.operands[1].type == Type::pred)
    b.write(in, 1, b.ir.getTrue());
}

} // namespace

/// tex (9.7.10.3): d{|p}, [a{, b}, c]{, lod | dPdx, dPdy}{, e}{, f}.
void lowerTex(LaneBuilder &b, const Instruction &in) {
  TextureWord word(b);
  const size_t image = placeOfImage(in);
  readImageOperand(b, in, in.operands[image], word);
  word.operation.hasIntegerCoordinates = in.type(1) == Type::s32;
  readOptional(b, in, readLevel(b, in, image + 1, word), word);
  writeTexel(b, in, word.emit(b));
}

/// tld4 (9.7.10.4).
void lowerTld4(LaneBuilder &b, const Instruction &in) {
  TextureWord word(b);
  word.operation.action = abi::TextureAction::gather;
  const Token component = in.oneOf({Token::r, Token::g, Token::b, Token::a});
  word.operation.component = component == Token::r   ? 0
                             : component == Token::g ? 1
                             : component == Token::b ? 2
                                                     : 3;
  const size_t image = placeOfImage(in);
  readImageOperand(b, in, in.operands[image], word);
  readOptional(b, in, image + 1, word);
  writeTexel(b, in, word.emit(b));
}

namespace {

TextureQuery queryOf(const Instruction &in) {
  static constexpr std::pair<Token, TextureQuery> kQueries[] = {
      {Token::width, TextureQuery::width},
      {Token::height, TextureQuery::height},
      {Token::depth, TextureQuery::depth},
      {Token::channel_data_type, TextureQuery::channelDataType},
      {Token::channel_order, TextureQuery::channelOrder},
      {Token::array_size, TextureQuery::arraySize},
      {Token::num_mipmap_levels, TextureQuery::levels},
      {Token::num_samples, TextureQuery::samples},
      {Token::memory_layout, TextureQuery::memoryLayout},
      {Token::normalized_coords, TextureQuery::normalizedCoords},
      {Token::force_unnormalized_coords, TextureQuery::forceUnnormalizedCoords},
      {Token::filter_mode, TextureQuery::filterMode},
      {Token::addr_mode_0, TextureQuery::addressMode0},
      {Token::addr_mode_1, TextureQuery::addressMode1},
      {Token::addr_mode_2, TextureQuery::addressMode2},
  };
  for (const auto &[token, query] : kQueries)
    if (in.has(token))
      return query;
  return TextureQuery::width;
}

void lowerQuery(LaneBuilder &b, const Instruction &in) {
  TextureWord word(b);
  word.operation.action = abi::TextureAction::query;
  word.operation.query = queryOf(in);
  word.texture = handleOf(b, in.operands[1]);
  word.operation.hasLevel = in.has(Token::level);
  if (word.operation.hasLevel)
    word.set(b, abi::kRowLevel, b.readBits(in.operands[2], 32));
  b.write(in, 0, word.emit(b)[0]);
}

} // namespace

/// txq (9.7.10.5), suq (9.7.11.4).
void lowerTxq(LaneBuilder &b, const Instruction &in) { lowerQuery(b, in); }
void lowerSuq(LaneBuilder &b, const Instruction &in) { lowerQuery(b, in); }

/// istypep (9.7.10.6).
void lowerIstypep(LaneBuilder &b, const Instruction &in) {
  const auto kind = in.has(Token::texref)       ? abi::ImageKind::texture
                    : in.has(Token::samplerref) ? abi::ImageKind::sampler
                                                : abi::ImageKind::surface;
  b.write(in, 0,
          b.word("ptx.istypep", b.ir.getInt1Ty(),
                 {b.readBits(in.operands[1], 64), b.constant(32, static_cast<uint32_t>(kind))},
                 LaneBuilder::WordEffect::ordered));
}

} // namespace ptxrun::lower
