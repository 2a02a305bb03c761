// The one table from (.sem, .scope, space) to LLVM's ordering and sync scope (PTX ISA 8: memory
// consistency model).
//
//   .sem                          ordering              |  .scope            sync scope
//   weak (none written on ld/st)  not atomic            |  .cta              "cta"      compiler
//   ordering only: a CTA stays .volatile                     not atomic, volatile  |  .cluster
//   "cluster"  on one thread of the host .relaxed, .mmio               monotonic             | .gpu
//   "gpu"      real atomics .acquire                      acquire               |  .sys, none on st
//   ""         real atomics .release                      release               | .acq_rel acq_rel
//   |  space .shared{::cta} narrows the scope to "cta", .sc (fence), membar           seq_cst |
//   .shared::cluster to "cluster" (nobody else can see it), none on atom, red monotonic, .gpu |
//   .local, .param and .const to not atomic
//
// lower applies it to IR; simt and jit read the sync scopes off the IR ("cta" and "cluster" cost no
// instruction).
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

} // namespace ptxrun::lower
