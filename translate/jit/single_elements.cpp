#include "translate/jit/single_elements.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

namespace ptxrun::jit {

using namespace llvm;

namespace {

/// The one element of a vector that is not poison.
std::optional<unsigned> onlyElement(const Value *v) {
  if (auto *insert = dyn_cast<InsertElementInst>(v)) {
    auto *place = dyn_cast<ConstantInt>(insert->getOperand(2));
    return place && isa<PoisonValue>(insert->getOperand(0)) ? std::optional(place->getZExtValue())
                                                            : std::nullopt;
  }
  auto *shuffle = dyn_cast<ShuffleVectorInst>(v);
  if (!shuffle)
    return std::nullopt;
  std::optional<unsigned> only;
  for (const auto &[place, from] : enumerate(shuffle->getShuffleMask())) {
    if (from == PoisonMaskElem)
      continue;
    if (only)
      return std::nullopt;
    only = unsigned(place);
  }
  return only;
}

bool isSlow(const Instruction &i) {
  auto *call = dyn_cast<IntrinsicInst>(&i);
  return i.getOpcode() == Instruction::FDiv || (call && call->getIntrinsicID() == Intrinsic::sqrt);
}

/// Whether each element of the result is made of those at the same place, and no more than one
/// instruction is for each.
bool isByElements(const Instruction &i) {
  auto *type = dyn_cast<FixedVectorType>(i.getType());
  if (!type || !(type->getElementType()->isFloatTy() || type->getElementType()->isDoubleTy()))
    return false;
  switch (i.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
    return true;
  default:
    auto *call = dyn_cast<IntrinsicInst>(&i);
    return call &&
           (call->getIntrinsicID() == Intrinsic::sqrt || call->getIntrinsicID() == Intrinsic::fma);
  }
}

std::optional<unsigned> wantedElement(const Instruction &i) {
  if (!isByElements(i))
    return std::nullopt;
  for (const Value *operand : i.operand_values())
    if (const auto element = onlyElement(operand))
      return *element == 0 || isSlow(i) ? element : std::nullopt;
  return std::nullopt;
}

Value *ofElement(IRBuilder<> &ir, Instruction &i, unsigned element) {
  SmallVector<Value *> operands;
  auto *call = dyn_cast<IntrinsicInst>(&i);
  for (Value *operand : call ? call->args() : i.operands())
    operands.push_back(ir.CreateExtractElement(operand, element));
  Value *made =
      call ? ir.CreateIntrinsic(call->getIntrinsicID(), {i.getType()->getScalarType()}, operands)
           : ir.CreateBinOp(Instruction::BinaryOps(i.getOpcode()), operands[0], operands[1]);
  if (auto *instruction = dyn_cast<Instruction>(made))
    instruction->copyIRFlags(&i);
  return made;
}

} // namespace

void computeSingleElements(Function &function) {
  if (function.isDeclaration())
    return;
  SmallVector<WeakTrackingVH> replaced;
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &i : *block)
      if (const auto element = wantedElement(i)) {
        IRBuilder<> ir(&i);
        i.replaceAllUsesWith(ir.CreateInsertElement(PoisonValue::get(i.getType()),
                                                    ofElement(ir, i, *element), *element));
        replaced.emplace_back(&i);
      }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
