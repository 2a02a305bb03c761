// The helpers of launches: OpenMP threads that live in one long parallel region and wait there for
// launches to join.
//
// A parallel region per launch would cost 20 to 40 us whenever libomp has put its threads to sleep,
// or burn the cores of an idle program when it has not; and every host thread would get a team of
// its own. Here the thread that calls run() begins at once, helpers join as they wake (about 5 us),
// and all host threads share one set of helpers.
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// Lets up to launch.workers - 1 helpers join: each runs `work(launch, number, 0)` with its own
/// number from 1 on. Helpers are made when first needed.
void offerLaunch(LaunchState &, void (*work)(LaunchState &, int number, uint64_t deadline));
/// No helper joins any more; returns when those that joined have left.
void withdrawLaunch(LaunchState &);

} // namespace ptxrun::rt
