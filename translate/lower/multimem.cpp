// multimem (PTX ISA 9.7.9.14). An address shows the memory of the first device of its team, so that
// with one device they are ordinary accesses. Where any multicast object has several:
//
//     if (several()) load(a, values, form); else values = *a          multimem.ld_reduce
//     *a = values; if (several()) store(a, values)                    multimem.st
//     *a op= values; if (several()) reduce(a, values, form)           multimem.red
#include "intrinsics/access_abi.h"
#include "translate/lower/async_operands.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/memory_access.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::StateSpace;
using isa::Token;

namespace {

constexpr auto kMemory = LaneBuilder::WordEffect::memory;

bool isByteFloat(isa::Type type) {
  switch (type) {
  case isa::Type::e4m3:
  case isa::Type::e4m3x2:
  case isa::Type::e4m3x4:
  case isa::Type::e5m2:
  case isa::Type::e5m2x2:
  case isa::Type::e5m2x4:
    return true;
  default:
    return false;
  }
}

/// f16x2 is two elements, each reduced for itself.
isa::Type elementOf(isa::Type type) {
  return type == isa::Type::f16x2    ? isa::Type::f16
         : type == isa::Type::bf16x2 ? isa::Type::bf16
                                     : type;
}

unsigned bytesOf(const Instruction &in) {
  return std::max<unsigned>(1, in.vector) * memoryBits(in.type()) / 8;
}

llvm::Value *formOf(LaneBuilder &b, const Instruction &in) {
  const auto type = isByteFloat(in.type()) ? abi::ReduceType(abi::kMultimemByteFloats)
                                           : reduceTypeOf(elementOf(in.type()));
  return b.constant(32, abi::multimemForm(reduceOpOf(in), type, in.has(Token::acc_f32)));
}

llvm::Value *several(LaneBuilder &b) {
  return b.word("ptx.multimem.several", b.intType(1), {}, LaneBuilder::WordEffect::pure);
}

/// The operand's values in memory.
llvm::Value *inMemory(LaneBuilder &b, const Instruction &in, const Operand &source) {
  const isa::Type type = in.type();
  llvm::Type *element = irType(b.ir.getContext(), type);
  const auto values = in.vector <= 1 ? llvm::SmallVector<llvm::Value *, 8>{b.read(source, type)}
                                     : b.readElements(source, type);
  llvm::AllocaInst *memory = b.temporary(llvm::ArrayType::get(element, values.size()));
  for (unsigned i = 0; i < values.size(); ++i)
    b.ir.CreateStore(values[i], b.ir.CreateConstGEP1_32(element, memory, i));
  return memory;
}

/// What follows is done for the other devices: then() where there are any.
template <class Then> void onOthers(LaneBuilder &b, Then then) {
  llvm::BasicBlock *others = b.newBlock("multimem.others"), *after = b.newBlock("multimem.after");
  b.ir.CreateCondBr(several(b), others, after);
  b.ir.SetInsertPoint(others);
  then();
  b.ir.CreateBr(after);
  b.ir.SetInsertPoint(after);
}

/// Of what all devices have.
void loadReduced(LaneBuilder &b, const Instruction &in) {
  const isa::Type type = in.type();
  llvm::Type *element = irType(b.ir.getContext(), type);
  const unsigned count = std::max<unsigned>(1, in.vector);
  llvm::AllocaInst *memory = b.temporary(llvm::ArrayType::get(element, count));
  b.word("ptx.multimem.load", b.ir.getVoidTy(),
         {b.hostPointer(in.operands[1], StateSpace::generic), memory, formOf(b, in),
          b.constant(32, bytesOf(in))},
         kMemory);
  llvm::SmallVector<llvm::Value *, 8> values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(b.ir.CreateLoad(element, b.ir.CreateConstGEP1_32(element, memory, i)));
  if (in.vector <= 1)
    b.write(in.operands[0], values[0], isa::isSigned(type));
  else
    b.writeElements(in.operands[0], values, isa::isSigned(type));
}

void reduceFirst(LaneBuilder &b, const Instruction &in) {
  if (in.operands[1].kind == Operand::Kind::vector)
    return lowerRedVector(b, in);
  switch (in.type()) {
  case isa::Type::f16:
  case isa::Type::bf16:
  case isa::Type::f16x2:
  case isa::Type::bf16x2:
    return lowerRedHalf(b, in);
  default:
    return lowerRed(b, in);
  }
}

} // namespace

//     for (k = 1; (place = replica(address, k)) != null; ++k) each(place);
void forOtherReplicas(LaneBuilder &b, llvm::Value *address,
                      llvm::function_ref<void(llvm::Value *)> each) {
  onOthers(b, [&] {
    llvm::AllocaInst *number = b.temporary(b.intType(32));
    b.ir.CreateStore(b.constant(32, 1), number);
    llvm::BasicBlock *next = b.newBlock("multimem.next"), *one = b.newBlock("multimem.one"),
                     *done = b.newBlock("multimem.done");
    b.ir.CreateBr(next);
    b.ir.SetInsertPoint(next);
    llvm::Value *k = b.ir.CreateLoad(b.intType(32), number);
    llvm::Value *place = b.word("ptx.multimem.replica", b.ir.getPtrTy(), {address, k},
                                LaneBuilder::WordEffect::pure);
    b.ir.CreateCondBr(b.ir.CreateIsNull(place), done, one);
    b.ir.SetInsertPoint(one);
    each(place);
    b.ir.CreateStore(b.ir.CreateAdd(k, b.constant(32, 1)), number);
    b.ir.CreateBr(next);
    b.ir.SetInsertPoint(done);
  });
}

void lowerMultimemLdReduce(LaneBuilder &b, const Instruction &in) {
  llvm::BasicBlock *one = b.newBlock("multimem.one"), *all = b.newBlock("multimem.all"),
                   *after = b.newBlock("multimem.after");
  b.ir.CreateCondBr(several(b), all, one);
  b.ir.SetInsertPoint(one);
  lowerLoad(b, in);
  b.ir.CreateBr(after);
  b.ir.SetInsertPoint(all);
  loadReduced(b, in);
  b.ir.CreateBr(after);
  b.ir.SetInsertPoint(after);
}

void lowerMultimemSt(LaneBuilder &b, const Instruction &in) {
  lowerStore(b, in);
  onOthers(b, [&] {
    b.word("ptx.multimem.store", b.ir.getVoidTy(),
           {b.hostPointer(in.operands[0], StateSpace::generic), inMemory(b, in, in.operands[1]),
            b.constant(32, bytesOf(in))},
           kMemory);
  });
}

void lowerMultimemRed(LaneBuilder &b, const Instruction &in) {
  reduceFirst(b, in);
  onOthers(b, [&] {
    b.word("ptx.multimem.reduce", b.ir.getVoidTy(),
           {b.hostPointer(in.operands[0], StateSpace::generic), inMemory(b, in, in.operands[1]),
            formOf(b, in), b.constant(32, bytesOf(in))},
           kMemory);
  });
}

} // namespace ptxrun::lower
