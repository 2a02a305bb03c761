#include "loader/ptxrun/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace ptxrun::command {

using Clock = std::chrono::steady_clock;

ProgressBar::ProgressBar(std::string label, uint64_t total, const std::atomic<uint64_t> &finished,
                         bool isWanted)
    : label_(std::move(label)), total_(std::max<uint64_t>(total, 1)), finished_(finished) {
  if (isWanted && isatty(STDERR_FILENO))
    thread_ = std::thread([this] { watch(); });
}

ProgressBar::~ProgressBar() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard lock(mutex_);
    isDone_ = true;
  }
  done_.notify_one();
  thread_.join();
  if (isDrawn_)
    std::fputs("\r\033[K", stderr);
}

void ProgressBar::watch() {
  auto start = Clock::now();
  std::unique_lock lock(mutex_);
  auto wait = std::chrono::milliseconds(500);
  while (!done_.wait_for(lock, wait, [this] { return isDone_; })) {
    draw(std::chrono::duration<double>(Clock::now() - start).count());
    wait = std::chrono::milliseconds(100);
  }
}

void ProgressBar::draw(double seconds) {
  constexpr int kWidth = 32;
  uint64_t finished = std::min(finished_.load(std::memory_order_relaxed), total_);
  double share = static_cast<double>(finished) / static_cast<double>(total_);
  char bar[kWidth + 1];
  for (int k = 0; k < kWidth; ++k)
    bar[k] = k < static_cast<int>(share * kWidth) ? '#' : '.';
  bar[kWidth] = 0;
  std::fprintf(stderr, "\r\033[K%s [%s] %3.0f %% of %llu blocks, %.1f s", label_.c_str(), bar,
               share * 100, static_cast<unsigned long long>(total_), seconds);
  if (finished && finished < total_)
    std::fprintf(stderr, ", about %.0f s left", seconds / share - seconds);
  std::fflush(stderr);
  isDrawn_ = true;
}

} // namespace ptxrun::command
