// Lanes that do not wait arrive before those that do.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::simt {

/// Where some lanes of a warp go a way on which they wait for an mbarrier while the others go on to
/// arrive at one, the others arrive where the ways part. Needs loops in the form of prepare.h.
void arriveBeforeOthersWait(llvm::Function &);

/// `arrival` is one that parted so at the end of `branch`: it is made before the others wait, or is
/// that of those who have waited.
bool isApart(const llvm::Instruction &arrival, const llvm::BasicBlock &branch);

/// The lanes that go to this block run before those that part from them where it begins.
bool goesFirst(const llvm::BasicBlock &block);

} // namespace ptxrun::simt
