#include "rt/launch/sole_launch.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "rt/launch/futex.h"

namespace ptxrun::rt {

namespace {

enum : uint32_t {
  kNobody, ///< no launch runs
  kOne,    ///< one, with the host's atomics
  kSole,   ///< one, without
  kWanted, ///< the same, and another waits
  kMany,   ///< launches have met: it stays so
};
alignas(64) std::atomic<uint32_t> state{kNobody};
thread_local bool isInLaunch = false;

bool change(uint32_t from, uint32_t to) {
  return state.load(std::memory_order_relaxed) == from &&
         state.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

/// Lets those in that wait for the end of kWanted.
void meet() {
  state.store(kMany, std::memory_order_release);
  futexWake(state, INT32_MAX);
}

void waitForSole() {
  constexpr int kSpins = 1000;
  for (int n = 0; state.load(std::memory_order_acquire) == kWanted; ++n)
    if (n < kSpins)
      __builtin_ia32_pause();
    else
      futexWait(state, kWanted);
}

/// The threads of a fork's child that ran launches are gone.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
  state.store(kNobody, std::memory_order_relaxed);
  isInLaunch = false;
});

} // namespace

SoleLaunch::SoleLaunch(bool isWanted) {
  if (isInLaunch)
    return;
  isCounted_ = isInLaunch = true;
  for (;;) {
    switch (state.load(std::memory_order_acquire)) {
    case kNobody:
      if (change(kNobody, isWanted ? kSole : kOne)) {
        isSole_ = isWanted;
        return;
      }
      break;
    case kOne:
      if (change(kOne, kMany))
        return;
      break;
    case kSole:
      change(kSole, kWanted);
      break;
    case kWanted:
      waitForSole();
      break;
    default:
      return;
    }
  }
}

bool SoleLaunch::letOthersIn() {
  if (isSole_ && state.load(std::memory_order_relaxed) == kWanted)
    share();
  return isSole_;
}

void SoleLaunch::share() {
  if (isSole_ && !change(kSole, kOne))
    meet();
  isSole_ = false;
}

void SoleLaunch::end() {
  if (!isCounted_)
    return;
  if (isSole_ && !change(kSole, kNobody))
    meet();
  else if (!isSole_)
    change(kOne, kNobody);
  isCounted_ = isInLaunch = isSole_ = false;
}

} // namespace ptxrun::rt
