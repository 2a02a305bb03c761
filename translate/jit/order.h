// The order of instructions in long blocks, for the sake of registers.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// Reorders long straight-line stretches where that keeps fewer vectors alive than there are
/// registers to hold them. `vectorBytes` and `registers` describe the machine. Instruction
/// selection keeps to the order of the IR; a kernel unrolled over k touches all its accumulators in
/// every step, and would spill and reload each of them every time. Ordered by results, each
/// accumulator is finished before the next begins. Returns true if anything moved: then the machine
/// scheduler should leave the order as it is.
bool orderForRegisters(llvm::Function &, unsigned vectorBytes, unsigned registers);

} // namespace ptxrun::jit
