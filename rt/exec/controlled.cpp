// Running groups where a Controller says who is next: every gang comes back to the worker's native
// stack when it waits, gives way or is done, and the next one is chosen among all groups in flight.
#include <algorithm>

#include "rt/exec/group.h"
#include "rt/exec/launch_checkpoint.h"
#include "rt/exec/scheduler.h"
#include "rt/exec/waits.h"
#include "rt/launch/controller.h"
#include "rt/launch/launch.h"
#include "rt/observe/stepper.h"
#include "rt/sync/mbarrier.h"
#include "rt/sync/warp_gather.h"

namespace ptxrun::rt {

namespace {

constexpr uint32_t kRoundsPerTimeLimit = 64;
/// Rounds in which every gang only spun before another group is started.
constexpr uint32_t kPatientRounds = 4;

/// The groups of one launch in flight on a worker.
class ControlledRun {
 public:
  ControlledRun(Worker &worker, LaunchState &launch, Controller &controller)
      : worker_(worker), launch_(launch), controller_(controller) {}

  /// The groups of the checkpoint are in flight again, and its gang runs first.
  void goOnFrom(const LaunchCheckpoint &checkpoint) {
    runOne(checkpoint.restore(worker_, launch_));
  }

  void run() {
    while (!launch_.isStopped()) {
      while (worker_.inFlight.size() < controller_.resident() && open()) {
      }
      if (worker_.inFlight.empty() || launch_.isStopped())
        break;
      if (GangState *gang = controller_.choose(worker_.inFlight))
        runOne(*gang);
      else
        settle();
    }
    controller_.finish(launch_.isStopped());
    for (GroupState *group : worker_.inFlight) {
      reportUnfinished(*group);
      closeGroup(worker_, group);
    }
    worker_.inFlight.clear();
  }

 private:
  bool open() {
    uint64_t n = 0, end = 0;
    if (worker_.inFlight.size() >= launch_.maxInFlight || !takeChunk(launch_, 1, &n, &end))
      return false;
    if (Stepper *stepper = launch_.request->stepper; stepper && worker_.inFlight.empty())
      stepper->groupStarts(n);
    const bool isReverse = launch_.request->schedule == Schedule::reverse;
    GroupState *group = openGroupInFlight(worker_, launch_, isReverse ? launch_.groups - 1 - n : n);
    if (!group)
      return false;
    worker_.random.state =
        launch_.request->generatorSeed() + (group->number + 1) * 0x9e3779b97f4a7c15u;
    controller_.open(*group);
    return true;
  }

  void runOne(GangState &gang) {
    GroupState &group = groupOf(gang);
    runGang(worker_, gang);
    while (worker_.standing) {
      worker_.standing = nullptr;
      launch_.request->stepper->keep(LaunchCheckpoint::take(worker_, gang));
      runGang(worker_, gang);
    }
    if (launch_.isStopped() || group.unfinished != 0)
      return;
    std::erase(worker_.inFlight, &group);
    controller_.close(group);
    closeGroup(worker_, &group);
    countFinished(launch_, 1);
  }

  /// No gang is ready: ends what ends only then, or lets those that spin look again.
  void settle() {
    controller_.noteIdle();
    uint64_t progress = 0;
    for (GroupState *group : worker_.inFlight) {
      if (!settle(*group))
        return; // the launch has failed
      progress += group->progress + group->timeWaits;
    }
    Controller::Turn &turn = controller_.turnNow();
    if (controller_.isHanging(progress != turn.seenProgress) && !open()) {
      controller_.forgetSpins();
      return failHang(worker_.inFlight);
    }
    if (progress != turn.seenProgress) {
      turn.seenProgress = progress;
      turn.idleRounds = 0;
      return;
    }
    if (turn.idleRounds++ == 0)
      turn.idleSince = nowNs();
    if (turn.idleRounds % kPatientRounds == 0 && !open() && !controller_.endsHangs())
      relax(nowNs() - turn.idleSince);
  }

  bool settle(GroupState &group) {
    if (group.openMeetings) {
      endOpenMeetings(group);
    } else if (!group.spinning.empty() && !onlyPollMbarriers(group)) {
      group.ready.append(group.spinning);
      if (++group.spinPasses % kRoundsPerTimeLimit == 0) {
        performLateCopies(worker_, group);
        if (!launch_.isStopped())
          endTimedWaits(group);
      }
    } else if (!performLateCopies(worker_, group) && !releaseNonMembers(group) &&
               !releaseTimedWaits(group)) {
      failDeadlock(group);
    }
    return !launch_.isStopped();
  }

  Worker &worker_;
  LaunchState &launch_;
  Controller &controller_;
};

} // namespace

void runControlled(Worker &worker, LaunchState &launch) {
  Controller controller(*launch.request);
  worker.controller = &controller;
  ControlledRun controlled(worker, launch, controller);
  if (launch.request->from)
    controlled.goOnFrom(*launch.request->from);
  controlled.run();
  worker.controller = nullptr;
}

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" void ptxrun_access(abi::Gang *gang, uint64_t address, uint32_t bytes, uint32_t kind,
                              uint32_t line) {
  GangState &g = stateOf(gang);
  GroupState &group = groupOf(g);
  Worker &worker = *group.worker;
  const bool isFence = (kind & abi::kAccessKindMask) == uint32_t(abi::AccessKind::fence);
  if (worker.controller) { // else watched code under another schedule: nobody asks
    g.waitPc = __builtin_return_address(0);
    if ((!isFence || worker.controller->countsFences()) && isToYield(worker, group, g)) {
      suspendGang(g);
      if (worker.launch->request->stepper)
        announceGoingOn(g);
    }
    worker.controller->noteAccess(g, address, bytes, kind, line);
  }
  if (worker.launch->request->stepper && !isFence)
    announceAccess(g, address, bytes, kind);
}
