#include "loader/debug/machine.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "rt/exec/launch_checkpoint.h"
#include "rt/memory/device_memory.h"
#include "rt/observe/clock.h"

namespace ptxrun::debug {

namespace {

constexpr uint64_t kPageBytes = 4096;
/// Instructions between checkpoints, half a second; and at least, on the way to a known time.
constexpr Time kSpacing = 20'000'000, kLeastSpacing = 100'000;
/// Between blocks a checkpoint is smaller: so many instructions of a spacing it waits for one.
constexpr Time kPatience = 8;
/// Checkpoints cost at most a third of the time.
constexpr uint64_t kNsPerInstruction = 25, kCostShare = 3;
constexpr size_t kMostCheckpoints = 64, kMostBytes = size_t{1} << 30;

char *heapBase() { return reinterpret_cast<char *>(rt::kDeviceHeapArena); }

} // namespace

Machine::Machine(Program &program, Time spacing)
    : program_(program), memory_(program.memory()), spacing_(spacing ? spacing : kSpacing),
      leastSpacing_(spacing ? spacing : kLeastSpacing), costShare_(spacing ? 0 : kCostShare),
      starts_(program.launches()), hasPrinted_(program.launches()) {
  for (const Program::Memory &one : memory_)
    beginning_.emplace_back(one.base, one.bytes);
  firstHeap_ = rt::deviceHeapBlocks();
  firstHeapContents_.assign(heapBase(), rt::deviceHeapExtent());
  checkpoints_.push_back({});
  checkpoints_.back().heap = firstHeap_;
  runner_ = std::thread([this] { runLaunches(); });
}

Machine::~Machine() {
  if (isRunning_) {
    isGivenUp_ = true;
    resume();
  }
  {
    std::lock_guard lock(mutex_);
    isClosing_ = true;
    turn_ = Turn::kernel;
  }
  changed_.notify_all();
  runner_.join();
}

// --- The kernel's thread -----------------------------------------------------------------------

/// Runs launches from firstLaunch_ on each time that it is its turn and nothing runs.
void Machine::runLaunches() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return turn_ == Turn::kernel; });
    if (isClosing_)
      return;
    lock.unlock();
    isRunning_ = true;
    for (launch_ = firstLaunch_;; ++launch_) {
      const auto from = launch_ == firstLaunch_ ? from_ : nullptr;
      const bool isWhole = launch_ != firstLaunch_ || (firstGroup_ == 0 && !from);
      if (isWhole) {
        rt::resetClocks();
        starts_[launch_] = time_;
      }
      if (!from) {
        ended_.clear();
        clearedGroup_ = ~uint64_t{0};
      }
      dropOtherLaunches();
      planCheckpoint();
      LaunchResult result = program_.run(launch_, *this, isWhole ? 0 : firstGroup_, from.get());
      threads_.clear();
      byPlace_.clear();
      current_ = lastThread_ = nullptr;
      lastGang_ = nullptr;
      if (isGivenUp_)
        break;
      if (!hasPrinted_[launch_])
        printed_ += result.printed;
      hasPrinted_[launch_] = true;
      outcome_ = result.outcome;
      state_ = outcome_.isOk() ? State::ended : State::failed;
      if (!outcome_.isOk() || launch_ + 1 == program_.launches())
        break;
    }
    isRunning_ = false;
    lock.lock();
    turn_ = Turn::session;
    changed_.notify_all();
  }
}

/// The launch stands still until the session lets it go on. False: it is to be given up.
bool Machine::pause() {
  state_ = State::stopped;
  std::unique_lock lock(mutex_);
  turn_ = Turn::session;
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ == Turn::kernel; });
  return !isGivenUp_;
}

void Machine::groupStarts(uint64_t group) {
  if (program_.launch(launch_).isRepeatable && time_ >= due_) {
    Checkpoint point;
    point.group = group;
    takeCheckpoint(std::move(point));
  }
}

/// When the next checkpoint is due.
void Machine::planCheckpoint() {
  const Time last = checkpointBefore(time_, false).time;
  due_ = std::max(last + spacing_, time_);
  if (until_ != ~Time{0} && until_ > time_)
    due_ = std::min(due_, time_ + std::max((until_ - time_) / 2, leastSpacing_));
  dueWithin_ = due_;
  if (program_.launch(launch_).isRepeatable)
    dueWithin_ += std::min(spacing_, due_ - time_) / kPatience;
}

void Machine::keep(std::shared_ptr<const rt::LaunchCheckpoint> inFlight) {
  if (!inFlight) {
    dueWithin_ = ~Time{0};
    return;
  }
  Checkpoint point;
  point.group = firstGroup_;
  point.bytes = inFlight->bytes();
  point.inFlight = std::move(inFlight);
  point.threads = threads_;
  point.ended = ended_;
  point.clearedGroup = clearedGroup_;
  takeCheckpoint(std::move(point));
}

Thread &Machine::threadOf(rt::GangState &gang) {
  if (&gang == lastGang_)
    return *lastThread_;
  lastGang_ = &gang;
  lastThread_ = &threads_[&gang];
  return *lastThread_;
}

/// Shared memory has no contents when a block begins; ours has always the same.
void Machine::clearShared(const rt::GangState &gang) {
  const rt::GroupState &group = *gang.cta->group;
  if (group.number == clearedGroup_ || group.launch->sharedBytes == 0)
    return;
  for (uint32_t c = 0; c < group.ctaCount; ++c)
    for (uint32_t i = 0; i < group.ctas[c].gangCount; ++i)
      if (threads_.contains(&group.ctas[c].gangs[i]))
        return;
  clearedGroup_ = group.number;
  for (uint32_t c = 0; c < group.ctaCount; ++c)
    std::memset(group.ctas[c].window + abi::kSharedFirstOffset, 0, group.launch->sharedBytes);
}

void Machine::enter(rt::SteppedThread stepped, const uint64_t *frame, uint32_t function) {
  if (!threads_.contains(&stepped.gang)) {
    clearShared(stepped.gang);
    Thread &begun = threadOf(stepped.gang);
    begun.place = stepped.place();
    begun.window = stepped.window();
    begun.gang = &stepped.gang;
    byPlace_[key(begun.place)] = &begun;
  }
  Thread &thread = threadOf(stepped.gang);
  thread.calls.push_back({frame, function, 0});
  if (watcher_)
    watcher_->enter(thread);
}

rt::Stepper::Answer Machine::step(rt::SteppedThread stepped, uint32_t instruction) {
  if (time_ >= dueWithin_)
    return Answer::keep;
  if (hasToBegin_) {
    hasToBegin_ = false;
    if (watcher_)
      watcher_->begins(*this);
  }
  Thread &thread = threadOf(stepped.gang);
  thread.calls.back().instruction = instruction;
  thread.announced = time_;
  thread.isGoingOn = false;
  return look(thread) ? Answer::goOn : Answer::giveUp;
}

bool Machine::goOn(rt::SteppedThread stepped) {
  Thread &thread = threadOf(stepped.gang);
  thread.isGoingOn = true;
  return look(thread);
}

/// Stops before the thread executes on, if that is wanted.
bool Machine::look(Thread &thread) {
  current_ = &thread;
  bool isToStop = watcher_ && watcher_->step(thread, time_);
  isToStop |= time_ >= until_;
  if (isInterrupted_.load(std::memory_order_relaxed)) {
    isInterrupted_.store(false, std::memory_order_relaxed);
    wasInterrupted_ = isToStop = true;
  }
  if (isToStop && !pause())
    return false;
  thread.last = time_++;
  return true;
}

void Machine::access(rt::SteppedThread stepped, uint64_t address, uint32_t bytes, uint32_t kind) {
  if (!watcher_)
    return;
  Thread &thread = threadOf(stepped.gang);
  if (kind & abi::kAccessShared)
    address = rt::hostAddressOfShared(stepped.gang, address);
  watcher_->access(thread, address, bytes,
                   static_cast<abi::AccessKind>(kind & abi::kAccessKindMask));
}

void Machine::leave(rt::SteppedThread stepped, bool isExit) {
  Thread &thread = threadOf(stepped.gang);
  if (watcher_)
    watcher_->leave(thread, isExit);
  thread.calls.pop_back();
  if (!isExit)
    return;
  const uint64_t number = key(thread.place);
  if (ended_.size() <= number)
    ended_.resize(std::max(number + 1, ended_.size() * 2));
  ended_[number] = true;
  if (current_ == &thread)
    current_ = nullptr;
  byPlace_.erase(number);
  threads_.erase(&stepped.gang);
  lastGang_ = nullptr;
  lastThread_ = nullptr;
}

// --- Checkpoints -------------------------------------------------------------------------------

/// Those within blocks of other launches: their groups may not be there any more.
void Machine::dropOtherLaunches() {
  std::erase_if(checkpoints_, [this](const Checkpoint &point) {
    return point.inFlight && point.launch != launch_;
  });
}

void Machine::addPages(Checkpoint &point) const {
  const auto add = [&](const char *now, uint64_t bytes, std::string_view before) {
    static const std::string kZeros(kPageBytes, '\0');
    for (uint64_t at = 0; at < bytes; at += kPageBytes) {
      const uint64_t size = std::min(kPageBytes, bytes - at);
      const char *then = at + size <= before.size() ? before.data() + at : kZeros.data();
      if (std::memcmp(now + at, then, size) == 0)
        continue;
      point.pages.emplace(reinterpret_cast<uint64_t>(now + at), std::string(now + at, size));
      point.bytes += size;
    }
  };
  for (size_t i = 0; i < memory_.size(); ++i)
    add(memory_[i].base, memory_[i].bytes, beginning_[i]);
  add(heapBase(), rt::deviceHeapExtent(), firstHeapContents_);
}

/// Fills in what all have. `point` has the rest.
void Machine::takeCheckpoint(Checkpoint point) {
  const auto begin = std::chrono::steady_clock::now();
  const auto after = std::ranges::upper_bound(checkpoints_, time_, {}, &Checkpoint::time);
  if (std::prev(after)->time + leastSpacing_ / 2 <= time_) {
    point.time = time_;
    point.launch = launch_;
    point.clocks = rt::clockReadings();
    point.heap = rt::deviceHeapBlocks();
    addPages(point);
    checkpoints_.insert(after, std::move(point));
    thinOut();
  }
  const auto cost = std::chrono::steady_clock::now() - begin;
  const auto spent = static_cast<uint64_t>(std::chrono::nanoseconds(cost).count());
  planCheckpoint();
  const Time wait = time_ + spent * costShare_ / kNsPerInstruction;
  due_ = std::max(due_, wait);
  dueWithin_ = std::max(dueWithin_, wait);
}

/// Leaves out those that are close to others, seen from here.
void Machine::thinOut() {
  const auto bytes = [this] {
    size_t all = 0;
    for (const Checkpoint &point : checkpoints_)
      all += point.bytes;
    return all;
  };
  while (checkpoints_.size() > 2 &&
         (checkpoints_.size() > kMostCheckpoints || bytes() > kMostBytes)) {
    size_t least = 1;
    double leastGap = 0;
    for (size_t i = 1; i + 1 < checkpoints_.size(); ++i) {
      const Time at = checkpoints_[i].time, distance = at > time_ ? at - time_ : time_ - at;
      const double gap = static_cast<double>(checkpoints_[i + 1].time - checkpoints_[i - 1].time) /
                         static_cast<double>(distance + leastSpacing_);
      if (i == 1 || gap < leastGap) {
        least = i;
        leastGap = gap;
      }
    }
    checkpoints_.erase(checkpoints_.begin() + static_cast<ptrdiff_t>(least));
  }
}

const Machine::Checkpoint &Machine::checkpointBefore(Time time, bool isStrict) const {
  size_t i = checkpoints_.size() - 1;
  while (i > 0 && (isStrict ? checkpoints_[i].time >= time : checkpoints_[i].time > time))
    --i;
  return checkpoints_[i];
}

void Machine::restore(const Checkpoint &point) {
  for (size_t i = 0; i < memory_.size(); ++i)
    std::memcpy(memory_[i].base, beginning_[i].data(), beginning_[i].size());
  const uint64_t extent = rt::deviceHeapExtent();
  std::memset(heapBase(), 0, extent);
  std::memcpy(heapBase(), firstHeapContents_.data(), firstHeapContents_.size());
  rt::restoreDeviceHeap(point.heap);
  for (const auto &[address, contents] : point.pages)
    std::memcpy(reinterpret_cast<void *>(address), contents.data(), contents.size());
  rt::setClockReadings(point.clocks);
}

void Machine::rewind(const Checkpoint &point) {
  if (isRunning_) {
    isGivenUp_ = true;
    resume();
    isGivenUp_ = false;
  }
  restore(point);
  time_ = point.time;
  firstLaunch_ = launch_ = point.launch;
  firstGroup_ = point.group;
  from_ = point.inFlight;
  if (from_) { // else the launch clears them
    threads_ = point.threads;
    for (auto &[gang, thread] : threads_)
      byPlace_[key(thread.place)] = &thread;
    ended_ = point.ended;
    clearedGroup_ = point.clearedGroup;
  }
  outcome_ = {};
  state_ = State::unstarted;
}

// --- The session's thread ----------------------------------------------------------------------

void Machine::resume() {
  std::unique_lock lock(mutex_);
  turn_ = Turn::kernel;
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ == Turn::session; });
}

void Machine::forward(Watcher *watcher, Time until) {
  wasInterrupted_ = false;
  if (state_ == State::ended || state_ == State::failed)
    return;
  watcher_ = watcher;
  until_ = until;
  hasToBegin_ = true;
  planCheckpoint();
  resume();
  watcher_ = nullptr;
}

void Machine::goTo(Time time) {
  if (time == time_ && state_ == State::stopped)
    return;
  // The nearer of here and the checkpoint.
  const Checkpoint &point = checkpointBefore(time, false);
  const bool canGoOn = (state_ == State::stopped || state_ == State::unstarted) && time_ <= time;
  if (!canGoOn || point.time > time_)
    rewind(point);
  isInterrupted_.store(false, std::memory_order_relaxed);
  forward(nullptr, time);
}

namespace {
/// Notes when another watcher would stop.
class LastStop final : public Watcher {
 public:
  LastStop(Watcher &wanted, Time before) : wanted_(wanted), before_(before) {}
  bool step(const Thread &thread, Time time) override {
    if (wanted_.step(thread, time) && wanted_.stopTime(time) < before_)
      last = wanted_.stopTime(time);
    return false;
  }
  void begins(const Machine &machine) override { wanted_.begins(machine); }
  void ended(const Machine &machine) {
    if (wanted_.ends(machine, last.value_or(0)) && wanted_.stopTime(0) < before_)
      last = wanted_.stopTime(0);
  }
  void enter(const Thread &thread) override { wanted_.enter(thread); }
  void leave(const Thread &thread, bool isExit) override { wanted_.leave(thread, isExit); }
  void access(const Thread &thread, uint64_t address, uint32_t bytes,
              abi::AccessKind kind) override {
    wanted_.access(thread, address, bytes, kind);
  }
  std::optional<Time> last;

 private:
  Watcher &wanted_;
  const Time before_;
};
} // namespace

std::optional<Time> Machine::findLast(const std::function<std::unique_ptr<Watcher>()> &make,
                                      Time before) {
  while (before > 0) {
    const Checkpoint point = checkpointBefore(before, true);
    rewind(point);
    const std::unique_ptr<Watcher> wanted = make();
    LastStop looking(*wanted, before);
    forward(&looking, before);
    if (wasInterrupted_)
      return std::nullopt;
    looking.ended(*this);
    if (looking.last)
      return looking.last;
    before = point.time;
  }
  return std::nullopt;
}

std::optional<Time> Machine::startOf(size_t n) const { return starts_[n]; }

const Thread *Machine::find(GangPlace place) const {
  return state_ == State::stopped ? living(place) : nullptr;
}

const Thread *Machine::living(GangPlace place) const {
  const auto found = byPlace_.find(key(place));
  return found == byPlace_.end() ? nullptr : found->second;
}

bool Machine::hasEnded(GangPlace place) const {
  if (state_ == State::unstarted)
    return false;
  const bool isLeftOut = launch_ == firstLaunch_ && place.block < firstGroup_;
  return isLeftOut || (key(place) < ended_.size() && ended_[key(place)]);
}

std::string Machine::takePrinted() { return std::exchange(printed_, {}); }

} // namespace ptxrun::debug
