#include "rt/launch/worker.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "rt/launch/faults.h"

namespace ptxrun::rt {

namespace {
/// Stack tops are spread over a page's cache sets; otherwise the hot ends of all gangs' stacks
/// would compete for a few.
constexpr uint32_t kColors = 32;
constexpr uint32_t kColorBytes = 128;

thread_local Worker *tlsWorker = nullptr;
struct WorkerOwner {
  Worker *worker = nullptr;
  ~WorkerOwner() {
    tlsWorker = nullptr;
    delete worker;
  }
};
thread_local WorkerOwner tlsOwner;

Fiber *makeFiber(Worker &worker) {
  auto *fiber = new (std::nothrow) Fiber;
  if (!fiber)
    return nullptr;
  fiber->worker = &worker;
  fiber->color = worker.fiberCount++ % kColors * kColorBytes;
  if (!mapFiberStack(*fiber, worker.stackBytes)) {
    delete fiber;
    return nullptr;
  }
  fiber->nextOfWorker = worker.all;
  worker.all = fiber;
  return fiber;
}

void freeFibers(Worker &worker) {
  while (Fiber *fiber = worker.all) {
    worker.all = fiber->nextOfWorker;
    unmapFiberStack(*fiber);
    delete fiber;
  }
  worker.idle = worker.carrier = nullptr;
  worker.fiberCount = 0;
}
/// Whether a handler of the program may run on the calling thread, by a signal of the kinds that
/// profilers, timers and the user send.
bool takesSignals() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (const int signal :
       {SIGALRM, SIGVTALRM, SIGPROF, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGURG})
    if (!sigismember(&blocked, signal))
      return true;
  return false;
}
} // namespace

Worker::Worker() {
  native.worker = this;
  current = &native;
  threadId = static_cast<int>(syscall(SYS_gettid));
#ifdef PTXRUN_TSAN
  native.tsanFiber = __tsan_get_current_fiber();
#endif
  mayRunHandlers = takesSignals();
  installFaultHandlers();
  alternateStack = installAlternateStack();
}

Worker::~Worker() {
  freeFibers(*this);
  if (freeGroupMemory)
    freeGroupMemory(*this);
  removeAlternateStack(alternateStack);
}

Worker *currentWorker() { return tlsWorker; }

Worker &workerOfThread() {
  if (!tlsWorker)
    tlsOwner.worker = tlsWorker = new Worker;
  return *tlsWorker;
}

Fiber *takeFiber(Worker &worker, void (*job)(Fiber &)) {
  Fiber *fiber = worker.idle;
  if (fiber)
    worker.idle = fiber->next;
  else if (!(fiber = makeFiber(worker)))
    return nullptr;
  fiber->job = job;
  return fiber;
}

void requireStackBytes(Worker &worker, size_t bytes) {
  if (bytes <= worker.stackBytes)
    return;
  freeFibers(worker);
  worker.stackBytes = bytes;
}

void abandonFibers(Worker &worker) {
  worker.idle = nullptr;
  worker.carrier = nullptr;
  for (Fiber *fiber = worker.all; fiber; fiber = fiber->nextOfWorker) {
    resetFiber(*fiber);
    fiber->gang = nullptr;
    fiber->next = worker.idle;
    worker.idle = fiber;
  }
}

void enterFiber(Worker &worker, Fiber &fiber) {
  worker.current = &fiber;
  switchFiber(worker.native, fiber);
}

void leaveForGood(Worker &worker) {
  Fiber &from = *worker.current;
  worker.current = &worker.native;
  worker.isInRuntimeForGuest = false;
  worker.latePlace = 0;
  switchFiber(from, worker.native);
  __builtin_unreachable();
}

} // namespace ptxrun::rt
