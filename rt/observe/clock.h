// What kernels read as clocks.
#pragma once
#include <cstdint>

namespace ptxrun::rt {

/// From now on the clocks of kernels do not show the time: each reading is a microsecond later than
/// the one before. So what kernels compute from them can be repeated.
void countClocks();
/// The readings begin anew, for the next launch.
void resetClocks();
/// How far the counted readings are, and to go on from there: for executions that begin in the
/// middle.
uint64_t clockReadings();
void setClockReadings(uint64_t);

} // namespace ptxrun::rt
