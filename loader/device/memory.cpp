#include "loader/device/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

namespace ptxrun::device {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;
/// From here on an allocation is a mapping of its own: freed at once, and touched again it faults.
constexpr size_t kOwnMapping = 64 << 10;

struct Block {
  size_t bytes = 0;        // as asked for
  size_t mappedBytes = 0;  // 0: from the heap
  uint64_t id = 0;
};

struct Blocks {
  std::shared_mutex mutex;
  std::map<uintptr_t, Block> byAddress;
  std::atomic<size_t> allocated{0};
  uint64_t nextId = 1;
};

/// Never destroyed: programs free memory while the process ends.
Blocks &blocks() {
  static auto *instance = new Blocks;
  return *instance;
}

size_t roundUp(size_t value, size_t to) { return (value + to - 1) / to * to; }

void *mapLarge(size_t bytes, size_t &mappedBytes) {
  const bool isHuge = bytes >= kHugePage;
  const size_t alignment = isHuge ? kHugePage : kPage;
  mappedBytes = roundUp(bytes, kPage);
  // Map more than needed and give back what lies outside the aligned part.
  const size_t room = mappedBytes + alignment - kPage;
  void *mapped = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t aligned = roundUp(begin, alignment);
  if (aligned > begin)
    munmap(mapped, aligned - begin);
  const uintptr_t end = aligned + mappedBytes;
  if (begin + room > end)
    munmap(reinterpret_cast<void *>(end), begin + room - end);
  if (isHuge)
    madvise(reinterpret_cast<void *>(aligned), mappedBytes, MADV_HUGEPAGE);
  return reinterpret_cast<void *>(aligned);
}

/// A "Name: value kB" line of /proc/meminfo, in bytes.
size_t readMeminfo(const char *name) {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    size_t kilobytes = 0;
    file >> kilobytes;
    if (key == name)
      return kilobytes << 10;
    file.ignore(256, '\n');
  }
  return 0;
}

/// The control group's limit, or all there is.
size_t readLimit() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  size_t limit = 0;
  return file >> limit && limit > 0 ? limit : SIZE_MAX;
}

}  // namespace

size_t totalMemory() {
  static const size_t bytes = std::min(readMeminfo("MemTotal:"), readLimit());
  return bytes;
}

size_t availableMemory() {
  const size_t used = allocatedBytes();
  const size_t left = totalMemory() > used ? totalMemory() - used : 0;
  return std::min(left, readMeminfo("MemAvailable:"));
}

size_t allocatedBytes() { return blocks().allocated.load(std::memory_order_relaxed); }

void *allocateMemory(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  Blocks &all = blocks();
  if (bytes > totalMemory() || all.allocated + bytes > totalMemory())
    return nullptr;
  Block block{bytes, 0, 0};
  void *address = bytes >= kOwnMapping
                      ? mapLarge(bytes, block.mappedBytes)
                      : aligned_alloc(kAllocationAlignment, roundUp(bytes, kAllocationAlignment));
  if (!address)
    return nullptr;
  all.allocated += bytes;
  std::unique_lock lock(all.mutex);
  block.id = all.nextId++;
  all.byAddress[reinterpret_cast<uintptr_t>(address)] = block;
  return address;
}

bool freeMemory(void *address) {
  Blocks &all = blocks();
  Block block;
  {
    std::unique_lock lock(all.mutex);
    const auto found = all.byAddress.find(reinterpret_cast<uintptr_t>(address));
    if (found == all.byAddress.end())
      return false;
    block = found->second;
    all.byAddress.erase(found);
  }
  all.allocated -= block.bytes;
  if (block.mappedBytes != 0)
    munmap(address, block.mappedBytes);
  else
    free(address);
  return true;
}

std::optional<MemoryRange> findAllocation(const void *address) {
  Blocks &all = blocks();
  const auto value = reinterpret_cast<uintptr_t>(address);
  std::shared_lock lock(all.mutex);
  auto next = all.byAddress.upper_bound(value);
  if (next == all.byAddress.begin())
    return std::nullopt;
  const auto &[base, block] = *--next;
  if (value - base >= block.bytes)
    return std::nullopt;
  return MemoryRange{reinterpret_cast<void *>(base), block.bytes, block.id};
}

}  // namespace ptxrun::device
