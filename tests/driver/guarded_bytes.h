// Bytes that end where memory ends: whoever reads one more is killed by it.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>

namespace ptxrun::tests {

/// Room for up to `most` bytes before a page that cannot be read.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t most)
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        room_((most + page_ - 1) / page_ * page_) {
    void *memory =
        mmap(nullptr, room_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    begin_ = static_cast<char *>(memory);
    mprotect(begin_ + room_, page_, PROT_NONE);
  }
  ~GuardedBytes() { munmap(begin_, room_ + page_); }
  GuardedBytes(const GuardedBytes &) = delete;
  GuardedBytes &operator=(const GuardedBytes &) = delete;

  /// Their copy, which lasts until the next one. What does not fit is left out.
  std::span<char> hold(std::span<const char> bytes) {
    const size_t count = bytes.size() < room_ ? bytes.size() : room_;
    char *const at = begin_ + room_ - count;
    if (count != 0)
      memcpy(at, bytes.data(), count);
    return {at, count};
  }
  /// The first byte that cannot be read.
  char *end() const { return begin_ + room_; }

 private:
  const size_t page_, room_;
  char *begin_ = nullptr;
};

} // namespace ptxrun::tests
