// Values behind casts that change their type only.
#pragma once
#include <llvm/IR/Instructions.h>

namespace ptxrun::lower {

/// The same bits, as whatever they were first. V is llvm::Value, const or not.
template <class V> V *bitsOf(V *v) {
  while (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(v))
    v = cast->getOperand(0);
  return v;
}

} // namespace ptxrun::lower
