#include "rt/memory/multicast.h"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace ptxrun::rt {

namespace {

struct Range {
  uint64_t bytes = 0;
  std::vector<uint64_t> others;
};

/// Never destroyed: kernels may run while the process ends.
struct Ranges {
  std::shared_mutex mutex;
  std::map<uint64_t, Range> byAddress;
  std::atomic<bool> areThere{false};
};
Ranges &ranges() {
  static auto *all = new Ranges;
  return *all;
}

} // namespace

void setReplicas(uint64_t address, uint64_t bytes, std::vector<uint64_t> others) {
  Ranges &all = ranges();
  std::lock_guard lock(all.mutex);
  all.byAddress[address] = {bytes, std::move(others)};
  all.areThere.store(true, std::memory_order_release);
}

void forgetReplicas(uint64_t address) {
  Ranges &all = ranges();
  std::lock_guard lock(all.mutex);
  all.byAddress.erase(address);
  all.areThere.store(!all.byAddress.empty(), std::memory_order_release);
}

bool hasReplicas() { return ranges().areThere.load(std::memory_order_acquire); }

uint64_t replicaOf(uint64_t address, uint32_t number) {
  if (number == 0)
    return address;
  Ranges &all = ranges();
  std::shared_lock lock(all.mutex);
  auto next = all.byAddress.upper_bound(address);
  if (next == all.byAddress.begin())
    return 0;
  const auto &[begin, range] = *--next;
  if (address - begin >= range.bytes || number > range.others.size())
    return 0;
  return range.others[number - 1] + (address - begin);
}

} // namespace ptxrun::rt
