// Values for what was emitted as loads and stores of stack slots.
#pragma once
#include <llvm/IR/Instructions.h>

namespace ptxrun::simt {

/// Every load of the slots, whose only users are loads and stores of the whole, becomes the value
/// that was stored last (undef where nothing was), with phis where ways meet and the slot is read
/// behind; the slots are erased. As LLVM's PromoteMemToReg, which carries all slots along every
/// edge and walks all of the dominator tree for each: here each slot costs the blocks it lives in.
void promoteSlots(llvm::Function &, llvm::ArrayRef<llvm::AllocaInst *> slots);

} // namespace ptxrun::simt
