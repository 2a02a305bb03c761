// What is asked of a launch, and how it may fail.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "intrinsics/abi.h"
#include "rt/launch/schedule.h"

namespace ptxrun::rt {

enum class Status {
  ok,
  illegalAddress, ///< fault in generated code
  misaligned,     ///< an access that code with checks found (ptxrun_misaligned)
  trap,           ///< trap, brkpt
  undefinedUse,   ///< an instruction used in a way the PTX ISA leaves undefined
  assertion,      ///< __assertfail
  deadlock,       ///< every gang of a group waits
  timeout,        ///< RunOptions::timeout passed
  cancelled,      ///< cancel flag
  outOfMemory,    ///< shared/local arenas
  invalid,        ///< request does not fit (block too large, ...)
};

/// Threads of one warp that wait at one place, in a deadlock or when time ran out.
struct Waiter {
  abi::Dim3 ctaid{0, 0, 0};
  uint32_t firstThread = 0, threadCount = 0;
  const void *pc = nullptr;   ///< in the kernel, behind the call that waits; null: it runs
  std::string at;             ///< "barrier 3: 1 of 4 warps ..."
  int64_t sharedAddress = -1; ///< of the mbarrier it waits for, in its CTA's window; -1: none
};

/// What went wrong and where. `pc` is resolved to a PTX line by the caller (jit::Kernel::placeOf).
struct Failure {
  Status status = Status::ok;
  std::string message; ///< one sentence; for deadlock the full report
  const void *pc = nullptr;
  uint64_t address = 0; ///< faulting address
  bool isWrite = false;
  uint32_t ptxLine = 0; ///< known for traps
  abi::Dim3 ctaid{0, 0, 0};
  /// Threads that may have done it, the first by its linear number: one where it is known.
  uint32_t firstThread = 0, threadCount = 0;
  /// Of a deadlock (`message` has the same as text) and of a timeout: the first 64, and how many
  /// there were besides.
  std::vector<Waiter> waiters;
  uint32_t moreWaiters = 0;
};

/// When asynchronous copies happen: at once, as late as their completion mechanism allows (a kernel
/// that forgets a wait then gives wrong results, by design), or either by RunOptions::asyncSeed.
enum class AsyncCopies { eager, late, seeded };

/// Better code for a kernel, still in the making while its first code already runs. Owned by the
/// caller; shared by all launches of the kernel.
class CodeUpgrade {
 public:
  virtual ~CodeUpgrade() = default;
  /// The better code (same kernel, same W) once it is there, null before. Never changes again.
  const abi::KernelCode *code() const { return code_.load(std::memory_order_acquire); }
  /// A worker has spent so many nanoseconds in the first code. Called from any thread, after CTAs.
  virtual void tellRuntime(uint64_t nanoseconds) = 0;

 protected:
  std::atomic<const abi::KernelCode *> code_{nullptr};
};

/// What a launch says of its run, whatever the kernel.
struct RunOptions {
  abi::Dim3 grid, block;
  uint32_t dynamicSharedBytes = 0;
  const void *params = nullptr; ///< copied by the caller if it must outlive; read during the launch
  bool isCooperative = false;   ///< every CTA is started, however many wait for others
  int threads = 0;              ///< workers; 0 = OMP_NUM_THREADS or all cores
  const std::atomic<bool> *cancel = nullptr;
  /// Progress, optional. Of blocks of joined CTAs all are counted, those beyond the grid too.
  std::atomic<uint64_t> *finishedCtas = nullptr;
  Schedule schedule = Schedule::fast;
  uint64_t seed = 0;                        ///< of Schedule::seeded
  uint32_t gangThreads = abi::kWarpSize;    ///< of Schedule::gangs: how many threads take turns
  ScheduleRecord *scheduleRecord = nullptr; ///< if set: filled in, except under fast and serial
  class Stepper *stepper = nullptr;         ///< of debugged code; not under Schedule::fast
  uint64_t firstGroup =
      0; ///< under Schedule::serial and gangs: groups before it are left out, as if they had run
  /// Goes on from there: of the same code, shape and schedule, taken on the calling thread.
  const class LaunchCheckpoint *from = nullptr;
  /// Under schedules other than fast and serial: a launch whose threads all spin while nothing
  /// changes ends as a deadlock (spin_watch.h). Not where the host may be what they wait for.
  bool endsHangs = false;
  AsyncCopies asyncCopies = AsyncCopies::eager;
  uint64_t asyncSeed = 0; ///< of AsyncCopies::seeded
  /// Receives device printf text (null: stdout): once at the end of the launch, by the calling
  /// thread; a launch that prints megabytes also in between, by any worker, one call at a time.
  std::function<void(std::string_view)> printf;
#define RUN_SETTING(type, name, default_, word, effect, read, takes, meaning) type name = default_;
#include "rt/launch/run_settings.def"
#undef RUN_SETTING

  /// One generator draws for schedule and copies.
  uint64_t generatorSeed() const { return seed + asyncSeed * 0x9e3779b97f4a7c15u; }
};

struct LaunchRequest : RunOptions {
  const abi::KernelCode *code = nullptr;
  /// If there may be better code soon: CTAs that start when it is there run it.
  CodeUpgrade *upgrade = nullptr;
  abi::Dim3 cluster;
  bool isExplicitCluster =
      false; ///< the launch or kernel asked for clusters (also of one CTA): %is_explicit_cluster
  const ScheduleScript *script = nullptr; ///< of Schedule::scripted
};

/// "thread block (1,2,3), threads 32 to 63 (warp 1)".
std::string describe(const Waiter &);

} // namespace ptxrun::rt
