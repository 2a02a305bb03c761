#include "rt/launch/records.h"

#include <new>

#include "rt/launch/watchdog.h"

namespace ptxrun::rt {

void GangList::remove(GangState *g) {
  GangState *before = nullptr;
  for (GangState *at = head; at; before = at, at = at->next) {
    if (at != g)
      continue;
    (before ? before->next : head) = g->next;
    if (tail == g)
      tail = before;
    return;
  }
}

uint32_t GangList::size() const {
  uint32_t n = 0;
  for (GangState *g = head; g; g = g->next)
    ++n;
  return n;
}

uint64_t hostAddressOfShared(const GangState &gang, uint64_t address) {
  const GroupState &group = *gang.cta->group;
  const uint64_t rank = address >> abi::kSharedWindowShift;
  const bool isOfRank =
      rank ? rank < group.ctaCount : group.ctaCount > 1 && !group.code->needs.hasOwnWindow;
  const CtaState &cta = isOfRank ? group.ctas[rank] : *gang.cta;
  return reinterpret_cast<uint64_t>(cta.window) +
         (address & ((uint64_t{1} << abi::kSharedWindowShift) - 1));
}

void failLaunch(LaunchState &launch, Failure failure) {
  {
    std::lock_guard guard(launch.lock);
    if (launch.hasFailed)
      return;
    launch.hasFailed = true;
    launch.stop.store(static_cast<uint32_t>(failure.status), std::memory_order_release);
    launch.failure = std::move(failure);
  }
  interruptWorkers(launch);
}

void failForMemory(LaunchState &launch, const char *message) {
  Failure f;
  f.status = Status::outOfMemory;
  try {
    f.message = message;
  } catch (const std::bad_alloc &) {
  }
  failLaunch(launch, std::move(f));
}

} // namespace ptxrun::rt
