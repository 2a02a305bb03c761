// Values of bfloat as their bits, wherever they are only moved.
//
//   phi, select, load <32 x bfloat>   =>   the same of <32 x i16>
//
// Where the CPU has no arithmetic of bfloat, instruction selection carries such a value from block
// to block, and without optimisation through every shuffle, as floats: a call for each lane to
// round it again, which makes quiet NaNs of signalling ones (`vNbf16` of X86, LLVM 19).
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

void moveBfloatsAsBits(llvm::Function &);

} // namespace ptxrun::jit
