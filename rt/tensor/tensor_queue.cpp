#include "rt/tensor/tensor_queue.h"

#include "rt/launch/worker.h"
#include "rt/tensor/tensor_memory.h"
#include "rt/tensor/tensor_state.h"

namespace ptxrun::rt {

namespace {

/// Operations of a pair are in one queue: that of the group's first CTA.
TensorQueue &queueOf(GangState &g) {
  CtaState &first = groupOf(g).ctas[0];
  if (!first.tensor)
    tensorMemoryOf(g, first);
  return first.tensor->queue;
}

void performOne(TensorOperation &o) {
  ++groupOf(*o.gang).progress;
  o.perform(*o.gang);
}

} // namespace

bool isTensorEager(GangState &g) {
  return groupOf(g).worker->launch->request->asyncCopies == AsyncCopies::eager;
}

void multiplySoon(GangState &g, const TensorMmaOperands &o) {
  TensorQueue &queue = queueOf(g);
  if (queue.runner == &g && queue.run.size() < kLongestRun && !queue.run.empty() &&
      continuesRun(queue.run.back(), o)) {
    checkTensorProduct(g, o);
    queue.run.push_back(o);
    return;
  }
  finishRun(g);
  if (!beginsRun(o))
    return multiplyTensor(g, std::span(&o, 1));
  checkTensorProduct(g, o);
  queue.run.push_back(o);
  queue.runner = &g;
}

void finishRun(GangState &g) {
  TensorQueue &queue = queueOf(g);
  if (queue.run.empty())
    return;
  queue.performedRun.swap(queue.run);
  queue.run.clear();
  multiplyTensor(*queue.runner, queue.performedRun);
}

uint64_t issuedTensorOperations(GangState &g) {
  if (!isTensorEager(g))
    return queueOf(g).issued;
  finishRun(g);
  return 0;
}

void performTensorOperations(GangState &g, uint64_t end) {
  if (isTensorEager(g))
    return;
  TensorQueue &queue = queueOf(g);
  while (!queue.pending.empty() && queue.pending.front()->number < end) {
    queue.performed.push_back(std::move(queue.pending.front()));
    queue.pending.pop_front();
    performOne(*queue.performed.back());
    queue.performed.pop_back();
  }
}

void performTensorStores(GangState &g) {
  auto &pending = queueOf(g).pending;
  for (auto &o : pending)
    if (o->isStore && o->gang->cta == g.cta && o->gang->warp == g.warp) {
      performOne(*o);
      o.reset();
    }
  std::erase(pending, nullptr);
}

void keepTensorOperation(GangState &g, std::unique_ptr<TensorOperation> o) {
  TensorQueue &queue = queueOf(g);
  o->gang = &g;
  o->number = queue.issued++;
  queue.pending.push_back(std::move(o));
  Worker &worker = *groupOf(g).worker;
  if (worker.launch->request->asyncCopies == AsyncCopies::seeded && worker.random.below(2) == 0)
    performTensorOperations(g, queue.issued);
}

} // namespace ptxrun::rt
