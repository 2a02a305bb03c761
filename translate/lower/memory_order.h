// The order of accesses and fences as LLVM's ordering and sync scope: the table of intrinsics/memory_order.h on IR.
// Sync scopes are "cta", "cluster", "gpu" and "" (.sys); simt and jit read them off the IR.
#pragma once
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/AtomicOrdering.h>

#include "translate/check/checked_module.h"

namespace ptxrun::lower {

struct MemoryOrder {
  llvm::AtomicOrdering ordering = llvm::AtomicOrdering::NotAtomic;
  llvm::SyncScope::ID scope = llvm::SyncScope::System;
  bool isVolatile = false;
  bool isAtomic() const { return ordering != llvm::AtomicOrdering::NotAtomic; }
};

/// For ld and st.
MemoryOrder accessOrder(llvm::LLVMContext &, const check::Instruction &, isa::StateSpace);
/// For atom and red.
MemoryOrder atomicOrder(llvm::LLVMContext &, const check::Instruction &, isa::StateSpace);
/// For fence and membar.
MemoryOrder fenceOrder(llvm::LLVMContext &, const check::Instruction &);

/// Whether all that a sync scope and an address space of the IR let take part run on one thread of the host.
bool staysOnOneThread(llvm::LLVMContext &, llvm::SyncScope::ID, unsigned addressSpace);
/// Whether they are launches of this process.
bool staysOnDevice(llvm::LLVMContext &, llvm::SyncScope::ID);

} // namespace ptxrun::lower
