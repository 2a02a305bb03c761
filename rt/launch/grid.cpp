#include "rt/launch/grid.h"

#include <algorithm>

namespace ptxrun::rt {

abi::Dim3 placeInGrid(uint64_t linear, abi::Dim3 grid) {
  if (linear < grid.x)
    return {static_cast<uint32_t>(linear), 0, 0};
  uint64_t rows = linear / grid.x;
  return {static_cast<uint32_t>(linear % grid.x), static_cast<uint32_t>(rows % grid.y),
          static_cast<uint32_t>(rows / grid.y)};
}

bool takeChunk(LaunchState &launch, uint64_t limit, uint64_t *first, uint64_t *end) {
  uint64_t n = launch.next.load(std::memory_order_relaxed);
  uint64_t chunk;
  do {
    if (n >= launch.groups || launch.isStopped())
      return false;
    uint64_t share = (launch.groups - n) / (static_cast<uint64_t>(launch.workers) * 8);
    uint64_t most = launch.hasSpun.load(std::memory_order_relaxed) ? 1 : limit;
    chunk = std::clamp<uint64_t>(share, 1, most);
  } while (!launch.next.compare_exchange_weak(n, n + chunk, std::memory_order_acq_rel));
  *first = n;
  *end = n + chunk;
  return true;
}

bool takeOneGroup(LaunchState &launch, uint64_t *number) {
  uint64_t n = launch.next.load(std::memory_order_relaxed);
  do {
    if (n >= launch.groups)
      return false;
  } while (!launch.next.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel));
  *number = launch.request->schedule == Schedule::reverse ? launch.groups - 1 - n : n;
  if (auto *finished = launch.request->finishedCtas)
    finished->fetch_add(launch.ctasPerGroup, std::memory_order_relaxed);
  return true;
}

void countFinished(LaunchState &launch, uint64_t groups) {
  if (auto *finished = launch.request->finishedCtas)
    finished->fetch_add(groups * launch.ctasPerGroup * volume(launch.code->needs.joinedCtas),
                        std::memory_order_relaxed);
}

} // namespace ptxrun::rt
