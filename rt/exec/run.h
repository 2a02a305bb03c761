// Running a compiled kernel over a grid. rt knows nothing of PTX or LLVM; its tests use plain C++
// functions as kernels.
#pragma once
#include "rt/launch/launch.h"

namespace ptxrun::rt {

/// Starts the threads that help with launches, which the first launch that wants help would
/// otherwise wait for.
void startHelpers();
/// Runs the launch to its end on the calling thread and OpenMP workers. A launch of one CTA runs
/// inline. Safe to call from several threads at once.
Failure run(const LaunchRequest &);

} // namespace ptxrun::rt
