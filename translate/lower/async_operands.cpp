#include "translate/lower/async_operands.h"

#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::StateSpace;
using isa::Token;

const Operand *mbarrierOf(const Instruction &in) {
  if (!in.has(Token::mbarrier_complete_tx_bytes))
    return nullptr;
  const Operand *last = nullptr;
  for (const Operand &operand : in.operands)
    if (operand.kind == Operand::Kind::address)
      last = &operand;
  return last;
}

llvm::Value *mbarrierPointer(LaneBuilder &b, const Instruction &in, StateSpace space) {
  const Operand *mbarrier = mbarrierOf(in);
  return mbarrier ? b.hostPointer(*mbarrier, space)
                  : llvm::ConstantPointerNull::get(b.ir.getPtrTy());
}

CopyEnds endsOf(LaneBuilder &b, const Instruction &in) {
  const auto space = [](Token token) {
    return token == Token::global ? StateSpace::global : StateSpace::sharedCluster;
  };
  const auto isSpace = [](Token token) {
    return token == Token::global || token == Token::shared || token == Token::shared_cta ||
           token == Token::shared_cluster;
  };
  llvm::SmallVector<StateSpace, 2> spaces;
  for (const Token token : in.modifiers)
    if (isSpace(token))
      spaces.push_back(space(token));
  return {b.hostPointer(in.operands[0], spaces[0]), b.hostPointer(in.operands[1], spaces[1])};
}

llvm::Value *maskOperandOf(LaneBuilder &b, const Instruction &in) {
  for (const Operand &operand : in.operands)
    if (operand.type == isa::Type::u16 && operand && operand.kind != Operand::Kind::vector)
      return b.readBits(operand, 16);
  return nullptr;
}

abi::ReduceOp reduceOpOf(const Instruction &in) {
  switch (in.oneOf({Token::add, Token::min, Token::max, Token::inc, Token::dec, Token::and_,
                    Token::or_, Token::xor_})) {
  case Token::add:
    return abi::ReduceOp::add;
  case Token::min:
    return abi::ReduceOp::min;
  case Token::max:
    return abi::ReduceOp::max;
  case Token::inc:
    return abi::ReduceOp::inc;
  case Token::dec:
    return abi::ReduceOp::dec;
  case Token::and_:
    return abi::ReduceOp::and_;
  case Token::or_:
    return abi::ReduceOp::or_;
  default:
    return abi::ReduceOp::xor_;
  }
}

abi::ReduceType reduceTypeOf(isa::Type type) {
  switch (type) {
  case isa::Type::u32:
    return abi::ReduceType::u32;
  case isa::Type::s32:
    return abi::ReduceType::s32;
  case isa::Type::u64:
    return abi::ReduceType::u64;
  case isa::Type::s64:
    return abi::ReduceType::s64;
  case isa::Type::f16:
    return abi::ReduceType::f16;
  case isa::Type::bf16:
    return abi::ReduceType::bf16;
  case isa::Type::f32:
    return abi::ReduceType::f32;
  case isa::Type::f64:
    return abi::ReduceType::f64;
  case isa::Type::b32:
    return abi::ReduceType::b32;
  default:
    return abi::ReduceType::b64;
  }
}

} // namespace ptxrun::lower
