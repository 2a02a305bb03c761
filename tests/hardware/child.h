// Work in a process of its own: a driver's compiler may crash, and an error or a hang of a kernel
// loses the context. The parent itself must not have called the driver.
#pragma once
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <new>
#include <optional>
#include <string>

namespace ptxrun::hardware {

/// Zeros that this process and its children all see, for good.
template <class Type> Type *sharedMemory(size_t count) {
  void *memory = mmap(nullptr, count * sizeof(Type), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  return static_cast<Type *>(memory);
}

class Child {
 public:
  static constexpr std::chrono::seconds kPatience{20};

  /// Calls work() in the child, whose exit status it returns. `progress`: shared, changes when a
  /// new piece of work begins; each has kPatience. Null: it is one piece.
  template <class Work>
  explicit Child(Work work, const std::atomic<uint64_t> *progress = nullptr) : progress_(progress) {
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ < 0)
      throw std::bad_alloc();
    if (pid_ > 0)
      return;
    const int status = work();
    std::fflush(nullptr);
    _exit(status);
  }

  /// Nothing while it runs, then how it ended: "" (with status 0), "hung", "crashed: signal 11" or
  /// "exit status 1".
  std::optional<std::string> ended() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      if (WIFSIGNALED(status))
        return "crashed: signal " + std::to_string(WTERMSIG(status));
      return WEXITSTATUS(status) ? "exit status " + std::to_string(WEXITSTATUS(status)) : "";
    }
    if (const uint64_t now = progress_ ? progress_->load() : 0; now != seen_) {
      seen_ = now;
      start_ = std::chrono::steady_clock::now();
    }
    if (std::chrono::steady_clock::now() - start_ < kPatience)
      return std::nullopt;
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
    return "hung";
  }

 private:
  pid_t pid_ = 0;
  const std::atomic<uint64_t> *progress_;
  uint64_t seen_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace ptxrun::hardware
