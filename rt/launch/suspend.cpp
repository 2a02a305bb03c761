#include "rt/launch/suspend.h"

namespace ptxrun::rt {

namespace {

/// A block with hundreds of fibers does not fit into the first cache: fetches what the gangs that
/// come after the next one will need, each a step earlier than what is found through it.
inline void prefetchReady(const GroupState &group) {
  const GangState *soon = group.ready.head;
  if (!soon)
    return;
  if (soon->fiber) {
    const auto *frame = static_cast<const char *>(soon->fiber->stackPointer);
    __builtin_prefetch(frame);
    __builtin_prefetch(frame + 64);
  }
  const GangState *later = soon->next;
  if (!later)
    return;
  __builtin_prefetch(later->fiber);
  if (const GangState *last = later->next) {
    __builtin_prefetch(last);
    __builtin_prefetch(reinterpret_cast<const char *>(last) + 64);
  }
}

} // namespace

Fiber *fiberOf(Worker &worker, GangState &gang) {
  if (gang.fiber)
    return gang.fiber;
  Fiber *fiber = takeFiber(worker, worker.gangJob);
  if (!fiber) {
    failForMemory(*worker.launch, "not enough memory for the stacks of a thread block");
    return nullptr;
  }
  fiber->gang = &gang;
  return gang.fiber = fiber;
}

void suspendGang(GangState &self) {
  GroupState &group = groupOf(self);
  Worker &worker = *group.worker;
  if (worker.controller) [[unlikely]]
    worker.controller->noteWait(self);
  GangState *next = pickNext(worker, group);
  if (next == &self)
    return;
  prefetchReady(group);
  switchToGang(worker, *self.fiber, next);
}

} // namespace ptxrun::rt
