// Conditions of elements that lie in rows, taken apart into one vector for each place in the row.
//
//   shufflevector <128 x i1> %c, <1, 5, 9, ...>
//     =>  icmp ne (and (bitcast (sext %c to <128 x i8>) to <32 x i32>), 0x0000ff00), 0
//
// Lanes that read four bytes each read them at once, and InstCombine compares them at once. What
// then takes the conditions apart, instruction selection does bit by bit, a dozen instructions for
// each: sixty times what the comparison of a row takes.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// Replaces choices of fewer conditions than there are, but those of a run of neighbours.
void takeRowConditionsApart(llvm::Function &);

} // namespace ptxrun::jit
