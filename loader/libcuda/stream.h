// Streams: ordered queues of operations, and who executes them.
//
// All queues of a context share the context's one mutex, so operations have one total order of
// submission. An operation starts when everything before it in its stream has ended and its tickets
// (legacy default stream rules, events) are done; tickets always point to operations submitted
// earlier, so waiting for them cannot go round in a circle.
//
// Whoever waits, helps: a thread that synchronises runs the stream's operations itself while no
// other thread does. So a small launch followed by a synchronise costs no thread switch. What
// nobody waits for is run by the stream's worker, a thread made at first need: at once when the
// work is large or the queue grows, else after a moment (the watcher).
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "loader/libcuda/cuda_abi.h"
#include "loader/libcuda/handles.h"

namespace ptxrun::driver {

class Context;
class Stream;
struct StreamCapture;

/// One piece of work of a stream. May be run more than once (graphs replay operations).
class Operation {
 public:
  virtual ~Operation() = default;
  /// Does the work on the calling thread. An error becomes the context's.
  virtual CUresult run(Context &) = 0;
  /// True if it must run even after the context has failed (callbacks, event records).
  virtual bool runsAfterFailure() const { return false; }
  /// True if it is worth waking another thread at once.
  virtual bool isLarge() const { return false; }
};

/// "Everything of `stream` up to and including operation number `sequence`."
struct Ticket {
  std::shared_ptr<Stream> stream;
  uint64_t sequence = 0;
  bool isDone() const;
};

/// What programs say of a stream (cuStreamSetAttribute). Nothing here depends on it; it is
/// remembered.
class StreamAttributes {
 public:
  explicit StreamAttributes(int priority);
  StreamAttributes &operator=(const StreamAttributes &);
  /// False for an attribute that streams do not have.
  bool set(CUstreamAttrID, const CUstreamAttrValue &);
  bool get(CUstreamAttrID, CUstreamAttrValue &) const;

 private:
  mutable std::mutex mutex_;
  std::map<int, CUstreamAttrValue> values_;
};

class Stream : public Object, public std::enable_shared_from_this<Stream> {
 public:
  static constexpr Kind kKind = Kind::stream;
  enum class Role { legacy, perThread, created };

  Stream(Context &, Role, unsigned flags, int priority);
  ~Stream() override;

  Context &context() const { return *context_; }
  Role role() const { return role_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  uint64_t id() const { return id_; }
  StreamAttributes &attributes() { return attributes_; }
  /// Ordered against the legacy default stream.
  bool isBlocking() const { return role_ != Role::legacy && !(flags_ & CU_STREAM_NON_BLOCKING); }

  /// An operation (null: only a wait) and what it waits for beside what is before it.
  struct Work {
    std::shared_ptr<Operation> operation;
    std::vector<Ticket> after;
    bool isStarted = false;
  };
  /// Appends an operation. The context's rules for the legacy default stream are added to `after`.
  Ticket submit(std::shared_ptr<Operation>, std::vector<Ticket> after = {});
  /// The same for who has no use for the ticket.
  void enqueue(std::shared_ptr<Operation>);
  /// Returns when fewer than some thousand operations are queued, as launches do on a GPU: who
  /// launches without end would else be ever further ahead, and whoever waits for the context wait
  /// for more and more.
  void makeRoom();
  /// Appends several that nothing gets between. The ticket is the last one's; the others' numbers
  /// are those before it.
  Ticket submitTogether(std::vector<Work>);
  /// Appends a wait: what follows in this stream starts after the tickets are done.
  void waitFor(std::vector<Ticket> tickets) { submit(nullptr, std::move(tickets)); }
  /// Returns when operation number `sequence` is done, working on the queue where nobody else does.
  void drive(uint64_t sequence);
  void synchronise() { drive(submitted()); }

  uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  bool isIdle() const { return completed() == submitted(); }
  Ticket lastTicket() { return {shared_from_this(), submitted()}; }

  /// Records into a graph instead of running what it is given (stream_capture.h).
  bool isCapturing() const { return isCapturing_.load(std::memory_order_acquire); }

  /// Hands what is queued to the stream's worker.
  void wakeWorker();
  /// No more work will come: what is queued is finished by the worker, which then ends.
  void close();

 private:
  friend class Context;
  friend class Watcher;
  friend class CaptureState;
  void append(Work);
  void announce(bool isLarge);
  class Running;
  void runHead(std::unique_lock<std::mutex> &, uint64_t last);
  void waitUntil(std::unique_lock<std::mutex> &, uint64_t sequence);
  CUresult run(const Work &);
  void runWorker();
  void wakeWorkerLocked();

  Context *const context_; // contexts are never freed
  const Role role_;
  const unsigned flags_;
  const int priority_;
  const uint64_t id_;
  StreamAttributes attributes_;

  // Guarded by the context's queue mutex.
  std::deque<Work> entries_; // not yet started
  bool isBusy_ = false;      // a thread runs the head
  unsigned waiters_ = 0;
  std::atomic<uint64_t> wanted_{UINT64_MAX}; // no waiter's operation is before this one
  bool hasWorker_ = false;
  bool isWorkerAwake_ = false;
  bool isClosed_ = false;
  std::condition_variable changed_;     // an operation ended
  std::condition_variable workArrived_; // for the worker

  std::atomic<uint64_t> submitted_{0}, completed_{0};
  std::atomic<bool> isCapturing_{false};
  std::shared_ptr<StreamCapture> capture_; // CaptureState's
  bool isWatched_ = false;
  uint64_t seenByWatcher_ = 0; // completed_ at the watcher's last round
  unsigned idleRounds_ = 0;
};

/// While one lives, the calling thread is inside a program's callback, from which the API may not
/// be called.
class InsideCallback {
 public:
  InsideCallback() { isActive_ = true; }
  ~InsideCallback() { isActive_ = false; }
  InsideCallback(const InsideCallback &) = delete;
  InsideCallback &operator=(const InsideCallback &) = delete;
  static bool isActive() { return isActive_; }

 private:
  static inline thread_local bool isActive_ = false;
};

/// Ends the workers: nothing starts any more, what runs is cancelled. Called once when the library
/// is unloaded.
void stopWorkers();
/// Set while the process ends; running kernels watch it.
const std::atomic<bool> &shutdownFlag();

} // namespace ptxrun::driver
