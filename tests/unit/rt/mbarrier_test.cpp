#include <cstring>

#include "rt/sync/mbarrier.h"
#include "tests/unit/rt/dual.h"

namespace ptxrun::rt::test {
namespace {

class Mbarrier : public ::testing::TestWithParam<Way> {};
ALL_WAYS(Mbarrier);

void expectOk(const LaunchRequest &r) {
  Failure f = run(r);
  ASSERT_EQ(f.status, Status::ok) << f.message;
}

char *sharedBytes(Cta *cta) { return cta->sharedBase + abi::kSharedFirstOffset; }
uint64_t *object(Cta *cta, int i = 0) { return reinterpret_cast<uint64_t *>(sharedBytes(cta)) + i; }

abi::KernelCode withShared(abi::KernelCode code, uint32_t bytes = 4096) {
  code.needs.staticSharedBytes = bytes;
  return code;
}

/// Runs `body` as one thread of one block.
using Body = void (*)(Cta *, Gang *);
void bodyGang(const Launch *l, Cta *cta, Gang *g) {
  (*static_cast<const Body *>(l->params))(cta, g);
}
Failure runBody(Body body) {
  auto code = withShared(fiberKernel(bodyGang));
  return run(launch(code, {1}, {1}, &body));
}

TEST(MbarrierObject, CompletesThePhaseWhenAllHaveArrivedAndBeginsTheNext) {
  Failure f = runBody([](Cta *cta, Gang *g) {
    uint64_t *o = object(cta);
    ptxrun_mbarrier_init(g, o, 3);
    uint64_t state = ptxrun_mbarrier_arrive(g, o, 1);
    EXPECT_EQ(ptxrun_mbarrier_pending_count(state), 3u) << "the state is that before the arrival";
    EXPECT_FALSE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    EXPECT_EQ(ptxrun_mbarrier_pending_count(ptxrun_mbarrier_arrive(g, o, 2)), 2u);
    EXPECT_TRUE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    uint64_t next = ptxrun_mbarrier_arrive(g, o, 1);
    EXPECT_EQ(ptxrun_mbarrier_pending_count(next), 3u) << "reinitialised to the expected count";
    EXPECT_FALSE(ptxrun_mbarrier_test_wait(g, o, next, 0));
    EXPECT_TRUE(ptxrun_mbarrier_test_wait(g, o, state, 0)) << "the phase before is complete";
  });
  EXPECT_EQ(f.status, Status::ok) << f.message;
}

TEST(MbarrierObject, ParityTellsCurrentFromPrecedingPhase) {
  Failure f = runBody([](Cta *cta, Gang *g) {
    uint64_t *o = object(cta);
    ptxrun_mbarrier_init(g, o, 1);
    for (uint32_t phase = 0; phase < 20; ++phase) {
      EXPECT_FALSE(ptxrun_mbarrier_test_wait(g, o, phase & 1, 1)) << phase;
      EXPECT_TRUE(ptxrun_mbarrier_test_wait(g, o, (phase & 1) ^ 1, 1)) << phase;
      ptxrun_mbarrier_arrive(g, o, 1);
    }
  });
  EXPECT_EQ(f.status, Status::ok) << f.message;
}

TEST(MbarrierObject, DropLowersTheExpectedCountOfAllLaterPhases) {
  Failure f = runBody([](Cta *cta, Gang *g) {
    uint64_t *o = object(cta);
    ptxrun_mbarrier_init(g, o, 3);
    ptxrun_mbarrier_arrive_drop(g, o, 2);
    uint64_t state = ptxrun_mbarrier_arrive(g, o, 1);
    EXPECT_TRUE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    for (int i = 0; i < 2; ++i) {
      state = ptxrun_mbarrier_arrive(g, o, 1);
      EXPECT_EQ(ptxrun_mbarrier_pending_count(state), 1u);
      EXPECT_TRUE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    }
  });
  EXPECT_EQ(f.status, Status::ok) << f.message;
}

TEST(MbarrierObject, PhaseWaitsForTransactions) {
  Failure f = runBody([](Cta *cta, Gang *g) {
    uint64_t *o = object(cta);
    ptxrun_mbarrier_init(g, o, 1);
    ptxrun_mbarrier_complete_tx(g, o, 100); // may come first: the count goes below zero
    EXPECT_EQ(MbarrierWord(*o).tx(), -100);
    ptxrun_mbarrier_expect_tx(g, o, 300);
    uint64_t state = ptxrun_mbarrier_arrive(g, o, 1);
    EXPECT_FALSE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    ptxrun_mbarrier_complete_tx(g, o, 199);
    EXPECT_FALSE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    ptxrun_mbarrier_complete_tx(g, o, 1);
    EXPECT_TRUE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    EXPECT_EQ(MbarrierWord(*o).tx(), 0);
  });
  EXPECT_EQ(f.status, Status::ok) << f.message;
}

TEST(MbarrierObject, CountsReachTheirDocumentedLimits) {
  Failure f = runBody([](Cta *cta, Gang *g) {
    uint64_t *o = object(cta);
    constexpr uint32_t kMax = (1u << 20) - 1;
    ptxrun_mbarrier_init(g, o, kMax);
    ptxrun_mbarrier_expect_tx(g, o, kMax);
    EXPECT_EQ(MbarrierWord(*o).tx(), static_cast<int32_t>(kMax));
    uint64_t state = ptxrun_mbarrier_arrive(g, o, kMax);
    EXPECT_FALSE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    ptxrun_mbarrier_complete_tx(g, o, kMax);
    EXPECT_TRUE(ptxrun_mbarrier_test_wait(g, o, state, 0));
    ptxrun_mbarrier_complete_tx(g, o, kMax);
    EXPECT_EQ(MbarrierWord(*o).tx(), -static_cast<int32_t>(kMax));
  });
  EXPECT_EQ(f.status, Status::ok) << f.message;
}

TEST(MbarrierObject, RejectsCountsOutOfRange) {
  auto expectInvalid = [](Body body, const char *text) {
    Failure f = runBody(body);
    EXPECT_EQ(f.status, Status::undefinedUse);
    EXPECT_NE(f.message.find("the mbarrier at .shared address 0x400"), std::string::npos)
        << f.message;
    EXPECT_NE(f.message.find(text), std::string::npos) << f.message;
  };
  expectInvalid([](Cta *cta, Gang *g) { ptxrun_mbarrier_init(g, object(cta), 0); },
                "outside 1 to 2^20-1");
  expectInvalid([](Cta *cta, Gang *g) { ptxrun_mbarrier_init(g, object(cta), 1 << 20); },
                "outside 1 to 2^20-1");
  expectInvalid(
      [](Cta *cta, Gang *g) {
        ptxrun_mbarrier_init(g, object(cta), 2);
        ptxrun_mbarrier_arrive(g, object(cta), 3);
      },
      "an arrival of 3 where 2 of 2 are pending");
  expectInvalid(
      [](Cta *cta, Gang *g) {
        ptxrun_mbarrier_init(g, object(cta), 2);
        ptxrun_mbarrier_expect_tx(g, object(cta), 1 << 20);
      },
      "tx-count");
}

// ---- waits ----

struct Ring {
  uint32_t *received;
  uint32_t items;
  bool usesParity;
};

/// A ring of four slots: warp 0 produces, warp 1 consumes, both wait at mbarriers.
template <typename W> Task ring(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Ring *>(l->params);
  constexpr uint32_t kSlots = 4;
  uint64_t *full = object(cta), *empty = object(cta, kSlots);
  auto *slots = reinterpret_cast<uint32_t *>(object(cta, 2 * kSlots));
  if (g->firstThread == 0)
    for (uint32_t s = 0; s < kSlots; ++s) {
      ptxrun_mbarrier_init(g, full + s, 32);
      ptxrun_mbarrier_init(g, empty + s, 32);
    }
  co_await W::barSync(g, 0);
  bool isProducer = g->firstThread < 32;
  for (uint32_t item = 0; item < p.items; ++item) {
    uint32_t slot = item % kSlots, round = item / kSlots;
    uint32_t done = 0;
    // The producer's first round finds the phase before the first complete.
    uint32_t parity = isProducer ? (round & 1) ^ 1 : round & 1;
    while (!done)
      co_await W::tryWait(g, (isProducer ? empty : full) + slot, parity, true, &done);
    for (uint32_t i = 0; i < g->laneCount; ++i) {
      uint32_t lane = g->firstThread % 32 + i;
      if (isProducer)
        slots[slot * 32 + lane] = item * 100 + lane;
      else
        p.received[item * 32 + lane] = slots[slot * 32 + lane];
    }
    ptxrun_mbarrier_arrive(g, (isProducer ? full : empty) + slot, g->laneCount);
  }
}
DUAL_KERNEL(ring)

TEST_P(Mbarrier, ProducerAndConsumerPassItemsThroughARing) {
  for (auto schedule : {Schedule::fast, Schedule::seeded}) {
    constexpr uint32_t kItems = 50;
    std::vector<uint32_t> received(kItems * 32);
    Ring p{received.data(), kItems, true};
    auto code = withShared(ringCode(GetParam().lanes, GetParam().isCoroutine));
    auto r = launch(code, {1}, {64}, &p);
    r.schedule = schedule;
    r.seed = 5;
    expectOk(r);
    for (uint32_t i = 0; i < received.size(); ++i)
      ASSERT_EQ(received[i], i / 32 * 100 + i % 32);
  }
}

template <typename W> Task poll(const Launch *l, Cta *cta, Gang *g) {
  auto *seen = *static_cast<uint32_t *const *>(l->params);
  if (g->firstThread == 0)
    ptxrun_mbarrier_init(g, object(cta), 64);
  co_await W::barSync(g, 0);
  uint64_t state = ptxrun_mbarrier_arrive(g, object(cta), g->laneCount);
  while (!ptxrun_mbarrier_test_wait(g, object(cta), state, 0))
    co_await W::yield(g, abi::WaitReason::mbarrier);
  __atomic_fetch_add(seen, g->laneCount, __ATOMIC_RELAXED);
}
DUAL_KERNEL(poll)

TEST_P(Mbarrier, TestWaitLoopsEnd) {
  uint32_t seen = 0;
  uint32_t *p = &seen;
  auto code = withShared(pollCode(GetParam().lanes, GetParam().isCoroutine));
  expectOk(launch(code, {10}, {64}, &p));
  EXPECT_EQ(seen, 640u);
}

template <typename W> Task stuck(const Launch *l, Cta *cta, Gang *g) {
  bool isPolling = *static_cast<const bool *>(l->params);
  if (g->firstThread == 0) {
    ptxrun_mbarrier_init(g, object(cta), 65);
    ptxrun_mbarrier_expect_tx(g, object(cta), 256);
  }
  co_await W::barSync(g, 0);
  uint64_t state = ptxrun_mbarrier_arrive(g, object(cta), g->laneCount);
  uint32_t done = 0;
  while (!done) {
    if (isPolling) {
      done = ptxrun_mbarrier_test_wait(g, object(cta), state, 0);
      co_await W::yield(g, abi::WaitReason::mbarrier);
    } else {
      co_await W::tryWait(g, object(cta), state, false, &done);
    }
  }
}
DUAL_KERNEL(stuck)

TEST_P(Mbarrier, WaitThatNobodyCanEndIsReported) {
  if (GetParam().lanes != 32)
    GTEST_SKIP() << "takes a second";
  for (bool isPolling : {false, true}) {
    auto code = withShared(stuckCode(GetParam().lanes, GetParam().isCoroutine));
    Failure f = run(launch(code, {1}, {64}, &isPolling));
    EXPECT_EQ(f.status, Status::deadlock);
    EXPECT_NE(f.message.find(
                  "the mbarrier at .shared address 0x400: phase 0 (modulo 8), 64 of 65 arrivals, "
                  "256 bytes of transactions outstanding"),
              std::string::npos)
        << f.message;
  }
}

// ---- clusters ----

struct Sums {
  uint32_t *out; ///< per CTA
};

/// Every CTA writes into all CTAs' memory, arrives at the others' mbarriers and at the cluster's
/// barrier.
template <typename W> Task cluster(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Sums *>(l->params);
  uint32_t size = l->cluster.x * l->cluster.y * l->cluster.z;
  auto remote = [&](uint32_t rank) {
    return cta->sharedBase + (uint64_t{rank} << abi::kSharedWindowShift) + abi::kSharedFirstOffset;
  };
  if (g->firstThread == 0)
    ptxrun_mbarrier_init(g, remote(cta->clusterRank), size);
  ptxrun_cluster_arrive(g, laneMask(g));
  co_await W::clusterWait(g);
  if (g->firstThread == 0) {
    for (uint32_t rank = 0; rank < size; ++rank) {
      reinterpret_cast<uint32_t *>(remote(rank) + 64)[cta->clusterRank] =
          linear(cta->ctaid, l->grid) + 1;
      ptxrun_mbarrier_arrive(g, remote(rank), 1);
    }
  }
  uint32_t done = 0;
  while (!done)
    co_await W::tryWait(g, remote(cta->clusterRank), 0, true, &done);
  if (g->firstThread == 0) {
    uint32_t sum = 0;
    for (uint32_t rank = 0; rank < size; ++rank)
      sum += reinterpret_cast<uint32_t *>(remote(cta->clusterRank) + 64)[rank];
    p.out[linear(cta->ctaid, l->grid)] = sum;
  }
  ptxrun_cluster_arrive(g, laneMask(g)); // nobody leaves while others may write into its memory
  co_await W::clusterWait(g);
}
DUAL_KERNEL(cluster)

TEST_P(Mbarrier, ClusterSharesMemoryAndBarriers) {
  struct Shape {
    Dim3 grid, cluster;
  };
  for (Shape s : {Shape{{8}, {2, 1, 1}}, Shape{{16}, {16, 1, 1}}, Shape{{4, 6}, {2, 3, 1}},
                  Shape{{3}, {1, 1, 1}}}) {
    uint32_t ctas = s.grid.x * s.grid.y;
    std::vector<uint32_t> out(ctas);
    Sums p{out.data()};
    auto code = withShared(clusterCode(GetParam().lanes, GetParam().isCoroutine));
    auto r = launch(code, s.grid, {40}, &p);
    r.cluster = s.cluster;
    expectOk(r);
    for (uint32_t i = 0; i < ctas; ++i) {
      uint32_t x0 = i % s.grid.x / s.cluster.x * s.cluster.x,
               y0 = i / s.grid.x / s.cluster.y * s.cluster.y;
      uint32_t sum = 0;
      for (uint32_t y = 0; y < s.cluster.y; ++y)
        for (uint32_t x = 0; x < s.cluster.x; ++x)
          sum += x0 + x + (y0 + y) * s.grid.x + 1;
      EXPECT_EQ(out[i], sum) << i;
    }
  }
}

template <typename W> Task clusterStuck(const Launch *, Cta *cta, Gang *g) {
  if (cta->clusterRank == 0)
    co_await W::barSync(g, 0);
  else if (g->firstThread < 32)
    co_return;
  ptxrun_cluster_arrive(g, laneMask(g));
  if (cta->clusterRank == 1)
    co_await W::clusterWait(g);
  else
    co_await W::barSync(g, 3, 96);
}
DUAL_KERNEL(clusterStuck)

TEST_P(Mbarrier, ClusterDeadlockNamesBothBlocks) {
  auto code = clusterStuckCode(GetParam().lanes, GetParam().isCoroutine);
  auto r = launch(code, {2}, {64});
  r.cluster = {2, 1, 1};
  Failure f = run(r);
  EXPECT_EQ(f.status, Status::deadlock);
  EXPECT_NE(f.message.find("barrier 3: 2 of 3 warps"), std::string::npos) << f.message;
}

} // namespace
} // namespace ptxrun::rt::test
