#include "loader/libcuda/stream.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "loader/libcuda/context.h"
#include "loader/libcuda/thrown.h"
#include "rt/launch/own_thread.h"

namespace ptxrun::driver {

namespace {

std::atomic<uint64_t> nextStreamId{1};
std::atomic<bool> isShuttingDown{false};
std::atomic<unsigned> runningOperations{0};

/// A queue this long is not going to be emptied by a synchronise that follows at once.
constexpr size_t kQueueWorthAWorker = 4;
/// Operations that a stream holds before launches wait. As many as GPUs were seen to hold.
constexpr uint64_t kMostQueued = 1024;
constexpr auto kWatchInterval = std::chrono::microseconds(50);
constexpr unsigned kIdleRoundsWatched = 100;

/// Blocks a worker for good: the process is ending and nothing may start any more.
[[noreturn]] void parkForEver() {
  for (;;)
    pause();
}

} // namespace

const std::atomic<bool> &shutdownFlag() { return isShuttingDown; }

void stopWorkers() {
  isShuttingDown = true;
  for (int i = 0; i < 500 && runningOperations != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool Ticket::isDone() const { return !stream || stream->completed() >= sequence; }

/// Wakes the worker of a stream whose work has been waiting for a round. It polls only while
/// something is going on, so that a launch that is synchronised at once needs no system call.
class Watcher {
 public:
  static Watcher &instance() {
    static auto *watcher = new Watcher;
    return *watcher;
  }

  /// Called with the context's queue mutex held.
  void watch(const std::shared_ptr<Stream> &stream) {
    std::lock_guard lock(mutex_);
    if (!isStarted_)
      std::thread([this] { run(); }).detach();
    isStarted_ = true;
    arrivals_.push_back(stream);
    stream->isWatched_ = true;
    stream->idleRounds_ = 0;
    arrived_.notify_one();
  }

 private:
  void run() {
    rt::becomeOwnThread();
    std::vector<std::shared_ptr<Stream>> streams;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        if (streams.empty())
          arrived_.wait(lock, [this] { return !arrivals_.empty(); });
        takeArrivals(streams);
      }
      if (isShuttingDown)
        parkForEver();
      std::this_thread::sleep_for(kWatchInterval);
      std::erase_if(streams, [](const auto &stream) { return !keepWatching(*stream); });
    }
  }

  void takeArrivals(std::vector<std::shared_ptr<Stream>> &streams) {
    try {
      streams.insert(streams.end(), arrivals_.begin(), arrivals_.end());
      arrivals_.clear();
    } catch (const std::bad_alloc &) { // in the next round
    }
  }

  static bool keepWatching(Stream &stream) {
    std::lock_guard lock(stream.context_->queueMutex());
    const uint64_t completed = stream.completed();
    if (stream.entries_.empty()) {
      stream.isWatched_ = stream.isBusy_ || ++stream.idleRounds_ < kIdleRoundsWatched;
      stream.seenByWatcher_ = completed;
      return stream.isWatched_;
    }
    stream.idleRounds_ = 0;
    if (stream.seenByWatcher_ == completed)
      stream.wakeWorkerLocked();
    stream.seenByWatcher_ = completed;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::shared_ptr<Stream>> arrivals_;
  bool isStarted_ = false;
};

Stream::Stream(Context &context, Role role, unsigned flags, int priority)
    : Object(kKind), context_(&context), role_(role), flags_(flags), priority_(priority),
      id_(nextStreamId++), attributes_(priority) {}

Stream::~Stream() = default;

/// Called with the queue mutex held, as announce() is.
void Stream::append(Work work) {
  context_->addLegacyTickets(*this, work.after);
  entries_.push_back(std::move(work));
  submitted_.store(submitted_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  context_->pending_.fetch_add(1, std::memory_order_acq_rel);
}

void Stream::announce(bool isLarge) {
  try {
    if (isLarge || entries_.size() >= kQueueWorthAWorker)
      wakeWorkerLocked();
    else if (!isWatched_)
      Watcher::instance().watch(shared_from_this());
  } catch (const std::exception &) { // no memory, no thread: whoever waits runs it
  }
}

Ticket Stream::submit(std::shared_ptr<Operation> operation, std::vector<Ticket> after) {
  const bool isLarge = operation && operation->isLarge();
  std::lock_guard lock(context_->queueMutex());
  append({std::move(operation), std::move(after)});
  announce(isLarge);
  return lastTicket();
}

void Stream::enqueue(std::shared_ptr<Operation> operation) {
  const bool isLarge = operation->isLarge();
  std::lock_guard lock(context_->queueMutex());
  append({std::move(operation), {}});
  announce(isLarge);
}

void Stream::makeRoom() {
  const uint64_t last = submitted();
  if (last - completed() >= kMostQueued)
    drive(last - kMostQueued / 2);
}

Ticket Stream::submitTogether(std::vector<Work> work) {
  bool isLarge = false;
  for (const Work &one : work)
    isLarge = isLarge || (one.operation && one.operation->isLarge());
  std::lock_guard lock(context_->queueMutex());
  for (Work &one : work)
    append(std::move(one));
  announce(isLarge);
  return lastTicket();
}

/// Some of the first operations of a stream, taken out and run without the lock: a queue of many
/// small launches costs no lock for each. However that ends, also where the thread is cancelled,
/// the stream goes on behind those that ran.
class Stream::Running {
 public:
  Running(Stream &stream, std::unique_lock<std::mutex> &lock, uint64_t most)
      : stream_(stream), lock_(lock) {
    auto &entries = stream.entries_;
    const size_t count = std::min<uint64_t>({most, kTogether, entries.size()});
    for (; count_ < count; ++count_) {
      works_[count_] = std::move(entries.front());
      entries.pop_front();
    }
    stream.isBusy_ = true;
    lock.unlock();
  }
  ~Running() {
    if (next_ < count_ && works_[next_].isStarted)
      finish();
    lock_.lock();
    while (count_ > next_)
      stream_.entries_.push_front(std::move(works_[--count_]));
    stream_.isBusy_ = false;
    if (stream_.waiters_ != 0)
      stream_.changed_.notify_all();
  }
  Running(const Running &) = delete;
  Running &operator=(const Running &) = delete;

  /// The next operation, before it runs; null behind the last.
  const Work *start() {
    if (next_ == count_)
      return nullptr;
    works_[next_].isStarted = true;
    return &works_[next_];
  }
  /// Behind its end, however it ended.
  void finish() {
    works_[next_++] = {}; // an operation may own a module: let it go outside the lock
    stream_.context_->pending_.fetch_sub(1, std::memory_order_acq_rel);
    const uint64_t completed = stream_.completed_.load(std::memory_order_relaxed) + 1;
    stream_.completed_.store(
        completed); // before the next line, as a waiter's are the other way round
    if (completed < stream_.wanted_.load())
      return;
    std::lock_guard lock(stream_.context_->queueMutex());
    stream_.changed_.notify_all();
  }

 private:
  static constexpr size_t kTogether = 16;
  Stream &stream_;
  std::unique_lock<std::mutex> &lock_;
  std::array<Work, kTogether> works_;
  size_t count_ = 0, next_ = 0;
};

CUresult Stream::run(const Work &work) {
  for (const Ticket &ticket : work.after)
    if (!ticket.isDone())
      ticket.stream->drive(ticket.sequence);
  if (isShuttingDown)
    parkForEver();
  if (!work.operation || (context_->error() != CUDA_SUCCESS && !work.operation->runsAfterFailure()))
    return CUDA_SUCCESS;
  struct Count {
    Count() { runningOperations.fetch_add(1); }
    ~Count() { runningOperations.fetch_sub(1); }
  } const count;
  return work.operation->run(*context_);
}

/// Runs operations from the head on, up to number `last` at most.
void Stream::runHead(std::unique_lock<std::mutex> &lock, uint64_t last) {
  Running running(*this, lock, last - completed());
  while (const Work *work = running.start()) {
    const CUresult result = boundary::guarded([&] { return run(*work); }, resultOf);
    if (result != CUDA_SUCCESS) // before anybody hears that it has ended
      context_->fail(result, {});
    running.finish();
  }
}

/// Waits until operation number `sequence` has ended or nobody runs the queue. Wakes up for others'
/// sake, too.
void Stream::waitUntil(std::unique_lock<std::mutex> &lock, uint64_t sequence) {
  ++waiters_;
  wanted_.store(std::min(wanted_.load(), sequence));
  if (completed_.load() < sequence && isBusy_)
    changed_.wait(lock);
  if (--waiters_ == 0)
    wanted_.store(UINT64_MAX);
}

void Stream::drive(uint64_t sequence) {
  if (completed() >= sequence)
    return;
  std::unique_lock lock(context_->queueMutex());
  while (completed() < sequence) {
    if (isBusy_)
      waitUntil(lock, sequence);
    else
      runHead(lock, sequence);
  }
}

void Stream::wakeWorker() {
  std::lock_guard lock(context_->queueMutex());
  wakeWorkerLocked();
}

void Stream::wakeWorkerLocked() {
  if (isWorkerAwake_)
    return;
  if (!hasWorker_)
    std::thread([self = shared_from_this()] { self->runWorker(); }).detach();
  else
    workArrived_.notify_one();
  hasWorker_ = isWorkerAwake_ = true;
}

void Stream::close() {
  std::lock_guard lock(context_->queueMutex());
  isClosed_ = true;
  if (!hasWorker_ && entries_.empty())
    return;
  try {
    wakeWorkerLocked();
  } catch (const std::exception &) { // no thread: whoever waits for the context runs what is queued
  }
}

void Stream::runWorker() {
  rt::becomeOwnThread();
  std::unique_lock lock(context_->queueMutex());
  for (;;) {
    while (!entries_.empty()) {
      if (isBusy_)
        waitUntil(lock, UINT64_MAX);
      else
        runHead(lock, UINT64_MAX);
    }
    if (isClosed_)
      return;
    isWorkerAwake_ = false;
    workArrived_.wait(lock, [this] { return isWorkerAwake_; });
  }
}

} // namespace ptxrun::driver
