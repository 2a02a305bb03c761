#include "loader/capture/recorder.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "loader/device/memory.h"
#include "rt/memory/device_heap.h"
#include "rt/memory/device_memory.h"
#include "rt/observe/clock.h"

namespace ptxrun::capture {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(5);
/// Blocks of memory are cut so that readers need not hold more.
constexpr uint64_t kMostBlock = 4 << 20;
/// Pieces that changed are recorded by stretches of their allocations, so that the same contents
/// are the same blocks whatever changed beside them; what is looked at stays in the cache until it
/// is recorded.
constexpr uint64_t kStretch = 512 << 10;
/// So many pieces of one stretch are not worth a block of their own.
constexpr size_t kFewPieces = 16;
/// Copies from here on are recorded by pieces, smaller ones by rows.
constexpr uint64_t kLargeCopy = 16 * kPieceBytes;
constexpr uint64_t kMostCheckpoint = 512 << 20;
/// Of the time since the last checkpoint, so much may go into the next one.
constexpr double kCheckpointShare = 0.05, kCheckpointBytesPerSecond = 4e8;
constexpr uint64_t kFewLaunches = 64;

thread_local bool isLoadingModule = false;
std::atomic<Recorder *> theRecorder{nullptr};
std::atomic<bool> wasSignalled{false};

/// Of all its opaque variables, in the order in which they were made.
std::vector<uint64_t> handlesOf(const device::Module &module) {
  std::vector<uint64_t> handles;
  for (const device::VariableInfo &variable : module.variables()) {
    const size_t count =
        variable.image == abi::ImageKind::none ? 0 : variable.bytes / sizeof(uint64_t);
    const size_t first = handles.size();
    handles.resize(first + count);
    std::memcpy(handles.data() + first, variable.address, count * sizeof(uint64_t));
  }
  return handles;
}

void onSignal(int) { wasSignalled.store(true, std::memory_order_relaxed); }

} // namespace

Recorder *Recorder::instance() { return theRecorder.load(std::memory_order_acquire); }

std::string Recorder::start(const RecordOptions &options) {
  auto *recorder = new Recorder(options); // for the rest of the process
  std::string problem;
  recorder->kernel_ = std::regex(options.kernel);
  if (options.trigger.starts_with("kernel:"))
    recorder->triggerKernel_ = std::regex(options.trigger.substr(7));
  if (!rt::useDeviceArena())
    return "the addresses that recordings use are taken";
  if (!recorder->openFile(problem))
    return problem;
  if (options.keepsInputsApart)
    recorder->file_.keepContentsIn(ContentsStore(contentsFolderOf(recorder->options_.file)));
  if (options.trigger == "SIGUSR1")
    signal(SIGUSR1, onSignal);
  recorder->isTriggered_ = options.trigger.empty();
  recorder->lastCheckpoint_ = Clock::now();
  recorder->writeAnnotation();
  rt::countClocks();
  theRecorder.store(recorder, std::memory_order_release);
  device::setObserver(recorder);
  return {};
}

/// A program that a recorded one starts has the same environment: it gets a file of its own.
bool Recorder::openFile(std::string &problem) {
  if (file_.open(options_.file, problem))
    return true;
  if (!file_.isTaken())
    return false;
  const std::string taken = options_.file;
  options_.file += "." + std::to_string(owner_);
  std::fprintf(stderr, "ptxrun: another process records to %s; this one to %s\n", taken.c_str(),
               options_.file.c_str());
  return file_.open(options_.file, problem);
}

/// A child of the program's shares the file, and is not recorded.
bool Recorder::isOwner() const { return getpid() == owner_; }

void Recorder::finish() {
  if (!isOwner())
    return;
  std::lock_guard lock(state_);
  if (hasBegun_ && !isOver_)
    recordChanges();
  write(BlockType::end, encodeNumber(launches_));
  isOver_ = true;
  if (!file_.close())
    tellFull();
}

void Recorder::write(BlockType type, std::string payload, size_t contentsAt) {
  if (isOver_ || !isOwner() || file_.write(type, std::move(payload), contentsAt))
    return;
  isOver_ = true;
  tellFull();
}

void Recorder::tellFull() const {
  std::fprintf(stderr, "ptxrun: the recording %s cannot be written to; it ends here\n",
               options_.file.c_str());
}

// --- what is loaded and allocated

void Recorder::moduleLoading() { isLoadingModule = true; }

void Recorder::moduleLoaded(const device::Module *module, std::string_view text, void *variables) {
  isLoadingModule = false;
  if (!module)
    return;
  std::lock_guard lock(state_);
  ModuleRecord &record = modules_[module];
  record.event = {nextModule_++, module->name(), std::string(text),
                  reinterpret_cast<uint64_t>(variables), handlesOf(*module)};
  record.hasDoubles = text.find(".f64") != std::string_view::npos;
  if (Range *range = memory_.find(record.event.variables)) {
    std::vector<Change> initial; // what loading it again will put there
    MemoryTable::update(*range, initial);
    range->isAnnounced = true;
    range->isHostVisible = std::ranges::any_of(
        module->variables(), [](const device::VariableInfo &v) { return v.isManaged; });
  }
  if (hasBegun_)
    announce(record);
}

void Recorder::announce(ModuleRecord &record) {
  if (!std::exchange(record.isAnnounced, true))
    write(BlockType::module, encode(record.event));
}

void Recorder::moduleGone(const device::Module &module) {
  std::lock_guard lock(state_);
  const auto found = modules_.find(&module);
  if (found == modules_.end())
    return;
  if (found->second.isAnnounced)
    write(BlockType::unload, encodeNumber(found->second.event.id));
  modules_.erase(found);
}

void Recorder::allocated(void *base, size_t bytes) {
  std::lock_guard lock(state_);
  Range &range = memory_.add(reinterpret_cast<uint64_t>(base), bytes, isAllHostVisible_);
  if (isLoadingModule || !hasBegun_)
    return;
  range.isAnnounced = true;
  write(BlockType::allocate, encode(AllocateEvent{range.base, range.bytes, false}));
}

void Recorder::freed(void *base) {
  std::lock_guard lock(state_);
  const auto address = reinterpret_cast<uint64_t>(base);
  const Range *range = memory_.find(address);
  if (!range || range->base != address)
    return;
  if (range->isAnnounced && hasBegun_)
    write(BlockType::free, encodeNumber(address));
  memory_.remove(address);
}

void Recorder::noteHostVisible(const void *base) {
  std::lock_guard lock(state_);
  if (Range *range = memory_.find(reinterpret_cast<uint64_t>(base)))
    range->isHostVisible = true;
}

void Recorder::noteHost(void *base, size_t bytes) {
  std::lock_guard lock(state_);
  allocated(base, bytes);
  noteHostVisible(base);
}

void Recorder::forgetHost(void *base) { freed(base); }

void Recorder::noteImage(const rt::ImageRecord &record) {
  std::lock_guard lock(state_);
  if (hasBegun_)
    announce(record);
}

void Recorder::forgetImage(uint64_t handle) {
  std::lock_guard lock(state_);
  if (hasBegun_)
    write(BlockType::drop, encodeNumber(handle));
}

/// What lies in memory that is gone, or not known, is bound to nothing.
void Recorder::announce(const rt::ImageRecord &record) {
  ImageEvent event{record.handle, record.kind, record.isBound, record.texture};
  const rt::Image &image = record.texture.image;
  event.isBound &= memory_.covers(reinterpret_cast<uint64_t>(image.base), image.bytes);
  write(BlockType::image, encode(event));
}

// --- what the host writes

void Recorder::writeBlock(const std::vector<Span> &spans) {
  const std::string head = encode(WriteEvent{spans, {}});
  std::string payload = file_.takeBuffer();
  payload.append(head);
  for (const Span &span : spans)
    payload.append(reinterpret_cast<const char *>(span.base), span.bytes);
  write(BlockType::write, std::move(payload), head.size());
}

void Recorder::writeSpans(const std::vector<Span> &spans) {
  std::vector<Span> some;
  uint64_t bytes = 0;
  const auto flush = [&] {
    if (some.empty())
      return;
    writeBlock(some);
    history_.skip();
    some.clear();
    bytes = 0;
  };
  for (Span span : spans)
    while (span.bytes) {
      const uint64_t now = std::min(span.bytes, kMostBlock - bytes);
      some.push_back({span.base, now});
      bytes += now;
      span.base += now;
      span.bytes -= now;
      if (bytes == kMostBlock)
        flush();
    }
  flush();
}

/// Zeros are a fill, and contents that a block of the recording has are not written again.
void Recorder::writePieces(const std::vector<Change> &changes) {
  std::vector<Change> some;
  const auto flush = [&] {
    if (const auto number = history_.find(some)) {
      write(BlockType::again, encodeNumber(*number));
    } else {
      writeBlock(memory_.spansOf(some));
      history_.add(std::move(some));
    }
    some.clear();
  };
  const auto stretchOf = [](const Change &change) { return change.address / kStretch; };
  std::vector<Change> zeros;
  for (const Change &change : changes) {
    if (memory_.isZero(change)) {
      zeros.push_back(change);
      continue;
    }
    if (some.size() >= kFewPieces && stretchOf(some.back()) != stretchOf(change))
      flush();
    some.push_back(change);
  }
  if (!some.empty())
    flush();
  for (const Span &span : memory_.spansOf(zeros))
    write(BlockType::fill, encode(FillEvent{span.base, span.bytes, 0, 1, span.bytes, 1}));
}

/// Before a launch: what the host changed without telling.
void Recorder::recordChanges() {
  std::vector<Change> changes;
  for (auto &[base, range] : memory_.ranges)
    if (range.isHostVisible || range.isStale)
      MemoryTable::update(range, changes);
  writePieces(changes);
}

void Recorder::makeStale() {
  for (auto &[base, range] : memory_.ranges)
    range.isStale = true;
}

bool Recorder::takeTurn() {
  if (turns_.try_lock_for(kPatience))
    return true;
  if (!hasOverlapped_.exchange(true))
    std::fprintf(stderr,
                 "ptxrun: operations that wait for each other overlap; the recording may not "
                 "replay from here on\n");
  return false;
}

Recorder::Turn::Turn() : recorder_(instance()) { isMine_ = recorder_ && recorder_->takeTurn(); }
Recorder::Turn::~Turn() {
  if (isMine_)
    recorder_->turns_.unlock();
}

namespace {

uint64_t reachOfTarget(const CopyEvent &copy) {
  return copy.width + (copy.height - 1) * copy.toPitch + (copy.depth - 1) * copy.toSlice;
}
uint64_t reachOfSource(const CopyEvent &copy) {
  return copy.width + (copy.height - 1) * copy.fromPitch + (copy.depth - 1) * copy.fromSlice;
}

bool isInOnePiece(const CopyEvent &copy) {
  return copy.depth == 1 &&
         (copy.height == 1 || (copy.toPitch == copy.width && copy.fromPitch == copy.width));
}

bool overlaps(const CopyEvent &copy) {
  return copy.to < copy.from + reachOfSource(copy) && copy.from < copy.to + reachOfTarget(copy);
}

} // namespace

/// Where a copy comes from, if replays have it there.
const Range *Recorder::recordedSource(const CopyEvent &copy) {
  const Range *from = memory_.find(copy.from, reachOfSource(copy));
  return from && !from->isHostVisible && !from->isStale && !overlaps(copy) ? from : nullptr;
}

void Recorder::Turn::copied(const CopyEvent &copy) {
  if (!recorder_ || copy.width == 0)
    return;
  Recorder &r = *recorder_;
  std::lock_guard lock(r.state_);
  Range *to = r.memory_.find(copy.to, reachOfTarget(copy));
  if (!to || to->isHostVisible)
    return; // the host's own memory, or looked at before launches
  if (!r.hasBegun_) {
    to->isStale = true;
    return;
  }
  const Range *from = r.recordedSource(copy);
  if (!from)
    return r.writeRows(*to, copy);
  r.write(BlockType::copy, encode(copy));
  if (isInOnePiece(copy))
    return MemoryTable::updateCopied(*to, copy.to, *from, copy.from, reachOfTarget(copy));
  std::vector<Change> ignored;
  MemoryTable::update(*to, copy.to, reachOfTarget(copy), ignored);
}

bool Recorder::Turn::copies(const CopyEvent &copy) {
  const uint64_t bytes = copy.width * copy.height;
  if (!recorder_ || !isInOnePiece(copy) || bytes < kLargeCopy || overlaps(copy))
    return false;
  Recorder &r = *recorder_;
  std::lock_guard lock(r.state_);
  Range *to = r.memory_.find(copy.to, bytes);
  if (!to || to->isHostVisible || !r.hasBegun_ || r.recordedSource(copy))
    return false;
  const auto *from = reinterpret_cast<const char *>(copy.from);
  for (uint64_t at = copy.to; at < copy.to + bytes;) {
    const uint64_t end = std::min(copy.to + bytes, (at / kStretch + 1) * kStretch);
    std::vector<Change> changes;
    MemoryTable::copyInto(*to, at, from + (at - copy.to), end - at, bytes, changes);
    r.writePieces(changes);
    at = end;
  }
  return true;
}

/// What a copy from elsewhere brought, as far as it is not what was there. Of a large one the
/// pieces that changed; of a small one the rows, as pieces are larger (and all of them known).
void Recorder::writeRows(Range &to, const CopyEvent &copy) {
  const uint64_t reach =
      copy.width + (copy.height - 1) * copy.toPitch + (copy.depth - 1) * copy.toSlice;
  std::vector<Change> changes;
  MemoryTable::update(to, copy.to, reach, changes);
  if (changes.empty())
    return;
  if (to.isStale || copy.width * copy.height * copy.depth >= std::max(kLargeCopy, reach / 2))
    return writePieces(changes);
  std::vector<Span> rows;
  for (uint64_t z = 0; z < copy.depth; ++z)
    for (uint64_t y = 0; y < copy.height; ++y)
      rows.push_back({copy.to + z * copy.toSlice + y * copy.toPitch, copy.width});
  writeSpans(rows);
}

void Recorder::Turn::filled(const FillEvent &fill) {
  if (!recorder_ || fill.width == 0 || fill.height == 0)
    return;
  Recorder &r = *recorder_;
  std::lock_guard lock(r.state_);
  const uint64_t reach = fill.width * fill.elementBytes + (fill.height - 1) * fill.pitch;
  Range *range = r.memory_.find(fill.base, reach);
  if (!range || range->isHostVisible)
    return;
  if (!r.hasBegun_) {
    range->isStale = true;
    return;
  }
  r.write(BlockType::fill, encode(fill));
  std::vector<Change> ignored;
  if (fill.height == 1 || fill.pitch == fill.width * fill.elementBytes)
    MemoryTable::updateFilled(*range, fill.base, reach);
  else
    MemoryTable::update(*range, fill.base, reach, ignored);
}

// --- launches

bool Recorder::isWanted(const device::KernelInfo &kernel, uint64_t number) {
  if (!isTriggered_) {
    const std::string &trigger = options_.trigger;
    if (trigger == "SIGUSR1")
      isTriggered_ = wasSignalled.load(std::memory_order_relaxed);
    else if (trigger.starts_with("launch:"))
      isTriggered_ = number >= std::strtoull(trigger.c_str() + 7, nullptr, 10);
    else
      isTriggered_ = std::regex_search(kernel.name, triggerKernel_);
  }
  return isTriggered_ && !isOver_ && number >= options_.first && number <= options_.last &&
         (options_.kernel.empty() || std::regex_search(kernel.name, kernel_));
}

/// The first launch that is recorded: all there is until now becomes part of the recording.
void Recorder::announceAll() {
  if (std::exchange(hasBegun_, true))
    return;
  for (auto &[module, record] : modules_)
    announce(record);
  for (auto &[base, range] : memory_.ranges)
    if (!std::exchange(range.isAnnounced, true))
      write(BlockType::allocate,
            encode(AllocateEvent{range.base, range.bytes, range.isHostVisible}));
  rt::eachImage([this](const rt::ImageRecord &record) {
    if (record.isBound && record.kind != abi::ImageKind::sampler)
      announce(record);
  });
}

/// Which pieces a launch changed: of what its kernel can write to.
std::vector<Change> Recorder::lookAtResults(device::Module &module,
                                            const device::KernelInfo &kernel, const void *params) {
  return changesOf(memory_, module.scheduleDependence(kernel), kernel, params,
                   modules_[&module].event.variables);
}

device::Outcome Recorder::launch(device::Module &module, const device::KernelInfo &kernel,
                                 const device::LaunchOptions &given, const Run &run) {
  const bool isMine = takeTurn();
  std::unique_lock lock(state_);
  const uint64_t number = launches_++;
  device::LaunchOptions options = given;
  if (!isWanted(kernel, number)) {
    makeStale();
    lock.unlock();
    const device::Outcome outcome = run(options);
    if (isMine)
      turns_.unlock();
    return outcome;
  }
  announceAll();
  recordChanges();
  const ModuleRecord &record = modules_[&module];
  options.code.hasOneDoubleNan = record.hasDoubles;
  chooseOrder(module, kernel, options);
  LaunchEvent event{number,
                    record.event.id,
                    kernel.name,
                    options.grid,
                    options.block,
                    options.cluster,
                    options.dynamicSharedBytes,
                    options.stream,
                    options.isCooperative,
                    {static_cast<const char *>(options.params), kernel.parameterBytes},
                    optionsOf(options)};
  write(BlockType::launch, encode(event));
  ResultEvent result;
  options.printf = [&](std::string_view text) {
    result.printed += text;
    if (given.printf)
      return given.printf(text);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  lock.unlock();
  rt::resetClocks();
  const auto start = Clock::now();
  const device::Outcome outcome = run(options);
  result.nanoseconds = static_cast<uint64_t>((Clock::now() - start).count());
  lock.lock();
  result.number = number;
  result.code = static_cast<uint64_t>(outcome.code);
  result.message = outcome.message;
  if (outcome.isOk())
    result.changes = lookAtResults(module, kernel, options.params);
  else
    makeStale();
  if (outcome.code != device::Code::cancelled) // the program ends in the middle of it
    write(BlockType::result, encode(result));
  maybeCheckpoint(number);
  lock.unlock();
  if (isMine)
    turns_.unlock();
  return outcome;
}

/// As often as launches are many and the cost stays small.
void Recorder::maybeCheckpoint(uint64_t number) {
  ++sinceCheckpoint_;
  if (options_.checkpointEvery ? sinceCheckpoint_ < options_.checkpointEvery
                               : sinceCheckpoint_ < kFewLaunches)
    return;
  uint64_t bytes = 0;
  for (auto &[base, range] : memory_.ranges)
    for (uint64_t i = 0; i < range.pieces(); ++i)
      bytes += range.isChanged[i] ? range.bytesOf(i) : 0;
  const double seconds = std::chrono::duration<double>(Clock::now() - lastCheckpoint_).count();
  if (!options_.checkpointEvery &&
      static_cast<double>(bytes) / kCheckpointBytesPerSecond > seconds * kCheckpointShare) {
    sinceCheckpoint_ /= 2; // asks again later
    return;
  }
  if (bytes > kMostCheckpoint)
    return;
  recordChanges(); // so that what the host wrote since is not lost between the two
  CheckpointEvent event;
  event.number = number;
  for (const rt::HeapBlock &block : rt::deviceHeapBlocks())
    event.heap.push_back({block.base, block.bytes});
  std::vector<Change> changed;
  for (auto &[base, range] : memory_.ranges)
    for (uint64_t i = 0; i < range.pieces(); ++i)
      if (std::exchange(range.isChanged[i], 0))
        changed.push_back({base + i * kPieceBytes, 0});
  event.memory.spans = memory_.spansOf(changed);
  for (const Span &span : event.memory.spans)
    event.memory.data.append(reinterpret_cast<const char *>(span.base), span.bytes);
  write(BlockType::checkpoint, encode(event));
  sinceCheckpoint_ = 0;
  lastCheckpoint_ = Clock::now();
}

} // namespace ptxrun::capture
