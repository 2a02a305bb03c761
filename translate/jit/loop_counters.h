// Counters of a loop that keep their distance, as one.
//
//   i = start, i' = start + 32, i'' = start + 64, ...; all step by n
//     =>  i = start; i + 32, i + 64, ...
//   i + 31 < end && i + 63 < end && i + 95 < end
//     =>  i + 95 < end   where none of the sums can wrap
//
// Gangs in lockstep that stride by the grid have one each, and LLVM keeps each in a register with
// an extension, an addition and a comparison in every round. So much code lies between the loads of
// two rounds that the CPU does not look far enough ahead to have memory busy.
#pragma once
#include <llvm/IR/PassManager.h>

namespace ptxrun::jit {

struct JoinCounters : llvm::PassInfoMixin<JoinCounters> {
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace ptxrun::jit
