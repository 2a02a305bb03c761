// tcgen05.mma{.ws}{.sp} (PTX ISA 9.7.16.10): one word of the runtime, issued by one thread.
#include "intrinsics/tensor_forms.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::StateSpace;
using isa::Token;

namespace {

abi::TensorKind kindOf(const Instruction &in) {
  switch (in.oneOf({Token::kind_f16, Token::kind_tf32, Token::kind_f8f6f4, Token::kind_i8,
                    Token::kind_mxf8f6f4, Token::kind_mxf4})) {
  case Token::kind_f16:
    return abi::TensorKind::f16;
  case Token::kind_tf32:
    return abi::TensorKind::tf32;
  case Token::kind_f8f6f4:
    return abi::TensorKind::f8f6f4;
  case Token::kind_i8:
    return abi::TensorKind::i8;
  case Token::kind_mxf8f6f4:
    return abi::TensorKind::mxf8f6f4;
  case Token::kind_mxf4:
    return abi::TensorKind::mxf4;
  default:
    return abi::TensorKind::mxf4nvf4;
  }
}

/// How many k share a scale: .block16 and .block32 say it, .scale_vec::NX that a row of a dense
/// instruction has N scales.
unsigned scaleBlockOf(const Instruction &in, abi::TensorKind kind) {
  if (kind < abi::TensorKind::mxf8f6f4)
    return 0;
  return in.has(Token::block16) || in.has(Token::scale_vec_4X) ? 16 : 32;
}

abi::TensorMmaForm formOf(const Instruction &in) {
  abi::TensorMmaForm form;
  const abi::TensorKind kind = kindOf(in);
  const std::string_view name = in.form->instruction;
  form.kind = static_cast<uint64_t>(kind);
  form.isPair = in.has(Token::cta_group_2);
  form.isSparse = name.ends_with(".sp");
  form.isStationary = name.find(".ws") != std::string_view::npos;
  form.hasTensorA = in.operands[1].kind == Operand::Kind::address;
  form.shiftsA = in.has(Token::ashift);
  form.scaleBlock = scaleBlockOf(in, kind);
  return form;
}

llvm::Value *tensorAddress(LaneBuilder &b, const Operand &operand) {
  return b.ir.CreateTrunc(b.address(operand, StateSpace::generic), b.intType(32));
}

/// disable-output-lane in an array of eight words, zeros behind them.
llvm::Value *maskArray(LaneBuilder &b, const Operand &mask) {
  constexpr unsigned kWords = 8;
  llvm::AllocaInst *array = b.temporary(llvm::ArrayType::get(b.intType(32), kWords));
  for (unsigned i = 0; i < kWords; ++i)
    b.ir.CreateStore(i < mask.elements.size() ? b.readBits(mask.elements[i], 32)
                                              : b.constant(32, 0),
                     b.ir.CreateConstGEP1_32(b.intType(32), array, i));
  return array;
}

} // namespace

/// [d], a, b{, [metadata]}, idesc{, [scale-A], [scale-B]}{, {mask}}, enable-input-d{, scale or mask
/// descriptor}:
///     ptx.tcgen05.mma(i64 form, i32 d, i64 a, i64 b, i32 idesc, i32 hasInput, i32 metadata, i32
///     scale-A,
///                     i32 scale-B, i64 zero columns, ptr disabled lanes)
void lowerTcgen05Mma(LaneBuilder &b, const Instruction &in) {
  abi::TensorMmaForm form = formOf(in);
  form.policy = static_cast<uint64_t>(b.module().matrixPolicy());
  const auto &list = in.operands;
  size_t next = 3;
  llvm::Value *zero = b.constant(32, 0), *metadata = zero, *scales[2] = {zero, zero};
  llvm::Value *mask = llvm::ConstantPointerNull::get(b.ir.getPtrTy());
  llvm::Value *zeroColumns = b.constant(64, 0);
  if (form.isSparse)
    metadata = tensorAddress(b, list[next++]);
  llvm::Value *descriptor = b.readBits(list[next++], 32);
  for (llvm::Value *&scale : scales)
    if (form.scaleBlock)
      scale = tensorAddress(b, list[next++]);
  if (list[next].kind == Operand::Kind::vector) {
    form.hasMask = true;
    mask = maskArray(b, list[next++]);
  }
  llvm::Value *hasInput = b.read(list[next++], isa::Type::pred);
  if (b.has(in, next)) {
    if (form.isStationary)
      zeroColumns = b.readBits(list[next], 64);
    else
      form.inputShift = static_cast<uint64_t>(list[next].integer) & 15;
  }
  llvm::Value *a = form.hasTensorA ? b.extend(tensorAddress(b, list[1]), b.intType(64), false)
                                   : b.readBits(list[1], 64);
  b.word("ptx.tcgen05.mma", b.ir.getVoidTy(),
         {b.constant(64, abi::toWord(form)), tensorAddress(b, list[0]), a, b.readBits(list[2], 64),
          descriptor, b.extend(hasInput, b.intType(32), false), metadata, scales[0], scales[1],
          zeroColumns, mask},
         LaneBuilder::WordEffect::memory);
}

void lowerTcgen05MmaWs(LaneBuilder &b, const Instruction &in) { lowerTcgen05Mma(b, in); }

} // namespace ptxrun::lower
