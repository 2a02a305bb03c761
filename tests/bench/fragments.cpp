// How fast fragments come to registers: ldmatrix in ns, tcgen05.ld in GB/s beside memcpy of the
// same bytes and a sum of the same words.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/harness.h"
#include "tests/bench/loops.h"

namespace ptxrun::bench {
namespace {

constexpr int kTurns = 31;

double leastSeconds(const std::function<void()> &run) {
  double least = INFINITY;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double start = wallSecondsNow();
    run();
    least = std::min(least, wallSecondsNow() - start);
  }
  return least;
}

/// Words of shared memory as fragments.ptx fills it.
uint32_t wordAt(uint32_t byte) { return byte / 4 * 0x9e3779b1; }
uint32_t elementAt(uint32_t byte) { return wordAt(byte) >> byte % 4 * 8 & 0xffff; }

/// What ldmatrix gives a lane of the 8 x 8 matrix of 16-bit elements at `byte`, rows of 144 bytes.
uint32_t fragmentOf(uint32_t byte, uint32_t lane, bool isTransposed) {
  const uint32_t row = lane / 4, column = lane % 4 * 2;
  if (!isTransposed)
    return wordAt(byte + row * 144 + column * 2);
  return elementAt(byte + column * 144 + row * 2) | elementAt(byte + (column + 1) * 144 + row * 2)
                                                        << 16;
}

uint32_t sumOfMatrices(uint32_t lane, bool isTransposed, uint32_t rounds) {
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 256; ++k)
    for (uint32_t step = 0; step < 8; ++step)
      for (uint32_t i = 0; i < 4; ++i)
        sum += fragmentOf((k % 16 + step / 4) * 2304 + step % 4 * 32 + i % 2 * 8 * 144 + i / 2 * 16,
                          lane, isTransposed);
  return rounds * sum;
}

struct Params {
  uint32_t *results;
  uint32_t rounds;
};

/// Runs `kernel` in one block and holds each thread's result against `expected`; the least time.
double secondsOf(device::Module &module, const char *kernel, unsigned threads, uint32_t rounds,
                 const std::function<uint32_t(uint32_t)> &expected) {
  Data<uint32_t> results(threads);
  Params params{results.get(), rounds};
  device::LaunchOptions options;
  options.block = {threads, 1, 1};
  options.params = &params;
  options.threads = 1;
  const double seconds = leastSeconds([&] {
    if (auto outcome = module.launch(*module.findKernel(kernel), options); !outcome.isOk())
      std::fprintf(stderr, "bench: %s\n", outcome.message.c_str()), std::exit(1);
  });
  for (uint32_t thread = 0; thread < threads; ++thread)
    if (results[thread] != expected(thread))
      std::fprintf(stderr, "bench: %s is wrong\n", kernel), std::exit(1);
  return seconds;
}

void measureMatrices(device::Module &module) {
  constexpr uint32_t kRounds = 50, kPerRound = 2048;
  constexpr double kBar = 12;
  for (bool isTransposed : {false, true}) {
    const double seconds =
        secondsOf(module, isTransposed ? "transposedMatrices" : "matrices", 32, kRounds,
                  [&](uint32_t lane) { return sumOfMatrices(lane, isTransposed, kRounds); });
    const double each = seconds * 1e9 / kRounds / kPerRound;
    std::printf("%-52s %10.3f ns   (at most %g)%s\n",
                isTransposed ? "ldmatrix.x4.trans and four sums, a warp"
                             : "ldmatrix.x4 and four sums, a warp",
                each, kBar, verdict(each > kBar));
  }
}

void measureTensorMemory(device::Module &module) {
  constexpr uint32_t kRounds = 20, kLanes = 128, kColumns = 512, kWords = kLanes * kColumns;
  const double ours = secondsOf(module, "tensorMemory", kLanes, kRounds, [](uint32_t lane) {
    return kRounds * (kColumns * kColumns * lane + kColumns * (kColumns - 1) / 2);
  });
  Data<uint32_t> from(kWords), to(kWords);
  const double copied = leastSeconds([&] {
    for (uint32_t round = 0; round < kRounds; ++round) {
      std::memcpy(to.get(), from.get(), from.bytes());
      asm volatile("" ::"r"(to.get()) : "memory");
    }
  });
  const double summed = leastSeconds([&] {
    for (uint32_t round = 0; round < kRounds; ++round) {
      uint32_t sum = loops::sumOfWords(kWords, from.get());
      asm volatile("" ::"r"(sum) : "memory");
    }
  });
  const double gigabytes = kRounds * 4e-9 * kWords;
  std::printf("%-52s %10.3f GB/s, memcpy %.1f, a loop that sums %.1f\n",
              "tcgen05.ld.32x32b.x32 and 32 sums", gigabytes / ours, gigabytes / copied,
              gigabytes / summed);
}

} // namespace

void measureFragments() {
  auto module = loadModule(PTXRUN_BENCH_FOLDER "/fragments.ptx");
  std::printf("\n");
  measureMatrices(*module);
  measureTensorMemory(*module);
}

} // namespace ptxrun::bench
