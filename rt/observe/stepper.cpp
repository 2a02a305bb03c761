#include "rt/observe/stepper.h"

#include <unordered_set>

#include "intrinsics/debug_abi.h"
#include "rt/exec/worker.h"
#include "rt/observe/report.h"

namespace ptxrun::rt {

GangPlace SteppedThread::place() const {
  const GroupState &group = groupOf(gang);
  if (group.ctaCount == 1)
    return {group.number, gang.gang.firstThread};
  const abi::Dim3 &ctaid = gang.cta->cta.ctaid, &grid = group.launch->abi.grid;
  return {ctaid.x + uint64_t{grid.x} * (ctaid.y + uint64_t{grid.y} * ctaid.z),
          gang.gang.firstThread};
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

namespace {
void giveUp(LaunchState &launch) {
  Failure failure;
  failure.status = Status::cancelled;
  failLaunch(launch, std::move(failure));
}

void leaveForDebugger(GangState &gang) {
  giveUp(*groupOf(gang).launch);
  leaveKernel(gang);
}
} // namespace

void announceAccess(GangState &gang, uint64_t address, uint32_t bytes, uint32_t kind) {
  groupOf(gang).launch->request->stepper->access(SteppedThread(gang), address, bytes, kind);
}

void announceGoingOn(GangState &gang) {
  if (!groupOf(gang).launch->request->stepper->goOn(SteppedThread(gang)))
    leaveForDebugger(gang);
}

namespace {
Stepper *stepperOf(GangState &gang) { return groupOf(gang).launch->request->stepper; }
} // namespace

} // namespace ptxrun::rt

using namespace ptxrun;
using namespace ptxrun::rt;

extern "C" {

void ptxrun_debug_enter(abi::Gang *gang, const void *frame, uint32_t function) {
  GangState &g = stateOf(gang);
  if (Stepper *stepper = stepperOf(g))
    stepper->enter(SteppedThread(g), static_cast<const uint64_t *>(frame), function);
}

void ptxrun_debug_step(abi::Gang *gang, uint32_t instruction) {
  GangState &g = stateOf(gang);
  Stepper *stepper = stepperOf(g);
  if (stepper && !stepper->step(SteppedThread(g), instruction))
    leaveForDebugger(g);
}

void ptxrun_debug_leave(abi::Gang *gang, uint32_t isExit) {
  GangState &g = stateOf(gang);
  if (Stepper *stepper = stepperOf(g))
    stepper->leave(SteppedThread(g), isExit != 0);
}
}
