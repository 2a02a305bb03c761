#include "rt/memory/device_heap.h"

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "rt/observe/report.h"

namespace ptxrun::rt {

namespace {

class DeviceHeap {
 public:
  void *allocate(uint64_t bytes) {
    std::lock_guard guard(lock_);
    if (bytes > limit_ || used_ > limit_ - bytes)
      return nullptr;
    void *block = std::aligned_alloc(16, (bytes + 16) / 16 * 16);
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
    std::free(block);
    return true;
  }

  void clear() {
    std::lock_guard guard(lock_);
    for (auto &[block, bytes] : blocks_)
      std::free(block);
    blocks_.clear();
    used_ = 0;
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
  std::mutex lock_;
  std::unordered_map<void *, uint64_t> blocks_;
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

} // namespace ptxrun::rt

using namespace ptxrun::rt;

extern "C" {

void *ptxrun_malloc(ptxrun::abi::Gang *, uint64_t bytes) { return heap().allocate(bytes); }

void ptxrun_free(ptxrun::abi::Gang *gang, void *block) {
  if (!block || heap().release(block))
    return;
  recordFailure(stateOf(gang), Status::illegalAddress,
                "free of an address that malloc did not return");
  leaveKernel(stateOf(gang));
}
}
