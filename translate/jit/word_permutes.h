// Halves of 32-bit elements that change places across lanes, by one permutation of words.
//
//   %y = shufflevector %x, ...                     lanes exchange their elements
//   %z = (%x & masks) | (rotate(%y, 16) & ~masks)  and keep one half each: fixed ones
//   shufflevector %z, ...                          =>   shufflevector (bitcast %x to words), ...
//
// That is how the fragment of a transposed 8 x 8 matrix of 16-bit elements comes about (ldmatrix,
// stmatrix, movmatrix; lower/matrix_moves.cpp). AVX-512 has an instruction for words of two
// registers, where the steps are seven.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// For CPUs with AVX-512, whose vectors have `vectorBits`.
void permuteWords(llvm::Function &, unsigned vectorBits);

} // namespace ptxrun::jit
