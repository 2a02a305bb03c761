// The upper half of products of 64-bit numbers, of vectors: by halves.
//
//   trunc (lshr (mul (zext a), (zext b)), 64)
//     =>  ah:al, bh:bl = a, b;  m = (al bl >> 32) + low(al bh) + ah bl
//         ah bh + (al bh >> 32) + (m >> 32)
//
// Instruction selection takes products of 128 bits lane by lane, through the CPU's other registers.
// Compilers divide by constants with them.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

void takeLongProductsApart(llvm::Function &);

} // namespace ptxrun::jit
