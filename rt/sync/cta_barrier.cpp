#include "rt/sync/cta_barrier.h"

#include "rt/launch/failure.h"
#include "rt/launch/suspend.h"
#include "rt/observe/trace_events.h"
#include "rt/sync/lockstep.h"

namespace ptxrun::rt {

namespace {

inline bool isComplete(const CtaState &cta, const CtaBarrier &b) {
  bool allLiveArrived = (b.warpsArrived & cta.liveWarps) == cta.liveWarps;
  if (b.expected == 0)
    return allLiveArrived;
  if (b.arrivals >= b.expected) [[likely]]
    return true;
  uint32_t exited = cta.allWarps & ~cta.liveWarps & ~b.warpsArrived;
  return allLiveArrived &&
         b.arrivals + static_cast<uint32_t>(__builtin_popcount(exited)) >= b.expected;
}

void tellResults(CtaBarrier &b) {
  for (GangState *g = b.waiters.head; g; g = g->next) {
    if (!g->result)
      continue;
    g->result[0] = b.predicates;
    g->result[1] = b.participants;
    g->result = nullptr;
  }
  b.predicates = b.participants = 0;
}

inline void complete(CtaState &cta, uint32_t id) {
  CtaBarrier &b = cta.barriers[id];
  GroupState &group = *cta.group;
  if (group.launch->isStopped()) [[unlikely]]
    leaveForGood(*group.worker); // gangs that only ever meet here would not notice otherwise
  if (b.participants)
    tellResults(b);
  if (trace::isOn())
    traceBarrier(cta, id);
  group.ready.append(b.waiters);
  b.warpsArrived = b.arrivals = 0;
  cta.touchedBarriers &= static_cast<uint16_t>(~(1u << id));
}

/// The warp is complete: its gangs that only arrive go on.
void releaseArriving(GroupState &group, CtaBarrier &b, uint32_t w) {
  GangList rest;
  while (GangState *g = b.arriving.pop()) {
    if (g->warp == w)
      makeReady(group, *g);
    else
      rest.push(g);
  }
  b.arriving = rest;
}

/// Counts the warp of `w` once all of its live lanes have arrived.
inline void arriveWarp(CtaState &cta, CtaBarrier &b, uint32_t id, uint32_t w, uint32_t lanes) {
  if (cta.gangsPerWarp > 1) {
    uint32_t &arrived = cta.lanesArrived[id][w];
    arrived |= lanes;
    if ((arrived & cta.warpLive[w]) != cta.warpLive[w])
      return;
    arrived = 0;
  }
  b.warpsArrived |= 1u << w;
  ++b.arrivals;
  if (!b.arriving.empty()) [[unlikely]]
    releaseArriving(*cta.group, b, w);
}

[[noreturn]] void failBarrierNumber(GangState &g, uint32_t id) {
  recordFailure(g, Status::undefinedUse,
                "barrier " + std::to_string(id) + " does not exist; barriers are 0 to 15");
  leaveKernel(g);
}

/// True when the arrival completes the barrier.
inline bool arrive(GangState &g, uint32_t id, uint32_t threads, uint32_t predicates,
                   uint32_t participants) {
  if (id >= kBarriers) [[unlikely]]
    failBarrierNumber(g, id);
  leaveLockstep(g);
  CtaState &cta = *g.cta;
  CtaBarrier &b = cta.barriers[id];
  ++cta.group->progress;
  cta.touchedBarriers |= static_cast<uint16_t>(1u << id);
  b.expected = (threads + abi::kWarpSize - 1) / abi::kWarpSize;
  b.predicates += predicates;
  b.participants += participants;
  arriveWarp(cta, b, id, g.warp, warpLanes(g, g.gang.liveMask));
  return isComplete(cta, b);
}

inline void wait(GangState &g, uint32_t id, uint32_t *result) {
  g.wait = WaitKind::barrier;
  g.barrier = static_cast<uint8_t>(id);
  g.result = result;
  g.cta->barriers[id].waiters.push(&g);
  if (trace::isOn())
    trace::waitBegins(&g.cta->barriers[id]);
}

/// True when the gang must suspend.
inline bool beginSync(abi::Gang *gang, uint32_t id, uint32_t threads) {
  GangState &g = stateOf(gang);
  if (!arrive(g, id, threads, 0, 0)) [[likely]] {
    wait(g, id, nullptr);
    return true;
  }
  complete(*g.cta, id);
  GroupState &group = groupOf(g);
  return isToYield(*group.worker, group, g);
}

/// "Causes executing thread to wait for all non-exited threads from its warp", and for no others.
/// True when the gang must suspend.
inline bool beginArrive(abi::Gang *gang, uint32_t id, uint32_t threads) {
  GangState &g = stateOf(gang);
  bool completes = arrive(g, id, threads, 0, 0);
  CtaState &cta = *g.cta;
  if (cta.gangsPerWarp > 1 && cta.lanesArrived[id][g.warp]) {
    g.wait = WaitKind::arrival;
    g.barrier = static_cast<uint8_t>(id);
    cta.barriers[id].arriving.push(&g);
    return true;
  }
  if (completes)
    complete(cta, id);
  return false;
}

inline bool beginRed(abi::Gang *gang, uint32_t id, uint32_t threads, uint32_t mask,
                     uint32_t predicates, uint32_t *result) {
  GangState &g = stateOf(gang);
  uint32_t lanes = mask & g.gang.liveMask;
  auto count = static_cast<uint32_t>(__builtin_popcount(lanes));
  auto set = static_cast<uint32_t>(__builtin_popcount(predicates & lanes));
  if (!arrive(g, id, threads, set, count)) {
    wait(g, id, result);
    return true;
  }
  result[0] = g.cta->barriers[id].predicates;
  result[1] = g.cta->barriers[id].participants;
  complete(*g.cta, id);
  GroupState &group = groupOf(g);
  return isToYield(*group.worker, group, g);
}

} // namespace

void arriveAndQueue(GangState &g, uint32_t barrier) {
  if (arrive(g, barrier, 0, 0, 0)) {
    complete(*g.cta, barrier);
    makeReady(groupOf(g), g);
  } else {
    wait(g, barrier, nullptr);
  }
}

void recheckBarriers(CtaState &cta) {
  for (uint32_t touched = cta.touchedBarriers; touched; touched &= touched - 1) {
    auto id = static_cast<uint32_t>(__builtin_ctz(touched));
    CtaBarrier &b = cta.barriers[id];
    for (uint32_t w = 0; cta.gangsPerWarp > 1 && w < cta.warpCount; ++w)
      if (cta.lanesArrived[id][w] && cta.warpLive[w])
        arriveWarp(cta, b, id, w, 0);
    if (isComplete(cta, b))
      complete(cta, id);
  }
}

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_bar_sync(abi::Gang *gang, uint32_t barrier, uint32_t threads, uint32_t) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  if (beginSync(gang, barrier, threads))
    suspendGang(stateOf(gang));
}

bool ptxrun_bar_sync_begin(abi::Gang *gang, uint32_t barrier, uint32_t threads, uint32_t) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  CtaState &cta = *stateOf(gang).cta;
  if (arriveInLockstep(cta, barrier, threads)) [[likely]]
    return true;
  // In a kernel that uses another barrier than the last one, the first gang of a sweep chooses.
  if (cta.isLockstep && threads == 0 && barrier < kBarriers && stateOf(gang).index == 0) {
    cta.lockstepBarrier = barrier;
    return true;
  }
  return beginSync(gang, barrier, threads);
}

void ptxrun_bar_arrive(abi::Gang *gang, uint32_t barrier, uint32_t threads, uint32_t) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  if (beginArrive(gang, barrier, threads))
    suspendGang(stateOf(gang));
}

bool ptxrun_bar_arrive_begin(abi::Gang *gang, uint32_t barrier, uint32_t threads, uint32_t) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return beginArrive(gang, barrier, threads);
}

uint32_t ptxrun_bar_red(abi::Gang *gang, uint32_t barrier, uint32_t threads, uint32_t mask,
                        uint32_t predicates, uint32_t *participants) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  uint32_t result[2];
  if (beginRed(gang, barrier, threads, mask, predicates, result))
    suspendGang(stateOf(gang));
  *participants = result[1];
  return result[0];
}

bool ptxrun_bar_red_begin(abi::Gang *gang, uint32_t barrier, uint32_t threads, uint32_t mask,
                          uint32_t predicates, uint32_t *result) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return beginRed(gang, barrier, threads, mask, predicates, result);
}
}
