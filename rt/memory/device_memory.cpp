// Three kinds of blocks:
//   large    (from 1 MiB) a mapping of their own on a 2 MiB boundary, huge pages, inaccessible from
//            the last page's end on
//   guarded  whole pages between inaccessible ones; the block and its slack end with the last page,
//            so that an overrun is seen
//   packed   small blocks beyond the first thousands (the system limits the number of mappings):
//            from slabs by size, without guards
// The slack is memory behind a block that belongs to no other: hardware lets programs read and
// write a little past the end, and some do.
#include "rt/memory/device_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace ptxrun::rt {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHuge = 2 << 20;
constexpr uint64_t kLarge = 1 << 20;
constexpr uint64_t kAlign = 256;
constexpr uint64_t kGap = 64 * 1024;       ///< inaccessible bytes on each side of a guarded block
constexpr uint64_t kMaxGuarded = 8192;     ///< live guarded blocks
constexpr uint64_t kMaxPacked = 32 * 1024; ///< larger ones are always guarded
constexpr size_t kRemembered = 64;         ///< freed allocations kept for messages
constexpr uint64_t kNear =
    16 << 20; ///< how far from a block an address is still said to be past its end

/// Bytes behind each block that may be read and written; none with PTXRUN_GUARD=exact.
uint64_t slack() {
  static const uint64_t bytes = [] {
    const char *guard = getenv("PTXRUN_GUARD");
    return guard && strcmp(guard, "exact") == 0 ? 0 : kAlign;
  }();
  return bytes;
}

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

struct Block {
  uint64_t bytes = 0;
  uint32_t tag = 0;
  uint64_t mapping = 0; ///< start of the mapping that is to be given back; 0 for packed blocks
  uint64_t mappingBytes = 0;
  bool isPlaced = false; ///< by allocateAt
};

/// Where blocks get the same addresses in every process. Guarded by DeviceMemory's lock.
class Arena {
 public:
  bool isOn = false;

  uint64_t reserve(uint64_t bytes) {
    // Blocks keep their alignment whatever came before.
    const uint64_t step = roundUp(bytes, kHuge);
    for (int turn = 0; turn < 2; ++turn, next_ = kDeviceArena)
      for (; next_ + step <= kDeviceArena + kDeviceArenaBytes; next_ += step)
        if (map(next_, bytes)) {
          const uint64_t at = next_;
          next_ += step;
          return at;
        }
    return 0;
  }
  static bool map(uint64_t at, uint64_t bytes) {
#if __has_feature(thread_sanitizer)
    return false; // its mmap makes 0 of addresses that are its own, and maps that
#endif
    void *wanted = reinterpret_cast<void *>(at);
    void *memory = mmap(wanted, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != MAP_FAILED && memory != wanted)
      munmap(memory, bytes); // a kernel that takes the address for a hint
    return memory == wanted;
  }

 private:
  uint64_t next_ = kDeviceArena;
};
Arena arena;
thread_local uint64_t nextPlace = 0;

uint64_t reserve(uint64_t bytes) {
  if (arena.isOn)
    return arena.reserve(bytes);
  void *memory =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? 0 : reinterpret_cast<uint64_t>(memory);
}

bool open(uint64_t at, uint64_t bytes) {
  return mprotect(reinterpret_cast<void *>(at), bytes, PROT_READ | PROT_WRITE) == 0;
}

/// Blocks of one size from slabs; freed ones are used again.
class PackedBlocks {
 public:
  uint64_t take(uint64_t bytes) {
    const uint64_t at = takeAny(bytes);
    if (at && arena.isOn)
      std::memset(reinterpret_cast<void *>(at), 0, bytes);
    return at;
  }
  /// Takes no memory: addSlab has made the room.
  void give(uint64_t at, uint64_t bytes) noexcept { free_[classOf(bytes)].push_back(at); }

 private:
  uint64_t takeAny(uint64_t bytes) {
    const size_t c = classOf(bytes);
    std::vector<uint64_t> &free = free_[c];
    if (free.empty() && !addSlab(free, made_[c], uint64_t{kAlign} << c))
      return 0;
    uint64_t at = free.back();
    free.pop_back();
    return at;
  }
  static size_t classOf(uint64_t bytes) {
    size_t c = 0;
    while ((kAlign << c) < bytes + slack())
      ++c;
    return c;
  }
  static bool addSlab(std::vector<uint64_t> &free, size_t &made, uint64_t size) {
    free.reserve(made + kHuge / size);
    uint64_t slab = reserve(kHuge);
    if (!slab || !open(slab, kHuge))
      return false;
    for (uint64_t at = slab + kHuge; at > slab; at -= size)
      free.push_back(at - size);
    made += kHuge / size;
    return true;
  }
  std::vector<uint64_t> free_[9]; ///< 256 bytes to 64 KiB
  size_t made_[9] = {};           ///< blocks of all slabs
};
static_assert(kAlign << 8 >= kMaxPacked + kAlign);

class DeviceMemory {
 public:
  bool useArena() {
    std::unique_lock guard(lock_);
    if (arena.isOn)
      return true;
    if (!blocks_.empty() || !Arena::map(kDeviceHeapArena, kHuge))
      return false;
    munmap(reinterpret_cast<void *>(kDeviceHeapArena), kHuge);
    return arena.isOn = true;
  }

  void *allocateAt(uint64_t base, uint64_t bytes, uint32_t tag) {
    const uint64_t first = base / kPage * kPage, end = roundUp(base + bytes, kPage);
    if (base < kPage || bytes == 0 || bytes > uint64_t{1} << 46 || end < base)
      return nullptr;
    std::unique_lock guard(lock_);
    const auto after = blocks_.upper_bound(base);
    if ((after != blocks_.end() && after->first < base + bytes) ||
        (after != blocks_.begin() &&
         std::prev(after)->first + std::prev(after)->second.bytes > base))
      return nullptr;
    for (uint64_t page = first; page < end;) { // whole runs of pages that are not placed yet
      uint64_t run = page;
      while (run < end && !placedPages_.contains(run))
        run += kPage;
      if (run > page && (!Arena::map(page, run - page) || !open(page, run - page)))
        return nullptr;
      for (; page < run; page += kPage)
        if (isShared(page, base, bytes))
          placedPages_.insert(page);
      if (run < end) { // a page that blocks before had a part of
        const uint64_t from = std::max(run, base), to = std::min(run + kPage, base + bytes);
        std::memset(reinterpret_cast<void *>(from), 0, to - from);
        page = run + kPage;
      }
    }
    Block block;
    block.bytes = bytes;
    block.tag = tag;
    block.isPlaced = true;
    used_ += bytes;
    blocks_.emplace(base, block);
    return reinterpret_cast<void *>(base);
  }

  void *allocate(uint64_t bytes, uint32_t tag) {
    if (bytes == 0 || bytes > uint64_t{1} << 46)
      return nullptr;
    std::unique_lock guard(lock_);
    Block block;
    block.bytes = bytes;
    block.tag = tag;
    uint64_t base = 0;
    if (bytes >= kLarge)
      base = mapLarge(block);
    else if (guarded_ < kMaxGuarded || bytes > kMaxPacked)
      base = mapGuarded(block);
    else
      base = packed_.take(bytes);
    if (!base)
      return nullptr;
    try {
      blocks_.emplace(base, block);
    } catch (const std::bad_alloc &) {
      if (block.mapping)
        munmap(reinterpret_cast<void *>(block.mapping), block.mappingBytes);
      else
        packed_.give(base, bytes);
      return nullptr;
    }
    uint64_t low = block.mapping ? block.mapping : base;
    uint64_t span = block.mapping ? block.mappingBytes : bytes;
    std::erase_if(
        freed_, [&](const Allocation &f) { return f.base < low + span && low < f.base + f.bytes; });
    used_ += bytes;
    guarded_ += block.mapping != 0;
    return reinterpret_cast<void *>(base);
  }

  bool release(uint64_t base) {
    std::unique_lock guard(lock_);
    auto at = blocks_.find(base);
    if (at == blocks_.end())
      return false;
    const Block &block = at->second;
    used_ -= block.bytes;
    if (block.isPlaced) {
      releasePlaced(base, block);
    } else if (block.mapping) {
      munmap(reinterpret_cast<void *>(block.mapping), block.mappingBytes);
      --guarded_;
    } else {
      packed_.give(base, block.bytes);
    }
    try { // only reports of bad addresses ask
      freed_.push_front({base, block.bytes, block.tag});
      if (freed_.size() > kRemembered)
        freed_.pop_back();
    } catch (const std::bad_alloc &) {
    }
    blocks_.erase(at);
    return true;
  }

  std::optional<Allocation> find(uint64_t address) {
    std::shared_lock guard(lock_);
    auto at = blocks_.upper_bound(address);
    if (at == blocks_.begin())
      return {};
    --at;
    if (address - at->first >= at->second.bytes)
      return {};
    return Allocation{at->first, at->second.bytes, at->second.tag};
  }

  uint64_t used() {
    std::shared_lock guard(lock_);
    return used_;
  }

  std::string describe(uint64_t address);

 private:
  /// Pages that a placed block does not fill may hold others; they stay.
  static bool isShared(uint64_t page, uint64_t base, uint64_t bytes) {
    return page < base || page + kPage > base + bytes;
  }
  /// Unmaps the pages that are the block's alone.
  void releasePlaced(uint64_t base, const Block &block) {
    const uint64_t first = roundUp(base, kPage), end = (base + block.bytes) / kPage * kPage;
    if (first >= end)
      return;
    munmap(reinterpret_cast<void *>(first), end - first);
    placedPages_.erase(placedPages_.lower_bound(first), placedPages_.lower_bound(end));
  }

  /// On a 2 MiB boundary, with a gap behind.
  static uint64_t mapLarge(Block &block) {
    uint64_t data = roundUp(block.bytes + slack(), kPage);
    uint64_t total = data + 2 * kHuge;
    uint64_t start = reserve(total);
    if (!start)
      return 0;
    uint64_t base = roundUp(start, kHuge);
    if (!open(base, data)) {
      munmap(reinterpret_cast<void *>(start), total);
      return 0;
    }
    madvise(reinterpret_cast<void *>(base), data, MADV_HUGEPAGE);
    block.mapping = start;
    block.mappingBytes = total;
    return base;
  }

  static uint64_t mapGuarded(Block &block) {
    uint64_t data = roundUp(block.bytes + slack(), kPage);
    uint64_t total = data + 2 * kGap;
    uint64_t start = reserve(total);
    if (!start)
      return 0;
    if (!open(start + kGap, data)) {
      munmap(reinterpret_cast<void *>(start), total);
      return 0;
    }
    block.mapping = start;
    block.mappingBytes = total;
    return start + kGap + data - roundUp(block.bytes + slack(), kAlign);
  }

  std::shared_mutex lock_;
  std::map<uint64_t, Block> blocks_;
  std::deque<Allocation> freed_;   ///< latest first
  std::set<uint64_t> placedPages_; ///< mapped by allocateAt, for parts of blocks
  PackedBlocks packed_;
  uint64_t used_ = 0;
  uint64_t guarded_ = 0;
};

DeviceMemory &memory() {
  static auto *instance = new DeviceMemory; // device memory may be used until the process ends
  return *instance;
}

std::string hex(uint64_t value) {
  char text[20];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string plural(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string ofAllocation(uint64_t base, uint64_t bytes) {
  return "an allocation of " + plural(bytes) + " at " + hex(base);
}

std::string DeviceMemory::describe(uint64_t address) {
  std::shared_lock guard(lock_);
  auto after = blocks_.upper_bound(address);
  const auto *before = after == blocks_.begin() ? nullptr : &*std::prev(after);
  if (before && address - before->first < before->second.bytes)
    return hex(address) + " is byte " + std::to_string(address - before->first) + " of " +
           ofAllocation(before->first, before->second.bytes);
  for (const Allocation &f : freed_)
    if (address - f.base < f.bytes)
      return hex(address) + " is byte " + std::to_string(address - f.base) + " of " +
             ofAllocation(f.base, f.bytes) + " that was freed";
  uint64_t past = before ? address - before->first - before->second.bytes : ~uint64_t{0};
  uint64_t ahead = after != blocks_.end() ? after->first - address : ~uint64_t{0};
  if (past <= ahead && past < kNear)
    return hex(address) + " is " +
           (past ? plural(past) + " past the end of " : "just past the end of ") +
           ofAllocation(before->first, before->second.bytes);
  if (ahead < kNear)
    return hex(address) + " is " + plural(ahead) + " before " +
           ofAllocation(after->first, after->second.bytes);
  return "";
}

} // namespace

void *allocateDevice(uint64_t bytes, uint32_t tag) {
  const uint64_t place = std::exchange(nextPlace, 0);
  return place ? memory().allocateAt(place, bytes, tag) : memory().allocate(bytes, tag);
}
bool useDeviceArena() { return memory().useArena(); }
bool usesDeviceArena() { return arena.isOn; }
void *allocateDeviceAt(uint64_t base, uint64_t bytes, uint32_t tag) {
  return memory().allocateAt(base, bytes, tag);
}
void placeNextDeviceBlock(uint64_t base) { nextPlace = base; }
bool freeDevice(void *base) { return memory().release(reinterpret_cast<uint64_t>(base)); }
std::optional<Allocation> findDevice(uint64_t address) { return memory().find(address); }
uint64_t deviceBytesInUse() { return memory().used(); }
std::string describeDeviceAddress(uint64_t address) { return memory().describe(address); }

} // namespace ptxrun::rt
