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

namespace {

template <class T> void copyOwned(const std::unique_ptr<T> &from, std::unique_ptr<T> &to) {
  if (!from)
    to.reset();
  else if (to)
    *to = *from;
  else
    to = std::make_unique<T>(*from);
}

} // namespace

void copyTensorState(const TensorState &from, TensorState &to) {
  for (uint32_t i = 0; i < kMaxWarps; ++i)
    copyOwned(from.products[i], to.products[i]);
  for (uint32_t i = 0; i < kMaxWarps / 4; ++i)
    copyOwned(from.warpgroups[i], to.warpgroups[i]);
  if (from.memory)
    copyOwned(from.memory, to.memory);
  else if (to.memory)
    *to.memory = {}; // what is pending in other copies may point there
  to.requests = from.requests;
  to.registers = from.registers;
  to.queue.pending.clear();
  for (const std::unique_ptr<TensorOperation> &operation : from.queue.pending)
    to.queue.pending.push_back(operation->copy());
  to.queue.issued = from.queue.issued;
  to.queue.run = from.queue.run;
  to.queue.runner = from.queue.runner;
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
