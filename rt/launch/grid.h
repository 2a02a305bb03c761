// The grid of a launch: where its groups are, and who takes them.
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

inline uint64_t volume(abi::Dim3 d) { return uint64_t{d.x} * d.y * d.z; }
/// Position of a linear number in a grid, x fastest.
abi::Dim3 placeInGrid(uint64_t linear, abi::Dim3 grid);
/// Takes the next groups [*first, *end) of the grid for this worker, at most `limit`.
bool takeChunk(LaunchState &, uint64_t limit, uint64_t *first, uint64_t *end);
/// Takes one group that nobody has taken, to cancel it.
bool takeOneGroup(LaunchState &, uint64_t *number);
/// Tells of groups that have ended.
void countFinished(LaunchState &, uint64_t groups);

} // namespace ptxrun::rt
