// tcgen05 (PTX ISA 9.7.16) but its products: tensor memory is the runtime's. What a warp does
// together is an operation of the warp (warp_words.h); what one thread issues is a word of the
// runtime.
#include "intrinsics/tensor_forms.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/warp_words.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::StateSpace;
using isa::Token;

namespace {

constexpr auto kMemory = LaneBuilder::WordEffect::memory;
using Values = llvm::SmallVector<llvm::Value *, 160>;

/// A tensor memory address, or anything else of 32 bits, as an i64 that is the same for all lanes.
llvm::Value *wide(LaneBuilder &b, llvm::Value *value) {
  return b.extend(value, b.intType(64), false);
}

/// `[taddr]` as the 32 bits of its register.
llvm::Value *tensorAddress(LaneBuilder &b, const Operand &operand) {
  return b.ir.CreateTrunc(b.address(operand, StateSpace::generic), b.intType(32));
}

llvm::Value *isPair(LaneBuilder &b, const Instruction &in, unsigned bits) {
  return b.constant(bits, in.has(Token::cta_group_2));
}

} // namespace

/// tcgen05_alloc(isPair, columns, where the address goes), tcgen05_dealloc(isPair, columns,
/// address), tcgen05_relinquish(isPair)
void lowerTcgen05Alloc(LaneBuilder &b, const Instruction &in) {
  llvm::Value *pair = isPair(b, in, 64);
  if (in.operands.empty()) {
    callForWarp(b, "tcgen05_relinquish", {pair}, {}, 0);
    return;
  }
  llvm::Value *columns = wide(b, b.readBits(in.operands[1], 32));
  if (in.operands[0].kind != Operand::Kind::address) {
    llvm::Value *address = wide(b, b.readBits(in.operands[0], 32));
    callForWarp(b, "tcgen05_dealloc", {pair, columns, address}, {}, 0);
    return;
  }
  llvm::Value *to = b.hostPointer(in.operands[0], LaneBuilder::space(in));
  callForWarp(b, "tcgen05_alloc", {pair, columns, b.ir.CreatePtrToInt(to, b.intType(64))}, {}, 0);
}

namespace {

abi::TensorShape shapeOf(const Instruction &in) {
  switch (in.oneOf({Token::_16x64b, Token::_16x128b, Token::_16x256b, Token::_16x32bx2})) {
  case Token::_16x64b:
    return abi::TensorShape::s16x64b;
  case Token::_16x128b:
    return abi::TensorShape::s16x128b;
  case Token::_16x256b:
    return abi::TensorShape::s16x256b;
  case Token::_16x32bx2:
    return abi::TensorShape::s16x32bx2;
  default:
    return abi::TensorShape::s32x32b;
  }
}

abi::TensorMoveForm moveFormOf(const Instruction &in, const Operand &registers) {
  abi::TensorMoveForm form;
  form.shape = static_cast<uint64_t>(shapeOf(in));
  form.registers = registers.elements.size();
  form.isPacked = in.has(Token::pack_16b) || in.has(Token::unpack_16b);
  const Token reduction = in.oneOf({Token::min, Token::max});
  form.reduction = static_cast<uint64_t>(reduction == Token::min   ? abi::TensorReduction::minimum
                                         : reduction == Token::max ? abi::TensorReduction::maximum
                                                                   : abi::TensorReduction::none);
  form.isFloat = in.type() == isa::Type::f32;
  form.isSigned = in.type() == isa::Type::s32;
  form.takesMagnitude = in.has(Token::abs);
  form.keepsNan = in.has(Token::NaN);
  for (const Operand &operand : in.operands)
    if (operand.kind == Operand::Kind::integer)
      form.halfOffset = static_cast<uint32_t>(operand.integer);
  return form;
}

} // namespace

/// tcgen05_ld(form, address) -> registers..., then the reduction's. It may complete at once.
void lowerTcgen05Ld(LaneBuilder &b, const Instruction &in) {
  const Operand &registers = in.operands[0];
  const abi::TensorMoveForm form = moveFormOf(in, registers);
  const bool reduces = form.reduction != 0;
  const size_t count = registers.elements.size();
  llvm::Value *address = wide(b, tensorAddress(b, in.operands[reduces ? 2 : 1]));
  llvm::Value *result = callForWarp(b, "tcgen05_ld", {b.constant(64, abi::toWord(form)), address},
                                    {}, count + reduces);
  for (unsigned i = 0; i < count; ++i)
    b.write(registers.elements[i], b.ir.CreateExtractValue(result, i));
  if (reduces)
    b.write(in.operands[1], b.ir.CreateExtractValue(result, static_cast<unsigned>(count)));
}

/// tcgen05_st(form, address; registers...)
void lowerTcgen05St(LaneBuilder &b, const Instruction &in) {
  const Operand &registers = in.operands.back();
  Values values;
  for (const Operand &element : registers.elements)
    values.push_back(b.readBits(element, 32));
  callForWarp(b, "tcgen05_st",
              {b.constant(64, abi::toWord(moveFormOf(in, registers))),
               wide(b, tensorAddress(b, in.operands[0]))},
              values, 0);
}

/// Loads have completed. Stores have, unless they are put off.
void lowerTcgen05Wait(LaneBuilder &b, const Instruction &in) {
  if (in.has(Token::wait_st) && b.module().options().defersCopies)
    callForWarp(b, "tcgen05_wait_st", {}, {}, 0);
}

namespace {

abi::TensorCopyForm copyFormOf(const Instruction &in) {
  const auto shape = [&] {
    switch (in.oneOf({Token::_128x256b, Token::_4x256b, Token::_128x128b, Token::_64x128b})) {
    case Token::_128x256b:
      return abi::TensorCopyShape::s128x256b;
    case Token::_4x256b:
      return abi::TensorCopyShape::s4x256b;
    case Token::_128x128b:
      return abi::TensorCopyShape::s128x128b;
    case Token::_64x128b:
      return in.has(Token::warpx2_02_13) ? abi::TensorCopyShape::s64x128b02
                                         : abi::TensorCopyShape::s64x128b01;
    default:
      return abi::TensorCopyShape::s32x128b;
    }
  }();
  abi::TensorCopyForm form;
  form.shape = static_cast<uint64_t>(shape);
  form.format = static_cast<uint64_t>(in.has(Token::b6x16_p32)   ? abi::TensorCopyFormat::b6
                                      : in.has(Token::b4x16_p64) ? abi::TensorCopyFormat::b4
                                                                 : abi::TensorCopyFormat::plain);
  form.isPair = in.has(Token::cta_group_2);
  return form;
}

} // namespace

void lowerTcgen05Cp(LaneBuilder &b, const Instruction &in) {
  b.word("ptx.tcgen05.cp", b.ir.getVoidTy(),
         {b.constant(64, abi::toWord(copyFormOf(in))), tensorAddress(b, in.operands[0]),
          b.readBits(in.operands[1], 64)},
         kMemory);
}

void lowerTcgen05Shift(LaneBuilder &b, const Instruction &in) {
  b.word("ptx.tcgen05.shift", b.ir.getVoidTy(),
         {isPair(b, in, 32), tensorAddress(b, in.operands[0])}, kMemory);
}

/// What fences order is in order already: pending operations of a CTA are performed in the order in
/// which they were issued.
void lowerTcgen05Fence(LaneBuilder &, const Instruction &) {}

void lowerTcgen05Commit(LaneBuilder &b, const Instruction &in) {
  llvm::Value *mask = in.has(Token::multicast_cluster)
                          ? b.extend(b.readBits(in.operands[1], 16), b.intType(32), false)
                          : b.constant(32, 0);
  b.word("ptx.tcgen05.commit", b.ir.getVoidTy(),
         {isPair(b, in, 32), b.hostPointer(in.operands[0], LaneBuilder::space(in)), mask}, kMemory);
}

} // namespace ptxrun::lower
