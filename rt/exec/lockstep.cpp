#include "rt/exec/lockstep.h"

#include "rt/exec/scheduler.h"
#include "rt/observe/trace_events.h"
#include "rt/sync/lockstep.h"

namespace ptxrun::rt {

namespace {

using Resume = void (*)(void *);

/// Runs gang `g` to its next suspension; true when it is done.
inline bool advance(Worker &worker, const LaunchState &launch, GangState &g) {
  worker.running = &g;
  if (g.frame) [[likely]]
    (*static_cast<Resume *>(g.frame))(g.frame);
  else
    g.frame = g.cta->group->code->gangStart(&launch.abi, &g.cta->cta, &g.gang);
  return !g.frame || !*static_cast<Resume *>(g.frame);
}

} // namespace

void runLockstep(Worker &worker, GroupState &group) {
  CtaState &cta = *group.ctas;
  const LaunchState &launch = *group.launch;
  uint32_t count = cta.gangCount;
  cta.isLockstep = true;
  cta.lockstepBarrier = 0;
  group.nextUnstarted = count;
  for (bool isFirst = true;; isFirst = false) {
    uint64_t arrived = 0;
    for (uint32_t i = 0; i < count; ++i) {
      GangState &g = cta.gangs[i];
      if (isFirst)
        g.wait = WaitKind::running;
      bool isDone = advance(worker, launch, g);
      if (!cta.isLockstep) [[unlikely]] {
        if (isFirst)
          group.nextUnstarted = i + 1;
        else
          for (uint32_t rest = i + 1; rest < count; ++rest)
            if (cta.gangs[rest].wait != WaitKind::done)
              makeReady(group, cta.gangs[rest]);
        if (isDone)
          finishGang(g);
        return;
      }
      if (isDone)
        finishGang(g);
      if (trace::isOn() && i == 0)
        arrived = nowNs();
    }
    if (trace::isOn() && group.unfinished == count)
      traceLockstep(cta, arrived);
    ++group.progress;
    if (group.unfinished == 0 || launch.isStopped())
      break;
    if (group.unfinished != count) { // some are done, the others have arrived
      leaveLockstepNow(cta, count);
      return;
    }
  }
  cta.isLockstep = false;
  cta.lockstepBarrier = kAnyBarrier;
}

} // namespace ptxrun::rt
