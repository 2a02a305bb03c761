#include "rt/tensor/tensor_state.h"

#include <new>

#include "rt/launch/failure.h"

namespace ptxrun::rt {

TensorState &tensorStateOf(GangState &g) {
  if (!g.cta->tensor && !(g.cta->tensor = new (std::nothrow) TensorState)) {
    recordFailure(g, Status::outOfMemory, "not enough memory for tensor cores");
    leaveKernel(g);
  }
  return *g.cta->tensor;
}

TensorScratch &tensorScratchOf(GangState &g) {
  TensorState &state = tensorStateOf(g);
  if (!state.scratch)
    state.scratch = std::make_unique<TensorScratch>();
  return *state.scratch;
}

void freeTensorState(TensorState *state) { delete state; }

void resetTensorState(TensorState &state) {
  for (std::unique_ptr<LateProducts> &p : state.products)
    p.reset();
  for (std::unique_ptr<WarpgroupTiles> &w : state.warpgroups)
    if (w)
      w->forget();
  state.requests.clear();
  state.queue = {};
  if (!state.memory)
    return;
  state.memory->taken = 0;
  state.memory->isGivenUp = false;
  for (uint8_t &units : state.memory->unitsFrom)
    units = 0;
}

} // namespace ptxrun::rt
