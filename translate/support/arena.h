// A bump allocator for nodes that die together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ptxrun::support {

/// Memory is given back only when the arena goes; destructors are not run, so what lives here must
/// not need one.
class Arena {
 public:
  Arena() = default;
  Arena(Arena &&) = default;
  Arena &operator=(Arena &&) = default;

  void *allocate(size_t bytes, size_t alignment) {
    uintptr_t at = (uintptr_t(next_) + alignment - 1) & ~uintptr_t(alignment - 1);
    if (at + bytes > uintptr_t(end_) || !next_) {
      grow(bytes + alignment);
      at = (uintptr_t(next_) + alignment - 1) & ~uintptr_t(alignment - 1);
    }
    next_ = reinterpret_cast<std::byte *>(at + bytes);
    return reinterpret_cast<void *>(at);
  }

  template <typename T, typename... Args> T *make(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  /// `count` value-initialised elements.
  template <typename T> std::span<T> makeArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count == 0)
      return {};
    T *first = static_cast<T *>(allocate(sizeof(T) * count, alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return {first, count};
  }

  /// A copy of the range that lives as long as the arena.
  template <typename Range> auto copy(const Range &range) {
    using T = std::remove_cvref_t<decltype(*std::data(range))>;
    static_assert(std::is_trivially_destructible_v<T>);
    size_t count = std::size(range);
    if (count == 0)
      return std::span<T>();
    T *first = static_cast<T *>(allocate(sizeof(T) * count, alignof(T)));
    std::uninitialized_copy_n(std::data(range), count, first);
    return std::span<T>(first, count);
  }

  std::string_view copyText(std::string_view text) {
    auto chars = copy(text);
    return {chars.data(), chars.size()};
  }

  /// Bytes asked from the system.
  size_t bytes() const { return bytes_; }

 private:
  void grow(size_t atLeast);
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte *next_ = nullptr;
  std::byte *end_ = nullptr;
  size_t bytes_ = 0;
};

} // namespace ptxrun::support
