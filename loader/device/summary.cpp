#include "loader/device/summary.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "loader/device/reached.h"
#include "loader/device/summary_counts.h"
#include "loader/device/summary_forms.h"

namespace ptxrun::device::summary {

bool isCounting = false;

namespace {

class Counter {
 public:
  /// Never destroyed: threads may launch until the process has ended.
  static Counter &instance() {
    static auto *one = new Counter;
    return *one;
  }

  void launch(std::string_view kernel, unsigned lanes, Code code, uint64_t threads,
              uint64_t nanoseconds) {
    std::lock_guard lock(mutex_);
    auto found = kernels_.find(kernel);
    if (found == kernels_.end())
      found = kernels_.try_emplace(std::string(kernel)).first;
    KernelCounts &counts = found->second;
    ++counts.launches;
    counts.nanoseconds += nanoseconds;
    counts.baselineLaunches += code == Code::baseline;
    if (const auto place = std::ranges::lower_bound(counts.lanes, lanes);
        place == counts.lanes.end() || *place != lanes)
      counts.lanes.insert(place, lanes);
    if (nanoseconds >= kTinyNanoseconds)
      return;
    ++counts_.tinyLaunches;
    counts_.tinyNanoseconds += nanoseconds;
    counts_.tinyThreads += threads;
  }

  void forms(const check::Function &kernel) {
    std::lock_guard lock(mutex_);
    for (const check::Function *function : reachedFrom(kernel))
      for (const check::Instruction &in : function->body)
        ++forms_[in.form];
  }

  void compilation(bool isFromCache, uint64_t nanoseconds) {
    std::lock_guard lock(mutex_);
    ++(isFromCache ? counts_.cacheHits : counts_.cacheMisses);
    counts_.compileNanoseconds += nanoseconds;
  }

  void load(uint64_t nanoseconds) {
    std::lock_guard lock(mutex_);
    ++counts_.modules;
    counts_.loadNanoseconds += nanoseconds;
  }

  void transfer(Direction direction, uint64_t bytes, uint64_t nanoseconds) {
    std::lock_guard lock(mutex_);
    TransferCounts &counts = counts_.transfers[static_cast<size_t>(direction)];
    ++counts.count;
    counts.bytes += bytes;
    counts.nanoseconds += nanoseconds;
  }

  void memory(uint64_t bytes) {
    std::lock_guard lock(mutex_);
    allocatedBytes_ = bytes;
    notePeak();
  }

  void mappedMemory(int64_t change) {
    std::lock_guard lock(mutex_);
    mappedBytes_ += static_cast<uint64_t>(change);
    notePeak();
  }

  Counts counts() const {
    std::lock_guard lock(mutex_);
    Counts all = counts_;
    all.wallNanoseconds = sinceStart_.nanoseconds();
    for (const auto &[name, counts] : kernels_) {
      all.kernels.push_back(counts);
      all.kernels.back().name = name;
    }
    for (const auto &[form, instructions] : forms_)
      all.forms.push_back({form->notation, isa::accuracyOf(*form), instructions});
    return all;
  }

 private:
  void notePeak() {
    counts_.peakBytes = std::max(counts_.peakBytes, allocatedBytes_ + mappedBytes_);
  }

  mutable std::mutex mutex_; ///< guards all of it
  const Stopwatch sinceStart_;
  std::map<std::string, KernelCounts, std::less<>> kernels_;
  std::map<const isa::Form *, uint64_t> forms_; ///< in the order of the table
  Counts counts_;                               ///< without kernels and forms
  uint64_t allocatedBytes_ = 0, mappedBytes_ = 0;
};

} // namespace

void start() {
  isCounting = true;
  Counter::instance();
}

std::string text() { return describe(Counter::instance().counts()); }

void noteLaunch(std::string_view kernel, unsigned lanes, Code code, uint64_t threads,
                uint64_t nanoseconds) {
  Counter::instance().launch(kernel, lanes, code, threads, nanoseconds);
}
void noteForms(const check::Module &module, std::string_view kernel) {
  if (const check::Function *function = module.findFunction(kernel))
    Counter::instance().forms(*function);
}
void noteCompilation(bool isFromCache, uint64_t nanoseconds) {
  Counter::instance().compilation(isFromCache, nanoseconds);
}
void noteLoad(uint64_t nanoseconds) { Counter::instance().load(nanoseconds); }
void noteTransfer(Direction direction, uint64_t bytes, uint64_t nanoseconds) {
  Counter::instance().transfer(direction, bytes, nanoseconds);
}
void noteMemory(uint64_t bytes) { Counter::instance().memory(bytes); }
void noteMappedMemory(int64_t change) { Counter::instance().mappedMemory(change); }

} // namespace ptxrun::device::summary
