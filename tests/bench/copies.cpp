// Asynchronous copies against memcpy of the same bytes, in turn within one run.
#include <cstdio>
#include <cstdlib>

#include "rt/memory/tensor_map.h"
#include "tests/bench/harness.h"

namespace ptxrun::bench {
namespace {

constexpr uint32_t kCopies = 4096, kRounds = 21;

double secondsOf(const std::function<void()> &run) {
  double start = wallSecondsNow();
  run();
  return wallSecondsNow() - start;
}

/// Prints the time of the kernel's copies over that of memcpy's.
void compare(const char *what, double bar, size_t bytes, const char *source,
             const std::function<void()> &ours) {
  Data<char> to(bytes);
  std::vector<double> copies, plain;
  ours();
  for (uint32_t round = 0; round < kRounds; ++round) {
    copies.push_back(secondsOf(ours));
    plain.push_back(secondsOf([&] {
      for (uint32_t k = 0; k < kCopies; ++k) {
        std::memcpy(to.get(), source + k % 256 * bytes, bytes);
        asm volatile("" ::"r"(to.get()) : "memory");
      }
    }));
  }
  double ratio = medianMs(copies) / medianMs(plain);
  std::printf("%-52s %10.3f      (at most %g)%s\n", what, ratio, bar, verdict(ratio > bar));
  std::fflush(stdout);
}

void launch(device::Module &module, const char *kernel, const void *params) {
  device::LaunchOptions options;
  options.block = {32, 1, 1};
  options.params = params;
  device::Outcome outcome = module.launch(*module.findKernel(kernel), options);
  if (!outcome.isOk())
    std::fprintf(stderr, "bench: %s\n", outcome.message.c_str()), std::exit(1);
}

} // namespace

void measureCopies() {
  std::printf("\nasynchronous copies, time / memcpy's:\n");
  auto module = loadModule(PTXRUN_BENCH_FOLDER "/copies.ptx");
  Data<char> source(256 * 16384);
  struct {
    const char *from;
    uint32_t rounds;
  } bulk{source.get(), kCopies};
  compare("16 KB bulk copy and its mbarrier", 1.25, 16384, source.get(),
          [&] { launch(*module, "bulkCopies", &bulk); });

  struct {
    rt::TensorMap map;
    uint32_t rounds = kCopies;
  } tiles;
  rt::TensorShape shape;
  shape.type = rt::TensorType::f16;
  shape.rank = 2;
  shape.address = reinterpret_cast<uint64_t>(source.get());
  shape.sizes = {1024, 1024};
  shape.strides = {2048};
  shape.swizzle = rt::TensorSwizzle::bytes128;
  if (std::string error = rt::encodeTiled(&tiles.map, shape, {64, 64}); !error.empty())
    std::fprintf(stderr, "bench: %s\n", error.c_str()), std::exit(1);
  compare("swizzled 64x64 f16 tile and its mbarrier", 2.5, 8192, source.get(),
          [&] { launch(*module, "tiles", &tiles); });
}

} // namespace ptxrun::bench
