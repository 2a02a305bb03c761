// mov, cvta, isspacep, createpolicy (PTX ISA 9.7.9.3, 9.7.9.4, 9.7.9.18 to 9.7.9.20).
#include "intrinsics/abi.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::StateSpace;

void lowerMov(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.read(in.operands[1], in.type()));
}

/// mov.v2, mov.v4: vector registers, special registers, and lists of scalars, element by element.
void lowerMovVector(LaneBuilder &b, const Instruction &in) {
  b.writeElements(in.operands[0], b.readElements(in.operands[1], in.type()));
}

/// mov between a scalar and {a, b, ...}: element 0 is the lowest.
void lowerMovPack(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, b.readBits(in.operands[1], isa::bitWidth(in.type())));
}

/// cvta: only `.shared` addresses are not host addresses already.
void lowerCvta(LaneBuilder &b, const Instruction &in) {
  llvm::Value *address = b.readBits(in.operands[1], 64);
  const StateSpace space = LaneBuilder::space(in);
  if (space == StateSpace::shared || space == StateSpace::sharedCluster) {
    // The window's offset is what counts, also where a 64-bit register holds it.
    llvm::Value *offset = b.ir.CreateTrunc(address, b.intType(32));
    address = b.ir.CreateAdd(b.sharedBase(), b.ir.CreateZExt(offset, b.intType(64)));
  }
  b.write(in, 0, b.extend(address, b.intType(isa::bitWidth(in.type())), false));
}

void lowerCvtaTo(LaneBuilder &b, const Instruction &in) {
  llvm::Value *address = b.readBits(in.operands[1], 64);
  const StateSpace space = LaneBuilder::space(in);
  if (space == StateSpace::shared || space == StateSpace::sharedCluster) {
    llvm::Value *offset = b.ir.CreateSub(address, b.sharedBase());
    address = b.ir.CreateZExt(b.ir.CreateTrunc(offset, b.intType(32)), b.intType(64));
  }
  b.write(in, 0, b.extend(address, b.intType(isa::bitWidth(in.type())), false));
}

namespace {

/// begin <= address < begin + size, without sign.
llvm::Value *isWithin(LaneBuilder &b, llvm::Value *address, llvm::Value *begin, llvm::Value *size) {
  return b.ir.CreateICmpULT(b.ir.CreateSub(address, begin), size);
}

llvm::Value *isConstant(LaneBuilder &b, llvm::Value *address) {
  llvm::Value *any = b.ir.getFalse();
  for (const check::Variable *variable : b.module().checked().variables) {
    if (variable->space != StateSpace::constant)
      continue;
    llvm::Value *begin = b.ir.CreatePtrToInt(b.module().boundVariable(*variable), b.intType(64));
    any = b.ir.CreateOr(any, isWithin(b, address, begin, b.constant(64, variable->bytes)));
  }
  return any;
}

llvm::Value *isKernelParam(LaneBuilder &b, llvm::Value *address) {
  if (!b.source().isEntry)
    return b.ir.getFalse();
  llvm::Value *begin = b.ir.CreatePtrToInt(b.target()->getArg(0), b.intType(64));
  return isWithin(b, address, begin, b.constant(64, b.module().paramBytes()));
}

/// The host address of the CTA's own window.
llvm::Value *ownWindow(LaneBuilder &b) {
  if (!b.module().hasClusterAddresses())
    return b.sharedBase();
  llvm::Value *rank = b.specialRegister(isa::SpecialRegister::cluster_ctarank);
  return b.ir.CreateAdd(b.sharedBase(), b.ir.CreateShl(b.ir.CreateZExt(rank, b.intType(64)),
                                                       abi::kSharedWindowShift));
}

llvm::Value *isInSpace(LaneBuilder &b, llvm::Value *address, StateSpace space) {
  switch (space) {
  case StateSpace::shared:
    return isWithin(b, address, ownWindow(b),
                    b.constant(64, uint64_t{1} << abi::kSharedWindowShift));
  case StateSpace::sharedCluster:
    return isWithin(b, address, b.sharedBase(),
                    b.word("ptx.shared.window", b.intType(64), {}, LaneBuilder::WordEffect::pure));
  case StateSpace::local:
    return b.word("ptx.local.contains", b.intType(1), {address}, LaneBuilder::WordEffect::pure);
  case StateSpace::constant:
    return isConstant(b, address);
  case StateSpace::param:
    return isKernelParam(b, address);
  default: { // global: what is in none of the others
    llvm::Value *other = isInSpace(b, address,
                                   b.module().hasClusterAddresses() ? StateSpace::sharedCluster
                                                                    : StateSpace::shared);
    for (const StateSpace space : {StateSpace::local, StateSpace::constant, StateSpace::param})
      other = b.ir.CreateOr(other, isInSpace(b, address, space));
    return b.ir.CreateNot(other);
  }
  }
}

} // namespace

void lowerIsspacep(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, isInSpace(b, b.readBits(in.operands[1], 64), LaneBuilder::space(in)));
}

/// createpolicy: a cache policy is an opaque number, and no access looks at it.
void lowerCreatePolicy(LaneBuilder &b, const Instruction &in) { b.write(in, 0, b.constant(64, 0)); }

} // namespace ptxrun::lower
