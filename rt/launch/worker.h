// A worker: what a host or OpenMP thread keeps to run CTAs. Made at the thread's first launch, kept
// until the thread ends.
#pragma once
#include <csignal>
#include <cstdint>
#include <optional>
#include <vector>

#include "rt/launch/fiber.h"
#include "rt/launch/records.h"

namespace ptxrun::rt {

/// splitmix64; reproducible on every host.
struct Random {
  uint64_t state = 0;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }
};

struct Worker {
  Worker();
  ~Worker();

  Fiber native;             ///< the thread's own stack, where the scheduler runs
  Fiber *current = nullptr; ///< kept by enterFiber and the gang switch
  Fiber *leaving = nullptr; ///< for AddressSanitizer
  Fiber *idle = nullptr;    ///< fibers without a gang
  Fiber *all = nullptr;
  Fiber *carrier = nullptr; ///< runs CTA ranges and coroutine gangs
  /// What a fiber runs for a gang, and how the groups that are kept are freed: of exec/scheduler
  /// and exec/group, set with the first launch.
  void (*gangJob)(Fiber &) = nullptr;
  void (*freeGroupMemory)(Worker &) = nullptr;
  size_t stackBytes = 0; ///< what the fibers were mapped with
  uint32_t fiberCount = 0;
  bool mayRunHandlers = true; ///< of the program's signals; helpers block them

  LaunchState *launch = nullptr;
  const abi::KernelCode *code = nullptr; ///< what CTAs that it starts run
  uint64_t toldNs = 0;                   ///< when it last told the launch's CodeUpgrade
  std::optional<LaunchState> debugged; ///< the launch of debugged code: checkpoints know its place
  GangState *standing = nullptr; ///< it left for its native stack between two instructions, to be
                                 ///< gone on with
  /// The gang that runs, for entry points that are not told and for reports of faults.
  GangState *running = nullptr;
  bool isInRuntimeForGuest =
      false; ///< an entry point touches the kernel's memory: a fault there is the kernel's
  /// Where the kernel asked for the put-off copy or the access of lanes apart that runs now; 0:
  /// none.
  uint64_t latePlace = 0;
  volatile sig_atomic_t isStopping = 0;
  int number = 0;
  int threadId = 0;
  class Controller *controller = nullptr; ///< decides who runs; null under fast and serial
  Random random;

  GroupState *freeGroups = nullptr;
  std::vector<GroupState *> inFlight;
  uint64_t rangeFirst = 0, rangeEnd = 0; ///< CTAs the carrier is to run
  GroupState *rangeGroup = nullptr;      ///< the records of the CTA range
  GroupState *coroutineGroup = nullptr;  ///< the group the carrier is to run
  GangState *coroutineGang = nullptr;    ///< or the one gang of it
  WarpMeeting *freeMeetings = nullptr;

  void *alternateStack = nullptr;
  std::string
      scratch; ///< text of a printf being made; owned here so that a fault leaves nothing behind
};

/// While an entry point touches memory the kernel named: a fault there is the kernel's.
struct GuestAccess {
  explicit GuestAccess(Worker &w) : worker(w) {
    worker.isInRuntimeForGuest = true;
    asm volatile("" ::: "memory");
  }
  ~GuestAccess() {
    asm volatile("" ::: "memory");
    worker.isInRuntimeForGuest = false;
  }
  Worker &worker;
};

/// The calling thread's worker. Null where the thread never ran a launch (also after its end).
Worker *currentWorker();
/// The calling thread's worker, made if need be.
Worker &workerOfThread();

/// A fiber of the worker without a gang, its stack at least `worker.stackBytes`; null when memory
/// is short.
Fiber *takeFiber(Worker &, void (*job)(Fiber &));
/// Sees that every fiber of the worker has stacks of at least `bytes`. No fiber may be in use.
void requireStackBytes(Worker &, size_t bytes);
/// Forgets all fibers' work after a failure: every fiber is idle again, on an empty stack.
void abandonFibers(Worker &);
/// From the worker's native stack: runs `fiber` until something switches back.
void enterFiber(Worker &, Fiber &);
/// From any fiber: leaves it for good and returns to the worker's native stack (after failLaunch).
[[noreturn]] void leaveForGood(Worker &);

} // namespace ptxrun::rt
