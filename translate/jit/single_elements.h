// Operations on vectors of which only one element is wanted, as operations on that element.
//
//   %d = insertelement <32 x float> poison, float %n, i64 0     =>   %x = extractelement %s, i64 0
//   %q = fdiv <32 x float> %s, %d                                    %y = fdiv float %x, %n
//                                                                    %q = insertelement poison, %y,
//                                                                    0
//
// What a block sums up in the end, and one thread divides, is such a vector: InstCombine finds out
// which element is wanted, and leaves all others to whatever a register happens to hold. A
// register's division takes several times as long as one number's, and hundreds of cycles where
// what it holds is subnormal.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// Of f32 and f64: arithmetic of the first element, divisions and square roots of any. The result
/// is the same.
void computeSingleElements(llvm::Function &);

} // namespace ptxrun::jit
