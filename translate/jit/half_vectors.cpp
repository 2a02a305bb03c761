#include "translate/jit/half_vectors.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace ptxrun::jit {

using namespace llvm;

namespace {

bool isOfHalves(const Type *type) {
  return type->isVectorTy() && type->getScalarType()->isHalfTy();
}

/// The integers next to a half are halves: nothing is rounded twice.
bool roundsToInteger(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return false;
  switch (call->getIntrinsicID()) {
  case Intrinsic::trunc:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::roundeven:
    return true;
  default:
    return false;
  }
}

} // namespace

void convertHalvesAsFloats(Function &function) {
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    const bool isRounding = roundsToInteger(instruction);
    if ((!isRounding && !isa<FPToSIInst, FPToUIInst, FCmpInst>(instruction)) ||
        !isOfHalves(instruction.getOperand(0)->getType()))
      continue;
    IRBuilder<> ir(&instruction);
    auto *halves = cast<VectorType>(instruction.getOperand(0)->getType());
    auto *type = VectorType::get(ir.getFloatTy(), halves->getElementCount());
    if (!isRounding) {
      for (Use &operand : instruction.operands())
        operand.set(ir.CreateFPExt(operand.get(), type));
      continue;
    }
    Value *integral =
        ir.CreateUnaryIntrinsic(cast<IntrinsicInst>(instruction).getIntrinsicID(),
                                ir.CreateFPExt(instruction.getOperand(0), type), &instruction);
    instruction.replaceAllUsesWith(ir.CreateFPTrunc(integral, halves));
    instruction.eraseFromParent();
  }
}

} // namespace ptxrun::jit
