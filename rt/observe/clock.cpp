// %clock64 and %globaltimer.
#include "rt/observe/clock.h"

#include <time.h>

#include <atomic>

#include "intrinsics/abi.h"
#include "rt/launch/clock.h"

namespace ptxrun::rt {

namespace {
constexpr uint64_t kStepNs = 1000;
/// Where %globaltimer begins when it counts readings: a time after the epoch that no kernel finds
/// odd.
constexpr uint64_t kFirstTime = uint64_t{1'700'000'000} * 1'000'000'000;
std::atomic<bool> isCounting{false};
std::atomic<uint64_t> readings{0};

uint64_t countReading() { return readings.fetch_add(kStepNs, std::memory_order_relaxed) + kStepNs; }
} // namespace

void countClocks() { isCounting.store(true, std::memory_order_relaxed); }
void resetClocks() { setClockReadings(0); }
uint64_t clockReadings() { return readings.load(std::memory_order_relaxed); }
void setClockReadings(uint64_t value) { readings.store(value, std::memory_order_relaxed); }

} // namespace ptxrun::rt

using namespace ptxrun::rt;

extern "C" {

uint64_t ptxrun_clock64() {
  return isCounting.load(std::memory_order_relaxed) ? countReading() : nowNs();
}

uint64_t ptxrun_globaltimer() {
  if (isCounting.load(std::memory_order_relaxed))
    return kFirstTime + countReading();
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}
}
