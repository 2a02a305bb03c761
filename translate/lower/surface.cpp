// suld, sust, sured (PTX ISA 9.7.11). Cache operators are hints.
#include "translate/lower/async_operands.h"
#include "translate/lower/texture_operands.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

using abi::SurfaceBound;
using abi::TextureAction;
using check::Instruction;
using check::Operand;
using isa::Token;
using isa::Type;
using llvm::Value;

namespace {

TextureWord describe(LaneBuilder &b, const Instruction &in, const Operand &image,
                     TextureAction action) {
  TextureWord word(b);
  word.operation.action = action;
  word.operation.bound = in.has(Token::clamp)  ? SurfaceBound::clamp
                         : in.has(Token::zero) ? SurfaceBound::zero
                                               : SurfaceBound::trap;
  word.operation.bytes = static_cast<uint8_t>(memoryBits(in.type()) / 8);
  word.operation.elements = in.vector;
  readImageOperand(b, in, image, word);
  return word;
}

/// Values of any width as rows of 32 bits: 8 and 16 bits each in a row, 64 bits in two.
void setData(LaneBuilder &b, TextureWord &word, llvm::ArrayRef<Value *> values) {
  llvm::SmallVector<Value *, 4> words;
  for (Value *value : values) {
    Value *bits = b.toBits(value);
    if (bits->getType()->isIntegerTy(64))
      words.append(b.split(bits, b.intType(32)));
    else
      words.push_back(b.extend(bits, b.intType(32), false));
  }
  word.set(b, abi::kRowData, words);
}

} // namespace

/// suld.b (9.7.11.1).
void lowerSuld(LaneBuilder &b, const Instruction &in) {
  const TextureWord word = describe(b, in, in.operands[1], TextureAction::load);
  const auto words = word.emit(b);
  const unsigned bits = memoryBits(in.type()), count = std::max<unsigned>(1, in.vector);
  llvm::SmallVector<Value *, 4> elements;
  for (unsigned i = 0; i < count; ++i)
    elements.push_back(bits == 64 ? b.join({words[2 * i], words[2 * i + 1]})
                                  : b.extend(words[i], b.intType(bits), false));
  if (count == 1)
    b.write(in.operands[0], elements[0]);
  else
    b.writeElements(in.operands[0], elements);
}

/// sust.b, sust.p (9.7.11.2).
void lowerSust(LaneBuilder &b, const Instruction &in) {
  const bool isTexel = in.has(Token::p);
  TextureWord word =
      describe(b, in, in.operands[0], isTexel ? TextureAction::storeTexel : TextureAction::store);
  setData(b, word, b.readElements(in.operands[1], in.type()));
  word.emit(b);
}

/// sured.b, sured.p (9.7.11.3).
void lowerSured(LaneBuilder &b, const Instruction &in) {
  const bool isTexel = in.has(Token::p);
  TextureWord word =
      describe(b, in, in.operands[0], isTexel ? TextureAction::reduceTexel : TextureAction::reduce);
  word.operation.reduceOp = static_cast<uint8_t>(reduceOpOf(in));
  word.operation.reduceSign = isa::isSigned(in.type());
  setData(b, word, b.read(in.operands[1], in.type()));
  word.emit(b);
}

} // namespace ptxrun::lower
