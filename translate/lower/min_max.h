// Minimum and maximum of f32 as floating.cpp writes them, recognised: of scalars, and of the
// vectors that simt makes of them.
#pragma once
#include <llvm/IR/Instructions.h>

#include <optional>

namespace ptxrun::lower {

constexpr uint32_t kOneNan = 0x7fffffff; ///< the NaN of results (PTX ISA 9.7.3)

/// The floats of which `choice` takes the one NaN or the number; null if it does something else.
llvm::Value *numbersOf(llvm::Instruction &choice);

struct MinMax {
  llvm::Value *x, *y; ///< floats
  bool isMin;
};
/// What ends in `choice`, if that is the minimum or maximum of two numbers.
std::optional<MinMax> minMaxOf(llvm::Instruction &choice);

} // namespace ptxrun::lower
