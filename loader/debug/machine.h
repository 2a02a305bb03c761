// The launches of a Program as something that can be stopped before any instruction, and brought
// back to any earlier one.
//
// Time is the number of instructions that all threads together have executed since the first launch
// began; one that gives way to other threads before it accesses memory counts twice. The schedule
// repeats itself, so a time names one state. Going back is executing again: from the beginning, or
// from a checkpoint. Checkpoints hold memory (pages that differ from the beginning); those between
// blocks nothing else, as no thread lives there, those within blocks also what the runtime has of
// them (rt::LaunchCheckpoint). They are taken some tens of millions of instructions apart, and on
// the way to a time that is known ever closer before it, so that the next step back is short.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "loader/debug/program.h"
#include "rt/memory/device_heap.h"
#include "rt/observe/stepper.h"

namespace ptxrun::debug {

using Time = uint64_t;
using rt::GangPlace;

/// A call that has not returned.
struct Call {
  const uint64_t *words = nullptr; ///< check::DebugFrame
  uint32_t function = 0;           ///< number in the module
  uint32_t instruction = 0;        ///< number in the module: executed next, or calls the next frame
};

/// A thread that has begun and not ended.
struct Thread {
  GangPlace place;
  std::vector<Call> calls; ///< the kernel first
  Time last = 0;           ///< of its last instruction that was executed
  Time announced = 0;      ///< when its next instruction was first looked at
  bool isGoingOn =
      false; ///< it gave way to others since then, before that instruction's access of memory
  char *window = nullptr; ///< host address of `.shared` offset 0
  rt::GangState *gang = nullptr;
  uint32_t instruction() const { return calls.empty() ? 0 : calls.back().instruction; }
};

class Machine;

/// Looks at the execution as it goes on. All run on the machine's thread.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// The thread executes its next instruction at this time, or goes on with it (Thread::isGoingOn).
  /// True: stop before it.
  virtual bool step(const Thread &, Time) { return false; }
  /// Backwards: the time to stop at, after step() said so at `time`: that, or one before.
  virtual Time stopTime(Time time) const { return time; }
  /// Execution begins, or goes on where threads live already.
  virtual void begins(const Machine &) {}
  /// It has come to where it was to stop. True: something had happened after `after` that step()
  /// could not tell yet; stopTime() says when.
  virtual bool ends(const Machine &, Time /*after*/) { return false; }
  virtual void enter(const Thread &) {}
  /// Before the call is taken off.
  virtual void leave(const Thread &, bool /*isExit*/) {}
  /// The thread's instruction of time thread.last accesses host memory at `address`; 0: some
  /// operation of the runtime.
  virtual void access(const Thread &, uint64_t /*address*/, uint32_t /*bytes*/, abi::AccessKind) {}
};

class Machine final : rt::Stepper {
 public:
  enum class State : uint8_t {
    unstarted, ///< before the first instruction
    stopped,   ///< thread() executes the next one
    ended,     ///< all launches have ended
    failed     ///< outcome() says how; what follows was not launched
  };

  /// `spacing`: instructions between checkpoints, about; 0: as suits.
  explicit Machine(Program &, Time spacing = 0);
  ~Machine() override;

  Program &program() { return program_; }
  State state() const { return state_; }
  Time time() const { return time_; }
  /// The launch that is stopped, or was the last to run.
  size_t launch() const { return launch_; }
  /// When launch n began; nothing where it was not come to yet.
  std::optional<Time> startOf(size_t n) const;
  /// Where stopped: the thread that executes the next instruction; else null.
  const Thread *thread() const { return state_ == State::stopped ? current_ : nullptr; }
  /// A thread that lives; null where it has not begun, has ended, or nothing is stopped.
  const Thread *find(GangPlace) const;
  bool hasEnded(GangPlace) const;
  /// As find(), for watchers.
  const Thread *living(GangPlace) const;
  const device::Outcome &outcome() const { return outcome_; }

  /// Executes until the watcher says stop, `until`, or the end. The first instruction that is
  /// looked at is the next one but for the one where it is stopped now.
  void forward(Watcher *, Time until = ~Time{0});
  /// Goes to a time, forwards or backwards.
  void goTo(Time);
  /// Executes again what happened before `before` and tells, of the times at which the watcher
  /// (made anew for each stretch that is looked at) says stop, the last. Ends somewhere before
  /// `before`; goTo comes next.
  std::optional<Time> findLast(const std::function<std::unique_ptr<Watcher>()> &, Time before);
  /// From now on, and until told otherwise, forward() stops at the next instruction. Any thread,
  /// signal handlers too.
  void interrupt() { isInterrupted_.store(true, std::memory_order_relaxed); }
  bool wasInterrupted() const { return wasInterrupted_; }

  /// Text that kernels printed and nobody has taken; a launch executed again adds nothing.
  std::string takePrinted();
  void printAgain() { hasPrinted_.assign(hasPrinted_.size(), false); }
  size_t checkpoints() const { return checkpoints_.size(); }

 private:
  struct Checkpoint {
    Time time = 0;
    size_t launch = 0;
    uint64_t group = 0;
    uint64_t clocks = 0;
    std::vector<rt::HeapBlock> heap;
    std::map<uint64_t, std::string> pages; ///< by address: those that differ from the beginning
    size_t bytes = 0;
    // Within blocks:
    std::shared_ptr<const rt::LaunchCheckpoint> inFlight;
    std::unordered_map<rt::GangState *, Thread> threads;
    std::vector<bool> ended;
    uint64_t clearedGroup = ~uint64_t{0};
  };
  enum class Turn : uint8_t { session, kernel };

  void groupStarts(uint64_t group) override;
  void enter(rt::SteppedThread, const uint64_t *frame, uint32_t function) override;
  Answer step(rt::SteppedThread, uint32_t instruction) override;
  void keep(std::shared_ptr<const rt::LaunchCheckpoint>) override;
  bool goOn(rt::SteppedThread) override;
  bool look(Thread &);
  void access(rt::SteppedThread, uint64_t address, uint32_t bytes, uint32_t kind) override;
  void leave(rt::SteppedThread, bool isExit) override;

  Thread &threadOf(rt::GangState &);
  void clearShared(const rt::GangState &);
  bool pause();
  void runLaunches();
  void handOver(std::unique_lock<std::mutex> &);
  /// Lets the kernel's thread run until it stops or ends.
  void resume();
  /// Ends what is running, and puts memory to where the checkpoint has it.
  void rewind(const Checkpoint &);
  const Checkpoint &checkpointBefore(Time, bool isStrict) const;
  void takeCheckpoint(Checkpoint);
  void addPages(Checkpoint &) const;
  void thinOut();
  void planCheckpoint();
  void dropOtherLaunches();
  void beginLaunch();
  void restore(const Checkpoint &);
  uint64_t key(GangPlace place) const { return place.block * 1024 + place.thread; }

  Program &program_;
  std::vector<Program::Memory> memory_;
  std::vector<std::string> beginning_; ///< contents of memory_ before the first launch
  std::vector<rt::HeapBlock> firstHeap_;
  std::string firstHeapContents_;
  std::vector<Checkpoint> checkpoints_; ///< ascending; the first is the beginning
  Time spacing_, leastSpacing_;
  uint64_t costShare_; ///< checkpoints take at most one in so many parts of the time; 0: any
  Time due_ = 0;       ///< when the next checkpoint is taken between blocks,
  Time dueWithin_ = 0; ///< and within one

  // What follows belongs to whose turn it is.
  State state_ = State::unstarted;
  Time time_ = 0, until_ = 0;
  size_t launch_ = 0, firstLaunch_ = 0;
  uint64_t firstGroup_ = 0;
  std::shared_ptr<const rt::LaunchCheckpoint> from_; ///< where the next resume() goes on
  bool hasToBegin_ = false;                          ///< the watcher is yet to be told
  std::vector<std::optional<Time>> starts_;
  Watcher *watcher_ = nullptr;
  Thread *current_ = nullptr;
  rt::GangState *lastGang_ = nullptr;
  Thread *lastThread_ = nullptr;
  std::unordered_map<rt::GangState *, Thread> threads_;
  std::unordered_map<uint64_t, Thread *> byPlace_;
  std::vector<bool> ended_;
  uint64_t clearedGroup_ = ~uint64_t{0};
  device::Outcome outcome_;
  std::vector<bool> hasPrinted_;
  std::string printed_;
  std::atomic<bool> isInterrupted_{false};
  bool wasInterrupted_ = false, isGivenUp_ = false, isRunning_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = Turn::session;
  bool isClosing_ = false;
  std::thread runner_;
};

} // namespace ptxrun::debug
