#include "rt/exec/waits.h"

#include <unordered_set>

#include "rt/launch/failure.h"
#include "rt/launch/worker.h"
#include "rt/observe/stepper.h"
#include "rt/sync/mbarrier.h"
#include "rt/tensor/tensor_memory.h"

namespace ptxrun::rt {

namespace {

/// `before`, the numbers of the bits of `mask` ("0 4-31"), `after`; nothing where there are none.
std::string listed(const char *before, uint32_t mask, const char *after) {
  if (!mask)
    return "";
  std::string s = before;
  while (mask) {
    int first = __builtin_ctz(mask);
    uint32_t rest = ~(mask >> first);
    int count = rest ? __builtin_ctz(rest) : 32;
    if (count < 3)
      count = 1;
    s += " " + std::to_string(first);
    if (count > 1)
      s += "-" + std::to_string(first + count - 1);
    mask &= first + count == 32 ? 0 : ~0u << (first + count);
  }
  return *after ? s + " " + after : s;
}

/// "; not arrived: warp 1 (lanes 0 5) 2": of a warp of which some lanes have come, those that have
/// not.
std::string listMissing(const CtaState &cta, uint32_t id, uint32_t warps) {
  std::string s;
  for (; warps; warps &= warps - 1) {
    auto w = static_cast<uint32_t>(__builtin_ctz(warps));
    s += " " + std::to_string(w);
    if (cta.gangsPerWarp > 1 && cta.lanesArrived[id][w])
      s += " (" + listed("lanes", cta.warpLive[w] & ~cta.lanesArrived[id][w], "") + ")";
  }
  return s.empty() ? s : "; not arrived: warp" + s;
}

/// "barrier 3: 2 of 4 warps (64 of 128 threads) have arrived; ...".
std::string describeBarrier(const CtaState &cta, uint32_t id) {
  const CtaBarrier &b = cta.barriers[id];
  auto expected =
      b.expected ? b.expected : static_cast<uint32_t>(__builtin_popcount(cta.liveWarps));
  uint32_t threads = b.arrivals * abi::kWarpSize;
  for (uint32_t w = 0; cta.gangsPerWarp > 1 && w < cta.warpCount; ++w)
    threads += static_cast<uint32_t>(__builtin_popcount(cta.lanesArrived[id][w] & cta.warpLive[w]));
  std::string s = "barrier " + std::to_string(id) + ": " + std::to_string(b.arrivals) + " of " +
                  std::to_string(expected) + " warps (" + std::to_string(threads) + " of " +
                  std::to_string(expected * abi::kWarpSize) + " threads) have arrived";
  s += listMissing(cta, id, cta.liveWarps & ~b.warpsArrived);
  return s + listed("; exited, can no longer arrive: warp",
                    cta.allWarps & ~cta.liveWarps & ~b.warpsArrived, "");
}

std::string hex(uint64_t value) {
  char buffer[20];
  snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(value));
  return buffer;
}

/// "vote.sync.any with membermask 0xff: lanes 0 1 have arrived; not arrived: lanes 2 3; exited:
/// lanes 4".
std::string describeMeeting(const GangState &g) {
  auto *operation = reinterpret_cast<const char *>(g.waitAddress);
  uint32_t arrived = 0;
  for (WarpMeeting *m = g.cta->meetings[g.warp]; m; m = m->next)
    if (m->memberMask == g.waitMask && m->operation == operation)
      arrived = m->arrived;
  uint32_t live = g.cta->warpLive[g.warp];
  std::string s = operation;
  s += " with membermask " + hex(g.waitMask);
  s += listed(": lanes", arrived, "have arrived");
  s += listed("; not arrived: lanes", g.waitMask & live & ~arrived, "");
  return s + listed("; exited: lanes", g.waitMask & ~live & ~arrived, "");
}

/// "CTA 1 " in a cluster; nothing where there is one.
std::string ctaName(const GroupState &group, uint32_t rank) {
  return group.ctaCount > 1 ? " CTA " + std::to_string(rank) : "";
}

/// "; exited, can no longer arrive: CTA 0 warp 2".
std::string describeExits(const GroupState &group) {
  std::string s;
  for (uint32_t c = 0; c < group.ctaCount; ++c) {
    const CtaState &cta = group.ctas[c];
    s += listed((ctaName(group, c) + " warp").c_str(), cta.allWarps & ~cta.liveWarps, "");
  }
  return s.empty() ? s : "; exited, can no longer arrive:" + s;
}

/// "the cluster's barrier (barrier.cluster.wait), phase 3: 5 of 8 warps have arrived; not arrived:
/// CTA 1 warp 0 2".
std::string describeClusterBarrier(const GroupState &group) {
  const ClusterBarrier &b = group.clusterBarrier;
  int arrived = 0, live = 0;
  std::string missing;
  for (uint32_t c = 0; c < group.ctaCount; ++c) {
    const CtaState &cta = group.ctas[c];
    live += __builtin_popcount(cta.liveWarps);
    arrived += __builtin_popcount(cta.liveWarps & b.warpsArrived[c]);
    missing +=
        listed((ctaName(group, c) + " warp").c_str(), cta.liveWarps & ~b.warpsArrived[c], "");
  }
  std::string s = "the cluster's barrier (barrier.cluster.wait), phase " + std::to_string(b.phase) +
                  ": " + std::to_string(arrived) + " of " + std::to_string(live) +
                  " warps have arrived";
  return s + (missing.empty() ? "" : "; not arrived:" + missing) + describeExits(group);
}

/// The gang follows the waiter's last thread, in the same warp.
bool isNeighbour(const Waiter &w, const GangState &g) {
  abi::Dim3 a = w.ctaid, b = g.cta->cta.ctaid;
  return a.x == b.x && a.y == b.y && a.z == b.z &&
         w.firstThread + w.threadCount == g.gang.firstThread &&
         w.firstThread / abi::kWarpSize == g.gang.firstThread / abi::kWarpSize;
}

constexpr uint32_t kMaxLines = 64;

std::string describeWait(const GangState &g) {
  switch (g.wait) {
  case WaitKind::barrier:
    return describeBarrier(*g.cta, g.barrier);
  case WaitKind::arrival:
    return describeBarrier(*g.cta, g.barrier) + "; arrives, and waits for the rest of its warp";
  case WaitKind::warp:
    return describeMeeting(g);
  case WaitKind::mbarrier:
    return describeMbarrierWait(g) + describeExits(*g.cta->group);
  case WaitKind::tensorMemory:
    return describeAllocation(g);
  case WaitKind::clusterBarrier:
    return describeClusterBarrier(*g.cta->group);
  case WaitKind::running:
    return "nothing (running)";
  default:
    return "others (spinning)";
  }
}

std::vector<std::string> describeBarriers(const CtaState &cta) {
  std::vector<std::string> all;
  for (uint32_t id = 0; id < kBarriers; ++id)
    if (cta.barriers[id].arrivals || cta.barriers[id].waiters.head ||
        cta.barriers[id].arriving.head)
      all.push_back(describeBarrier(cta, id));
  return all;
}

std::string describeClusterBarrierInUse(const GroupState &group) {
  return group.clusterBarrier.hasArrivals ? describeClusterBarrier(group) : "";
}

void addWaiters(Failure &f, const GroupState &group) {
  for (uint32_t c = 0; c < group.ctaCount; ++c) {
    const CtaState &cta = group.ctas[c];
    for (uint32_t i = 0; i < cta.gangCount; ++i) {
      const GangState &g = cta.gangs[i];
      if (g.wait == WaitKind::done || g.wait == WaitKind::unstarted)
        continue;
      if (f.waiters.empty())
        fillPlace(f, g);
      const void *pc = g.wait == WaitKind::running ? nullptr : g.waitPc;
      std::string at = describeWait(g);
      if (!f.waiters.empty() && isNeighbour(f.waiters.back(), g) && f.waiters.back().pc == pc &&
          f.waiters.back().at == at) {
        f.waiters.back().threadCount += g.gang.laneCount;
        continue;
      }
      if (f.waiters.size() == kMaxLines) {
        ++f.moreWaiters;
        continue;
      }
      const ThreadPlace first = placeOfThread(g, g.gang.firstThread);
      f.waiters.push_back({first.ctaid, first.number, g.gang.laneCount, pc, std::move(at),
                           g.wait == WaitKind::mbarrier ? sharedAddressOfWait(g) : -1});
    }
  }
}

} // namespace

namespace {

void failWaiting(const char *sentence, const std::vector<GroupState *> &groups) {
  Failure f;
  f.status = Status::deadlock;
  f.message = sentence;
  for (const GroupState *group : groups)
    addWaiters(f, *group);
  for (const Waiter &w : f.waiters)
    f.message += "\n  " + describe(w) + " wait at " + w.at;
  if (f.moreWaiters)
    f.message += "\n  and " + std::to_string(f.moreWaiters) + " more";
  failLaunch(*groups.front()->launch, std::move(f));
}

} // namespace

void failDeadlock(GroupState &group) {
  failWaiting("deadlock: every thread waits for something that can no longer happen", {&group});
}

void failHang(const std::vector<GroupState *> &inFlight) {
  failWaiting("hang: every thread that is left spins or waits, and nothing changes any more",
              inFlight);
}

void reportUnfinished(GroupState &group) {
  LaunchState &launch = *group.launch;
  std::lock_guard guard(launch.lock);
  if (launch.failure.status == Status::timeout)
    addWaiters(launch.failure, group);
}

std::vector<ThreadSight> threadsInFlight(const GangState &gang) {
  std::vector<ThreadSight> all;
  for (GroupState *group : groupOf(const_cast<GangState &>(gang)).worker->inFlight) {
    std::unordered_set<const GangState *> canRun{
        &gang}; // though they still say what they waited for
    for (const GangState *g = group->ready.head; g; g = g->next)
      canRun.insert(g);
    for (uint32_t c = 0; c < group->ctaCount; ++c)
      for (uint32_t i = 0; i < group->ctas[c].gangCount; ++i) {
        GangState &g = group->ctas[c].gangs[i];
        ThreadSight &sight = all.emplace_back();
        sight.place = SteppedThread(g).place();
        sight.wait = g.wait;
        sight.window = g.cta->window;
        if (g.wait == WaitKind::done || g.wait == WaitKind::unstarted)
          continue;
        if (canRun.contains(&g))
          sight.wait = WaitKind::running;
        else if (g.wait != WaitKind::running)
          sight.waitsAt = describeWait(g);
      }
  }
  return all;
}

std::vector<std::pair<uint64_t, std::string>> barriersInFlight(const GangState &gang) {
  std::vector<std::pair<uint64_t, std::string>> all;
  for (GroupState *group : groupOf(const_cast<GangState &>(gang)).worker->inFlight) {
    for (uint32_t c = 0; c < group->ctaCount; ++c)
      for (std::string &text : describeBarriers(group->ctas[c]))
        all.push_back({SteppedThread(group->ctas[c].gangs[0]).place().block, std::move(text)});
    if (std::string text = describeClusterBarrierInUse(*group); !text.empty())
      all.push_back({SteppedThread(group->ctas[0].gangs[0]).place().block, std::move(text)});
  }
  return all;
}

} // namespace ptxrun::rt
