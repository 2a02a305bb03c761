// Arithmetic on bytes and 16-bit numbers that programs do in 32 bits.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/shape.h"
#include "translate/simt/target.h"

namespace ptxrun::simt {

/// C promotes bytes and shorts to int: sums of pixels, weights and thresholds are computed in 32
/// bits, of which most hold nothing. What is computed of extended 8- and 16-bit numbers and
/// constants, and never leaves 16 bits (signed or unsigned), is computed in 16, where the lanes of
/// a gang fill more than a register in 32 and that gains more than extensions of results cost:
/// twice the lanes in a register. Returns true if the function changed.
bool narrowIntegers(llvm::Function &, const GangShape &, const Target &);

} // namespace ptxrun::simt
