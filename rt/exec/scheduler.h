// Which groups run on a worker, and how their gangs are started. Everything here runs on the
// worker's thread; launch/suspend.h is how a gang waits.
#pragma once
#include "rt/launch/clock.h"
#include "rt/launch/grid.h"
#include "rt/launch/suspend.h"

namespace ptxrun::rt {

/// Runs groups of the launch until none is left, or the launch stops. `deadline` (ns, 0 = none):
/// takes no new group after it.
void runGroups(Worker &, LaunchState &, uint64_t deadline);
/// The same in the order that the worker's controller chooses (controlled.cpp).
void runControlled(Worker &, LaunchState &);
/// The same for kernels that never suspend, through KernelCode::ctaRange.
void runRanges(Worker &, LaunchState &, uint64_t deadline);

/// What a fiber runs for a gang: Worker::gangJob.
void gangJob(Fiber &);
/// The gang's function is over: what is left of it exits.
void finishGang(GangState &);
/// From the native stack: runs one gang until it waits, gives way or is done.
void runGang(Worker &, GangState &);
/// Nothing else can run: asynchronous copies that were put off happen now. False if there are none.
bool performLateCopies(Worker &, GroupState &);
/// Waits a little, the longer the longer nothing could go on.
void relax(uint64_t idleNs);

} // namespace ptxrun::rt
