#include <algorithm>
#include <thread>

#include "tests/unit/rt/dual.h"

namespace ptxrun::rt::test {
namespace {

class Spin : public ::testing::TestWithParam<Way> {};
ALL_WAYS(Spin);

void expectOk(const LaunchRequest &r) {
  Failure f = run(r);
  ASSERT_EQ(f.status, Status::ok) << f.message;
}

struct Chain {
  std::atomic<uint32_t> *flags;
  bool isUpward; ///< waits for the CTA before; else for the one after
};

/// Each CTA waits for its neighbour's flag, then raises its own.
template <typename W> Task chain(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Chain *>(l->params);
  uint32_t self = cta->ctaid.x;
  uint32_t last = l->grid.x - 1;
  bool isFirst = p.isUpward ? self == 0 : self == last;
  if (g->firstThread == 0) {
    while (!isFirst && !p.flags[p.isUpward ? self - 1 : self + 1].load(std::memory_order_acquire))
      co_await W::yield(g);
    p.flags[self].store(self + 1, std::memory_order_release);
  }
  co_await W::barSync(g, 0);
}
DUAL_KERNEL(chain)

TEST_P(Spin, WaitsForLowerBlocksAtAnyGridSize) {
  std::vector<std::atomic<uint32_t>> flags(1000);
  Chain p{flags.data(), true};
  for (int threads : {1, 2, 5}) {
    std::fill_n(reinterpret_cast<uint32_t *>(flags.data()), flags.size(), 0);
    auto code = chainCode(GetParam().lanes, GetParam().isCoroutine);
    auto r = launch(code, {1000}, {40}, &p);
    r.threads = threads;
    expectOk(r);
    EXPECT_EQ(flags.back(), 1000u);
  }
}

TEST_P(Spin, CooperativeGridsRunAllBlocksAtOnce) {
  std::vector<std::atomic<uint32_t>> flags(100);
  Chain p{flags.data(), false};
  for (int threads : {1, 3}) {
    std::fill_n(reinterpret_cast<uint32_t *>(flags.data()), flags.size(), 0);
    auto code = chainCode(GetParam().lanes, GetParam().isCoroutine);
    auto r = launch(code, {100}, {40}, &p);
    r.isCooperative = true;
    r.threads = threads;
    expectOk(r);
    EXPECT_EQ(flags.front(), 1u);
  }
}

struct Lock {
  std::atomic<uint32_t> *lock;
  uint32_t *counter;
};

/// Every gang takes a lock that its neighbours hold now and then.
template <typename W> Task lock(const Launch *l, Cta *, Gang *g) {
  const auto &p = *static_cast<const Lock *>(l->params);
  for (int i = 0; i < 3; ++i) {
    while (p.lock->exchange(1, std::memory_order_acquire))
      co_await W::yield(g);
    uint32_t seen = *p.counter;
    if (seen % 3 == 0)
      co_await W::yield(g); // leaves with the lock held
    *p.counter = seen + 1;
    p.lock->store(0, std::memory_order_release);
  }
}
DUAL_KERNEL(lock)

TEST_P(Spin, LocksExclude) {
  for (auto schedule : {Schedule::fast, Schedule::serial, Schedule::seeded}) {
    std::atomic<uint32_t> word{0};
    uint32_t counter = 0;
    Lock p{&word, &counter};
    auto code = lockCode(GetParam().lanes, GetParam().isCoroutine);
    auto r = launch(code, {20}, {64}, &p);
    r.schedule = schedule;
    r.threads = 2;
    expectOk(r);
    EXPECT_EQ(counter, 20 * 64 / GetParam().lanes * 3);
  }
}

struct Order {
  std::vector<uint32_t> *seen;
};

template <typename W> Task order(const Launch *l, Cta *cta, Gang *g) {
  auto &seen = *static_cast<const Order *>(l->params)->seen;
  uint32_t self = cta->ctaid.x * 1000 + g->firstThread;
  for (int i = 0; i < 3; ++i) {
    seen.push_back(self);
    if (i == 1)
      co_await W::barSync(g, 0);
    else
      co_await W::yield(g);
  }
}
DUAL_KERNEL(order)

std::vector<uint32_t> orderOf(Way way, Schedule schedule, uint64_t seed) {
  std::vector<uint32_t> seen;
  Order p{&seen};
  auto code = orderCode(way.lanes, way.isCoroutine);
  auto r = launch(code, {6}, {128}, &p);
  r.schedule = schedule;
  r.seed = seed;
  expectOk(r);
  return seen;
}

TEST_P(Spin, SeededScheduleIsReproducible) {
  auto first = orderOf(GetParam(), Schedule::seeded, 1);
  EXPECT_EQ(first, orderOf(GetParam(), Schedule::seeded, 1));
  EXPECT_NE(first, orderOf(GetParam(), Schedule::seeded, 2));
}

TEST_P(Spin, SerialScheduleKeepsBlocksInOrder) {
  auto serial = orderOf(GetParam(), Schedule::serial, 0);
  EXPECT_EQ(serial, orderOf(GetParam(), Schedule::serial, 7));
  EXPECT_TRUE(std::is_sorted(serial.begin(), serial.begin() + 128 / GetParam().lanes));
}

struct Visits {
  std::atomic<uint32_t> *counts;
};

void visitRange(const Launch *l, Cta *cta, Gang *, uint64_t first, uint64_t end) {
  const auto &p = *static_cast<const Visits *>(l->params);
  (void)cta;
  for (uint64_t i = first; i < end; ++i)
    p.counts[i].fetch_add(1, std::memory_order_relaxed);
}

TEST(CtaRange, RunsEveryBlockOnce) {
  abi::KernelCode code;
  code.ctaRange = visitRange;
  for (uint32_t grid : {1u, 2u, 3u, 100u, 12345u}) {
    std::vector<std::atomic<uint32_t>> counts(grid);
    Visits p{counts.data()};
    std::atomic<uint64_t> finished{0};
    auto r = launch(code, {grid}, {256}, &p);
    r.finishedCtas = &finished;
    for (int i = 0; i < 5; ++i)
      expectOk(r);
    EXPECT_EQ(finished, 5u * grid);
    for (auto &c : counts)
      ASSERT_EQ(c, 5u);
  }
}

TEST(Run, WorksFromSeveralHostThreadsAtOnce) {
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h)
    hosts.emplace_back([] {
      abi::KernelCode code;
      code.ctaRange = visitRange;
      for (int i = 0; i < 200; ++i) {
        std::vector<std::atomic<uint32_t>> counts(333);
        Visits p{counts.data()};
        auto r = launch(code, {333}, {32}, &p);
        r.threads = 3;
        expectOk(r);
        for (auto &c : counts)
          ASSERT_EQ(c, 1u);
      }
    });
  for (auto &h : hosts)
    h.join();
}

struct Places {
  Dim3 *ctaids;
};

void placesGang(const Launch *l, Cta *cta, Gang *g) {
  if (g->firstThread == 0)
    static_cast<const Places *>(l->params)->ctaids[linear(cta->ctaid, l->grid)] = cta->ctaid;
}

TEST(Run, NumbersBlocksXFastest) {
  Dim3 grid{5, 4, 3};
  std::vector<Dim3> seen(60);
  Places p{seen.data()};
  auto code = fiberKernel(placesGang);
  expectOk(launch(code, grid, {4, 4, 4}, &p));
  for (uint32_t i = 0; i < 60; ++i) {
    EXPECT_EQ(seen[i].x, i % 5);
    EXPECT_EQ(seen[i].y, i / 5 % 4);
    EXPECT_EQ(seen[i].z, i / 20);
  }
}

TEST(Run, RejectsWhatDoesNotFit) {
  auto code = fiberKernel(placesGang);
  auto statusOf = [&](Dim3 grid, Dim3 block, Dim3 cluster = {1, 1, 1}) {
    auto r = launch(code, grid, block);
    r.cluster = cluster;
    return run(r).status;
  };
  EXPECT_EQ(statusOf({0, 1, 1}, {32}), Status::invalid);
  EXPECT_EQ(statusOf({1}, {1025}), Status::invalid);
  EXPECT_EQ(statusOf({1}, {32, 32, 2}), Status::invalid);
  EXPECT_EQ(statusOf({6}, {32}, {4, 1, 1}), Status::invalid);
  EXPECT_EQ(statusOf({64}, {32}, {32, 1, 1}), Status::invalid);
  auto r = launch(code, {1}, {32});
  r.code = nullptr;
  EXPECT_EQ(run(r).status, Status::invalid);
}

} // namespace
} // namespace ptxrun::rt::test
