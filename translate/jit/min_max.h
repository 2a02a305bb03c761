// Minimum and maximum of floats: how they are done where no instruction does them.
//
//   min(min(x, y), z), max(min(x, y), z), ...
//     =>  kx = order(x), ky = order(y), kz = order(z), k = smin(kx, ky)
//         order'(smin(k, kz)), order'(smax(k + 1, kz + 1) - 1), ...
//
// order(x), an integer, is less where x is: the bits of x with one NaN for all, those below the
// sign turned over where that is set. The NaN, 0x7fffffff, is then the greatest, and by one more
// the least: it loses as the manual wants it. One operation takes eight instructions otherwise; an
// order takes five and the way back three, so several have to share them.
#pragma once
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <optional>

#include "translate/lower/min_max.h"

namespace ptxrun::jit {

using lower::MinMax;
/// What ends in `choice`, if that is the minimum or maximum of two vectors of 8, 16 or 32 floats.
std::optional<MinMax> minMaxInParts(llvm::Instruction &choice);

/// Uses of `choice` as floats and as integers become uses of `result`, floats.
void replaceChoice(llvm::Instruction &choice, llvm::Value *result);

/// Behind what defines `v`, with its place in the text.
void setInsertPointBehind(llvm::IRBuilderBase &, llvm::Value *v, llvm::Function &);

/// Takes minima and maxima that share operands or results by integers, where that is less work; the
/// others by what minps and maxps do.
void takeMinMax(llvm::Function &);

} // namespace ptxrun::jit
