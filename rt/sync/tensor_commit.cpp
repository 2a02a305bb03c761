// The entry point of tcgen05.commit (PTX ISA 9.7.16.11.1).
#include "rt/sync/async_group.h"
#include "rt/sync/mbarrier.h"
#include "rt/tensor/tensor_memory.h"
#include "rt/tensor/tensor_queue.h"

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

/// Arrives once at the mbarrier, or with a CTA mask at those at the same offset in its CTAs, when
/// what was issued before has been performed.
void ptxrun_tcgen05_commit(abi::Gang *gang, uint32_t lane, uint32_t, void *object,
                           uint32_t ctaMask) {
  GangState &g = stateOf(gang);
  if (ctaMask >> groupOf(g).ctaCount)
    failTensor(g, "tcgen05.commit", "the CTA mask names a block outside the cluster");
  AsyncOperation o;
  o.kind = AsyncKind::commitTensor;
  o.lane = static_cast<uint8_t>(lane);
  o.group = issuedTensorOperations(g);
  if (!ctaMask) {
    o.mbarrier = mbarrierAt(g, object, Reach::cluster);
    submitAsync(g, o);
    return;
  }
  for (; ctaMask; ctaMask &= ctaMask - 1) {
    void *there = inCta(g, object, static_cast<uint32_t>(__builtin_ctz(ctaMask)));
    o.mbarrier = mbarrierAt(g, there, Reach::cluster);
    submitAsync(g, o);
  }
}
}
