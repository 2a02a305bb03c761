// Costs of launches, switches and barriers; prints one line each. Not a test: figures depend on the
// machine.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "rt/memory/tensor_map.h"
#include "tests/unit/rt/kernels.h"

namespace ptxrun::rt::test {
namespace {

double nowUs() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Time of `body` in us: a quantile of many rounds (0.5 is the median; lower ones keep other load
/// out).
template <typename Body> double quantile(double q, int rounds, Body body) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    double start = nowUs();
    body();
    times.push_back(nowUs() - start);
  }
  std::sort(times.begin(), times.end());
  return times[static_cast<size_t>(q * rounds)];
}
template <typename Body> double median(int rounds, Body body) {
  return quantile(0.5, rounds, body);
}

KERNEL void emptyRange(const Launch *l, Cta *cta, Gang *, uint64_t first, uint64_t end) {
  for (uint64_t i = first; i < end; ++i) {
    cta->ctaid = {static_cast<uint32_t>(i % l->grid.x), 0, 0};
    asm volatile("" ::: "memory");
  }
}
KERNEL void emptyGang(const Launch *, Cta *, Gang *) {}

KERNEL void heavyRange(const Launch *l, Cta *, Gang *, uint64_t first, uint64_t end) {
  auto *out = *static_cast<double *const *>(l->params);
  for (uint64_t i = first; i < end; ++i) {
    double x = 1.0;
    for (int k = 0; k < 20000; ++k)
      x = x * 1.0000001 + 1e-9;
    out[i] = x;
  }
}

KERNEL void barrierGang(const Launch *l, Cta *, Gang *g) {
  int rounds = *static_cast<const int *>(l->params);
  for (int i = 0; i < rounds; ++i)
    ptxrun_bar_sync(g, 0, 0, ~0u);
}

struct Frame {
  void (*resume)(void *);
  Gang *gang;
  int round, rounds;
};
KERNEL void barrierResume(void *raw) {
  auto *f = static_cast<Frame *>(raw);
  while (f->round < f->rounds) {
    ++f->round;
    if (ptxrun_bar_sync_begin(f->gang, 0, 0, ~0u))
      return;
  }
  f->resume = nullptr;
}
KERNEL void *barrierStart(const Launch *l, Cta *, Gang *g) {
  auto *f = static_cast<Frame *>(ptxrun_frame_alloc(g, sizeof(Frame)));
  *f = {barrierResume, g, 0, *static_cast<const int *>(l->params)};
  barrierResume(f);
  return f;
}

void mustRun(const LaunchRequest &r) {
  Failure f = run(r);
  if (f.status != Status::ok)
    printf("FAILED: %s\n", f.message.c_str());
}

void benchLaunches() {
  abi::KernelCode range;
  range.ctaRange = emptyRange;
  auto gang = fiberKernel(emptyGang);
  printf("launch of one empty block, range:       %8.3f us\n",
         median(1001, [&] { mustRun(launch(range, {1}, {256})); }));
  printf("launch of one empty block, fibers:      %8.3f us\n",
         median(1001, [&] { mustRun(launch(gang, {1}, {256})); }));
  std::atomic<bool> cancel{false};
  auto watched = launch(range, {1}, {256});
  watched.cancel = &cancel;
  printf("launch of one empty block, cancellable: %8.3f us\n",
         median(1001, [&] { mustRun(watched); }));
  printf("launch of 64 empty blocks, range:       %8.3f us\n",
         median(1001, [&] { mustRun(launch(range, {64}, {256})); }));
  for (uint32_t n : {65536u, 1u << 20}) {
    double us = median(21, [&] { mustRun(launch(range, {n}, {256})); });
    printf("per empty block of %7u, range:        %8.3f ns\n", n, us * 1e3 / n);
  }
  double us = median(21, [&] { mustRun(launch(gang, {65536}, {256})); });
  printf("per empty block of 65536, fibers x 8:   %8.3f ns\n", us * 1e3 / 65536);
}

void benchParallel() {
  std::vector<double> out(64);
  double *p = out.data();
  abi::KernelCode heavy;
  heavy.ctaRange = heavyRange;
  auto request = launch(heavy, {64}, {32}, &p);
  double two = median(21, [&] { mustRun(request); });
  request.threads = 1;
  double one = median(21, [&] { mustRun(request); });
  printf("compute-bound grid, 2 threads over 1:   %8.3f x (%.0f us)\n", one / two, one);
  // A grid of work just above the inline limit, workers parked or awake.
  abi::KernelCode range;
  range.ctaRange = heavyRange;
  auto small = launch(range, {2}, {32}, &p);
  double awake = median(201, [&] { mustRun(small); });
  double parked = median(51, [&] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  double withPause = median(51, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    mustRun(small);
  });
  small.threads = 1;
  double alone = median(201, [&] { mustRun(small); });
  printf("two heavy blocks: awake %.1f us, parked %.1f us, one thread %.1f us\n", awake,
         withPause - parked, alone);
}

void benchBarriers() {
  for (uint32_t warps : {8u, 32u}) {
    int rounds = 2000;
    auto fibers = fiberKernel(barrierGang);
    auto coroutines = fibers;
    coroutines.gangStart = barrierStart;
    double a = quantile(0.1, 31, [&] { mustRun(launch(fibers, {1}, {warps * 32}, &rounds)); });
    double b = quantile(0.1, 31, [&] { mustRun(launch(coroutines, {1}, {warps * 32}, &rounds)); });
    printf("barrier per gang, %2u warps:  fibers %6.2f ns, coroutines %6.2f ns\n", warps,
           a * 1e3 / rounds / warps, b * 1e3 / rounds / warps);
  }
}

struct PingPong {
  int rounds;
};

/// Two warps hand a token to and fro through two mbarriers.
KERNEL void pingPongGang(const Launch *l, Cta *cta, Gang *g) {
  int rounds = *static_cast<const int *>(l->params);
  auto *objects = reinterpret_cast<uint64_t *>(cta->sharedBase + abi::kSharedFirstOffset);
  uint32_t self = g->firstThread / 32;
  if (self == 0) {
    ptxrun_mbarrier_init(g, objects, 1);
    ptxrun_mbarrier_init(g, objects + 1, 1);
  }
  ptxrun_bar_sync(g, 0, 0, ~0u);
  for (int i = 0; i < rounds; ++i) {
    if (self == 0)
      ptxrun_mbarrier_arrive(g, objects + 1, 1);
    while (!ptxrun_mbarrier_try_wait(g, objects + self, static_cast<uint32_t>(i & 1), 1, 0))
      ;
    if (self == 1)
      ptxrun_mbarrier_arrive(g, objects, 1);
  }
}

struct Bulk {
  char *source;
  int rounds;
  bool isPlain;
};

KERNEL void bulkGang(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Bulk *>(l->params);
  char *to = cta->sharedBase + abi::kSharedFirstOffset;
  auto *object = reinterpret_cast<uint64_t *>(to + 16384);
  ptxrun_mbarrier_init(g, object, 1);
  for (int i = 0; i < p.rounds; ++i) {
    const char *from = p.source + static_cast<long>(i % 256) * 16384;
    if (p.isPlain) {
      memcpy(to, from, 16384);
      asm volatile("" ::: "memory");
      continue;
    }
    ptxrun_mbarrier_expect_tx(g, object, 16384);
    ptxrun_mbarrier_arrive(g, object, 1);
    ptxrun_cp_async_bulk(g, 0, to, from, 16384, object, 0xffff);
    while (!ptxrun_mbarrier_try_wait(g, object, static_cast<uint32_t>(i & 1), 1, 0))
      ;
  }
}

struct Tile {
  TensorMap map;
  int rounds;
};

/// 64x64 tiles of f16 with the 128-byte swizzle.
KERNEL void tileGang(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = **static_cast<Tile *const *>(l->params);
  char *to = cta->sharedBase + abi::kSharedFirstOffset;
  auto *object = reinterpret_cast<uint64_t *>(to + 8192);
  ptxrun_mbarrier_init(g, object, 1);
  for (int i = 0; i < p.rounds; ++i) {
    int32_t coordinates[5] = {i % 16 * 64, i / 16 % 16 * 64, 0, 0, 0};
    ptxrun_mbarrier_expect_tx(g, object, 8192);
    ptxrun_mbarrier_arrive(g, object, 1);
    ptxrun_cp_tensor_load(g, 0, to, &p.map, coordinates, abi::TensorMode::tile, nullptr, object, 0);
    while (!ptxrun_mbarrier_try_wait(g, object, static_cast<uint32_t>(i & 1), 1, 0))
      ;
  }
}

void benchTiles() {
  std::vector<uint16_t> data(1024 * 1024 + 8, 1);
  TensorShape shape;
  shape.type = TensorType::f16;
  shape.rank = 2;
  shape.address = (reinterpret_cast<uint64_t>(data.data()) + 15) / 16 * 16;
  shape.sizes = {1024, 1024};
  shape.strides = {2048};
  shape.swizzle = TensorSwizzle::bytes128;
  Tile tile;
  tile.rounds = 1000;
  if (!encodeTiled(&tile.map, shape, {64, 64}).empty())
    return;
  Tile *p = &tile;
  auto code = fiberKernel(tileGang);
  code.needs.staticSharedBytes = 8192 + 64;
  double us = quantile(0.1, 31, [&] { mustRun(launch(code, {1}, {32}, &p)); });
  std::vector<char> to(8192);
  double plain = quantile(0.1, 31, [&] {
    for (int i = 0; i < 1000; ++i) {
      memcpy(to.data(), reinterpret_cast<char *>(data.data()) + static_cast<long>(i % 256) * 8192,
             8192);
      asm volatile("" ::"r"(to.data()) : "memory");
    }
  });
  printf("swizzled 64x64 f16 tile, of memcpy's:  %8.2f (%.0f ns)\n", plain / us, us);
}

void benchMbarriers() {
  int rounds = 2000;
  auto ping = fiberKernel(pingPongGang);
  ping.needs.staticSharedBytes = 64;
  double a = quantile(0.1, 31, [&] { mustRun(launch(ping, {1}, {64}, &rounds)); });
  printf("mbarrier round trip between two warps: %8.2f ns\n", a * 1e3 / rounds);
  std::vector<char> source(4 << 20, 1);
  auto bulk = fiberKernel(bulkGang);
  bulk.needs.staticSharedBytes = 16384 + 64;
  double us[2];
  for (bool isPlain : {false, true}) {
    Bulk p{source.data(), 1000, isPlain};
    us[isPlain] = quantile(0.1, 31, [&] { mustRun(launch(bulk, {1}, {32}, &p)); });
  }
  printf("16 KB bulk copy, of memcpy's speed:    %8.2f\n", us[1] / us[0]);
}

} // namespace
} // namespace ptxrun::rt::test

int main() {
  using namespace ptxrun::rt::test;
  KernelCodeRegistration code;
  benchLaunches();
  benchParallel();
  benchBarriers();
  benchMbarriers();
  benchTiles();
}
