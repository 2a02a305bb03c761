// LaneBuilder: values, modifiers and calls.
#include <llvm/IR/Intrinsics.h>
#include <llvm/Support/ModRef.h>

#include "translate/lower/lane_builder.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/types.h"
#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

llvm::Type *LaneBuilder::typeOf(isa::Type type) {
  llvm::Type *known = irType(ir.getContext(), type);
  return known ? known : ir.getVoidTy();
}

llvm::Value *LaneBuilder::toBits(llvm::Value *value) {
  if (value->getType()->isPointerTy())
    return ir.CreatePtrToInt(value, ir.getInt64Ty());
  return cast(value, intType(value->getType()->getPrimitiveSizeInBits()));
}

llvm::Value *LaneBuilder::cast(llvm::Value *value, llvm::Type *type) {
  return value->getType() == type ? value : ir.CreateBitCast(value, type);
}

llvm::Value *LaneBuilder::extend(llvm::Value *value, llvm::Type *type, bool isSigned) {
  // A predicate is zero or one, whatever the sign of the type it is read as.
  if (value->getType()->isIntegerTy(1))
    isSigned = false;
  return isSigned ? ir.CreateSExtOrTrunc(value, type) : ir.CreateZExtOrTrunc(value, type);
}

llvm::SmallVector<llvm::Value *, 8> LaneBuilder::split(llvm::Value *value, llvm::Type *element) {
  llvm::Value *all = toBits(value);
  const unsigned bits = element->getPrimitiveSizeInBits();
  const unsigned total = all->getType()->getIntegerBitWidth();
  llvm::SmallVector<llvm::Value *, 8> parts;
  for (unsigned at = 0; at + bits <= total; at += bits) {
    llvm::Value *shifted = at == 0 ? all : ir.CreateLShr(all, at);
    parts.push_back(cast(ir.CreateTrunc(shifted, intType(bits)), element));
  }
  return parts;
}

llvm::Value *LaneBuilder::join(llvm::ArrayRef<llvm::Value *> elements) {
  unsigned total = 0;
  for (llvm::Value *element : elements)
    total += element->getType()->getPrimitiveSizeInBits();
  llvm::Type *type = intType(total);
  llvm::Value *joined = nullptr;
  unsigned at = 0;
  for (llvm::Value *element : elements) {
    llvm::Value *bits = ir.CreateZExt(toBits(element), type);
    llvm::Value *placed = at == 0 ? bits : ir.CreateShl(bits, at, "", /*HasNUW=*/true);
    joined = joined ? ir.CreateOr(joined, placed) : placed;
    at += element->getType()->getPrimitiveSizeInBits();
  }
  return joined;
}

// --- Modifiers ---------------------------------------------------------------------------------

Rounding LaneBuilder::rounding(const check::Instruction &in) {
  using isa::Token;
  for (const Token token : in.modifiers)
    switch (token) {
    case Token::rz:
    case Token::rzi:
      return Rounding::zero;
    case Token::rm:
    case Token::rmi:
      return Rounding::down;
    case Token::rp:
    case Token::rpi:
      return Rounding::up;
    case Token::rna:
      return Rounding::nearestAway;
    case Token::rn:
    case Token::rni:
      return Rounding::nearestEven;
    default:
      if (isa::spelling(token) == "rs")
        return Rounding::stochastic;
      break;
    }
  return Rounding::nearestEven;
}

bool LaneBuilder::hasRounding(const check::Instruction &in) {
  using isa::Token;
  return rounding(in) != Rounding::nearestEven || in.oneOf({Token::rn, Token::rni}) != Token::none;
}

// --- Calls -------------------------------------------------------------------------------------

llvm::Value *LaneBuilder::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type *> types,
                                    llvm::ArrayRef<llvm::Value *> arguments) {
  return ir.CreateIntrinsic(id, types, arguments);
}

namespace {
llvm::Function *declareCallee(llvm::Module &module, llvm::StringRef name, llvm::Type *result,
                              llvm::ArrayRef<llvm::Value *> arguments, bool &isNew) {
  llvm::Function *callee = module.getFunction(name);
  isNew = !callee;
  if (callee)
    return callee;
  llvm::SmallVector<llvm::Type *, 8> types;
  for (llvm::Value *argument : arguments)
    types.push_back(argument->getType());
  callee = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                  llvm::Function::ExternalLinkage, name, module);
  callee->addFnAttr(llvm::Attribute::NoUnwind);
  return callee;
}

void declarePure(llvm::Function &callee) {
  callee.setMemoryEffects(llvm::MemoryEffects::none());
  callee.addFnAttr(llvm::Attribute::WillReturn);
  callee.addFnAttr(llvm::Attribute::Speculatable);
  callee.addFnAttr(llvm::Attribute::NoSync);
  callee.addFnAttr(llvm::Attribute::NoFree);
}
} // namespace

llvm::Value *LaneBuilder::library(llvm::StringRef name, llvm::Type *result,
                                  llvm::ArrayRef<llvm::Value *> arguments) {
  bool isNew = false;
  llvm::Function *callee = declareCallee(module_.module(), name, result, arguments, isNew);
  if (isNew)
    declarePure(*callee);
  return ir.CreateCall(callee, arguments);
}

llvm::CallInst *LaneBuilder::word(llvm::StringRef name, llvm::Type *result,
                                  llvm::ArrayRef<llvm::Value *> arguments, WordEffect effect) {
  assert(name.starts_with(vocabulary::kPrefix) && "lower: a word's name begins with ptx.");
  bool isNew = false;
  llvm::Function *callee = declareCallee(module_.module(), name, result, arguments, isNew);
  if (!isNew)
    return ir.CreateCall(callee, arguments);
  switch (effect) {
  case WordEffect::pure:
    declarePure(*callee);
    break;
  case WordEffect::ordered:
    callee->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    callee->addFnAttr(llvm::Attribute::WillReturn);
    break;
  case WordEffect::convergent:
    callee->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    callee->addFnAttr(llvm::Attribute::WillReturn);
    callee->addFnAttr(llvm::Attribute::Convergent);
    break;
  case WordEffect::sync:
    callee->addFnAttr(llvm::Attribute::Convergent);
    break;
  case WordEffect::memory:
    break;
  case WordEffect::noReturn:
    callee->addFnAttr(llvm::Attribute::NoReturn);
    callee->addFnAttr(llvm::Attribute::Cold);
    break;
  }
  return ir.CreateCall(callee, arguments);
}

} // namespace ptxrun::lower
