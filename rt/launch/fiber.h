// Stackful fibers: a stack and the place where it was left. A switch saves the integer registers
// the ABI asks for and nothing else; MXCSR and the x87 control word stay constant while kernels
// run.
#pragma once
#include <cstddef>
#include <cstdint>

#include "rt/launch/sanitizers.h"

namespace ptxrun::rt {

struct GangState;
struct Worker;

/// A fiber belongs to one worker for life. `job` is what it runs when it is entered for the first
/// time or after it called parkFiber; a job never returns to its caller's caller: it loops in
/// fiberMain.
struct Fiber {
  void *stackPointer = nullptr; ///< where it was left; top of the stack when idle
  char *stack = nullptr;        ///< lowest usable byte; null for a worker's own native stack
  size_t stackBytes = 0;
  void (*job)(Fiber &) = nullptr;
  GangState *gang = nullptr; ///< argument of the job
  Worker *worker = nullptr;
  Fiber *next = nullptr; ///< link in the worker's list of idle or of all fibers
  Fiber *nextOfWorker = nullptr;
  uint32_t color = 0; ///< bytes the top is lowered by, so that stacks do not share cache sets
#ifdef PTXRUN_ASAN
  void *fakeStack = nullptr;
  const void *asanBottom =
      nullptr; ///< of the native stack, learned at the first switch away from it
  size_t asanBytes = 0;
#endif
#ifdef PTXRUN_TSAN
  void *tsanFiber = nullptr;
#endif
};

extern "C" void ptxrunFiberSwitch(void **saveStackPointer, void *loadStackPointer);

/// Leaves `from` (the running fiber) and continues `to`.
#if defined(PTXRUN_ASAN) || defined(PTXRUN_TSAN)
void switchFiber(Fiber &from, Fiber &to);
#else
inline void switchFiber(Fiber &from, Fiber &to) {
  ptxrunFiberSwitch(&from.stackPointer, to.stackPointer);
}
#endif

/// Maps a stack of at least `bytes` with an inaccessible page below it. False when memory is short.
bool mapFiberStack(Fiber &, size_t bytes);
void unmapFiberStack(Fiber &);
/// Forgets whatever the fiber was doing: its next entry starts `job` afresh on an empty stack.
void resetFiber(Fiber &);
/// The first thing to do on a stack one has just switched to (only switchFiber and the entry of a
/// fiber call it).
void arriveOnFiber(Fiber &here);
/// Highest address a fresh start of the fiber uses, 64-byte aligned.
char *fiberTop(const Fiber &);
/// Whether `address` lies in the inaccessible page(s) below the fiber's stack.
bool isInGuard(const Fiber &, uint64_t address);

} // namespace ptxrun::rt
