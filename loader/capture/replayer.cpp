#include "loader/capture/replayer.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "loader/capture/common.h"
#include "loader/device/memory.h"
#include "rt/memory/device_heap.h"
#include "rt/memory/device_memory.h"
#include "rt/observe/clock.h"
#include "rt/observe/trace.h"
#include "translate/support/hex.h"

namespace ptxrun::capture {

namespace {

using support::hex;
using Clock = std::chrono::steady_clock;

/// A launch may take so much longer than when it was recorded before it counts as hanging.
constexpr uint64_t kSlower = 1000;
constexpr uint64_t kLeastTimeoutNs = uint64_t{60} * 1'000'000'000;
/// No recording of ours has larger allocations.
constexpr uint64_t kMostSpanBytes = uint64_t{1} << 42;

} // namespace

Replayer::~Replayer() {
  for (const auto &[handle, kind] : objects_)
    rt::destroyImage(handle, kind);
}

device::Module *Replayer::module(uint64_t id) const {
  const auto found = modules_.find(id);
  return found == modules_.end() ? nullptr : found->second.get();
}

Range &Replayer::rangeOf(uint64_t address, uint64_t bytes) {
  Range *range = memory_.find(address, bytes);
  if (!range)
    throw BadRecording("it names memory at " + hex(address) + " that was not allocated");
  return *range;
}

void Replayer::place(uint64_t base, uint64_t bytes, bool isHostVisible) {
  if (bytes == 0 || bytes > kMostSpanBytes || base + bytes < base || base % 16 == 1)
    throw BadRecording("an allocation is too large");
  if (bytes > device::totalMemory())
    throw BadRecording("it needs more memory than this machine has");
  if (!rt::allocateDeviceAt(base, bytes)) {
    wasAddressTaken = true;
    throw BadRecording("the addresses from " + hex(base) + " on are taken in this process");
  }
  memory_.add(base, bytes, isHostVisible);
}

void Replayer::load(const ModuleEvent &event) {
  std::string name = event.name, text = event.text;
  for (const Substitution &s : options_.substitutions)
    if (s.module == event.name || s.module == std::to_string(event.id)) {
      name = s.name;
      text = s.text;
      substituted_.insert(s.module);
    }
  names_[event.id] = event.name;
  rt::placeNextDeviceBlock(event.variables);
  rt::placeNextImages(event.images);
  device::LoadOptions load;
  load.tiers = options_.tiers;
  device::Outcome outcome;
  texts_[event.id] = text;
  auto loaded = device::Module::load(name, std::move(text), load, outcome);
  rt::placeNextDeviceBlock(0);
  rt::placeNextImages({});
  if (!loaded)
    throw BadRecording("module " + std::to_string(event.id) +
                       " cannot be loaded: " + outcome.message);
  if (event.variables) {
    const auto block = device::findAllocation(reinterpret_cast<const void *>(event.variables));
    if (!block)
      throw BadRecording("module " + std::to_string(event.id) +
                         " has no variables where it had some");
    std::vector<Change> initial;
    MemoryTable::update(memory_.add(event.variables, block->bytes, false), initial);
    owned_.insert(event.variables);
  }
  variables_[event.id] = event.variables;
  modules_[event.id] = std::move(loaded);
}

std::vector<std::string> Replayer::unusedSubstitutions() const {
  std::vector<std::string> unused;
  for (const Substitution &s : options_.substitutions)
    if (!substituted_.contains(s.module))
      unused.push_back(s.module);
  return unused;
}

std::string Replayer::moduleNames() const {
  std::string all;
  for (const auto &[id, name] : names_)
    all += (all.empty() ? "" : ", ") + std::to_string(id) + " (" + name + ")";
  return all;
}

void Replayer::bind(const ImageEvent &event) {
  const rt::Image &image = event.texture.image;
  if (hasImage(event) && !memory_.covers(reinterpret_cast<uint64_t>(image.base), image.bytes))
    throw BadRecording("a texture or surface lies in memory that was not allocated");
  rt::ImageRecord *record = rt::findImage(event.handle);
  if (!record) {
    record = rt::createImageAt(event.handle, event.kind);
    if (!record)
      throw BadRecording("a texture or surface has the handle " + hex(event.handle) +
                         ", which is none or in use");
    objects_[event.handle] = event.kind;
  }
  if (record->kind != event.kind)
    throw BadRecording("handle " + hex(event.handle) + " was of something else");
  record->texture = event.texture;
  record->isBound = event.isBound;
}

void Replayer::put(const WriteEvent &event) {
  rt::trace::Scope traced("copy", "write of the host");
  traced.add("bytes", event.data.size());
  size_t at = 0;
  std::vector<Change> ignored;
  for (const Span &span : event.spans) {
    if (span.bytes == 0)
      continue;
    Range &range = rangeOf(span.base, span.bytes);
    std::memcpy(reinterpret_cast<void *>(span.base), event.data.data() + at, span.bytes);
    MemoryTable::update(range, span.base, span.bytes, ignored);
    at += span.bytes;
  }
}

namespace {
/// The bytes from the first to the last of a box; throws where there is none, they are too many, or
/// rows lie in each other.
uint64_t reachOf(uint64_t width, uint64_t pitch, uint64_t height, uint64_t slice, uint64_t depth) {
  uint64_t rows, slices, sum;
  if (width == 0 || (height > 1 && pitch < width) || (depth > 1 && slice < width) || height == 0 ||
      depth == 0 || __builtin_mul_overflow(pitch, height - 1, &rows) ||
      __builtin_mul_overflow(slice, depth - 1, &slices) ||
      __builtin_add_overflow(rows, slices, &sum) || __builtin_add_overflow(sum, width, &sum))
    throw BadRecording("a copy or fill has no size");
  return sum;
}
} // namespace

void Replayer::copy(const CopyEvent &e) {
  rt::trace::Scope traced("copy", "copy");
  traced.add("bytes", e.width * e.height * e.depth);
  const uint64_t reach = reachOf(e.width, e.toPitch, e.height, e.toSlice, e.depth);
  Range &to = rangeOf(e.to, reach);
  rangeOf(e.from, reachOf(e.width, e.fromPitch, e.height, e.fromSlice, e.depth));
  for (uint64_t z = 0; z < e.depth; ++z)
    for (uint64_t y = 0; y < e.height; ++y)
      std::memmove(reinterpret_cast<void *>(e.to + z * e.toSlice + y * e.toPitch),
                   reinterpret_cast<const void *>(e.from + z * e.fromSlice + y * e.fromPitch),
                   e.width);
  std::vector<Change> ignored;
  MemoryTable::update(to, e.to, reach, ignored);
}

void Replayer::fill(const FillEvent &e) {
  rt::trace::Scope traced("copy", "fill");
  traced.add("bytes", e.width * e.height * e.elementBytes);
  uint64_t width;
  if ((e.elementBytes != 1 && e.elementBytes != 2 && e.elementBytes != 4) ||
      __builtin_mul_overflow(e.width, e.elementBytes, &width))
    throw BadRecording("a fill has no size");
  const uint64_t reach = reachOf(width, e.pitch, e.height, 0, 1);
  Range &range = rangeOf(e.base, reach);
  for (uint64_t y = 0; y < e.height; ++y)
    for (uint64_t x = 0; x < e.width; ++x)
      std::memcpy(reinterpret_cast<char *>(e.base + y * e.pitch) + x * e.elementBytes, &e.value,
                  e.elementBytes);
  std::vector<Change> ignored;
  MemoryTable::update(range, e.base, reach, ignored);
}

void Replayer::restore(const CheckpointEvent &event) {
  std::vector<rt::HeapBlock> heap;
  for (const Span &span : event.heap) {
    if (span.base < rt::kDeviceHeapArena ||
        span.base + span.bytes > rt::kDeviceHeapArena + kMostSpanBytes)
      throw BadRecording("a checkpoint names memory that malloc cannot have given");
    heap.push_back({span.base, span.bytes});
  }
  rt::restoreDeviceHeap(heap);
  growHeap(memory_);
  put(event.memory);
}

void Replayer::apply(const Block &block) {
  switch (block.type) {
  case BlockType::module: {
    ModuleEvent event;
    decode(block.payload, event);
    return load(event);
  }
  case BlockType::unload: {
    const uint64_t id = decodeNumber(block.payload);
    memory_.remove(variables_[id]);
    owned_.erase(variables_[id]);
    modules_.erase(id);
    return;
  }
  case BlockType::allocate: {
    AllocateEvent event;
    decode(block.payload, event);
    return place(event.base, event.bytes, event.isHostVisible);
  }
  case BlockType::free: {
    const uint64_t base = decodeNumber(block.payload);
    if (owned_.contains(base) || !memory_.ranges.contains(base))
      return; // goes with its module
    memory_.remove(base);
    rt::freeDevice(reinterpret_cast<void *>(base));
    return;
  }
  case BlockType::image: {
    ImageEvent event;
    decode(block.payload, event);
    return bind(event);
  }
  case BlockType::drop:
    if (const auto gone = objects_.find(decodeNumber(block.payload)); gone != objects_.end()) {
      rt::destroyImage(gone->first, gone->second);
      objects_.erase(gone);
    }
    return;
  default:
    return;
  }
}

device::LaunchOptions Replayer::optionsOf(const LaunchEvent &event, bool isInRange) {
  device::LaunchOptions options;
  options.code = options_.code;
  options.threads = options_.threads;
  options.cancel = options_.cancel;
  applyLaunch(event, options);
  if (!isInRange)
    return options;
  if (options_.grid)
    options.grid = *options_.grid;
  if (options_.block)
    options.block = *options_.block;
  if (!options_.schedule.empty()) {
    options.endsHangs = true;
    options.hasPinnedLanes = false;
    if (const std::string problem = device::readSchedule(options_.schedule, options);
        !problem.empty())
      throw BadRecording(problem);
  }
  return options;
}

void Replayer::saveMemory() {
  saved_.clear();
  for (const auto &[base, range] : memory_.ranges)
    saved_.emplace_back(reinterpret_cast<const char *>(base), range.bytes);
}

void Replayer::restoreMemory() {
  size_t i = 0;
  for (const auto &[base, range] : memory_.ranges)
    if (i < saved_.size())
      std::memcpy(reinterpret_cast<void *>(base), saved_[i++].data(), range.bytes);
}

LaunchReport Replayer::launch(const LaunchEvent &event, const ResultEvent *recorded) {
  LaunchReport report;
  report.event = &event;
  report.recorded = recorded;
  device::Module *module = this->module(event.module);
  const device::KernelInfo *kernel = module ? module->findKernel(event.kernel) : nullptr;
  if (!kernel || event.params.size() != kernel->parameterBytes)
    throw BadRecording("launch " + std::to_string(event.number) + " is of kernel '" + event.kernel +
                       "', which its module " + (kernel ? "declares otherwise" : "does not have"));
  const bool isInRange = event.number >= options_.from && event.number <= options_.to;
  device::LaunchOptions options = optionsOf(event, isInRange);
  const uint64_t expectedNs = recorded ? recorded->nanoseconds : 0;
  options.timeout = std::chrono::nanoseconds(
      recorded && static_cast<device::Code>(recorded->code) == device::Code::timeout
          ? expectedNs
          : std::max(kLeastTimeoutNs, std::min(expectedNs, uint64_t{1} << 50) * kSlower));
  std::string printed;
  options.printf = [&](std::string_view text) { printed += text; };
  if (isInRange && event.number == options_.to)
    options.scheduleRecord = options_.scheduleRecord;
  if (isInRange && before_)
    before_(event, *module, *kernel);
  const unsigned turns = isInRange ? std::max(options_.repeat, 1u) : 1;
  if (turns > 1)
    saveMemory();
  const device::Variant variant = module->compile(*kernel, options, report.outcome);
  report.lanes = variant.needs.lanes;
  for (unsigned turn = 0; turn < turns && report.outcome.isOk(); ++turn) {
    if (turn)
      restoreMemory();
    printed.clear();
    rt::resetClocks();
    const auto start = Clock::now();
    report.outcome = module->launch(*kernel, variant, options);
    report.milliseconds.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  if (isInRange && options_.printf && !printed.empty())
    options_.printf(printed);
  std::vector<Change> changes;
  device::ScheduleDependence writes = module->scheduleDependence(*kernel);
  writes.writesAnywhere |= !options_.substitutions.empty();
  if (report.outcome.isOk())
    changes = changesOf(memory_, writes, *kernel, event.params.data(), variables_[event.module]);
  if (recorded)
    compare(*recorded, changes, printed, report);
  if (!report.outcome.isOk())
    for (auto &[base, range] : memory_.ranges)
      MemoryTable::update(range, changes);
  return report;
}

void Replayer::compare(const ResultEvent &recorded, const std::vector<Change> &changes,
                       const std::string &printed, LaunchReport &report) {
  report.isVerified = true;
  const auto code = static_cast<device::Code>(recorded.code);
  if (report.outcome.code != code) {
    report.difference = code == device::Code::ok
                            ? "it succeeded when it was recorded; now: " + report.outcome.message
                            : "it failed when it was recorded: " + recorded.message + "; now " +
                                  (report.outcome.isOk() ? "it succeeds" : report.outcome.message);
    return;
  }
  if (printed != recorded.printed)
    report.difference = "what it prints differs";
  if (code != device::Code::ok)
    return;
  const auto [then, now] =
      std::ranges::mismatch(recorded.changes, changes, [](const Change &a, const Change &b) {
        return a.address == b.address && a.hash == b.hash;
      });
  if (then == recorded.changes.end() && now == changes.end())
    return;
  if (then == recorded.changes.end() || (now != changes.end() && now->address < then->address))
    report.piece = now->address;
  else
    report.piece = then->address;
  report.difference = "memory differs at " + hex(*report.piece) + " or within the " +
                      std::to_string(kPieceBytes) + " bytes from there";
}

void Replayer::run(const std::function<void(const LaunchReport &)> &report,
                   const std::function<void(const LaunchEvent &, device::Module &,
                                            const device::KernelInfo &)> &before) {
  before_ = before;
  const RecordingIndex index = readIndex(options_.file);
  rt::useDeviceArena();
  rt::countClocks();
  uint64_t start = 0; ///< where the checkpoint is that what happened before can be left out for
  for (const RecordingIndex::Checkpoint &checkpoint : index.checkpoints)
    if (checkpoint.number < options_.from)
      start = checkpoint.offset;
  std::map<uint64_t, const ResultEvent *> results;
  for (const auto &launch : index.launches)
    results[launch.number] = launch.result ? &*launch.result : nullptr;
  BlockReader reader(options_.file);
  for (Block block; reader.next(block);) {
    const bool isBefore = block.offset < start;
    if (block.type == BlockType::checkpoint && block.offset <= start) {
      CheckpointEvent event;
      decode(block.payload, event);
      restore(event);
    } else if ((block.type == BlockType::write || block.type == BlockType::again) && !isBefore) {
      if (block.type == BlockType::again)
        reader.readWrite(decodeNumber(block.payload), block);
      WriteEvent event;
      decode(block.payload, event);
      put(event);
    } else if (block.type == BlockType::copy && !isBefore) {
      CopyEvent event;
      decode(block.payload, event);
      copy(event);
    } else if (block.type == BlockType::fill && !isBefore) {
      FillEvent event;
      decode(block.payload, event);
      fill(event);
    } else if (block.type == BlockType::launch && !isBefore) {
      LaunchEvent event;
      decode(block.payload, event);
      if (event.number > options_.to)
        return;
      const ResultEvent *recorded = results[event.number];
      if (!recorded && event.number != options_.to)
        continue; // it had not ended
      const LaunchReport done = launch(event, recorded);
      if (event.number >= options_.from)
        report(done);
      if (event.number >= options_.to)
        return;
    } else {
      apply(block);
    }
  }
}

} // namespace ptxrun::capture
