// Tensor copies and tensor maps (PTX ISA 9.7.9.25.5, 9.7.9.26, 9.7.13.16) as words of the runtime.
#include <algorithm>

#include "translate/lower/async_operands.h"
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::StateSpace;
using isa::Token;

namespace {

constexpr auto kMemory = LaneBuilder::WordEffect::memory;
/// Entries the runtime reads: coordinates of the highest rank, offsets of the spatial dimensions.
constexpr unsigned kCoordinates = 5, kOffsets = 3;

const Operand &tensorOf(const Instruction &in) {
  const auto isTensor = [](const Operand &o) { return o.kind == Operand::Kind::tensor; };
  return *std::find_if(in.operands.begin(), in.operands.end(), isTensor);
}

llvm::Value *mapOf(LaneBuilder &b, const Instruction &in) {
  return b.hostPointer(tensorOf(in).elements[0], StateSpace::generic);
}

/// The elements in an array with room for `size`, zeros behind them as far as `filled`.
llvm::Value *arrayOf(LaneBuilder &b, const Operand &vector, isa::Type type, unsigned size,
                     unsigned filled) {
  llvm::Type *element = b.typeOf(type);
  llvm::AllocaInst *array = b.temporary(llvm::ArrayType::get(element, size));
  llvm::SmallVector<llvm::Value *, 8> values = b.readElements(vector, type);
  if (values.size() < filled)
    values.resize(filled, llvm::Constant::getNullValue(element));
  for (unsigned i = 0; i < values.size(); ++i)
    b.ir.CreateStore(values[i], b.ir.CreateConstGEP1_32(element, array, i));
  return array;
}

llvm::Value *coordinatesOf(LaneBuilder &b, const Instruction &in) {
  return arrayOf(b, tensorOf(in).elements[1], isa::Type::s32, kCoordinates, 0);
}

/// Null where the mode has none.
llvm::Value *offsetsOf(LaneBuilder &b, const Instruction &in) {
  const Operand *offsets = nullptr;
  for (const Operand &operand : in.operands)
    if (operand.kind == Operand::Kind::vector)
      offsets = &operand;
  return offsets ? arrayOf(b, *offsets, isa::Type::u16, kOffsets, kOffsets)
                 : llvm::ConstantPointerNull::get(b.ir.getPtrTy());
}

llvm::Value *modeOf(LaneBuilder &b, const Instruction &in) {
  const auto mode = [&] {
    switch (in.oneOf({Token::tile_gather4, Token::tile_scatter4, Token::im2col,
                      Token::im2col_no_offs, Token::im2col_w, Token::im2col_w_128})) {
    case Token::tile_gather4:
    case Token::tile_scatter4:
      return abi::TensorMode::tile4;
    case Token::im2col:
      return abi::TensorMode::im2col;
    case Token::im2col_no_offs:
      return abi::TensorMode::im2colNoOffsets;
    case Token::im2col_w:
      return abi::TensorMode::im2colW;
    case Token::im2col_w_128:
      return abi::TensorMode::im2colW128;
    default:
      return abi::TensorMode::tile;
    }
  }();
  const Operand &coordinates = tensorOf(in).elements[1];
  const auto count = static_cast<uint32_t>(std::max<size_t>(coordinates.elements.size(), 1));
  return b.constant(32, static_cast<uint32_t>(mode) | count << abi::kTensorModeBits);
}

} // namespace

/// cp.async.bulk.tensor: [dst], [map, coordinates], [mbar] ... from global, [map, coordinates],
/// [src] to global memory.
void lowerCpAsyncBulkTensor(LaneBuilder &b, const Instruction &in) {
  llvm::Value *map = mapOf(b, in), *coordinates = coordinatesOf(b, in), *mode = modeOf(b, in);
  if (!mbarrierOf(in)) {
    llvm::Value *source = b.hostPointer(in.operands[1], StateSpace::sharedCluster);
    b.word("ptx.cp.tensor.store", b.ir.getVoidTy(), {map, coordinates, mode, source}, kMemory);
    return;
  }
  llvm::Value *mask = maskOperandOf(b, in);
  mask = mask ? b.extend(mask, b.intType(32), false) : b.constant(32, 0);
  if (in.has(Token::cta_group_2))
    mask = b.ir.CreateOr(mask, b.constant(32, abi::kCtaPairSignal));
  b.word("ptx.cp.tensor.load", b.ir.getVoidTy(),
         {b.hostPointer(in.operands[0], StateSpace::sharedCluster), map, coordinates, mode,
          offsetsOf(b, in), mbarrierPointer(b, in), mask},
         kMemory);
}

void lowerCpReduceAsyncBulkTensor(LaneBuilder &b, const Instruction &in) {
  b.word("ptx.cp.tensor.reduce", b.ir.getVoidTy(),
         {mapOf(b, in), coordinatesOf(b, in), modeOf(b, in),
          b.hostPointer(in.operands[1], StateSpace::sharedCluster),
          b.constant(32, static_cast<uint32_t>(reduceOpOf(in)))},
         kMemory);
}

namespace {

abi::TensorField fieldOf(const Instruction &in) {
  switch (in.oneOf({Token::global_address, Token::rank, Token::box_dim, Token::global_dim,
                    Token::global_stride, Token::element_stride, Token::elemtype,
                    Token::interleave_layout, Token::swizzle_mode, Token::swizzle_atomicity})) {
  case Token::global_address:
    return abi::TensorField::globalAddress;
  case Token::rank:
    return abi::TensorField::rank;
  case Token::box_dim:
    return abi::TensorField::boxDim;
  case Token::global_dim:
    return abi::TensorField::globalDim;
  case Token::global_stride:
    return abi::TensorField::globalStride;
  case Token::element_stride:
    return abi::TensorField::elementStride;
  case Token::elemtype:
    return abi::TensorField::elementType;
  case Token::interleave_layout:
    return abi::TensorField::interleave;
  case Token::swizzle_mode:
    return abi::TensorField::swizzle;
  case Token::swizzle_atomicity:
    return abi::TensorField::swizzleAtomicity;
  default:
    return abi::TensorField::fill;
  }
}

} // namespace

/// tensormap.replace: [map]{, ordinal}, new value.
void lowerTensormapReplace(LaneBuilder &b, const Instruction &in) {
  const bool hasOrdinal = in.operands.size() == 3;
  llvm::Value *ordinal = hasOrdinal ? b.readBits(in.operands[1], 32) : b.constant(32, 0);
  const Operand &value = in.operands[hasOrdinal ? 2 : 1];
  b.word("ptx.tensormap.replace", b.ir.getVoidTy(),
         {b.hostPointer(in.operands[0], LaneBuilder::space(in)),
          b.constant(32, static_cast<uint32_t>(fieldOf(in))), ordinal, b.readBits(value, 64)},
         kMemory);
}

/// tensormap.cp_fenceproxy: the 128 bytes, then a release. Every lane of the warp writes the same.
void lowerTensormapCpFenceproxy(LaneBuilder &b, const Instruction &in) {
  llvm::Type *piece = llvm::FixedVectorType::get(b.intType(32), 4);
  llvm::Value *to = b.pointer(in.operands[0], StateSpace::global);
  llvm::Value *from = b.pointer(in.operands[1], StateSpace::shared);
  for (unsigned at = 0; at < 128; at += 16) {
    llvm::Value *value = b.ir.CreateAlignedLoad(
        piece, b.ir.CreateConstGEP1_32(b.ir.getInt8Ty(), from, at), llvm::Align(16));
    b.ir.CreateAlignedStore(value, b.ir.CreateConstGEP1_32(b.ir.getInt8Ty(), to, at),
                            llvm::Align(16));
  }
  b.ir.CreateFence(llvm::AtomicOrdering::Release);
}

} // namespace ptxrun::lower
