#include "rt/exec/pool.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "rt/exec/openmp.h"
#include "rt/exec/run.h"
#include "rt/exec/scheduler.h"
#include "rt/launch/floating_environment.h"
#include "rt/launch/futex.h"
#include "rt/launch/own_thread.h"

namespace ptxrun::rt {

namespace {

/// A helper polls this long for the next launch before it sleeps: programs often launch again soon.
constexpr uint64_t kHelperSpinNs = 100'000;
constexpr uint64_t kOwnerSpinNs = 20'000;

/// Polls until `isOver` or the time is up.
template <typename Predicate> bool spinUntil(uint64_t nanoseconds, Predicate isOver) {
  uint64_t end = nowNs() + nanoseconds;
  for (uint32_t i = 0;; ++i) {
    if (isOver())
      return true;
    if (i % 64 == 63) {
      if (nowNs() > end)
        return false;
      sched_yield();
    }
    __builtin_ia32_pause();
  }
}

class Pool {
 public:
  void offer(LaunchState &launch, void (*work)(LaunchState &, int, uint64_t)) {
    int helpers = launch.workers - 1;
    if (!process_)
      process_ = getpid();
    {
      std::lock_guard guard(lock_);
      launch.offer = {work, 1, true};
      launches_.push_back(&launch);
      growTo(helpers);
    }
    posted_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0)
      futexWake(posted_, helpers);
  }

  void withdraw(LaunchState &launch) {
    {
      std::lock_guard guard(lock_);
      if (!launch.offer.isOpen)
        return;
      launch.offer.isOpen = false;
      launches_.erase(std::find(launches_.begin(), launches_.end(), &launch));
    }
    auto hasLeft = [&] { return launch.helpers.load(std::memory_order_acquire) == 0; };
    if (spinUntil(kOwnerSpinNs, hasLeft))
      return;
    while (uint32_t left = launch.helpers.load(std::memory_order_acquire))
      futexWait(launch.helpers, left);
  }

  void start() {
    process_ = getpid();
    std::lock_guard guard(lock_);
    if (!isEnding_)
      growTo(openMpThreads() - 1);
  }

  /// libomp must not end while threads of a team have not left its code; it makes none from here
  /// on.
  void end() {
    constexpr int kMostMs = 1000;
    if (const pid_t process = process_; process && process != getpid())
      return; // a fork's child has neither helpers nor, perhaps, anybody to open the lock
    {
      std::lock_guard guard(lock_);
      isEnding_ = true;
    }
    for (int ms = 0; startingHelpers_.load(std::memory_order_acquire) > 0 && ms < kMostMs; ++ms)
      usleep(1000);
  }

 private:
  /// Under the lock: starts a team of further helpers if there are fewer than `count`.
  void growTo(int count) {
    if (count <= helperCount_ || isEnding_)
      return;
    const int missing = std::max(count, openMpThreads() - 1) - helperCount_;
    startingHelpers_.fetch_add(missing, std::memory_order_relaxed);
    auto *team = new Team{this, missing};
    pthread_t thread;
    if (pthread_create(&thread, nullptr, runTeam, team) != 0) {
      delete team; // the launch gets by with fewer
      startingHelpers_.fetch_sub(missing, std::memory_order_relaxed);
      return;
    }
    pthread_detach(thread);
    helperCount_ += missing;
  }

  struct Team {
    Pool *pool;
    int size;
  };
  static void *runTeam(void *raw) {
    Team team = *static_cast<Team *>(raw);
    delete static_cast<Team *>(raw);
    becomeOwnThread();
#pragma omp parallel num_threads(team.size)
    {
      const bool isFirst = omp_get_thread_num() == 0; // who tells of those that there are not
      const int come = isFirst ? 1 + team.size - omp_get_num_threads() : 1;
      team.pool->startingHelpers_.fetch_sub(come, std::memory_order_release);
      team.pool->helperLoop();
    }
    return nullptr;
  }

  void helperLoop() {
    becomeOwnThread();
    for (;;) {
      uint32_t seen = posted_.load(std::memory_order_acquire);
      if (LaunchState *launch = join()) {
        helpUntilDone(*launch);
        continue;
      }
      auto isPosted = [&] { return posted_.load(std::memory_order_acquire) != seen; };
      if (spinUntil(kHelperSpinNs, isPosted))
        continue;
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      if (posted_.load(std::memory_order_seq_cst) == seen)
        futexWait(posted_, seen);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    }
  }

  /// The oldest launch that still wants helpers; this thread counts as joined.
  LaunchState *join() {
    std::lock_guard guard(lock_);
    for (LaunchState *launch : launches_) {
      if (launch->offer.nextNumber >= launch->workers || launch->isStopped() ||
          launch->next.load(std::memory_order_relaxed) >= launch->groups)
        continue;
      joined_ = launch->offer.nextNumber++;
      launch->helpers.fetch_add(1, std::memory_order_acq_rel);
      return launch;
    }
    return nullptr;
  }

  void helpUntilDone(LaunchState &launch) {
    const KernelEnvironment environment;
    launch.offer.work(launch, joined_, 0);
    // The owner may return, and the launch be gone, as soon as the count is down; waking a word
    // that is gone is harmless.
    if (launch.helpers.fetch_sub(1, std::memory_order_acq_rel) == 1)
      futexWake(launch.helpers, 1);
  }

  std::mutex lock_;
  std::vector<LaunchState *> launches_;
  int helperCount_ = 0;
  bool isEnding_ = false;
  std::atomic<pid_t> process_{0};       ///< whose threads the helpers are; 0 while there are none
  std::atomic<int> startingHelpers_{0}; ///< that have not come out of libomp yet
  std::atomic<uint32_t> posted_{0};     ///< grows with every offer; helpers sleep on it
  std::atomic<uint32_t> sleepers_{0};
  static thread_local int joined_; ///< number in the launch this helper joined last
};

thread_local int Pool::joined_ = 0;

/// Made before anything runs, so that a fork's child never finds it half made; never destroyed:
/// helpers live as long as the process.
[[clang::no_destroy]] constinit Pool pool;

/// Runs before the destructors of libomp, which this library (or program) depends on.
__attribute__((destructor)) void beforeLibompEnds() { pool.end(); }

} // namespace

void offerLaunch(LaunchState &launch, void (*work)(LaunchState &, int, uint64_t)) {
  pool.offer(launch, work);
}

void withdrawLaunch(LaunchState &launch) { pool.withdraw(launch); }

void startHelpers() { pool.start(); }

} // namespace ptxrun::rt
