// Threads that exit no longer count anywhere.
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// The lanes of `mask` (gang lanes; those already gone are ignored) have exited.
void exitLanes(GangState &, uint32_t mask);

} // namespace ptxrun::rt
