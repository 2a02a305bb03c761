// The runtime's own clock.
#pragma once
#include <time.h>

#include <cstdint>

namespace ptxrun::rt {

/// Steady nanoseconds.
inline uint64_t nowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

} // namespace ptxrun::rt
