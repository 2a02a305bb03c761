// atom, red, fence and membar (PTX ISA 9.7.13.4 to 9.7.13.6).
#include <llvm/IR/Instructions.h>

#include "translate/lower/lane_builder.h"
#include "translate/lower/memory_order.h"
#include "translate/lower/types.h"
#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::Token;
using llvm::AtomicRMWInst;

namespace {

AtomicRMWInst::BinOp operationOf(const Instruction &in, isa::Type type) {
  const bool isFloat = isa::isFloat(type), isSigned = isa::isSigned(type);
  switch (in.oneOf({Token::add, Token::min, Token::max, Token::inc, Token::dec, Token::and_,
                    Token::or_, Token::xor_, Token::exch})) {
  case Token::add:
    return isFloat ? AtomicRMWInst::FAdd : AtomicRMWInst::Add;
  case Token::min:
    return isFloat ? AtomicRMWInst::FMin : isSigned ? AtomicRMWInst::Min : AtomicRMWInst::UMin;
  case Token::max:
    return isFloat ? AtomicRMWInst::FMax : isSigned ? AtomicRMWInst::Max : AtomicRMWInst::UMax;
  case Token::inc:
    return AtomicRMWInst::UIncWrap;
  case Token::dec:
    return AtomicRMWInst::UDecWrap;
  case Token::and_:
    return AtomicRMWInst::And;
  case Token::or_:
    return AtomicRMWInst::Or;
  case Token::xor_:
    return AtomicRMWInst::Xor;
  default:
    return AtomicRMWInst::Xchg;
  }
}

struct Target {
  llvm::Value *pointer;
  MemoryOrder order;
  bool isGlobal; ///< the instruction says so
};

Target describe(LaneBuilder &b, const Instruction &in, const Operand &address) {
  isa::StateSpace space = LaneBuilder::space(in);
  if (space == isa::StateSpace::generic && address.variable)
    space = address.variable->space;
  return {b.pointer(address, space), atomicOrder(b.ir.getContext(), in, space),
          space == isa::StateSpace::global};
}

llvm::Value *readModifyWrite(LaneBuilder &b, const Target &target, AtomicRMWInst::BinOp operation,
                             llvm::Value *pointer, llvm::Value *value) {
  const unsigned bytes = value->getType()->getPrimitiveSizeInBits() / 8;
  AtomicRMWInst *update = b.ir.CreateAtomicRMW(operation, pointer, value, llvm::Align(bytes),
                                               target.order.ordering, target.order.scope);
  // "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero".
  if (operation == AtomicRMWInst::FAdd && value->getType()->isFloatTy())
    update->setMetadata(target.isGlobal ? vocabulary::kAlwaysFlushes : vocabulary::kFlushes,
                        llvm::MDNode::get(b.ir.getContext(), {}));
  return update;
}

/// The element of a packed half type; other types are their own.
isa::Type elementOf(isa::Type type) {
  return type == isa::Type::f16x2    ? isa::Type::f16
         : type == isa::Type::bf16x2 ? isa::Type::bf16
                                     : type;
}

/// A value that PTX updates element by element, each atomic by itself (9.7.13.5: `.f16x2`,
/// `.bf16x2`, vectors).
llvm::SmallVector<llvm::Value *, 8> updateElements(LaneBuilder &b, const Target &target,
                                                   AtomicRMWInst::BinOp operation,
                                                   llvm::ArrayRef<llvm::Value *> values) {
  llvm::SmallVector<llvm::Value *, 8> old;
  unsigned at = 0;
  for (llvm::Value *value : values) {
    llvm::Value *pointer =
        at == 0 ? target.pointer : b.ir.CreateConstGEP1_32(b.ir.getInt8Ty(), target.pointer, at);
    old.push_back(readModifyWrite(b, target, operation, pointer, value));
    at += value->getType()->getPrimitiveSizeInBits() / 8;
  }
  return old;
}

llvm::Value *updateScalar(LaneBuilder &b, const Instruction &in, const Operand &address,
                          const Operand &source) {
  const isa::Type type = in.type();
  const AtomicRMWInst::BinOp operation = operationOf(in, type);
  // An exchange moves bits; x86 has no exchange of floating point registers.
  llvm::Value *value = operation == AtomicRMWInst::Xchg ? b.readBits(source, isa::bitWidth(type))
                                                        : b.read(source, type);
  const Target target = describe(b, in, address);
  return readModifyWrite(b, target, operation, target.pointer, value);
}

/// atom and red of `.f16 .bf16 .f16x2 .bf16x2`.
llvm::Value *updateHalf(LaneBuilder &b, const Instruction &in, const Operand &address,
                        const Operand &source) {
  llvm::Type *element = irType(b.ir.getContext(), elementOf(in.type()));
  const auto values = b.split(b.readBits(source, isa::bitWidth(in.type())), element);
  return b.join(updateElements(b, describe(b, in, address), operationOf(in, in.type()), values));
}

/// The vector forms; each old element has the form's type.
llvm::SmallVector<llvm::Value *, 8> updateVector(LaneBuilder &b, const Instruction &in,
                                                 const Operand &address, const Operand &source) {
  const isa::Type type = in.type();
  llvm::Type *element = irType(b.ir.getContext(), elementOf(type));
  llvm::SmallVector<llvm::Value *, 8> values;
  for (const Operand &part : source.elements)
    values.append(b.split(b.readBits(part, isa::bitWidth(type)), element));
  const auto old = updateElements(b, describe(b, in, address), operationOf(in, type), values);
  const size_t perElement = old.size() / source.elements.size();
  llvm::SmallVector<llvm::Value *, 8> joined;
  for (size_t i = 0; i < old.size(); i += perElement)
    joined.push_back(b.join(llvm::ArrayRef(old).slice(i, perElement)));
  return joined;
}

} // namespace

/// atom (9.7.13.5). ptxas takes a third operand with and, or, xor and exch as well, and leaves it
/// unused; so do we.
void lowerAtom(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, updateScalar(b, in, in.operands[1], in.operands[2]));
}

void lowerRed(LaneBuilder &b, const Instruction &in) {
  updateScalar(b, in, in.operands[0], in.operands[1]);
}

void lowerAtomHalf(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, updateHalf(b, in, in.operands[1], in.operands[2]));
}

void lowerRedHalf(LaneBuilder &b, const Instruction &in) {
  updateHalf(b, in, in.operands[0], in.operands[1]);
}

void lowerAtomVector(LaneBuilder &b, const Instruction &in) {
  b.writeElements(in.operands[0], updateVector(b, in, in.operands[1], in.operands[2]));
}

void lowerRedVector(LaneBuilder &b, const Instruction &in) {
  updateVector(b, in, in.operands[0], in.operands[1]);
}

/// atom.cas (9.7.13.5): d = [a]; if (d == b) [a] = c.
void lowerAtomCas(LaneBuilder &b, const Instruction &in) {
  const unsigned bits = isa::bitWidth(in.type());
  llvm::Value *expected = b.readBits(in.operands[2], bits);
  llvm::Value *desired = b.readBits(in.operands[3], bits);
  const Target target = describe(b, in, in.operands[1]);
  llvm::Value *result = b.ir.CreateAtomicCmpXchg(
      target.pointer, expected, desired, llvm::Align(bits / 8), target.order.ordering,
      llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(target.order.ordering),
      target.order.scope);
  b.write(in, 0, b.ir.CreateExtractValue(result, 0));
}

void lowerFence(LaneBuilder &b, const Instruction &in) {
  const MemoryOrder order = fenceOrder(b.ir.getContext(), in);
  b.ir.CreateFence(order.ordering, order.scope);
}

void lowerMembar(LaneBuilder &b, const Instruction &in) { lowerFence(b, in); }

/// fence.proxy: all proxies reach memory the same way here, so that program order is all that must
/// be kept.
void lowerFenceProxy(LaneBuilder &b, const Instruction &in) {
  MemoryOrder order = fenceOrder(b.ir.getContext(), in);
  if (in.oneOf({Token::cta, Token::cluster, Token::gpu, Token::sys}) == Token::none)
    order.scope = b.ir.getContext().getOrInsertSyncScopeID("cta");
  b.ir.CreateFence(order.ordering, order.scope);
}

} // namespace ptxrun::lower
