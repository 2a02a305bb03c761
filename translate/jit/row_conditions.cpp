#include "translate/jit/row_conditions.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>

namespace ptxrun::jit {

using namespace llvm;

namespace {

unsigned lanesOf(const Value *value) {
  return cast<FixedVectorType>(value->getType())->getNumElements();
}

/// A choice of single conditions out of one vector that is longer.
bool takesConditionsApart(const ShuffleVectorInst &choice) {
  if (!choice.getType()->getScalarType()->isIntegerTy(1) ||
      !isa<UndefValue>(choice.getOperand(1)) || lanesOf(&choice) < 2 ||
      lanesOf(&choice) >= lanesOf(choice.getOperand(0)))
    return false;
  int first;
  return !choice.isExtractSubvectorMask(first);
}

/// The place in its row, if each lane takes the same one of its own row of 2, 4 or 8.
std::optional<unsigned> placeInRow(const ShuffleVectorInst &choice) {
  const unsigned row = lanesOf(choice.getOperand(0)) / lanesOf(&choice);
  if ((row != 2 && row != 4 && row != 8) || row * lanesOf(&choice) != lanesOf(choice.getOperand(0)))
    return std::nullopt;
  const int place = choice.getMaskValue(0);
  for (unsigned lane = 0; lane < lanesOf(&choice); ++lane)
    if (choice.getMaskValue(lane) != place + int(row * lane))
      return std::nullopt;
  return unsigned(place) < row ? std::optional(unsigned(place)) : std::nullopt;
}

/// `conditions` as bytes of all ones and zeros, made where they are; null if nothing can stand
/// there.
Value *asBytes(Value *conditions) {
  auto *type = FixedVectorType::get(Type::getInt8Ty(conditions->getContext()), lanesOf(conditions));
  if (auto *argument = dyn_cast<Argument>(conditions)) {
    BasicBlock &entry = argument->getParent()->getEntryBlock();
    return IRBuilder<>(&entry, entry.getFirstInsertionPt()).CreateSExt(conditions, type);
  }
  auto *made = dyn_cast<Instruction>(conditions);
  std::optional<BasicBlock::iterator> behind =
      made ? made->getInsertionPointAfterDef() : std::nullopt;
  if (!behind)
    return nullptr;
  return IRBuilder<>((*behind)->getParent(), *behind).CreateSExt(conditions, type);
}

Value *takenApart(const ShuffleVectorInst &choice, Value *bytes, IRBuilder<> &ir) {
  const unsigned lanes = lanesOf(&choice);
  std::optional<unsigned> place = placeInRow(choice);
  if (!place)
    return ir.CreateIsNeg(ir.CreateShuffleVector(bytes, choice.getShuffleMask()));
  const unsigned rowBits = 8 * lanesOf(bytes) / lanes;
  Value *rows = ir.CreateBitCast(bytes, FixedVectorType::get(ir.getIntNTy(rowBits), lanes));
  const APInt byte = APInt::getBitsSet(rowBits, 8 * *place, 8 * *place + 8);
  return ir.CreateIsNotNull(ir.CreateAnd(rows, ConstantInt::get(rows->getType(), byte)));
}

} // namespace

void takeRowConditionsApart(Function &function) {
  SmallVector<ShuffleVectorInst *> choices;
  for (Instruction &instruction : instructions(function))
    if (auto *choice = dyn_cast<ShuffleVectorInst>(&instruction))
      if (takesConditionsApart(*choice))
        choices.push_back(choice);
  DenseMap<Value *, Value *> bytesOf;
  for (ShuffleVectorInst *choice : choices) {
    Value *conditions = choice->getOperand(0);
    auto [known, isNew] = bytesOf.try_emplace(conditions, nullptr);
    if (isNew)
      known->second = asBytes(conditions);
    if (!known->second)
      continue;
    IRBuilder<> ir(choice);
    choice->replaceAllUsesWith(takenApart(*choice, known->second, ir));
    choice->eraseFromParent();
  }
}

} // namespace ptxrun::jit
