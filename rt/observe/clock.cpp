// %clock64 and %globaltimer.
#include <time.h>

#include "intrinsics/abi.h"
#include "rt/exec/scheduler.h"

extern "C" {

uint64_t ptxrun_clock64() { return ptxrun::rt::nowNs(); }

uint64_t ptxrun_globaltimer() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}
}
