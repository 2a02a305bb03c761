// Addresses of a gang: one host pointer and an offset for each lane where the shape says so, else a
// pointer for each lane; and the tests of whether the shape holds.
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "translate/simt/accesses.h"

namespace ptxrun::simt {

/// Host pointers for `.shared` addresses, one or as many as there are lanes.
llvm::Value *Accesses::inArena(Value *offsets) {
  Value *arena = sharedBase();
  llvm::Type *wide = offsets->getType()->getWithNewBitWidth(64);
  return b_.CreateGEP(b_.getInt8Ty(), arena, b_.CreateSExt(offsets, wide));
}

/// A host pointer for a uniform pointer value (`.shared` ones are offsets into the arena).
llvm::Value *Accesses::hostPointer(const Value *pointer) {
  Value *p = base(pointer);
  if (pointer->getType()->getPointerAddressSpace() != lower::kShared)
    return p;
  return inArena(p);
}

/// Whether base + offset leaves the range of the index's type for some lane of the gang.
llvm::Value *Accesses::wrapsWithin(const Value *index, bool isSigned) {
  Shape shape = shapes_.shape(index);
  if (shape.isVarying())
    return b_.getTrue();
  if (!shape.offsets)
    return b_.getFalse();
  auto [low, high] = std::minmax_element(shape.offsets->begin(), shape.offsets->end());
  Value *scalar = base(index), *wraps = b_.getFalse();
  for (int64_t step : {*low, *high}) {
    if (step == 0)
      continue;
    const bool isDown = step < 0;
    llvm::Intrinsic::ID id = isDown ? (isSigned ? llvm::Intrinsic::ssub_with_overflow
                                                : llvm::Intrinsic::usub_with_overflow)
                                    : (isSigned ? llvm::Intrinsic::sadd_with_overflow
                                                : llvm::Intrinsic::uadd_with_overflow);
    Value *r = b_.CreateBinaryIntrinsic(
        id, scalar,
        llvm::ConstantInt::get(scalar->getType(), isDown ? 0 - uint64_t(step) : uint64_t(step)));
    wraps = b_.CreateOr(wraps, b_.CreateExtractValue(r, 1));
  }
  return wraps;
}

/// True where the narrower index under a conditional address wraps between the lanes of this gang.
llvm::Value *Accesses::wrapTest(const Value *v) {
  Value *wraps = b_.getFalse();
  llvm::SmallVector<const Value *> stack{v};
  llvm::DenseSet<const Value *> seen;
  while (!stack.empty()) {
    const Value *p = stack.pop_back_val();
    if (!shapes_.shape(p).isConditional || !seen.insert(p).second)
      continue;
    auto *i = llvm::cast<llvm::Instruction>(p);
    const bool isSigned = i->getOpcode() == llvm::Instruction::SExt;
    stack.append(i->value_op_begin(), i->value_op_end());
    if (isSigned || i->getOpcode() == llvm::Instruction::ZExt)
      wraps = b_.CreateOr(wraps, wrapsWithin(i->getOperand(0), isSigned));
  }
  return wraps;
}

Accesses::Address Accesses::address(const Value *pointer) {
  Shape s = shapes_.shape(pointer);
  if (!s.isVarying()) {
    Address a{hostPointer(pointer), s.offsets, nullptr, nullptr};
    if (s.isConditional)
      a.wraps = wrapTest(pointer);
    return a;
  }
  Value *index;
  if (pointer->getType()->getPointerAddressSpace() == lower::kShared) {
    index = b_.CreateSExt(vector(pointer), vec(b_.getInt64Ty(), lanes_));
    return {sharedBase(), nullptr, index, nullptr};
  }
  // uniform + varying: a scalar base with a vector index
  if (auto *cast = llvm::dyn_cast<llvm::IntToPtrInst>(pointer))
    if (auto *add = llvm::dyn_cast<llvm::BinaryOperator>(cast->getOperand(0));
        add && add->getOpcode() == llvm::Instruction::Add)
      for (unsigned k = 0; k < 2; ++k)
        if (shapes_.isUniform(add->getOperand(k)) && !llvm::isa<llvm::Constant>(add->getOperand(k)))
          return {b_.CreateIntToPtr(base(add->getOperand(k)), b_.getPtrTy()), nullptr,
                  vector(add->getOperand(1 - k)), nullptr};
  return {nullptr, nullptr, vector(pointer), nullptr};
}

llvm::Value *Accesses::pointers(const Address &a) {
  if (!a.base)
    return a.index;
  if (a.index) {
    // base + (index << 1..3): the shift becomes the scale of the gather.
    auto *shift = llvm::dyn_cast<llvm::BinaryOperator>(a.index);
    auto *by = shift && shift->getOpcode() == llvm::Instruction::Shl
                   ? llvm::dyn_cast<llvm::Constant>(shift->getOperand(1))
                   : nullptr;
    auto *amount = by ? llvm::dyn_cast_or_null<llvm::ConstantInt>(by->getSplatValue()) : nullptr;
    if (amount && amount->getZExtValue() <= 3)
      return b_.CreateGEP(b_.getIntNTy(8u << amount->getZExtValue()), a.base, shift->getOperand(0));
    return b_.CreateGEP(b_.getInt8Ty(), a.base, a.index);
  }
  return fromOffsets(a.base, Shape{Shape::Kind::offsets, 0, a.offsets, false}, b_.getPtrTy());
}

llvm::Value *Accesses::exactPointers(const Value *pointer) {
  const bool wasOff = std::exchange(isOffMainLine_, true);
  Value *p = exactVector(pointer);
  if (pointer->getType()->getPointerAddressSpace() == lower::kShared)
    p = inArena(p);
  isOffMainLine_ = wasOff;
  return p;
}

/// Whether an address is computed from something that differs between lanes, times something that
/// is no constant.
bool Accesses::stridesAcrossLanes(const Value *pointer) const {
  llvm::SmallVector<const Value *> stack{pointer};
  for (unsigned n = 0; !stack.empty() && n < kLimits.search.operands; ++n) {
    auto *i = llvm::dyn_cast<llvm::Instruction>(stack.pop_back_val());
    if (!i || shapes_.isUniform(i) || i->mayReadOrWriteMemory())
      continue;
    if (i->getOpcode() == llvm::Instruction::Mul &&
        llvm::none_of(i->operands(), [](const Value *v) { return llvm::isa<llvm::Constant>(v); }))
      return true;
    stack.append(i->value_op_begin(), i->value_op_end());
  }
  return !stack.empty();
}

} // namespace ptxrun::simt
