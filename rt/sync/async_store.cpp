// Single values that arrive asynchronously: st.async (PTX ISA 9.7.9.12), red.async (9.7.13.7), and
// the answer of clusterlaunchcontrol.try_cancel (9.7.13.17). An mbarrier tells when.
#include <cstring>

#include "rt/launch/failure.h"
#include "rt/launch/grid.h"
#include "rt/launch/suspend.h"
#include "rt/launch/worker.h"
#include "rt/sync/async_group.h"
#include "rt/sync/mbarrier.h"

namespace ptxrun::rt {

namespace {

uint32_t bytesOf(abi::ReduceType type) {
  switch (type) {
  case abi::ReduceType::f16:
  case abi::ReduceType::bf16:
    return 2;
  case abi::ReduceType::u32:
  case abi::ReduceType::s32:
  case abi::ReduceType::f32:
  case abi::ReduceType::b32:
    return 4;
  default:
    return 8;
  }
}

AsyncOperation valueOperation(AsyncKind kind, uint32_t lane, void *destination, uint32_t bytes,
                              void *mbarrier) {
  AsyncOperation o;
  o.kind = kind;
  o.lane = static_cast<uint8_t>(lane);
  o.bytes = bytes;
  o.destination = destination;
  o.mbarrier = static_cast<uint64_t *>(mbarrier);
  return o;
}

/// The answer to a try_cancel: the layout is abi.h's.
void takeCluster(LaunchState &launch, uint32_t (&answer)[4]) {
  uint64_t taken = 0;
  if (!takeOneGroup(launch, &taken))
    return;
  abi::Dim3 cluster = placeInGrid(taken, launch.clusterGrid);
  answer[0] = cluster.x * launch.abi.cluster.x;
  answer[1] = cluster.y * launch.abi.cluster.y;
  answer[2] = cluster.z * launch.abi.cluster.z;
  answer[3] = 1;
}

} // namespace
} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_st_async(abi::Gang *gang, uint32_t lane, void *destination, uint64_t low, uint64_t high,
                     uint32_t bytes, void *mbarrier) {
  AsyncOperation o = valueOperation(AsyncKind::store, lane, destination, bytes, mbarrier);
  o.payload[0] = low;
  o.payload[1] = high;
  submitAsync(stateOf(gang), o);
}

void ptxrun_red_async(abi::Gang *gang, uint32_t lane, void *destination, uint64_t value,
                      void *mbarrier, abi::ReduceOp op, abi::ReduceType type) {
  AsyncOperation o =
      valueOperation(AsyncKind::reduceValue, lane, destination, bytesOf(type), mbarrier);
  o.payload[0] = value;
  o.op = op;
  o.type = type;
  submitAsync(stateOf(gang), o);
}

void ptxrun_cluster_try_cancel(abi::Gang *gang, uint32_t lane, void *result, void *mbarrier,
                               uint32_t isMulticast) {
  GangState &g = stateOf(gang);
  GroupState &group = groupOf(g);
  uint32_t answer[4] = {};
  takeCluster(*group.launch, answer);
  uint32_t first = isMulticast ? 0 : g.cta->cta.clusterRank;
  uint32_t end = isMulticast ? group.ctaCount : first + 1;
  for (uint32_t rank = first; rank < end; ++rank) {
    AsyncOperation o = valueOperation(AsyncKind::store, lane, inCta(g, result, rank), sizeof answer,
                                      inCta(g, mbarrier, rank));
    std::memcpy(o.payload, answer, sizeof answer);
    submitAsync(g, o);
  }
}
}
