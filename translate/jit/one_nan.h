// The choice of one NaN for all (lower/canonical_nan.h) as one instruction of AVX-512.
//
//   select (fcmp uno x, x), 0x7fffffff, x   =>   vfixupimmps 0x7fffffff, x, table
//
//   min(x, y), a choice between bits   =>  vrangeps x, y
//
// A comparison into a mask and a move under it are two, and kernels whose every result is stored
// have few more: 8 % of a stencil.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

/// In a function for CPUs with AVX-512, vectors of 8 floats or a multiple of 16.
void fixUpNans(llvm::Function &);

} // namespace ptxrun::jit
