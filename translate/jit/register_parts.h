// What those share that compute with masks register by register.
#pragma once
#include <llvm/IR/IRBuilder.h>

namespace ptxrun::jit {

/// `count` elements of a vector from `first` on.
llvm::Value *part(llvm::IRBuilder<> &, llvm::Value *, unsigned first, unsigned count);
/// What `compare` finds of those, as numbers of that type: all ones, or zero.
llvm::Value *comparedAsNumbers(llvm::IRBuilder<> &, const llvm::CmpInst &compare, unsigned first,
                               llvm::FixedVectorType *);

} // namespace ptxrun::jit
