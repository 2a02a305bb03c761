#include "rt/texture/registry.h"

#include <algorithm>
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
constexpr uint32_t kNumbers = 1u << kNumberBits;
constexpr uint64_t kUses = 1u << (32 - kNumberBits);

class ImageTable {
 public:
  ImageRecord *create(abi::ImageKind kind) {
    std::lock_guard guard(lock_);
    uint32_t number = 0;
    if (!free_.empty()) {
      number = free_.front();
      free_.pop_front();
    } else if (next_ < kNumbers) {
      number = next_++;
    } else {
      return nullptr;
    }
    Slot &slot = slotOf(number);
    return begin(slot, (++slot.uses % kUses) << kNumberBits | number, kind);
  }

  ImageRecord *createAt(uint64_t handle, abi::ImageKind kind) {
    std::lock_guard guard(lock_);
    const auto number = static_cast<uint32_t>(handle & (kNumbers - 1));
    if (number == 0 || handle >> 32)
      return nullptr;
    for (; next_ <= number; ++next_)
      free_.push_back(next_);
    Slot &slot = slotOf(number);
    if (const auto place = std::find(free_.begin(), free_.end(), number); place != free_.end())
      free_.erase(place);
    else if (slot.record.handle == handle)
      return nullptr;
    slot.uses = handle >> kNumberBits;
    return begin(slot, handle, kind);
  }

  void each(const std::function<void(const ImageRecord &)> &visit) {
    std::lock_guard guard(lock_);
    for (uint32_t number = 1; number < next_; ++number)
      if (const ImageRecord &record = slotOf(number).record; record.handle != 0)
        visit(record);
  }

  bool destroy(uint64_t handle, abi::ImageKind kind) {
    std::lock_guard guard(lock_);
    ImageRecord *record = find(handle);
    if (!record || record->kind != kind)
      return false;
    record->handle = 0;
    // Used again as late as possible.
    free_.push_back(static_cast<uint32_t>(handle & (kNumbers - 1)));
    return true;
  }

  ImageRecord *find(uint64_t handle) {
    if (handle == 0 || handle >> 32)
      return nullptr;
    const auto number = static_cast<uint32_t>(handle & (kNumbers - 1));
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

  Slot &slotOf(uint32_t number) {
    std::atomic<Page *> &page = pages_[number >> kPageBits];
    if (!page.load(std::memory_order_relaxed))
      page.store(new Page, std::memory_order_release);
    return page.load(std::memory_order_relaxed)->slots[number & kMask];
  }
  static ImageRecord *begin(Slot &slot, uint64_t handle, abi::ImageKind kind) {
    slot.record = ImageRecord{};
    slot.record.handle = handle;
    slot.record.kind = kind;
    return &slot.record;
  }

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

thread_local std::deque<uint64_t> nextHandles;

struct OpaqueVariables {
  std::shared_mutex lock;
  std::map<uint64_t, ImageRecord *> records;
};
OpaqueVariables &variables() {
  static auto *instance = new OpaqueVariables;
  return *instance;
}

} // namespace

ImageRecord *createImage(abi::ImageKind kind) {
  if (!nextHandles.empty()) {
    const uint64_t handle = nextHandles.front();
    nextHandles.pop_front();
    if (ImageRecord *record = table().createAt(handle, kind))
      return record;
  }
  return table().create(kind);
}
ImageRecord *createImageAt(uint64_t handle, abi::ImageKind kind) {
  return table().createAt(handle, kind);
}
void placeNextImages(std::vector<uint64_t> handles) {
  nextHandles.assign(handles.begin(), handles.end());
}
void eachImage(const std::function<void(const ImageRecord &)> &visit) { table().each(visit); }
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
