#include "rt/launch/failure.h"

#include <unwind.h>

#include "rt/launch/code_ranges.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

namespace {

std::string text(abi::Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string threadsText(uint32_t first, uint32_t count) {
  if (count <= 1)
    return "thread " + std::to_string(first);
  return "threads " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

_Unwind_Reason_Code stopInKernel(_Unwind_Context *context, void *result) {
  uint64_t pc = _Unwind_GetIP(context);
  if (!isKernelCode(pc))
    return _URC_NO_REASON;
  *static_cast<uint64_t *>(result) = pc - 1;
  return _URC_END_OF_STACK;
}

} // namespace

std::string describeGang(const GangState &g) {
  return "thread block " + text(g.cta->cta.ctaid) + ", " +
         threadsText(g.gang.firstThread, g.gang.laneCount);
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
  f.firstThread = g.gang.firstThread;
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
