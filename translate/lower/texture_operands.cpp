#include "translate/lower/texture_operands.h"

#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

using abi::TextureGeometry;
using check::Instruction;
using check::Operand;
using isa::Token;
using isa::Type;

TextureWord::TextureWord(LaneBuilder &b)
    : texture(b.constant(64, 0)), sampler(b.constant(64, 0)),
      rows(abi::kTextureRows, llvm::PoisonValue::get(b.intType(32))) {}

void TextureWord::set(LaneBuilder &b, uint32_t first, llvm::ArrayRef<llvm::Value *> values) {
  for (size_t i = 0; i < values.size(); ++i)
    rows[first + i] = b.toBits(values[i]);
}

llvm::SmallVector<llvm::Value *, 4> TextureWord::emit(LaneBuilder &b) const {
  llvm::SmallVector<llvm::Value *, 16> arguments{b.constant(32, operation.pack()), texture,
                                                 sampler};
  arguments.append(rows.begin(), rows.end());
  const llvm::SmallVector<llvm::Type *, 4> types(abi::kTextureResults, b.intType(32));
  llvm::Value *all = b.word(vocabulary::kTexture, llvm::StructType::get(b.ir.getContext(), types),
                            arguments, LaneBuilder::WordEffect::memory);
  llvm::SmallVector<llvm::Value *, 4> results;
  for (unsigned i = 0; i < abi::kTextureResults; ++i)
    results.push_back(b.ir.CreateExtractValue(all, i));
  return results;
}

TextureGeometry geometryOf(const Instruction &in) {
  switch (in.oneOf({Token::_1d, Token::_2d, Token::_3d, Token::a1d, Token::a2d, Token::cube,
                    Token::acube, Token::_2dms, Token::a2dms})) {
  case Token::_1d:
    return TextureGeometry::d1;
  case Token::_3d:
    return TextureGeometry::d3;
  case Token::a1d:
    return TextureGeometry::a1;
  case Token::a2d:
    return TextureGeometry::a2;
  case Token::cube:
    return TextureGeometry::cube;
  case Token::acube:
    return TextureGeometry::acube;
  case Token::_2dms:
    return TextureGeometry::ms;
  case Token::a2dms:
    return TextureGeometry::ams;
  default:
    return TextureGeometry::d2;
  }
}

unsigned dimensionsOf(TextureGeometry geometry) {
  switch (geometry) {
  case TextureGeometry::d1:
  case TextureGeometry::a1:
    return 1;
  case TextureGeometry::d3:
  case TextureGeometry::cube:
  case TextureGeometry::acube:
    return 3;
  default:
    return 2;
  }
}

llvm::Value *handleOf(LaneBuilder &b, const Operand &operand) {
  llvm::Value *pointer = b.variablePointer(operand.variable);
  if (!pointer)
    return operand.kind == Operand::Kind::address ? b.address(operand, isa::StateSpace::generic)
                                                  : b.readBits(operand, 64);
  // The loader writes an opaque variable's handle before the first launch.
  llvm::LoadInst *load = b.ir.CreateAlignedLoad(b.intType(64), pointer, llvm::Align(8));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.ir.getContext(), {}));
  return load;
}

void readImageOperand(LaneBuilder &b, const Instruction &in, const Operand &image,
                      TextureWord &word) {
  const TextureGeometry geometry = word.operation.geometry = geometryOf(in);
  const llvm::ArrayRef<Operand> parts(image.elements.data(), image.elements.size());
  word.texture = handleOf(b, parts.front());
  word.operation.hasSampler = parts.size() == 3;
  if (word.operation.hasSampler)
    word.sampler = handleOf(b, parts[1]);
  llvm::SmallVector<llvm::Value *, 8> given = b.readElements(parts.back(), Type::b32);
  size_t next = 0;
  const bool isArray = geometry == TextureGeometry::a1 || geometry == TextureGeometry::a2 ||
                       geometry == TextureGeometry::acube || geometry == TextureGeometry::ams;
  if (isArray)
    word.set(b, abi::kRowLayer, given[next++]);
  if (geometry == TextureGeometry::ms || geometry == TextureGeometry::ams)
    word.set(b, abi::kRowSample, given[next++]);
  word.set(b, abi::kRowX, llvm::ArrayRef(given).slice(next, dimensionsOf(geometry)));
}

} // namespace ptxrun::lower
