// Memory that one thread takes and another gives back, all of one size: what streams queue. malloc
// keeps such blocks with the thread that frees them, and locks for every one.
#pragma once
#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

namespace ptxrun::driver {

/// Free blocks of a size. Each thread has some of its own; they go to and from the common ones by
/// the batch. Blocks are not given back to the system but where there are very many.
template <size_t bytes, size_t alignment> class Blocks {
 public:
  static void *take() {
    Own &own = own_;
    if (own.count == 0)
      refill(own);
    return own.count != 0 ? own.blocks[--own.count]
                          : ::operator new(bytes, std::align_val_t(alignment));
  }
  static void give(void *block) {
    Own &own = own_;
    if (own.count == 0)
      owner_.isUsed = true; // makes it: this thread may never take one
    else if (own.count == kOwn)
      spill(own, kOwn / 2);
    own.blocks[own.count++] = block;
  }

 private:
  static constexpr size_t kOwn = 64;
  static constexpr size_t kMostCommon = 8192;

  struct Common {
    std::mutex mutex;
    std::vector<void *> blocks;
  };
  /// Never destroyed: programs call the driver until the very end of the process.
  static Common &common() {
    static auto *instance = [] {
      auto *made = new Common;
      made->blocks.reserve(kMostCommon); // giving back cannot fail
      return made;
    }();
    return *instance;
  }

  /// Trivially destructible, since threads use it even in their own destructors.
  struct Own {
    std::array<void *, kOwn> blocks;
    size_t count;
  };
  /// Gives back what a thread has when it ends.
  struct Owner {
    bool isUsed = false;
    ~Owner() { spill(own_, own_.count); }
  };

  static void refill(Own &own) {
    owner_.isUsed = true; // makes it
    Common &all = common();
    std::lock_guard lock(all.mutex);
    for (; own.count < kOwn / 2 && !all.blocks.empty(); all.blocks.pop_back())
      own.blocks[own.count++] = all.blocks.back();
  }
  static void spill(Own &own, size_t count) {
    owner_.isUsed = true;
    Common &all = common();
    std::lock_guard lock(all.mutex);
    for (; count != 0; --count) {
      void *block = own.blocks[--own.count];
      if (all.blocks.size() < kMostCommon)
        all.blocks.push_back(block);
      else
        ::operator delete(block, std::align_val_t(alignment));
    }
  }

  static inline thread_local constinit Own own_{};
  static inline thread_local Owner owner_;
};

/// For std::allocate_shared.
template <class T> struct Recycled {
  using value_type = T;
  Recycled() = default;
  template <class U> Recycled(const Recycled<U> &) {}
  T *allocate(size_t) { return static_cast<T *>(Blocks<sizeof(T), alignof(T)>::take()); }
  void deallocate(T *block, size_t) { Blocks<sizeof(T), alignof(T)>::give(block); }
  bool operator==(const Recycled &) const { return true; }
};

} // namespace ptxrun::driver
