// How a gang waits: it puts itself into the list of what it waits for and calls suspendGang, which
// switches straight to the next ready gang of the group: one switch per wait. Only when no gang of
// the group can run does control return to the worker's native stack, where exec/scheduler decides
// among groups. Everything here runs on the worker's thread.
#pragma once
#include "rt/launch/controller.h"
#include "rt/launch/records.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

/// On a fiber: leaves the running gang, which is in some list, until it is ready again.
void suspendGang(GangState &);
/// Makes a gang ready. It must be in no list.
inline void makeReady(GroupState &group, GangState &gang) { group.ready.push(&gang); }
/// After the running gang made others ready: under a Controller one of them may go first. True when
/// `gang` has queued itself and must suspend.
inline bool isToYield(Worker &worker, GroupState &group, GangState &gang) {
  if (!worker.controller || !worker.controller->isToYield(gang))
    return false;
  makeReady(group, gang);
  return true;
}

/// The gang of the group to run next, off its list; null where none can, or a controller chooses.
inline GangState *pickNext(Worker &worker, GroupState &group) {
  if (worker.controller) [[unlikely]]
    return nullptr;
  if (GangState *gang = group.ready.pop()) [[likely]]
    return gang;
  if (group.launch->isStopped()) [[unlikely]]
    return nullptr;
  return group.nextUnstarted < group.gangCount ? &group.gangs[group.nextUnstarted++] : nullptr;
}

/// The fiber `gang` is to be continued on; null when it could not be made (the launch has then
/// failed).
Fiber *fiberOf(Worker &, GangState &gang);
/// From a fiber to `gang`, or to the native stack when it is null or cannot run.
inline void switchToGang(Worker &worker, Fiber &from, GangState *gang) {
  Fiber *to = gang ? fiberOf(worker, *gang) : nullptr;
  worker.running = to ? gang : nullptr;
  worker.current = to ? to : &worker.native;
  switchFiber(from, *worker.current);
}

} // namespace ptxrun::rt
