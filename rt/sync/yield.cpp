// Spin loops give way: the gang runs again after all others of its group had their turn, and after
// other groups had theirs. What it waits for may be another launch, which has to be let in.
#include "rt/launch/suspend.h"
#include "rt/sync/lockstep.h"

namespace ptxrun::rt {

namespace {
inline void queueSpinning(abi::Gang *gang, abi::WaitReason reason, uint32_t nanoseconds) {
  GangState &g = stateOf(gang);
  leaveLockstep(g);
  g.yieldedOnMbarrier =
      g.polledMbarrier && (reason == abi::WaitReason::mbarrier || reason == abi::WaitReason::sleep);
  g.polledMbarrier = false;
  g.wait = g.yieldedOnMbarrier ? WaitKind::mbarrier : WaitKind::spin;
  g.sleep = nanoseconds;
  GroupState &group = groupOf(g);
  group.launch->letOthersIn();
  group.memorySpins += reason == abi::WaitReason::spin;
  group.timeWaits += reason == abi::WaitReason::time;
  group.spinning.push(&g);
}
} // namespace

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_yield(abi::Gang *gang, abi::WaitReason reason, uint32_t nanoseconds) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  GangState &g = stateOf(gang);
  if (g.wait == WaitKind::unstarted) { // a CTA range: nobody else to give way to
    groupOf(g).launch->letOthersIn();
    return;
  }
  queueSpinning(gang, reason, nanoseconds);
  suspendGang(g);
}

bool ptxrun_yield_begin(abi::Gang *gang, abi::WaitReason reason, uint32_t nanoseconds) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  queueSpinning(gang, reason, nanoseconds);
  return true;
}
}
