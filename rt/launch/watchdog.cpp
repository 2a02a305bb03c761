#include "rt/launch/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>

#include "rt/launch/clock.h"
#include "rt/launch/faults.h"
#include "rt/launch/own_thread.h"

namespace ptxrun::rt {

namespace {

constexpr auto kPeriod = std::chrono::milliseconds(2);
/// After the last launch it looks again now and then for a second: waking it for every launch would
/// cost more than the launch.
constexpr auto kLinger = std::chrono::milliseconds(10);
constexpr uint32_t kLingerRounds = 100;

struct Watched {
  LaunchState *launch;
  uint64_t deadline; ///< 0 = none
};

/// Lives as long as the process: its thread is detached and sleeps while nothing is watched.
class Watchdog {
 public:
  void add(LaunchState &launch) {
    std::lock_guard guard(lock_);
    if (find(launch) != watched_.end())
      return;
    auto timeout = static_cast<uint64_t>(launch.request->timeout.count());
    watched_.push_back({&launch, timeout ? nowNs() + timeout : 0});
    launch.isWatched.store(true, std::memory_order_relaxed);
    if (!isStarted_) {
      pthread_t thread;
      isStarted_ = pthread_create(&thread, nullptr, runLoop, this) == 0;
      if (isStarted_)
        pthread_detach(thread);
    } else if (isAsleep_) {
      wake_.notify_one();
    }
  }

  void remove(LaunchState &launch) {
    std::lock_guard guard(lock_);
    auto at = find(launch);
    if (at != watched_.end())
      watched_.erase(at);
  }

 private:
  std::vector<Watched>::iterator find(LaunchState &launch) {
    return std::find_if(watched_.begin(), watched_.end(),
                        [&](Watched &w) { return w.launch == &launch; });
  }

  static void *runLoop(void *watchdog) { static_cast<Watchdog *>(watchdog)->loop(); }

  [[noreturn]] void loop() {
    becomeOwnThread();
    std::unique_lock guard(lock_);
    for (uint32_t idleRounds = 0;;) {
      if (!watched_.empty()) {
        idleRounds = 0;
        wake_.wait_for(guard, kPeriod);
      } else if (idleRounds++ < kLingerRounds) {
        wake_.wait_for(guard, kLinger);
      } else {
        isAsleep_ = true;
        wake_.wait(guard, [this] { return !watched_.empty(); });
        isAsleep_ = false;
      }
      for (Watched &w : watched_)
        check(w);
    }
  }

  static void stop(LaunchState &launch, Status status, const char *message) {
    std::lock_guard guard(launch.lock);
    if (launch.hasFailed)
      return;
    launch.hasFailed = true;
    launch.failure.status = status;
    launch.failure.message = message;
    launch.stop.store(static_cast<uint32_t>(status), std::memory_order_release);
  }

  static void check(Watched &w) {
    LaunchState &launch = *w.launch;
    const auto *cancel = launch.request->cancel;
    if (cancel && cancel->load(std::memory_order_relaxed))
      stop(launch, Status::cancelled, "the launch was cancelled");
    else if (w.deadline && nowNs() > w.deadline)
      stop(launch, Status::timeout, "the launch took longer than its time limit");
    if (!launch.isStopped())
      return;
    for (auto &thread : launch.workerThreads)
      if (int id = thread.load(std::memory_order_relaxed))
        syscall(SYS_tgkill, getpid(), id, interruptSignal());
  }

  std::mutex lock_;
  std::condition_variable wake_;
  std::vector<Watched> watched_;
  bool isStarted_ = false;
  bool isAsleep_ = false;
};

Watchdog &watchdog() {
  static auto *instance = new Watchdog; // never destroyed: its thread may outlive main
  return *instance;
}

} // namespace

void watch(LaunchState &launch) {
  if (launch.request->timeout.count() != 0 || launch.request->cancel)
    watchdog().add(launch);
}

void interruptWorkers(LaunchState &launch) {
  if (launch.workers <= 1)
    return;
  try {
    watchdog().add(launch);
  } catch (const std::bad_alloc &) { // the others find out when they next ask
  }
}

void unwatch(LaunchState &launch) {
  if (launch.isWatched.load(std::memory_order_relaxed))
    watchdog().remove(launch);
}

} // namespace ptxrun::rt
