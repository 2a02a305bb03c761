#include "rt/exec/scheduler.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "rt/exec/costs.h"
#include "rt/exec/group.h"
#include "rt/exec/lockstep.h"
#include "rt/exec/upgrade.h"
#include "rt/exec/waits.h"
#include "rt/launch/controller.h"
#include "rt/observe/stepper.h"
#include "rt/observe/trace_events.h"
#include "rt/sync/async_group.h"
#include "rt/sync/exits.h"
#include "rt/sync/mbarrier.h"
#include "rt/sync/warp_gather.h"
#include "rt/tensor/tensor_memory.h"

namespace ptxrun::rt {

/// Runs the fiber's gang to its end and, on the same stack, gangs not started yet.
void gangJob(Fiber &fiber) {
  Worker &worker = *fiber.worker;
  for (;;) {
    GangState &gang = *fiber.gang;
    GroupState &group = groupOf(gang);
    gang.wait = WaitKind::running;
    group.code->gang(&group.launch->abi, &gang.cta->cta, &gang.gang);
    if (worker.controller) [[unlikely]]
      worker.controller->noteWait(gang);
    finishGang(gang);
    GangState *next = pickNext(worker, group);
    if (next && !next->fiber) {
      next->fiber = &fiber;
      fiber.gang = next;
      worker.running = next;
      continue;
    }
    fiber.gang = nullptr;
    fiber.next = worker.idle;
    worker.idle = &fiber;
    switchToGang(worker, fiber, next);
    return; // entered again with another gang, perhaps another job
  }
}

namespace {

/// Runs every gang of worker.coroutineGroup that is ready or not started, until none is.
void coroutineJob(Fiber &fiber) {
  Worker &worker = *fiber.worker;
  GroupState &group = *worker.coroutineGroup;
  auto start = group.code->gangStart;
  if (group.nextUnstarted == 0 && group.ctaCount == 1)
    runLockstep(worker, group);
  while (GangState *gang = pickNext(worker, group)) {
    worker.running = gang;
    if (gang->wait == WaitKind::unstarted) {
      gang->wait = WaitKind::running;
      gang->frame = start(&group.launch->abi, &gang->cta->cta, &gang->gang);
    } else {
      (*static_cast<void (**)(void *)>(gang->frame))(gang->frame);
    }
    if (!gang->frame || !*static_cast<void **>(gang->frame))
      finishGang(*gang);
  }
  worker.running = nullptr;
  worker.current = &worker.native;
  switchFiber(fiber, worker.native);
}

/// Runs worker.coroutineGang to its next suspension.
void coroutineGangJob(Fiber &fiber) {
  Worker &worker = *fiber.worker;
  GangState &gang = *worker.coroutineGang;
  GroupState &group = groupOf(gang);
  if (gang.wait == WaitKind::unstarted) {
    gang.wait = WaitKind::running;
    gang.frame = group.code->gangStart(&group.launch->abi, &gang.cta->cta, &gang.gang);
  } else {
    (*static_cast<void (**)(void *)>(gang.frame))(gang.frame);
  }
  worker.controller->noteWait(gang);
  if (!gang.frame || !*static_cast<void **>(gang.frame))
    finishGang(gang);
  worker.running = nullptr;
  worker.current = &worker.native;
  switchFiber(fiber, worker.native);
}

void rangeJob(Fiber &fiber) {
  Worker &worker = *fiber.worker;
  GroupState &group = *worker.rangeGroup;
  worker.code->ctaRange(&group.launch->abi, &group.ctas->cta, &group.gangs->gang, worker.rangeFirst,
                        worker.rangeEnd);
  worker.running = nullptr;
  worker.current = &worker.native;
  switchFiber(fiber, worker.native);
}

Fiber *carrierFor(Worker &worker, void (*job)(Fiber &)) {
  if (!worker.carrier && !(worker.carrier = takeFiber(worker, job))) {
    failForMemory(*worker.launch, "not enough memory for the stack of a worker");
    return nullptr;
  }
  worker.carrier->job = job;
  return worker.carrier;
}

/// Runs the group's gangs until none is ready.
void runReady(Worker &worker, GroupState &group) {
  if (group.launch->usesCoroutines) {
    worker.coroutineGroup = &group;
    if (Fiber *carrier = carrierFor(worker, coroutineJob))
      enterFiber(worker, *carrier);
    return;
  }
  GangState *gang = pickNext(worker, group);
  Fiber *fiber = gang ? fiberOf(worker, *gang) : nullptr;
  if (!fiber)
    return;
  worker.running = gang;
  enterFiber(worker, *fiber);
}

void lateCopiesJob(Fiber &fiber) {
  Worker &worker = *fiber.worker;
  GroupState &group = *worker.coroutineGroup;
  for (uint32_t i = 0; i < group.gangCount; ++i) {
    worker.running = &group.gangs[i];
    completeAll(group.gangs[i]);
  }
  worker.running = nullptr;
  worker.current = &worker.native;
  switchFiber(fiber, worker.native);
}

constexpr uint32_t kPassesPerTimeLimit = 64;

enum class Pass { finished, spinning, stopped };

/// One pass over a group: every gang that can run runs until it waits or yields.
Pass runPass(Worker &worker, GroupState &group) {
  LaunchState &launch = *group.launch;
  for (;;) {
    launch.letOthersIn();
    runReady(worker, group);
    if (launch.isStopped())
      return Pass::stopped;
    if (group.unfinished == 0)
      return Pass::finished;
    if (!group.ready.empty() || group.nextUnstarted < group.gangCount)
      continue;
    if (group.openMeetings) {
      endOpenMeetings(group);
      continue;
    }
    if (!group.spinning.empty() && !onlyPollMbarriers(group)) {
      group.ready.append(group.spinning);
      // Those that spin may wait for gangs whose waits end by a time limit or by copies that were
      // put off.
      if (++group.spinPasses % kPassesPerTimeLimit == 0) {
        performLateCopies(worker, group);
        if (launch.isStopped())
          return Pass::stopped; // one of the copies failed: its fiber was left for good
        endTimedWaits(group);
      }
      return Pass::spinning;
    }
    if (performLateCopies(worker, group)) {
      if (launch.isStopped())
        return Pass::stopped;
      continue;
    }
    if (releaseNonMembers(group))
      continue;
    if (releaseTimedWaits(group))
      return Pass::spinning;
    failDeadlock(group);
    return Pass::stopped;
  }
}

constexpr uint64_t kShareWaitNs = 300'000;

/// The groups a worker has taken but not opened yet, and those in flight.
class GroupQueue {
 public:
  GroupQueue(Worker &worker, LaunchState &launch, uint64_t deadline)
      : worker_(worker), launch_(launch), deadline_(deadline) {}

  bool open() {
    if (first_ == end_) {
      bool isLate = deadline_ && worker_.inFlight.empty() && nowNs() > deadline_;
      if (isLate || !takeChunk(launch_, launch_.maxChunk, &first_, &end_))
        return false;
    }
    takeUpgrade(worker_);
    if (Stepper *stepper = launch_.request->stepper; stepper && worker_.inFlight.empty())
      stepper->groupStarts(first_);
    if (!openGroupInFlight(worker_, launch_, first_))
      return false;
    // What is drawn for a group (seeded copies) does not depend on who runs it.
    worker_.random.state = launch_.request->generatorSeed() + (first_ + 1) * 0x9e3779b97f4a7c15u;
    ++first_;
    return true;
  }
  bool hasRoom() const { return worker_.inFlight.size() < launch_.maxInFlight; }

 private:
  Worker &worker_;
  LaunchState &launch_;
  uint64_t deadline_;
  uint64_t first_ = 0, end_ = 0;
};

/// The groups of the grid by workers.
uint64_t shareOf(const LaunchState &launch) {
  auto workers = static_cast<uint64_t>(launch.workers);
  return (launch.groups + workers - 1) / workers;
}

/// Sweeps without progress before a worker starts another group, and how many more it starts.
constexpr size_t kPatientSweeps = 8;
/// Sweeps in which every group spun and none ended, though there were steps: perhaps from barrier
/// to barrier of a loop that waits for a group that has not started.
constexpr uint32_t kBusySweeps = 64;

/// Every group in flight spins: whether to start another one. Beyond its share of a small grid a
/// worker first gives the others time to come; blocks that wait for each other then run on
/// different threads.
bool isTimeToOpen(const Worker &worker, const LaunchState &launch, uint32_t idleSweeps,
                  uint64_t idleSince) {
  if (worker.inFlight.size() >= shareOf(launch))
    return nowNs() - idleSince > kShareWaitNs;
  return launch.request->isCooperative ||
         idleSweeps >= std::min<size_t>(worker.inFlight.size(), kPatientSweeps);
}

/// How many groups to start at that time. All of a cooperative grid will have to be: as many as
/// there are, so that a sweep over those that spin comes only after every doubling. Others may wait
/// for groups far behind as well: the more there are, the more are started at a time.
uint64_t groupsToOpen(const Worker &worker, const LaunchState &launch) {
  const uint64_t share = shareOf(launch), open = worker.inFlight.size();
  if (open >= share)
    return 1;
  const uint64_t more = launch.request->isCooperative ? open : open / kPatientSweeps;
  return std::clamp<uint64_t>(more, 1, share - open);
}

enum class Progress { none, some, finished };

/// One pass over each group in flight.
Progress sweep(Worker &worker, LaunchState &launch) {
  Progress progress = Progress::none;
  for (size_t i = 0; i < worker.inFlight.size();) {
    GroupState *group = worker.inFlight[i];
    uint64_t before = group->progress;
    Pass pass = runPass(worker, *group);
    if (pass == Pass::stopped)
      return Progress::none;
    if (group->progress != before && progress == Progress::none)
      progress = Progress::some;
    if (pass == Pass::finished) {
      worker.inFlight.erase(worker.inFlight.begin() + static_cast<long>(i));
      closeGroup(worker, group);
      countFinished(launch, 1);
      if (awaitsUpgrade(worker))
        tellRuntime(worker);
      progress = Progress::finished;
      continue;
    }
    ++i;
  }
  return progress;
}

/// Starts as many groups more as it is time for; false if none could be.
bool openMore(Worker &worker, LaunchState &launch, GroupQueue &queue) {
  if (!queue.hasRoom() || !queue.open())
    return false;
  for (uint64_t more = groupsToOpen(worker, launch); more > 1 && queue.hasRoom() && queue.open();
       --more) {
  }
  return true;
}

} // namespace

/// Nothing else can run: asynchronous copies that were put off happen now (on a fiber, where a
/// fault is the kernel's).
bool performLateCopies(Worker &worker, GroupState &group) {
  if (!hasLateCopies(group))
    return false;
  worker.coroutineGroup = &group;
  if (Fiber *carrier = carrierFor(worker, lateCopiesJob))
    enterFiber(worker, *carrier);
  return true;
}

/// Nothing here could go on for `idleNs`: waits for other workers, or the host, to change that.
/// What is slept at a time (the kernel adds some 50 us) stays small against what was waited.
void relax(uint64_t idleNs) {
  constexpr uint64_t kPauseNs = 20'000, kYieldNs = 300'000, kMostNs = 50'000;
  if (idleNs < kPauseNs) {
    __builtin_ia32_pause();
  } else if (idleNs < kYieldNs) {
    sched_yield();
  } else {
    timespec pause{0, static_cast<long>(std::min(idleNs / 16, kMostNs))};
    nanosleep(&pause, nullptr);
  }
}

void runGang(Worker &worker, GangState &gang) {
  if (groupOf(gang).launch->usesCoroutines) {
    worker.coroutineGang = &gang;
    Fiber *carrier = carrierFor(worker, coroutineGangJob);
    worker.running = carrier ? &gang : nullptr;
    if (carrier)
      enterFiber(worker, *carrier);
    return;
  }
  if (Fiber *fiber = fiberOf(worker, gang)) {
    worker.running = &gang;
    enterFiber(worker, *fiber);
  }
}

void finishGang(GangState &gang) {
  GroupState &group = groupOf(gang);
  completeAll(gang);
  gang.wait = WaitKind::done;
  if (group.worker->controller && !group.launch->isStopped())
    group.worker->controller->noteExit(gang);
  --group.unfinished;
  if (--gang.cta->unfinishedGangs == 0 && gang.cta->tensor)
    checkTensorMemory(gang);
  ++group.progress;
  exitLanes(gang, ~0u);
}

void runGroups(Worker &worker, LaunchState &launch, uint64_t deadline) {
  GroupQueue queue(worker, launch, deadline);
  uint32_t idleSweeps = 0, busySweeps = 0;
  uint64_t idleSince = 0;
  while (!launch.isStopped()) {
    if (worker.inFlight.empty() && !queue.open())
      break;
    const Progress progress = sweep(worker, launch);
    if (launch.isStopped())
      break;
    busySweeps = progress == Progress::finished ? 0 : busySweeps + 1;
    if (progress != Progress::none) {
      idleSweeps = 0;
      if (busySweeps < kBusySweeps)
        continue;
    }
    // Everything here spins, perhaps on CTAs that have not started: start one, unless much was
    // started already.
    if (!launch.hasSpun.load(std::memory_order_relaxed))
      launch.hasSpun.store(true, std::memory_order_relaxed);
    if (progress != Progress::none) {
      busySweeps = 0;
      openMore(worker, launch, queue);
      continue;
    }
    if (++idleSweeps == 1)
      idleSince = nowNs();
    if (isTimeToOpen(worker, launch, idleSweeps, idleSince) && openMore(worker, launch, queue)) {
      idleSweeps = 0;
      continue;
    }
    relax(nowNs() - idleSince);
  }
  for (GroupState *group : worker.inFlight) {
    reportUnfinished(*group);
    closeGroup(worker, group);
  }
  worker.inFlight.clear();
}

namespace {
constexpr uint64_t kShortChunkNs = 100'000, kLongChunkNs = 500'000;

/// How many CTAs to take next where better code may come, or another launch: so many that it is
/// taken up, or let in, soon.
uint64_t nextLimit(uint64_t limit, uint64_t spentNs, const LaunchState &launch) {
  if (spentNs < kShortChunkNs)
    return std::min<uint64_t>(limit * 2, launch.maxChunk);
  return spentNs > kLongChunkNs ? std::max<uint64_t>(limit / 2, 1) : limit;
}

uint64_t firstLimit(Worker &worker, const LaunchState &launch) {
  if (awaitsUpgrade(worker))
    return 1;
  const bool isSoon = !launch.abi.isSole ||
                      expectedNs(*launch.code, launch.threadsPerCta, launch.ctas) < kLongChunkNs;
  return isSoon ? launch.maxChunk : 1;
}
} // namespace

void runRanges(Worker &worker, LaunchState &launch, uint64_t deadline) {
  const OpenGroup group = openGroup(worker, launch, 0);
  Fiber *carrier = group ? carrierFor(worker, rangeJob) : nullptr;
  worker.rangeGroup = group.get();
  uint64_t limit = firstLimit(worker, launch), first = 0, end = 0;
  while (carrier && !(deadline && nowNs() > deadline) && takeChunk(launch, limit, &first, &end)) {
    const uint64_t startOfSole = launch.abi.isSole && limit < launch.maxChunk ? nowNs() : 0;
    worker.rangeFirst = first;
    worker.rangeEnd = end;
    worker.running = group->gangs;
    const uint64_t begin = trace::isOn() ? nowNs() : 0;
    enterFiber(worker, *carrier);
    if (begin)
      traceRange(worker, first, end, begin);
    if (launch.isStopped())
      break;
    countFinished(launch, end - first);
    if (awaitsUpgrade(worker)) {
      limit = nextLimit(limit, tellRuntime(worker), launch);
      takeUpgrade(worker);
      group->code = worker.code;
      carrier = carrierFor(worker, rangeJob);
    } else if (startOfSole) {
      limit = nextLimit(limit, nowNs() - startOfSole, launch);
    }
    launch.letOthersIn();
  }
  worker.rangeGroup = nullptr;
}

} // namespace ptxrun::rt
