#include "rt/observe/report.h"

#include <unwind.h>

#include "rt/exec/code_ranges.h"
#include "rt/exec/worker.h"
#include "rt/sync/mbarrier.h"

namespace ptxrun::rt {

namespace {

std::string text(abi::Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string threadsText(const GangState &g) {
  uint32_t first = g.gang.firstThread, count = g.gang.laneCount;
  if (count <= 1)
    return "thread " + std::to_string(first);
  return "threads " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

/// "barrier 3: 2 of 4 warps have arrived".
std::string describeBarrier(const CtaState &cta, uint32_t id) {
  const CtaBarrier &b = cta.barriers[id];
  auto expected =
      b.expected ? b.expected : static_cast<uint32_t>(__builtin_popcount(cta.liveWarps));
  std::string s = "barrier " + std::to_string(id) + ": " + std::to_string(b.arrivals) + " of " +
                  std::to_string(expected) + " warps (" +
                  std::to_string(b.arrivals * abi::kWarpSize) + " of " +
                  std::to_string(expected * abi::kWarpSize) + " threads) have arrived";
  uint32_t missing = cta.liveWarps & ~b.warpsArrived;
  if (missing) {
    s += "; not arrived: warp";
    for (; missing; missing &= missing - 1)
      s += " " + std::to_string(__builtin_ctz(missing));
  }
  uint32_t exited = cta.allWarps & ~cta.liveWarps & ~b.warpsArrived;
  if (exited) {
    s += "; exited, can no longer arrive: warp";
    for (; exited; exited &= exited - 1)
      s += " " + std::to_string(__builtin_ctz(exited));
  }
  return s;
}

std::string hex(uint64_t value) {
  char buffer[20];
  snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(value));
  return buffer;
}

std::string describeWait(const GangState &g) {
  switch (g.wait) {
  case WaitKind::barrier:
    return describeBarrier(*g.cta, g.barrier);
  case WaitKind::warp: {
    uint32_t missing = 0;
    for (WarpMeeting *m = g.cta->meetings[g.warp]; m; m = m->next)
      if (m->memberMask == g.waitMask)
        missing = m->memberMask & g.cta->warpLive[g.warp] & ~m->arrived;
    return "a warp collective with membermask " + hex(g.waitMask) +
           "; lanes that have not arrived: " + hex(missing);
  }
  case WaitKind::mbarrier:
    return describeMbarrierWait(g);
  case WaitKind::clusterBarrier:
    return "the cluster's barrier (barrier.cluster.wait)";
  default:
    return "others (spinning)";
  }
}

_Unwind_Reason_Code stopInKernel(_Unwind_Context *context, void *result) {
  uint64_t pc = _Unwind_GetIP(context);
  if (!isKernelCode(pc))
    return _URC_NO_REASON;
  *static_cast<uint64_t *>(result) = pc - 1;
  return _URC_END_OF_STACK;
}

/// The call in the kernel that led to the calling entry point; 0 if it cannot be found.
uint64_t callingKernelPlace() {
  uint64_t pc = 0;
  _Unwind_Backtrace(stopInKernel, &pc);
  return pc;
}

constexpr uint32_t kMaxLines = 64;

} // namespace

std::string describeGang(const GangState &g) {
  return "thread block " + text(g.cta->cta.ctaid) + ", " + threadsText(g);
}

void fillPlace(Failure &f, const GangState &g) {
  f.ctaid = g.cta->cta.ctaid;
  f.firstThread = g.gang.firstThread;
  f.threadCount = g.gang.laneCount;
}

void recordFailure(GangState &g, Status status, std::string message, uint32_t line) {
  Failure f;
  f.status = status;
  f.message = std::move(message);
  f.ptxLine = line;
  fillPlace(f, g);
  f.pc = reinterpret_cast<const void *>(callingKernelPlace());
  failLaunch(*groupOf(g).launch, std::move(f));
}

void leaveKernel(GangState &g) { leaveForGood(*groupOf(g).worker); }

void failDeadlock(GroupState &group) {
  Failure f;
  f.status = Status::deadlock;
  f.message = "deadlock: every thread waits for something that can no longer happen";
  uint32_t lines = 0;
  for (uint32_t c = 0; c < group.ctaCount; ++c) {
    const CtaState &cta = group.ctas[c];
    for (uint32_t i = 0; i < cta.gangCount; ++i) {
      const GangState &g = cta.gangs[i];
      if (g.wait == WaitKind::done)
        continue;
      if (lines == 0)
        fillPlace(f, g);
      if (lines++ >= kMaxLines)
        continue;
      f.waiters.push_back(
          {cta.cta.ctaid, g.gang.firstThread, g.gang.laneCount, g.waitPc, describeWait(g)});
      f.message += "\n  " + describeGang(g) + " (warp " + std::to_string(g.warp) + ") wait at " +
                   f.waiters.back().at;
    }
  }
  if (lines > kMaxLines)
    f.message += "\n  and " + std::to_string(lines - kMaxLines) + " more";
  failLaunch(*group.launch, std::move(f));
}

} // namespace ptxrun::rt
