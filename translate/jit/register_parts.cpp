#include "translate/jit/register_parts.h"

#include <llvm/Analysis/VectorUtils.h>

namespace ptxrun::jit {

using namespace llvm;

Value *part(IRBuilder<> &ir, Value *v, unsigned first, unsigned count) {
  if (Value *element = getSplatValue(v); element && isa<Constant>(v))
    return ConstantVector::getSplat(ElementCount::getFixed(count), cast<Constant>(element));
  return ir.CreateShuffleVector(v, createSequentialMask(first, count, 0));
}

Value *comparedAsNumbers(IRBuilder<> &ir, const CmpInst &compare, unsigned first,
                         FixedVectorType *type) {
  const unsigned count = type->getNumElements();
  Value *met = ir.CreateCmp(compare.getPredicate(), part(ir, compare.getOperand(0), first, count),
                            part(ir, compare.getOperand(1), first, count));
  if (auto *made = dyn_cast<Instruction>(met))
    made->copyIRFlags(&compare);
  return ir.CreateSExt(met, type);
}

} // namespace ptxrun::jit
