// Loops in which lanes read rows of their own. See widen_interleaved.cpp for how rows are read.
#pragma once
#include <llvm/IR/Function.h>

#include "translate/simt/gang_module.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {

/// Unrolls the loops of a kernel in which each lane reads a row of its own until a round reads a
/// register's width of it. Returns true if the function changed.
bool unrollRows(llvm::Function &, const GangShape &, const Target &);

} // namespace ptxrun::simt
