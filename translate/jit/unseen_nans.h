// Choices of one NaN for all (lower/canonical_nan.h) that nobody sees.
//
//   %a = fadd %x, %y
//   %b = select (fcmp uno %a, 0), 0x7fffffff, %a
//   %c = fadd %b, %z                                =>   %c = fadd %a, %z
//   %d = select (fcmp uno %c, 0), 0x7fffffff, %c
//
// lower makes a choice where a value goes to memory. What is stored in `.shared` memory for the
// next round of a tree stays in registers in the end (shared_values.h): then the only choice that
// counts is the last.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

void removeUnseenNans(llvm::Function &);

} // namespace ptxrun::jit
