// LaneBuilder: addresses. Everything but `.shared` is a host address; a `.shared` address is an
// offset in the window.
#include "intrinsics/abi.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

using check::Operand;
using isa::StateSpace;

StateSpace LaneBuilder::space(const check::Instruction &in) {
  using isa::Token;
  for (const Token token : in.modifiers)
    switch (token) {
    case Token::global:
      return StateSpace::global;
    case Token::shared:
    case Token::shared_cta:
      return StateSpace::shared;
    case Token::shared_cluster:
      return StateSpace::sharedCluster;
    case Token::local:
      return StateSpace::local;
    case Token::const_:
      return StateSpace::constant;
    case Token::param:
    case Token::param_entry:
    case Token::param_func:
      return StateSpace::param;
    default:
      break;
    }
  return StateSpace::generic;
}

namespace {
bool isShared(StateSpace space) {
  return space == StateSpace::shared || space == StateSpace::sharedCluster;
}

/// Null where an address of 32 bits is whole.
const char *wholeAddressWord(StateSpace space) {
  switch (space) {
  case StateSpace::local:
    return vocabulary::kWholeLocalAddress;
  case StateSpace::param:
    return vocabulary::kWholeParamAddress;
  case StateSpace::constant:
    return vocabulary::kWholeConstantAddress;
  default:
    return nullptr;
  }
}
} // namespace

llvm::Value *LaneBuilder::sharedBase() {
  return word("ptx.shared.base", ir.getInt64Ty(), {}, WordEffect::pure);
}

/// The `.shared` address of an offset in the CTA's own window.
llvm::Value *LaneBuilder::sharedPlace(uint64_t offset) {
  if (!module_.hasClusterAddresses())
    return constant(32, offset);
  llvm::Value *rank = specialRegister(isa::SpecialRegister::cluster_ctarank);
  llvm::Value *window = ir.CreateShl(rank, abi::kSharedWindowShift, "", true, true);
  return ir.CreateAdd(window, constant(32, offset), "", true, true);
}

/// The host pointer of a variable that has one, null for `.shared` variables and no variable.
llvm::Value *LaneBuilder::variablePointer(const check::Variable *variable) {
  if (!variable || isShared(variable->space))
    return nullptr;
  if (const uint32_t *offset = module_.paramOffset(*variable))
    return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), target_->getArg(0), *offset);
  if (variable->space == StateSpace::global || variable->space == StateSpace::constant)
    return module_.boundVariable(*variable);
  if (!variable->function && variable->space == StateSpace::local && !source_.isEntry)
    error(*current_, "`" + std::string(variable->name) +
                         "`: a `.local` variable of the module cannot be shared with a function");
  return storage(*variable);
}

/// Where in its variable an operand lies. ptxas computes var[%r+c] in 32 bits, whatever the
/// register's type, and counts elements without sign.
llvm::Value *LaneBuilder::placeInVariable(const Operand &operand) {
  const auto offset = static_cast<uint64_t>(operand.integer);
  if (!operand.reg)
    return constant(64, offset);
  llvm::Value *index = toBits(readRegister(*operand.reg, 0));
  index = ir.CreateZExtOrTrunc(index, intType(32));
  llvm::Value *bytes =
      ir.CreateAdd(ir.CreateMul(index, constant(32, operand.scale)), constant(32, offset));
  return ir.CreateZExt(bytes, intType(64));
}

llvm::Value *LaneBuilder::address(const Operand &operand, StateSpace space) {
  const uint64_t offset = static_cast<uint64_t>(operand.integer);
  if (operand.variable && isShared(operand.variable->space)) {
    const uint64_t begin = module_.sharedOffset(*operand.variable);
    llvm::Value *place = sharedPlace(operand.reg ? begin : begin + offset);
    if (operand.reg)
      place = ir.CreateAdd(place, ir.CreateTrunc(placeInVariable(operand), intType(32)));
    if (isShared(space))
      return place;
    return ir.CreateAdd(sharedBase(), ir.CreateZExt(place, intType(64)));
  }
  const unsigned bits = isShared(space) ? 32 : 64;
  if (llvm::Value *pointer = variablePointer(operand.variable))
    return ir.CreateAdd(ir.CreatePtrToInt(pointer, intType(bits)),
                        ir.CreateZExtOrTrunc(placeInVariable(operand), intType(bits)));
  if (!operand.reg)
    return constant(bits, offset);
  llvm::Value *base =
      toBits(readRegister(*operand.reg, operand.component ? operand.component - 1 : 0));
  if (const char *whole = wholeAddressWord(space); whole && base->getType()->isIntegerTy(32))
    base = word(whole, intType(64), {base}, WordEffect::pure);
  base = extend(base, intType(bits), false);
  return offset == 0 ? base : ir.CreateAdd(base, constant(bits, offset));
}

llvm::Value *LaneBuilder::pointer(const Operand &operand, StateSpace space) {
  if (llvm::Value *base = variablePointer(operand.variable))
    return operand.integer == 0 && !operand.reg
               ? base
               : ir.CreateGEP(ir.getInt8Ty(), base, placeInVariable(operand));
  return ir.CreateIntToPtr(address(operand, space),
                           ir.getPtrTy(isShared(space) ? kShared : kGeneric));
}

llvm::Value *LaneBuilder::hostPointer(const Operand &operand, StateSpace space) {
  if (!isShared(space))
    return pointer(operand, space);
  llvm::Value *offset = ir.CreateZExt(address(operand, space), intType(64));
  return ir.CreateIntToPtr(ir.CreateAdd(sharedBase(), offset), ir.getPtrTy());
}

} // namespace ptxrun::lower
