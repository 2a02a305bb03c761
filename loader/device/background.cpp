#include "loader/device/background.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "loader/device/device.h"
#include "rt/launch/own_thread.h"
#include "rt/launch/sanitizers.h"

namespace ptxrun::device {

namespace {

class Background {
 public:
  Background() : thread_([this] { work(); }) {}
  void end() {
    {
      std::lock_guard lock(mutex_);
      isEnding_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void add(std::function<void()> job) {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    rt::becomeOwnThread();
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return isEnding_ || !jobs_.empty(); });
      if (isEnding_)
        return;
      std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      try {
        job();
      } catch (...) { // short of memory: what it was to make is made when it is needed
      }
      job = nullptr; // what it owns is freed without the lock
      lock.lock();
    }
  }

  std::mutex mutex_; ///< guards jobs_ and isEnding_
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool isEnding_ = false;
  std::thread thread_; // last: it uses the others
};

std::mutex instanceMutex;
Background *instance = nullptr; ///< made for the first job, destroyed by endBackground() alone

} // namespace

void runInBackground(std::function<void()> job) {
  std::lock_guard lock(instanceMutex);
  if (!instance)
    instance = new Background;
#if defined(PTXRUN_ASAN) || defined(PTXRUN_TSAN)
  // libLLVM is a library of its own there, and destroys its static objects when the process ends:
  // by then the thread must have ended. They exist already (prepare()), so that this runs first.
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(endBackground); });
#endif
  instance->add(std::move(job));
}

void endBackground() {
  std::lock_guard lock(instanceMutex);
  if (!instance)
    return;
  instance->end();
  delete instance;
  instance = nullptr; // another job would begin anew
}

} // namespace ptxrun::device
