// What of a thread's memory nobody else sees.
#pragma once
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>

namespace ptxrun::observe {

/// Registers, `.local` and `.param` memory belong to one thread.
inline bool isOwnMemory(const llvm::Value *pointer) {
  const llvm::Value *object = llvm::getUnderlyingObject(pointer, 0);
  return llvm::isa<llvm::AllocaInst, llvm::Argument>(object);
}

} // namespace ptxrun::observe
