// Which gang runs next on a worker. Everything here runs on the worker's thread.
//
// A gang that has to wait puts itself into the list of what it waits for and calls suspendGang,
// which switches straight to the next ready gang of the group: one switch per wait. Only when no
// gang of the group can run does control return to the worker's native stack, where runGroups
// decides among groups.
#pragma once
#include "rt/exec/controller.h"
#include "rt/exec/records.h"
#include "rt/exec/worker.h"

namespace ptxrun::rt {

/// Runs groups of the launch until none is left, or the launch stops. `deadline` (ns, 0 = none):
/// takes no new group after it.
void runGroups(Worker &, LaunchState &, uint64_t deadline);
/// The same in the order that the worker's controller chooses (controlled.cpp).
void runControlled(Worker &, LaunchState &);
/// The same for kernels that never suspend, through KernelCode::ctaRange.
void runRanges(Worker &, LaunchState &, uint64_t deadline);

/// On a fiber: leaves the running gang, which is in some list, until it is ready again.
void suspendGang(GangState &);
/// Makes a gang ready. It must be in no list.
inline void makeReady(GroupState &group, GangState &gang) { group.ready.push(&gang); }
/// The gang's function is over: what is left of it exits.
void finishGang(GangState &);
/// After the running gang made others ready: under a Controller one of them may go first. True when
/// `gang` has queued itself and must suspend.
inline bool isToYield(Worker &worker, GroupState &group, GangState &gang) {
  if (!worker.controller || !worker.controller->isToYield(gang))
    return false;
  makeReady(group, gang);
  return true;
}

/// Takes the next groups [*first, *end) of the grid for this worker, at most `limit`.
bool takeChunk(LaunchState &, uint64_t limit, uint64_t *first, uint64_t *end);
/// Takes one group that nobody has taken, to cancel it.
bool takeOneGroup(LaunchState &, uint64_t *number);
/// From the native stack: runs one gang until it waits, gives way or is done.
void runGang(Worker &, GangState &);
/// Nothing else can run: asynchronous copies that were put off happen now. False if there are none.
bool performLateCopies(Worker &, GroupState &);
/// Waits a little, the longer the longer nothing could go on.
void relax(uint64_t idleNs);
/// Tells of groups that have ended.
void countFinished(LaunchState &, uint64_t groups);
/// Steady nanoseconds.
uint64_t nowNs();

} // namespace ptxrun::rt
