#include "loader/ptxrun/interrupt.h"

#include <csignal>

namespace ptxrun::command {
namespace {

std::atomic<bool> isInterrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void onInterrupt(int) {
  isInterrupted.store(true, std::memory_order_relaxed);
  std::signal(SIGINT, SIG_DFL);
}

} // namespace

const std::atomic<bool> *watchInterrupts() {
  struct sigaction action {};
  action.sa_handler = onInterrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  return &isInterrupted;
}

} // namespace ptxrun::command
