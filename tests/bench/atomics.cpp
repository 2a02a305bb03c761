// Atomics on global memory against the same std::atomic loop, in turn.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/harness.h"

namespace ptxrun::bench {
namespace {

constexpr uint32_t kThreads = 256, kTurns = 2000;
constexpr int kRounds = 31;

template <class T> void eachAdds(T *words) {
  for (uint32_t turn = 0; turn < kTurns; ++turn)
    for (uint32_t t = 0; t < kThreads; ++t)
      std::atomic_ref<T>(words[t]).fetch_add(1, std::memory_order_relaxed);
}

void eachAddsAndSums(uint32_t *words) {
  for (uint32_t turn = 0; turn < kTurns; ++turn)
    for (uint32_t t = 0; t < kThreads; ++t)
      words[kThreads + t] +=
          std::atomic_ref<uint32_t>(words[t]).fetch_add(1, std::memory_order_relaxed);
}

void allAdd(uint32_t *words) {
  for (uint32_t turn = 0; turn < kTurns; ++turn)
    for (uint32_t t = 0; t < kThreads; ++t)
      std::atomic_ref<uint32_t>(words[0]).fetch_add(t, std::memory_order_relaxed);
}

void compare(device::Module &module, const char *kernel, const char *what,
             void (*loop)(uint32_t *)) {
  Data<uint32_t> ours(2 * kThreads), theirs(2 * kThreads);
  struct {
    uint32_t turns, padding;
    uint32_t *words;
  } params{kTurns, 0, ours.get()};
  device::LaunchOptions options;
  options.block = {kThreads, 1, 1};
  options.params = &params;
  const device::KernelInfo &info = *module.findKernel(kernel);
  std::vector<double> mine, other;
  for (int k = 0; k <= kRounds; ++k) {
    double start = wallSecondsNow();
    module.launch(info, options);
    double middle = wallSecondsNow();
    loop(theirs.get());
    double end = wallSecondsNow();
    if (k == 0)
      continue; // compiles
    mine.push_back(middle - start);
    other.push_back(end - middle);
  }
  for (uint32_t t = 0; t < kThreads; ++t)
    if (ours.get()[t] != theirs.get()[t])
      std::fprintf(stderr, "bench: %s is wrong\n", kernel), std::exit(1);
  // The least of each: how fast a locked operation is changes by a factor of 2.5 with what other
  // processes do.
  const double least = *std::min_element(mine.begin(), mine.end());
  const double leastOther = *std::min_element(other.begin(), other.end());
  const double perOne = 1e9 / kTurns / kThreads, ratio = least / leastOther;
  std::printf("%-52s %10.3f ns   std::atomic %.3f ns, ratio %.2f  (at most 1)%s\n", what,
              least * perOne, leastOther * perOne, ratio, verdict(ratio > 1.05));
  std::fflush(stdout);
}

} // namespace

void measureAtomics() {
  auto module = loadModule(PTXRUN_BENCH_FOLDER "/atomics.ptx");
  std::printf("\n");
  compare(*module, "ownWord", "red.add.u32, a word for each thread", eachAdds<uint32_t>);
  compare(*module, "ownWordReturned", "atom.add.u32, a word for each thread", eachAddsAndSums);
  compare(*module, "ownFloat", "red.add.f32, a word for each thread",
          [](uint32_t *words) { eachAdds(reinterpret_cast<float *>(words)); });
  compare(*module, "oneWord", "red.add.u32, one word for all", allAdd);
}

} // namespace ptxrun::bench
