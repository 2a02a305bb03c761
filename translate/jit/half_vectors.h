// Vectors of halves compared, rounded to integers and converted to them: as floats.
//
//   fptosi <32 x half> x   =>   fptosi (fpext x to <32 x float>)
//
// Lower converts halves as floats, which is exact. InstCombine takes the extensions away, and what
// is left instruction selection does lane by lane, where the CPU has no arithmetic of halves: ten
// times what it takes otherwise.
#pragma once
#include <llvm/IR/Function.h>

namespace ptxrun::jit {

void convertHalvesAsFloats(llvm::Function &);

} // namespace ptxrun::jit
