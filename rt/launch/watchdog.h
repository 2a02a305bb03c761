// One thread per process that ends launches which take too long or are cancelled, also in loops
// that never enter the runtime.
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// Watches the launch's timeout and cancel flag until unwatch. Costs nothing where the request has
/// neither.
void watch(LaunchState &);
/// Signals the launch's workers, now and every few milliseconds until unwatch, so that generated
/// code is left.
void interruptWorkers(LaunchState &);
/// The launch is over. Every launch calls it.
void unwatch(LaunchState &);

} // namespace ptxrun::rt
