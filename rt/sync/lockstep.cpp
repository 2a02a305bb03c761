#include "rt/sync/lockstep.h"

#include "rt/sync/cta_barrier.h"

namespace ptxrun::rt {

void leaveLockstepNow(CtaState &cta, uint32_t running) {
  uint32_t barrier = cta.lockstepBarrier;
  cta.isLockstep = false;
  cta.lockstepBarrier = kAnyBarrier;
  for (uint32_t i = 0; i < running; ++i)
    if (cta.gangs[i].wait != WaitKind::done)
      arriveAndQueue(cta.gangs[i], barrier);
}

} // namespace ptxrun::rt
