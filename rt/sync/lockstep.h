// The cheap path of coroutine kernels: while all gangs of a CTA meet at the same full barrier, time
// after time, a barrier is a loop over the gangs and a count, with no list to keep.
//
// In lockstep, gangs [0, i) of a sweep have arrived (or are done) when gang i runs, so nothing
// about an arrival need be written down. Whoever does anything else (another barrier, a yield,
// bar.red, exit) first calls leaveLockstep, which writes the arrivals into the barrier's own
// records; from there on the group runs by lists. exec/lockstep runs the loop.
#pragma once
#include "rt/launch/records.h"

namespace ptxrun::rt {

inline constexpr uint32_t kAnyBarrier = ~0u;

void leaveLockstepNow(CtaState &, uint32_t running);

/// Before the gang does anything but arrive at a full barrier.
inline void leaveLockstep(GangState &g) {
  if (g.cta->isLockstep) [[unlikely]]
    leaveLockstepNow(*g.cta, g.index);
}

/// bar.sync of all threads: true when that is all there is to do (the gang must suspend).
inline bool arriveInLockstep(CtaState &cta, uint32_t barrier, uint32_t threads) {
  return barrier == cta.lockstepBarrier && threads == 0;
}

} // namespace ptxrun::rt
