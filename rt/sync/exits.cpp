#include "rt/sync/exits.h"

#include "rt/sync/cluster_barrier.h"
#include "rt/sync/cta_barrier.h"
#include "rt/sync/lockstep.h"
#include "rt/sync/warp_gather.h"

namespace ptxrun::rt {

void exitLanes(GangState &g, uint32_t mask) {
  uint32_t width = g.gang.laneCount;
  mask &= width >= 32 ? ~0u : (1u << width) - 1;
  CtaState &cta = *g.cta;
  uint32_t lanes = warpLanes(g, mask) & cta.warpLive[g.warp];
  g.gang.liveMask &= ~mask;
  if (!lanes)
    return;
  cta.warpLive[g.warp] &= ~lanes;
  if (!cta.warpLive[g.warp])
    cta.liveWarps &= ~(1u << g.warp);
  if (cta.meetings[g.warp])
    recheckMeetings(cta, g.warp);
  if (cta.touchedBarriers)
    recheckBarriers(cta);
  if (cta.group->clusterBarrier.hasArrivals)
    recheckClusterBarrier(*cta.group, g);
}

} // namespace ptxrun::rt

extern "C" void ptxrun_exit_lanes(ptxrun::abi::Gang *gang, uint32_t mask) {
  ptxrun::rt::GangState &g = ptxrun::rt::stateOf(gang);
  ptxrun::rt::leaveLockstep(g);
  ptxrun::rt::exitLanes(g, mask);
}
