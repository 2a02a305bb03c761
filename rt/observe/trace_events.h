// What the runtime tells a trace. All are to be called only where trace::isOn().
#pragma once
#include "rt/launch/records.h"
#include "rt/observe/trace.h"

namespace ptxrun::rt {

/// The gang's wait for an mbarrier ends.
void traceMbarrierWait(GangState &);
/// Everybody has arrived at barrier `id` of the CTA.
void traceBarrier(CtaState &, uint32_t id);
/// The gangs of the CTA, which keep in step, have arrived at the barrier, the first at `arrived`.
void traceLockstep(CtaState &, uint64_t arrived);
void traceAsync(GangState &, const char *what, uint64_t bytes, uint64_t begin);
/// The group is closed.
void traceGroup(GroupState &);
/// CTAs [first, end) have run.
void traceRange(Worker &, uint64_t first, uint64_t end, uint64_t begin);

} // namespace ptxrun::rt
