#include "loader/libcuda/memory_advice.h"

#include <map>
#include <mutex>

namespace ptxrun::driver {

namespace {

/// The advice from each address up to the next. Never destroyed.
struct Parts {
  std::mutex mutex;
  std::map<uintptr_t, MemoryAdvice> byAddress{{0, {}}};

  /// The part that starts at `address`, made by dividing the one that contains it.
  auto startingAt(uintptr_t address) {
    const auto containing = std::prev(byAddress.upper_bound(address));
    return byAddress.emplace(address, containing->second).first;
  }
};

Parts &parts() {
  static auto *instance = new Parts;
  return *instance;
}

} // namespace

void advise(uintptr_t begin, size_t bytes, const std::function<void(MemoryAdvice &)> &change) {
  Parts &all = parts();
  std::lock_guard lock(all.mutex);
  auto part = all.startingAt(begin);
  const auto end = all.startingAt(begin + bytes);
  for (; part != end; ++part)
    change(part->second);
}

void forget(uintptr_t begin, size_t bytes) {
  Parts &all = parts();
  std::lock_guard lock(all.mutex);
  const auto part = all.startingAt(begin), end = all.startingAt(begin + bytes);
  part->second = {};
  all.byAddress.erase(std::next(part), end);
}

void forEachAdvice(uintptr_t begin, size_t bytes,
                   const std::function<void(const MemoryAdvice &)> &look) {
  Parts &all = parts();
  std::lock_guard lock(all.mutex);
  auto part = std::prev(all.byAddress.upper_bound(begin));
  for (; part != all.byAddress.end() && part->first < begin + bytes; ++part)
    look(part->second);
}

} // namespace ptxrun::driver
