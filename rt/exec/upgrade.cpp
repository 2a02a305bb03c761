#include "rt/exec/upgrade.h"

#include "rt/exec/scheduler.h"
#include "rt/launch/launch.h"

namespace ptxrun::rt {

namespace {
bool hasForm(const LaunchState &launch, const abi::KernelCode &code) {
  if (launch.usesRanges)
    return code.ctaRange && !code.needs.maySuspend;
  return launch.usesCoroutines ? code.gangStart != nullptr : code.gang != nullptr;
}
/// CTAs of the grid.
bool countsOtherwise(const abi::KernelNeeds &a, const abi::KernelNeeds &b) {
  return a.leadingAxis != b.leadingAxis || a.joinedCtas.x != b.joinedCtas.x ||
         a.joinedCtas.y != b.joinedCtas.y || a.joinedCtas.z != b.joinedCtas.z;
}
} // namespace

void takeUpgrade(Worker &worker) {
  if (!awaitsUpgrade(worker))
    return;
  const LaunchState &launch = *worker.launch;
  const abi::KernelCode *better = launch.request->upgrade->code();
  if (!better || !hasForm(launch, *better) || better->needs.lanes != launch.code->needs.lanes ||
      countsOtherwise(better->needs, launch.code->needs))
    return;
  if (better->needs.stackBytes > worker.stackBytes) {
    if (!worker.inFlight.empty())
      return;
    requireStackBytes(worker, better->needs.stackBytes);
  }
  worker.code = better;
}

uint64_t tellRuntime(Worker &worker) {
  const uint64_t now = nowNs(), spent = now - worker.toldNs;
  worker.toldNs = now;
  worker.launch->request->upgrade->tellRuntime(spent);
  return spent;
}

} // namespace ptxrun::rt
