// Which axis of the block neighbouring lanes lie along.
#pragma once
#include <llvm/IR/Module.h>

#include "translate/simt/shape.h"
#include "translate/simt/target.h"
#include "translate/support/code_options.h"

namespace ptxrun::simt {

/// The axis along which accesses of memory are predicted to cost at most a share (cost.h) of what
/// they cost along x: kernels whose %tid.x counts rows have rows of memory along another one. 0: x,
/// and wherever somebody might find out. `kernel` as prepared, all functions of the module its.
unsigned bestLeadingAxis(llvm::Module &, llvm::Function &kernel, const CodeOptions &,
                         const Target &);

/// From here on %tid.x of the module means what %tid.AXIS meant, and the other way round, and so do
/// extents of the block: what numbers threads along x then does so along that axis.
void exchangeWithX(llvm::Module &, unsigned axis, BlockShape &);

} // namespace ptxrun::simt
