// A progress bar for launches that take longer than half a second, on standard error where that is
// a terminal.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace ptxrun::command {

/// Lives as long as the launch it shows. Without a terminal it does nothing and starts no thread.
class ProgressBar {
 public:
  ProgressBar(std::string label, uint64_t total, const std::atomic<uint64_t> &finished,
              bool isWanted);
  ~ProgressBar();
  ProgressBar(const ProgressBar &) = delete;

 private:
  void draw(double seconds);
  void watch();

  std::string label_;
  uint64_t total_;
  const std::atomic<uint64_t> &finished_;
  bool isDone_ = false, isDrawn_ = false;
  std::mutex mutex_;
  std::condition_variable done_;
  std::thread thread_;
};

} // namespace ptxrun::command
