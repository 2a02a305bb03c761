#include "rt/launch/failure.h"

#include <unwind.h>

#include <algorithm>

#include "rt/launch/code_ranges.h"
#include "rt/launch/grid.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

namespace {

std::string text(abi::Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

uint32_t along(const abi::Dim3 &d, uint32_t axis) {
  return axis == 0 ? d.x : axis == 1 ? d.y : d.z;
}

const LaunchState &launchOf(const GangState &g) { return *g.cta->group->launch; }

bool hasJoined(const LaunchState &launch) { return volume(launch.code->needs.joinedCtas) > 1; }

/// `step`: from one to the next.
std::string threadsText(uint32_t first, uint32_t count, uint32_t step = 1) {
  if (count <= 1)
    return "thread " + std::to_string(first);
  const uint32_t last = first + (count - 1) * step;
  if (step == 1)
    return "threads " + std::to_string(first) + " to " + std::to_string(last);
  return "threads " + std::to_string(first) + ", " + std::to_string(first + step) +
         (count > 2 ? " ... " + std::to_string(last) : "");
}

/// The gang's threads, the first of each row along the axis that they lie along, and the next ones.
std::string threadsText(const GangState &g) {
  const LaunchState &launch = launchOf(g);
  const uint8_t axis = launch.code->needs.leadingAxis;
  const uint32_t first = g.gang.firstThread, count = g.gang.laneCount;
  if (axis == 0 && !hasJoined(launch))
    return threadsText(first, count);
  const uint32_t row = along(g.cta->cta.launch->block, axis);
  std::string text;
  for (uint32_t at = first, n; at < first + count; at += n) {
    n = std::min(row - at % row, first + count - at);
    const uint32_t begin = placeOfThread(g, at).number;
    text += (text.empty() ? "" : " and ") +
            threadsText(begin, n, placeOfThread(g, at + 1).number - begin);
  }
  return text;
}

bool isSame(const abi::Dim3 &a, const abi::Dim3 &b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// Between which CTAs of the grid the gang's are.
std::pair<abi::Dim3, abi::Dim3> ctasOf(const GangState &g) {
  abi::Dim3 low = placeOfThread(g, g.gang.firstThread).ctaid, high = low;
  for (uint32_t n = 1; n < g.gang.laneCount; ++n) {
    const abi::Dim3 at = placeOfThread(g, g.gang.firstThread + n).ctaid;
    low = {std::min(low.x, at.x), std::min(low.y, at.y), std::min(low.z, at.z)};
    high = {std::max(high.x, at.x), std::max(high.y, at.y), std::max(high.z, at.z)};
  }
  const abi::Dim3 &grid = g.cta->cta.launch->grid; // the last ones of the grid are fewer
  high = {std::min(high.x, grid.x - 1), std::min(high.y, grid.y - 1), std::min(high.z, grid.z - 1)};
  return {low, high};
}

_Unwind_Reason_Code stopInKernel(_Unwind_Context *context, void *result) {
  uint64_t pc = _Unwind_GetIP(context);
  if (!isKernelCode(pc))
    return _URC_NO_REASON;
  *static_cast<uint64_t *>(result) = pc - 1;
  return _URC_END_OF_STACK;
}

} // namespace

ThreadPlace placeOfThread(const GangState &g, uint32_t n) {
  const LaunchState &launch = launchOf(g);
  const abi::Dim3 &own = launch.abi.block, &all = launch.block,
                  &joined = launch.code->needs.joinedCtas;
  uint32_t order[3] = {0, 1, 2}, at[3];
  std::swap(order[0], order[launch.code->needs.leadingAxis]);
  for (const uint32_t a : order) {
    at[a] = n % along(all, a);
    n /= along(all, a);
  }
  const abi::Dim3 &cta = g.cta->cta.ctaid;
  return {{cta.x * joined.x + at[0] / own.x, cta.y * joined.y + at[1] / own.y,
           cta.z * joined.z + at[2] / own.z},
          at[0] % own.x + own.x * (at[1] % own.y + own.y * (at[2] % own.z))};
}

std::string describeGang(const GangState &g) {
  if (const auto [low, high] = ctasOf(g); !isSame(low, high))
    return "one of thread blocks " + text(low) + " to " + text(high);
  return "thread block " + text(placeOfThread(g, g.gang.firstThread).ctaid) + ", " + threadsText(g);
}

std::string describeLanes(const GangState &g, uint32_t mask) {
  const int count = __builtin_popcount(mask);
  if (count == 0 || count >= static_cast<int>(g.gang.laneCount))
    return describeGang(g);
  if (const auto [low, high] = ctasOf(g); !isSame(low, high)) {
    const ThreadPlace first = placeOfThread(g, g.gang.firstThread + __builtin_ctz(mask));
    return "thread block " + text(first.ctaid) + ", thread " + std::to_string(first.number) +
           (count > 1 ? " and " + std::to_string(count - 1) + " more" : "");
  }
  std::string lanes;
  for (; mask; mask &= mask - 1)
    lanes += " " + std::to_string(__builtin_ctz(mask));
  return describeGang(g) + ", lanes" + lanes;
}

std::string describe(const Waiter &w) {
  return "thread block " + text(w.ctaid) + ", " + threadsText(w.firstThread, w.threadCount) +
         " (warp " + std::to_string(w.firstThread / abi::kWarpSize) + ")";
}

uint64_t callingKernelPlace() {
  uint64_t pc = 0;
  _Unwind_Backtrace(stopInKernel, &pc);
  return pc;
}

void fillPlace(Failure &f, const GangState &g) {
  const ThreadPlace first = placeOfThread(g, g.gang.firstThread);
  f.ctaid = first.ctaid;
  f.firstThread = first.number;
  f.threadCount = g.gang.laneCount;
  if (hasJoined(launchOf(g)))
    f.threadCount = std::min(f.threadCount, g.cta->cta.launch->block.x -
                                                first.number % g.cta->cta.launch->block.x);
}

void recordFailure(GangState &g, Status status, std::string message, uint32_t line) {
  Failure f;
  f.status = status;
  f.message = std::move(message);
  f.ptxLine = line;
  fillPlace(f, g);
  const uint64_t late = groupOf(g).worker->latePlace;
  f.pc = reinterpret_cast<const void *>(late ? late : callingKernelPlace());
  failLaunch(*groupOf(g).launch, std::move(f));
}

void leaveKernel(GangState &g) { leaveForGood(*groupOf(g).worker); }

} // namespace ptxrun::rt
