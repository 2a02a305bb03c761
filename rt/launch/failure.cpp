#include "rt/launch/failure.h"

#include <unwind.h>

#include <algorithm>

#include "rt/launch/code_ranges.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

namespace {

std::string text(abi::Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

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
  const auto &code = *g.cta->group->code;
  const uint32_t first = g.gang.firstThread, count = g.gang.laneCount;
  if (code.needs.leadingAxis == 0)
    return threadsText(first, count);
  const uint32_t row =
      code.needs.leadingAxis == 1 ? g.cta->cta.launch->block.y : g.cta->cta.launch->block.z;
  std::string text;
  for (uint32_t at = first, n; at < first + count; at += n) {
    n = std::min(row - at % row, first + count - at);
    const uint32_t begin = linearThread(g, at);
    text += (text.empty() ? "" : " and ") + threadsText(begin, n, linearThread(g, at + 1) - begin);
  }
  return text;
}

_Unwind_Reason_Code stopInKernel(_Unwind_Context *context, void *result) {
  uint64_t pc = _Unwind_GetIP(context);
  if (!isKernelCode(pc))
    return _URC_NO_REASON;
  *static_cast<uint64_t *>(result) = pc - 1;
  return _URC_END_OF_STACK;
}

} // namespace

uint32_t linearThread(const GangState &g, uint32_t n) {
  const uint8_t axis = g.cta->group->code->needs.leadingAxis;
  const abi::Dim3 &block = g.cta->cta.launch->block;
  const uint32_t extents[3] = {block.x, block.y, block.z};
  uint32_t order[3] = {0, 1, 2}, at[3];
  std::swap(order[0], order[axis]);
  for (const uint32_t a : order) {
    at[a] = n % extents[a];
    n /= extents[a];
  }
  return at[0] + block.x * (at[1] + block.y * at[2]);
}

std::string describeGang(const GangState &g) {
  return "thread block " + text(g.cta->cta.ctaid) + ", " + threadsText(g);
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
  f.ctaid = g.cta->cta.ctaid;
  f.firstThread = linearThread(g, g.gang.firstThread);
  f.threadCount = g.gang.laneCount;
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
