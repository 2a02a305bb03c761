// What kernels read as clocks.
#pragma once

namespace ptxrun::rt {

/// From now on the clocks of kernels do not show the time: each reading is a microsecond later than
/// the one before. So what kernels compute from them can be repeated.
void countClocks();
/// The readings begin anew, for the next launch.
void resetClocks();

} // namespace ptxrun::rt
