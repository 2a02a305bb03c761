#include "rt/observe/stepper.h"

#include "intrinsics/debug_abi.h"
#include "rt/launch/failure.h"
#include "rt/launch/worker.h"

namespace ptxrun::rt {

GangPlace SteppedThread::place() const {
  const GroupState &group = groupOf(gang);
  if (group.ctaCount == 1)
    return {group.number, gang.gang.firstThread};
  const abi::Dim3 &ctaid = gang.cta->cta.ctaid, &grid = group.launch->abi.grid;
  return {ctaid.x + uint64_t{grid.x} * (ctaid.y + uint64_t{grid.y} * ctaid.z),
          gang.gang.firstThread};
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

/// To the native stack, where the launch is kept, and back.
void standStill(GangState &gang, Stepper &stepper) {
  Worker &worker = *groupOf(gang).worker;
  if (!worker.controller)
    return stepper.keep(nullptr);
  worker.standing = &gang;
  worker.running = nullptr;
  worker.current = &worker.native;
  switchFiber(*gang.fiber, worker.native);
}
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
  if (!stepper)
    return;
  Stepper::Answer answer = stepper->step(SteppedThread(g), instruction);
  while (answer == Stepper::Answer::keep) {
    standStill(g, *stepper);
    answer = stepper->step(SteppedThread(g), instruction);
  }
  if (answer == Stepper::Answer::giveUp)
    leaveForDebugger(g);
}

void ptxrun_debug_leave(abi::Gang *gang, uint32_t isExit) {
  GangState &g = stateOf(gang);
  if (Stepper *stepper = stepperOf(g))
    stepper->leave(SteppedThread(g), isExit != 0);
}
}
