// Extending a narrow index: when no lane's value wraps away from the others'.
//
//     zext(base + offset(lane)) == zext(base) + offset(lane), for all active lanes
//
// Flags (nuw, nsw) are proven for lanes that come to an instruction. The base may be the value of a
// lane that never does: `if (tid >= 8) a[tid - k]` with k < 8 wraps in lane 0 alone.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "translate/simt/shape.h"

namespace ptxrun::simt {
namespace {

using I = llvm::Instruction;
using Flagged = llvm::OverflowingBinaryOperator;

bool isNeverNegative(const Shape &s) {
  return !s.offsets || llvm::all_of(*s.offsets, [](int64_t o) { return o >= 0; });
}

/// The operation does not overflow on any values its operands can have, wherever it stands.
bool cannotOverflow(const Flagged &o, bool isSigned, const llvm::DataLayout &layout) {
  const llvm::SimplifyQuery anywhere(layout);
  const llvm::Value *x = o.getOperand(0), *y = o.getOperand(1);
  auto range = [&](const llvm::Value *v) {
    return llvm::computeConstantRangeIncludingKnownBits(v, isSigned, anywhere);
  };
  auto never = [](llvm::ConstantRange::OverflowResult r) {
    return r == llvm::ConstantRange::OverflowResult::NeverOverflows;
  };
  switch (o.getOpcode()) {
  case I::Add:
    return never(isSigned ? range(x).signedAddMayOverflow(range(y))
                          : range(x).unsignedAddMayOverflow(range(y)));
  case I::Sub:
    return never(isSigned ? range(x).signedSubMayOverflow(range(y))
                          : range(x).unsignedSubMayOverflow(range(y)));
  case I::Mul:
    return isSigned ? llvm::computeOverflowForSignedMul(x, y, anywhere) ==
                          llvm::OverflowResult::NeverOverflows
                    : never(range(x).unsignedMulMayOverflow(range(y)));
  default: {
    auto *by = llvm::dyn_cast<llvm::ConstantInt>(y);
    return by && isSigned && by->getValue().ult(llvm::ComputeNumSignBits(x, layout));
  }
  }
}

} // namespace

/// What the flag says of active lanes is true of the operation on the bases too.
bool ShapeAnalysis::holdsForBase(const llvm::OverflowingBinaryOperator &o, bool isSigned) const {
  const Shape x = shape(o.getOperand(0)), y = shape(o.getOperand(1));
  if (x.kind != Shape::Kind::offsets || y.kind != Shape::Kind::offsets)
    return false;
  if (!isSigned && o.getOpcode() != I::Sub && isNeverNegative(x) && isNeverNegative(y))
    return true; // the bases are no greater than what active lanes have
  bool isBaseOfLane = false;
  for (unsigned l = 0; l < gang_.lanes && !isBaseOfLane; ++l)
    isBaseOfLane = (!x.offsets || (*x.offsets)[l] == 0) && (!y.offsets || (*y.offsets)[l] == 0);
  return isBaseOfLane && cannotOverflow(o, isSigned, function_.getParent()->getDataLayout());
}

bool ShapeAnalysis::isExtensionExact(const llvm::Value *v, bool isSigned) const {
  // Bounded walk: a chain of no-wrap additions of exact parts is exact.
  llvm::SmallVector<const llvm::Value *> parts{v};
  for (unsigned steps = 0; !parts.empty(); ++steps) {
    if (steps > 16)
      return false;
    const llvm::Value *p = parts.pop_back_val();
    Shape s = shape(p);
    if (s.isUniform())
      continue;
    if (s.kind != Shape::Kind::offsets || s.isConditional)
      return false;
    if (isDisjoint(s) && (!isSigned || s.alignment >= kMaxAlignment || s.alignment < widthOf(p)))
      continue;
    auto *o = llvm::dyn_cast<Flagged>(p);
    if (!o || !(isSigned ? o->hasNoSignedWrap() : o->hasNoUnsignedWrap()) ||
        !holdsForBase(*o, isSigned))
      return false;
    if (o->getOpcode() == I::Shl || o->getOpcode() == I::Mul)
      parts.push_back(o->getOperand(0));
    else
      parts.append({o->getOperand(0), o->getOperand(1)});
  }
  return true;
}

} // namespace ptxrun::simt
