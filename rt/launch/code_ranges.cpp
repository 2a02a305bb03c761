#include "rt/launch/code_ranges.h"

#include <atomic>
#include <mutex>

namespace ptxrun::rt {

namespace {

struct Range {
  std::atomic<uint64_t> begin{0}, end{0};
};

/// Blocks are never freed, so a handler can walk them while another thread registers.
struct Block {
  Range ranges[256];
  std::atomic<Block *> next{nullptr};
};

Block firstBlock;
std::mutex registerLock;

template <typename Predicate> Range *find(Predicate predicate) {
  for (Block *b = &firstBlock; b; b = b->next.load(std::memory_order_acquire))
    for (Range &r : b->ranges)
      if (predicate(r))
        return &r;
  return nullptr;
}

} // namespace

void registerCode(const void *begin, const void *end) {
  std::lock_guard guard(registerLock);
  Range *free = find([](Range &r) { return r.end.load(std::memory_order_relaxed) == 0; });
  if (!free) {
    auto *block = new Block;
    free = block->ranges;
    block->next.store(firstBlock.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
    firstBlock.next.store(block, std::memory_order_release);
  }
  free->begin.store(reinterpret_cast<uint64_t>(begin), std::memory_order_relaxed);
  free->end.store(reinterpret_cast<uint64_t>(end), std::memory_order_release);
}

void unregisterCode(const void *begin) {
  std::lock_guard guard(registerLock);
  auto low = reinterpret_cast<uint64_t>(begin);
  Range *range = find([low](Range &r) {
    return r.end.load(std::memory_order_relaxed) != 0 &&
           r.begin.load(std::memory_order_relaxed) == low;
  });
  if (range)
    range->end.store(0, std::memory_order_release);
}

bool isKernelCode(uint64_t pc) {
  return find([pc](Range &r) {
           return pc < r.end.load(std::memory_order_acquire) &&
                  pc >= r.begin.load(std::memory_order_relaxed);
         }) != nullptr;
}

} // namespace ptxrun::rt
