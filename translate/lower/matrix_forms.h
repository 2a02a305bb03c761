// What the text of a matrix instruction says, as intrinsics/matrix names it.
#pragma once
#include "intrinsics/matrix/warp.h"
#include "translate/check/checked_module.h"

namespace ptxrun::lower {

/// The word of mma and its kin begins so; bits of a register, counts of registers read and written
/// follow.
inline constexpr const char *kWarpMatrix = "ptx.matrix.warp.b";
/// Constants of 64 bits that hold a matrix::WarpOperation.
inline constexpr unsigned kOperationWords = (sizeof(matrix::WarpOperation) + 7) / 8;

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
};
/// `.m16n8k16` among the modifiers; zeros where there is none.
MatrixShape shapeOf(const check::Instruction &);
/// The layout qualifiers in their order; .row where there is no such.
bool isLayoutRow(const check::Instruction &, unsigned which);
/// s32 for what is no type of a matrix' elements.
matrix::Element matrixElement(isa::Type);

} // namespace ptxrun::lower
