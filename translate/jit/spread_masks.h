// Masks of lanes spread over the elements that each lane has, as numbers of the elements' width.
//
//   select (shufflevector <32 x i1> %c, <0, 0, 1, 1, ...>), <64 x i32> %x, %y
//     =>  select (icmp slt (shufflevector (sext %c to <32 x i32>), <0, 0, ...>), 0), %x, %y
//
// Where masks are vectors, instruction selection shuffles conditions as bytes, register by register
// and back: five times what the elements take, which are shuffled in their own width.
//
//   masked.load %p, (bitcast i16 %bits to <16 x i1>)
//     =>  masked.load %p, (icmp ne (and (splat (zext %bits to i32)), <1, 2, 4, ...>), 0)
//
// A mask that was counted in as a number would be taken out of it bit by bit: two instructions and
// an insertion for each lane.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// Choices, loads and stores of 32- or 64-bit elements; numbers that become masks, whoever wants
/// them. For CPUs without registers for masks.
void spreadMasksAsNumbers(llvm::Function &);

} // namespace ptxrun::jit
