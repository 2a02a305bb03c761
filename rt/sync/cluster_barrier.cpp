#include "rt/sync/cluster_barrier.h"

#include <cstring>

#include "rt/launch/suspend.h"
#include "rt/sync/lockstep.h"

namespace ptxrun::rt {

namespace {

bool isComplete(const GroupState &group) {
  const ClusterBarrier &b = group.clusterBarrier;
  for (uint32_t c = 0; c < group.ctaCount; ++c)
    if (group.ctas[c].liveWarps & ~b.warpsArrived[c])
      return false;
  return true;
}

void complete(GroupState &group) {
  ClusterBarrier &b = group.clusterBarrier;
  std::memset(b.warpsArrived, 0, sizeof b.warpsArrived);
  b.hasArrivals = false;
  ++b.phase;
  group.ready.append(b.waiters);
}

void arriveLanes(GangState &g, uint32_t lanes) {
  ClusterBarrier &b = groupOf(g).clusterBarrier;
  CtaState &cta = *g.cta;
  uint32_t rank = cta.cta.clusterRank;
  if (b.warpsArrived[rank] >> g.warp & 1)
    return;
  uint32_t &arrived = b.lanesArrived[rank][g.warp];
  arrived |= lanes;
  if (arrived & cta.warpLive[g.warp] && (cta.warpLive[g.warp] & ~arrived) == 0) {
    arrived = 0;
    b.warpsArrived[rank] |= 1u << g.warp;
  }
}

bool beginWait(abi::Gang *gang) {
  GangState &g = stateOf(gang);
  leaveLockstep(g);
  GroupState &group = groupOf(g);
  ClusterBarrier &b = group.clusterBarrier;
  // Lanes of the gang that have not arrived when others of it wait are on their way out.
  if (b.phase == g.clusterPhase && b.hasArrivals) {
    arriveLanes(g, warpLanes(g, g.gang.liveMask));
    if (isComplete(group))
      complete(group);
  }
  if (b.phase != g.clusterPhase)
    return isToYield(*group.worker, group, g);
  g.wait = WaitKind::clusterBarrier;
  b.waiters.push(&g);
  return true;
}

} // namespace

void recheckClusterBarrier(GroupState &group, GangState &g) {
  if (!group.clusterBarrier.hasArrivals)
    return;
  arriveLanes(g, 0);
  if (isComplete(group))
    complete(group);
}

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_cluster_arrive(abi::Gang *gang, uint32_t mask) {
  GangState &g = stateOf(gang);
  leaveLockstep(g);
  GroupState &group = groupOf(g);
  ++group.progress;
  g.clusterPhase = group.clusterBarrier.phase;
  group.clusterBarrier.hasArrivals = true;
  arriveLanes(g, warpLanes(g, mask & g.gang.liveMask));
  if (isComplete(group))
    complete(group);
}

void ptxrun_cluster_wait(abi::Gang *gang, uint32_t) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  if (beginWait(gang))
    suspendGang(stateOf(gang));
}

bool ptxrun_cluster_wait_begin(abi::Gang *gang, uint32_t) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return beginWait(gang);
}
}
