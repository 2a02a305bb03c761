#include "rt/memory/device_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "rt/memory/device_memory.h"

namespace ptxrun::rt {

namespace {

class DeviceHeap {
 public:
  void *allocate(uint64_t bytes) {
    std::lock_guard guard(lock_);
    if (bytes > limit_ || used_ > limit_ - bytes)
      return nullptr;
    const uint64_t room = (bytes + kUnit) / kUnit * kUnit;
    void *block = usesDeviceArena() ? takeFromArena(room) : std::aligned_alloc(kUnit, room);
    if (!block)
      return nullptr;
    used_ += bytes;
    blocks_.emplace(block, bytes);
    return block;
  }

  bool release(void *block) {
    std::lock_guard guard(lock_);
    auto at = blocks_.find(block);
    if (at == blocks_.end())
      return false;
    used_ -= at->second;
    blocks_.erase(at);
    if (!usesDeviceArena())
      std::free(block);
    return true;
  }

  void clear() {
    std::lock_guard guard(lock_);
    for (auto &[block, bytes] : blocks_)
      if (!usesDeviceArena())
        std::free(block);
    blocks_.clear();
    used_ = 0;
  }

  std::vector<HeapBlock> blocks() {
    std::lock_guard guard(lock_);
    std::vector<HeapBlock> all;
    for (auto &[block, bytes] : blocks_)
      all.push_back({reinterpret_cast<uint64_t>(block), bytes});
    return all;
  }
  void restore(const std::vector<HeapBlock> &all) {
    std::lock_guard guard(lock_);
    blocks_.clear();
    used_ = 0;
    for (const HeapBlock &block : all) {
      extend(block.base + (block.bytes + kUnit) / kUnit * kUnit - kDeviceHeapArena);
      blocks_.emplace(reinterpret_cast<void *>(block.base), block.bytes);
      used_ += block.bytes;
    }
  }
  uint64_t extent() {
    std::lock_guard guard(lock_);
    return extent_;
  }

  uint64_t limit() {
    std::lock_guard guard(lock_);
    return limit_;
  }
  void setLimit(uint64_t bytes) {
    std::lock_guard guard(lock_);
    limit_ = bytes;
  }

 private:
  static constexpr uint64_t kUnit = 16, kGrowth = 1 << 20;

  /// The lowest gap: which one depends on what is allocated, on nothing that was before.
  void *takeFromArena(uint64_t room) {
    uint64_t at = kDeviceHeapArena;
    for (auto &[block, bytes] : blocks_) {
      const auto base = reinterpret_cast<uint64_t>(block);
      if (base - at >= room)
        break;
      at = base + (bytes + kUnit) / kUnit * kUnit;
    }
    return extend(at + room - kDeviceHeapArena) ? reinterpret_cast<void *>(at) : nullptr;
  }
  bool extend(uint64_t bytes) {
    if (bytes <= extent_)
      return true;
    const uint64_t grown = (bytes + kGrowth - 1) / kGrowth * kGrowth;
    void *wanted = reinterpret_cast<void *>(kDeviceHeapArena + extent_);
    if (mmap(wanted, grown - extent_, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != wanted)
      return false;
    extent_ = grown;
    return true;
  }

  std::mutex lock_;
  std::map<void *, uint64_t> blocks_;
  uint64_t extent_ = 0; ///< mapped of the arena
  uint64_t used_ = 0;
  uint64_t limit_ = 8 << 20;
};

DeviceHeap &heap() {
  static auto *instance = new DeviceHeap; // device memory may be used until the process ends
  return *instance;
}

} // namespace

void setDeviceHeapLimit(uint64_t bytes) { heap().setLimit(bytes); }
uint64_t deviceHeapLimit() { return heap().limit(); }
void clearDeviceHeap() { heap().clear(); }
std::vector<HeapBlock> deviceHeapBlocks() { return heap().blocks(); }
void restoreDeviceHeap(const std::vector<HeapBlock> &blocks) { heap().restore(blocks); }
uint64_t deviceHeapExtent() { return heap().extent(); }

void *allocateOnDeviceHeap(uint64_t bytes) { return heap().allocate(bytes); }
bool freeOnDeviceHeap(void *block) { return heap().release(block); }

} // namespace ptxrun::rt
