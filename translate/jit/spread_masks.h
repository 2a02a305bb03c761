// Masks of lanes spread over the elements that each lane has, as numbers of the elements' width.
//
//   select (shufflevector <32 x i1> %c, <0, 0, 1, 1, ...>), <64 x i32> %x, %y
//     =>  select (icmp slt (shufflevector (sext %c to <32 x i32>), <0, 0, ...>), 0), %x, %y
//
// Where masks are vectors, instruction selection shuffles conditions as bytes, register by register
// and back: five times what the elements take, which are shuffled in their own width.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// Choices, loads and stores of 32- or 64-bit elements. For CPUs without registers for masks.
void spreadMasksAsNumbers(llvm::Function &);

} // namespace ptxrun::jit
