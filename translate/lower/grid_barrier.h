#pragma once
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

/// The workspace of a cooperative launch (%envreg1, %envreg2), 64 bits; zero in any other launch.
llvm::Value *gridWorkspace(LaneBuilder &);

/// A barrier of all threads of a cooperative grid, built from the word at workspace + 4: what
/// cudaCGSynchronize of CUDA's device runtime does, and grid_group::sync() inline.
void emitGridBarrier(LaneBuilder &, llvm::Value *workspace);

} // namespace ptxrun::lower
