// Waiting for a phase of an mbarrier: test_wait, try_wait, time limits, and what reports say.
#include "rt/launch/clock.h"
#include "rt/launch/failure.h"
#include "rt/launch/suspend.h"
#include "rt/observe/trace_events.h"
#include "rt/sync/lockstep.h"
#include "rt/sync/mbarrier.h"

namespace ptxrun::rt {

namespace {

/// A group that only waits with time limits for this long, over this many rounds, is dead.
constexpr uint64_t kHopelessNs = 1'000'000'000;
constexpr uint32_t kHopelessPasses = 1000;
/// The time limit of a wait that has none.
constexpr uint32_t kNoLimit = ~0u;

/// What a wait for a void object says: its phase never ends.
[[noreturn]] void failVoid(GangState &g, const uint64_t *object) {
  recordFailure(g, Status::undefinedUse,
                mbarrierName(g, object) +
                    ": a wait where no arrival is expected: it is not initialised, was "
                    "invalidated, or all arrivals were dropped");
  leaveKernel(g);
}

/// Whether the phase is complete; keeps what the gang asked for reports.
bool askMbarrier(GangState &g, const uint64_t *object, uint64_t state, bool isParity) {
  MbarrierWord word = readMbarrier(g, object);
  if (word.isPast(state, isParity))
    return true;
  if (word.isVoid()) [[unlikely]]
    failVoid(g, object);
  g.waitAddress = reinterpret_cast<uint64_t>(object);
  g.waitState = state;
  g.waitsForParity = isParity;
  return false;
}

/// True when the gang must suspend; else *result is told.
bool beginTryWait(abi::Gang *gang, void *address, uint64_t state, bool isParity,
                  uint32_t nanoseconds, uint32_t *result) {
  GangState &g = stateOf(gang);
  if (askMbarrier(g, mbarrierAt(g, address, Reach::ownCta), state, isParity)) {
    *result = 1;
    return false;
  }
  leaveLockstep(g);
  g.wait = WaitKind::mbarrier;
  g.sleep = nanoseconds;
  g.result = result;
  groupOf(g).mbarrierWaiters.push(&g);
  if (trace::isOn())
    trace::waitBegins(&g);
  return true;
}

bool hasTimedWaits(const GroupState &group) {
  for (const GangState *g = group.mbarrierWaiters.head; g; g = g->next)
    if (g->sleep != kNoLimit)
      return true;
  return false;
}

} // namespace

std::string describeMbarrierWait(const GangState &g) {
  auto *object = reinterpret_cast<const uint64_t *>(g.waitAddress);
  MbarrierWord word(*object); // waited on before, so it can be read
  std::string s = mbarrierName(g, object) + ": phase " + std::to_string(word.phase()) +
                  " (modulo 8), " +
                  std::to_string(word.expected() - std::min(word.expected(), word.pending())) +
                  " of " + std::to_string(word.expected()) + " arrivals";
  if (word.tx() != 0)
    s += ", " + std::to_string(word.tx()) + " bytes of transactions outstanding";
  return s;
}

int64_t sharedAddressOfWait(const GangState &g) {
  auto base = reinterpret_cast<uint64_t>(g.cta->group->arena->base());
  return static_cast<int64_t>((g.waitAddress - base) &
                              ((uint64_t{1} << abi::kSharedWindowShift) - 1));
}

bool onlyPollMbarriers(const GroupState &group) {
  for (const GangState *g = group.spinning.head; g; g = g->next)
    if (!g->yieldedOnMbarrier)
      return false;
  return true;
}

void endTimedWaits(GroupState &group) {
  GangList rest;
  while (GangState *g = group.mbarrierWaiters.pop()) {
    if (g->sleep == kNoLimit) {
      rest.push(g);
      continue;
    }
    *g->result = 0;
    g->result = nullptr;
    g->polledMbarrier = true;
    if (trace::isOn())
      traceMbarrierWait(*g);
    makeReady(group, *g);
  }
  group.mbarrierWaiters = rest;
}

bool releaseTimedWaits(GroupState &group) {
  if (group.spinning.empty() && !hasTimedWaits(group))
    return false;
  if (group.progress != group.seenProgress || group.memorySpins != group.seenMemorySpins ||
      group.idlePasses == 0) {
    group.seenProgress = group.progress;
    group.seenMemorySpins = group.memorySpins;
    group.idlePasses = 1;
    group.idleSince = nowNs();
  } else if (++group.idlePasses > kHopelessPasses && nowNs() - group.idleSince > kHopelessNs) {
    return false;
  }
  endTimedWaits(group);
  group.ready.append(group.spinning);
  return true;
}

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

bool ptxrun_mbarrier_test_wait(abi::Gang *gang, void *address, uint64_t state, uint32_t isParity) {
  GangState &g = stateOf(gang);
  bool done = askMbarrier(g, mbarrierAt(g, address, Reach::ownCta), state, isParity != 0);
  g.polledMbarrier = !done;
  return done;
}

bool ptxrun_mbarrier_try_wait(abi::Gang *gang, void *address, uint64_t state, uint32_t isParity,
                              uint32_t nanoseconds) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  uint32_t result = 0;
  if (beginTryWait(gang, address, state, isParity != 0, nanoseconds, &result))
    suspendGang(stateOf(gang));
  return result != 0;
}

bool ptxrun_mbarrier_try_wait_begin(abi::Gang *gang, void *address, uint64_t state,
                                    uint32_t isParity, uint32_t nanoseconds, uint32_t *isComplete) {
  stateOf(gang).waitPc = __builtin_return_address(0);
  return beginTryWait(gang, address, state, isParity != 0, nanoseconds, isComplete);
}
}
