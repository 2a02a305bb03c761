// Masks of more lanes than a register has, as the numbers that comparisons leave in registers.
//
//   %less = icmp slt <32 x i32> %x, %y
//   %both = and <32 x i1> %less, (icmp eq <32 x i32> %z, 0)
//   select %both, <32 x i32> %u, %v
//     =>  for each register:  %both.k = and (sext (icmp slt <8 x i32> %x.k, %y.k)), (sext ...)
//                             select (icmp slt %both.k, 0), <8 x i32> %u.k, %v.k
//
// Where masks are vectors, instruction selection packs what registers are compared to into the
// bytes of one before it joins them, and takes them apart again for those who choose by them: a
// dozen shuffles, where each `and` is four instructions instead of one.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// Masks that are joined within a block, of comparisons and for choices, accesses and numbers of 32
/// or 64 bits rather than of fewer. For CPUs without registers for masks.
void keepMasksInRegisters(llvm::Function &, unsigned vectorBytes);

} // namespace ptxrun::jit
