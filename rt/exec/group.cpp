#include "rt/exec/group.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "rt/exec/scheduler.h"
#include "rt/launch/launch.h"
#include "rt/launch/worker.h"
#include "rt/observe/trace_events.h"
#include "rt/sync/async_group.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

namespace {

uint32_t lowMask(uint32_t bits) { return bits >= 32 ? ~0u : (1u << bits) - 1; }

/// Records for at least as many CTAs and gangs as the launch has in a group.
bool growRecords(GroupState &g, const LaunchState &launch) {
  uint32_t gangs = launch.gangsPerCta * launch.ctasPerGroup;
  if (g.capacityCtas < launch.ctasPerGroup) {
    for (uint32_t i = 0; i < g.capacityCtas; ++i)
      freeTensorState(g.ctas[i].tensor);
    delete[] g.ctas;
    g.ctas = new (std::nothrow) CtaState[launch.ctasPerGroup];
    g.capacityCtas = g.ctas ? launch.ctasPerGroup : 0;
    if (!g.ctas)
      return false;
    for (uint32_t i = 0; i < g.capacityCtas; ++i)
      std::memset(g.ctas[i].lanesArrived, 0, sizeof g.ctas[i].lanesArrived);
  }
  if (g.capacityGangs < gangs) {
    for (uint32_t i = 0; i < g.capacityGangs; ++i)
      freeAsyncGroups(g.gangs[i].async);
    delete[] g.gangs;
    g.gangs = new (std::nothrow) GangState[gangs];
    g.capacityGangs = g.gangs ? gangs : 0;
  }
  return g.gangs != nullptr;
}

/// What is the same for every group of the launch.
void fillGangs(GroupState &g, LaunchState &launch) {
  uint32_t lanes = launch.code->needs.lanes;
  uint32_t gangsPerWarp = abi::kWarpSize / lanes;
  for (uint32_t c = 0; c < launch.ctasPerGroup; ++c) {
    CtaState &cta = g.ctas[c];
    cta.group = &g;
    cta.gangs = g.gangs + c * launch.gangsPerCta;
    cta.gangCount = launch.gangsPerCta;
    cta.gangsPerWarp = gangsPerWarp;
    cta.warpCount = (launch.threadsPerCta + abi::kWarpSize - 1) / abi::kWarpSize;
    cta.allWarps = lowMask(cta.warpCount);
    cta.cta.launch = &launch.abi;
    cta.cta.clusterRank = c;
    cta.cta.rt = &cta;
    for (uint32_t i = 0; i < launch.gangsPerCta; ++i) {
      GangState &gang = cta.gangs[i];
      gang.gang.cta = &cta.cta;
      gang.gang.firstThread = i * lanes;
      gang.gang.laneCount = std::min(lanes, launch.threadsPerCta - i * lanes);
      gang.gang.rt = &gang;
      gang.cta = &cta;
      gang.warp = static_cast<uint16_t>(i / gangsPerWarp);
      gang.laneShift = static_cast<uint8_t>(i % gangsPerWarp * lanes);
      gang.index = c * launch.gangsPerCta + i;
    }
  }
}

abi::Dim3 ctaPlace(abi::Dim3 cluster, abi::Dim3 shape, uint32_t rank, abi::Dim3 *inCluster) {
  *inCluster = placeInGrid(rank, shape);
  return {cluster.x * shape.x + inCluster->x, cluster.y * shape.y + inCluster->y,
          cluster.z * shape.z + inCluster->z};
}

/// What a CTA starts with.
void startCta(GroupState &g, LaunchState &launch, uint32_t rank, abi::Dim3 cluster) {
  CtaState &cta = g.ctas[rank];
  cta.cta.ctaid = ctaPlace(cluster, launch.abi.cluster, rank, &cta.cta.clusterCtaid);
  cta.cta.clusterid = cluster;
  cta.cta.smid = static_cast<uint32_t>(g.worker->number);
  const uint64_t ownWindow = uint64_t{rank} << abi::kSharedWindowShift;
  cta.window = g.arena->base() + ownWindow;
  if (launch.request->schedule != Schedule::fast) // what others left there must not show
    std::memset(cta.window + abi::kSharedFirstOffset, 0, launch.sharedBytes);
  cta.cta.sharedBase = g.arena->base() + (launch.code->needs.hasOwnWindow ? ownWindow : 0);
  cta.liveWarps = cta.allWarps;
  cta.unfinishedGangs = cta.gangCount;
  cta.isLockstep = false;
  cta.lockstepBarrier = ~0u;
  if (cta.tensor)
    resetTensorState(*cta.tensor);
  for (uint32_t w = 0; w < cta.warpCount; ++w)
    cta.warpLive[w] = lowMask(std::min(abi::kWarpSize, launch.threadsPerCta - w * abi::kWarpSize));
  for (; cta.touchedBarriers; cta.touchedBarriers &= cta.touchedBarriers - 1) {
    uint32_t b = static_cast<uint32_t>(__builtin_ctz(cta.touchedBarriers));
    cta.barriers[b] = {};
    std::memset(cta.lanesArrived[b], 0, sizeof cta.lanesArrived[b]);
  }
  for (uint32_t i = 0; i < cta.gangCount; ++i) {
    GangState &gang = cta.gangs[i];
    gang.gang.liveMask = lowMask(gang.gang.laneCount);
    gang.wait = WaitKind::unstarted;
    gang.fiber = nullptr;
    gang.polledMbarrier = false;
    if (gang.async)
      resetAsyncGroups(*gang.async);
  }
}

OpenGroup failMemory(LaunchState &launch, const char *message) {
  failForMemory(launch, message);
  return nullptr;
}

constexpr char kNoRecords[] = "not enough memory for the records of a thread block",
               kNoShared[] = "not enough memory for shared memory of a thread block";

bool takeArena(GroupState &g) {
  if (g.arena)
    return true;
  g.arena = new (std::nothrow) SharedArena;
  return g.arena && g.arena->base();
}

} // namespace

OpenGroup openGroup(Worker &worker, LaunchState &launch, uint64_t number) {
  GroupState *free = worker.freeGroups;
  if (free)
    worker.freeGroups = free->nextFree;
  else if (!(free = new (std::nothrow) GroupState))
    return failMemory(launch, kNoRecords);
  free->worker = &worker;
  OpenGroup group(free);
  GroupState &g = *group;
  g.launch = &launch;
  g.code = worker.code;
  if (g.preparedFor != launch.id) {
    if (!growRecords(g, launch))
      return failMemory(launch, kNoRecords);
    if (!takeArena(g))
      return failMemory(launch, kNoShared);
    const bool mayReadBelow = launch.request->schedule == Schedule::fast;
    for (uint32_t rank = 0; rank < launch.ctasPerGroup; ++rank)
      if (!g.arena->commit(rank, launch.sharedBytes, mayReadBelow) ||
          (launch.code->needs.usesReservedShared && !g.arena->commitReserved(rank)))
        return failMemory(launch, kNoShared);
    fillGangs(g, launch);
    g.preparedFor = launch.id;
  }
  g.number = number;
  g.ctaCount = g.liveCtas = launch.ctasPerGroup;
  g.gangCount = g.unfinished = launch.ctasPerGroup * launch.gangsPerCta;
  g.nextUnstarted = 0;
  g.idlePasses = 0;
  abi::Dim3 cluster = placeInGrid(number, launch.clusterGrid);
  for (uint32_t rank = 0; rank < launch.ctasPerGroup; ++rank)
    startCta(g, launch, rank, cluster);
  g.openedAt = 0;
  if (trace::isOn() && !launch.usesRanges) {
    g.openedAt = nowNs();
    g.isAloneInTrace = worker.inFlight.empty();
  }
  return group;
}

GroupState *openGroupInFlight(Worker &worker, LaunchState &launch, uint64_t number) {
  OpenGroup group = openGroup(worker, launch, number);
  if (!group)
    return nullptr;
  worker.inFlight.push_back(group.get());
  return group.release();
}

void closeGroup(Worker &worker, GroupState *group) {
  GroupState &g = *group;
  if (g.openedAt)
    traceGroup(g);
  bool isAbandoned = g.unfinished != 0;
  if (isAbandoned) {
    g.ready = g.spinning = g.mbarrierWaiters = {};
    for (uint32_t c = 0; c < g.ctaCount && g.ctas; ++c) {
      for (WarpMeeting *&m : g.ctas[c].meetings)
        while (m) {
          WarpMeeting *following = m->next;
          m->next = worker.freeMeetings;
          worker.freeMeetings = m;
          m = following;
        }
    }
    g.unfinished = g.openMeetings = 0;
  }
  if (g.clusterBarrier.hasArrivals || g.clusterBarrier.phase)
    g.clusterBarrier = {};
  g.nextFree = worker.freeGroups;
  worker.freeGroups = group;
}

void freeGroupMemory(Worker &worker) {
  while (GroupState *g = worker.freeGroups) {
    worker.freeGroups = g->nextFree;
    for (uint32_t i = 0; i < g->capacityGangs; ++i)
      freeAsyncGroups(g->gangs[i].async);
    for (uint32_t i = 0; i < g->capacityCtas; ++i)
      freeTensorState(g->ctas[i].tensor);
    delete[] g->gangs;
    delete[] g->ctas;
    delete g->arena;
    std::free(g->frames);
    for (auto &large : g->largeFrames)
      std::free(large.memory);
    delete g;
  }
  while (WarpMeeting *m = worker.freeMeetings) {
    worker.freeMeetings = m->next;
    delete m;
  }
}

} // namespace ptxrun::rt
