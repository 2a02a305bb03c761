#include "rt/texture/registry.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace ptxrun::rt {

namespace {

// A handle's low bits are the record's number, those above count how often the record was used
// again, so that a destroyed handle stays invalid.
constexpr uint32_t kNumberBits = 20, kPageBits = 6;
constexpr uint32_t kPages = 1u << (kNumberBits - kPageBits);
constexpr uint64_t kUses = 1u << (32 - kNumberBits);

class ImageTable {
 public:
  ImageRecord *create(abi::ImageKind kind) {
    std::lock_guard guard(lock_);
    uint32_t number = 0;
    if (!free_.empty()) {
      number = free_.front();
      free_.pop_front();
    } else if (next_ < (1u << kNumberBits)) {
      number = next_++;
    } else {
      return nullptr;
    }
    std::atomic<Page *> &page = pages_[number >> kPageBits];
    if (!page.load(std::memory_order_relaxed))
      page.store(new Page, std::memory_order_release);
    Slot &slot = page.load(std::memory_order_relaxed)->slots[number & kMask];
    slot.record = ImageRecord{};
    slot.record.handle = (++slot.uses % kUses) << kNumberBits | number;
    slot.record.kind = kind;
    return &slot.record;
  }

  bool destroy(uint64_t handle, abi::ImageKind kind) {
    std::lock_guard guard(lock_);
    ImageRecord *record = find(handle);
    if (!record || record->kind != kind)
      return false;
    record->handle = 0;
    // Used again as late as possible.
    free_.push_back(static_cast<uint32_t>(handle & ((1u << kNumberBits) - 1)));
    return true;
  }

  ImageRecord *find(uint64_t handle) {
    if (handle == 0 || handle >> 32)
      return nullptr;
    const auto number = static_cast<uint32_t>(handle & ((1u << kNumberBits) - 1));
    Page *page = pages_[number >> kPageBits].load(std::memory_order_acquire);
    if (!page)
      return nullptr;
    ImageRecord &record = page->slots[number & kMask].record;
    return record.handle == handle ? &record : nullptr;
  }

 private:
  static constexpr uint32_t kMask = (1u << kPageBits) - 1;
  struct Slot {
    ImageRecord record;
    uint64_t uses = 0;
  };
  struct Page {
    Slot slots[1u << kPageBits];
  };
  std::mutex lock_;
  std::atomic<Page *> pages_[kPages] = {};
  std::deque<uint32_t> free_;
  uint32_t next_ = 1;
};

/// Never destroyed: programs use them until the process ends.
ImageTable &table() {
  static auto *instance = new ImageTable;
  return *instance;
}

struct OpaqueVariables {
  std::shared_mutex lock;
  std::map<uint64_t, ImageRecord *> records;
};
OpaqueVariables &variables() {
  static auto *instance = new OpaqueVariables;
  return *instance;
}

} // namespace

ImageRecord *createImage(abi::ImageKind kind) { return table().create(kind); }
bool destroyImage(uint64_t handle, abi::ImageKind kind) { return table().destroy(handle, kind); }
ImageRecord *findImage(uint64_t handle) { return table().find(handle); }

void addOpaqueVariable(const void *variable, ImageRecord *record) {
  std::unique_lock guard(variables().lock);
  variables().records[reinterpret_cast<uint64_t>(variable)] = record;
}
void removeOpaqueVariable(const void *variable) {
  std::unique_lock guard(variables().lock);
  variables().records.erase(reinterpret_cast<uint64_t>(variable));
}
ImageRecord *findOpaqueVariable(uint64_t address) {
  std::shared_lock guard(variables().lock);
  const auto found = variables().records.find(address);
  return found == variables().records.end() ? nullptr : found->second;
}

} // namespace ptxrun::rt
