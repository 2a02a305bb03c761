#include "tests/unit/rt/dual.h"

namespace ptxrun::rt::test {
namespace {

class Barrier : public ::testing::TestWithParam<Way> {};
ALL_WAYS(Barrier);

uint32_t *sharedWords(Cta *cta) {
  return reinterpret_cast<uint32_t *>(cta->sharedBase + abi::kSharedFirstOffset);
}

void expectOk(const LaunchRequest &r) {
  Failure f = run(r);
  ASSERT_EQ(f.status, Status::ok) << f.message;
}

// ---- rounds of neighbour exchange ----

struct Shifts {
  uint32_t *out;
  int rounds;
};

/// Every round: write own value to shared memory, barrier, read the neighbour's, barrier.
template <typename W> Task shift(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Shifts *>(l->params);
  uint32_t *shared = sharedWords(cta);
  uint32_t n = l->block.x;
  uint32_t values[32];
  for (uint32_t i = 0; i < g->laneCount; ++i)
    values[i] = g->firstThread + i;
  for (int round = 0; round < p.rounds; ++round) {
    for (uint32_t i = 0; i < g->laneCount; ++i)
      shared[g->firstThread + i] = values[i];
    co_await W::barSync(g, 0);
    for (uint32_t i = 0; i < g->laneCount; ++i)
      values[i] = shared[(g->firstThread + i + 1) % n];
    co_await W::barSync(g, round % 16);
  }
  uint64_t base = linear(cta->ctaid, l->grid) * n;
  for (uint32_t i = 0; i < g->laneCount; ++i)
    p.out[base + g->firstThread + i] = values[i];
}
DUAL_KERNEL(shift)

TEST_P(Barrier, KeepsRoundsApart) {
  for (uint32_t block : {1u, 31u, 33u, 64u, 250u, 1024u}) {
    for (uint32_t grid : {1u, 7u, 40u}) {
      std::vector<uint32_t> out(block * grid);
      Shifts p{out.data(), 5};
      auto code = shiftCode(GetParam().lanes, GetParam().isCoroutine);
      code.needs.staticSharedBytes = block * 4;
      expectOk(launch(code, {grid}, {block}, &p));
      for (uint32_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], (i % block + 5) % block) << "thread " << i;
    }
  }
}

// ---- partial counts: the halves of a block use different barriers, one of them twice as often
// ----

struct Halves {
  uint32_t *sums;
};

template <typename W> Task halves(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Halves *>(l->params);
  uint32_t half = l->block.x / 2;
  bool isUpper = g->firstThread >= half;
  uint32_t *cell = sharedWords(cta) + isUpper;
  if (g->firstThread % half == 0)
    *cell = 0;
  for (int round = 0; round < (isUpper ? 6 : 3); ++round) {
    co_await W::barSync(g, isUpper ? 7 : 3, half);
    *cell += g->laneCount;
  }
  co_await W::barSync(g, 0);
  if (g->firstThread % half == 0)
    p.sums[isUpper] = *cell;
}
DUAL_KERNEL(halves)

TEST_P(Barrier, ReleasesWhenPartialCountArrives) {
  uint32_t sums[2] = {};
  Halves p{sums};
  auto code = halvesCode(GetParam().lanes, GetParam().isCoroutine);
  code.needs.staticSharedBytes = 8;
  expectOk(launch(code, {1}, {128}, &p));
  EXPECT_EQ(sums[0], 64u * 3);
  EXPECT_EQ(sums[1], 64u * 6);
}

// ---- producer and consumer, the example of the manual ----

struct Pipe {
  uint32_t *received;
  uint32_t items;
};

template <typename W> Task pipe(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Pipe *>(l->params);
  uint32_t *slot = sharedWords(cta);
  bool isProducer = g->firstThread < 32;
  for (uint32_t item = 0; item < p.items; ++item) {
    if (isProducer) {
      for (uint32_t i = 0; i < g->laneCount; ++i)
        slot[g->firstThread + i] = item * 100 + g->firstThread + i;
      co_await W::barArrive(g, 0, 64);
      co_await W::barSync(g, 1, 64);
    } else {
      co_await W::barSync(g, 0, 64);
      for (uint32_t i = 0; i < g->laneCount; ++i)
        p.received[item * 32 + g->firstThread - 32 + i] = slot[g->firstThread - 32 + i];
      co_await W::barArrive(g, 1, 64);
    }
  }
}
DUAL_KERNEL(pipe)

TEST_P(Barrier, MixesSyncAndArriveForProducerAndConsumer) {
  constexpr uint32_t kItems = 20;
  std::vector<uint32_t> received(kItems * 32);
  Pipe p{received.data(), kItems};
  auto code = pipeCode(GetParam().lanes, GetParam().isCoroutine);
  code.needs.staticSharedBytes = 128;
  expectOk(launch(code, {1}, {64}, &p));
  for (uint32_t i = 0; i < received.size(); ++i)
    ASSERT_EQ(received[i], i / 32 * 100 + i % 32);
}

// ---- reductions ----

struct Reds {
  uint32_t *popc;
  uint32_t *participants;
};

template <typename W> Task red(const Launch *l, Cta *, Gang *g) {
  const auto &p = *static_cast<const Reds *>(l->params);
  uint32_t result[2];
  for (uint32_t round = 1; round <= 3; ++round) {
    uint32_t predicates = 0;
    for (uint32_t i = 0; i < g->laneCount; ++i)
      predicates |= uint32_t{(g->firstThread + i) % round == 0} << i;
    co_await W::barRed(g, 2, 0, predicates, result);
    for (uint32_t i = 0; i < g->laneCount; ++i) {
      p.popc[(round - 1) * l->block.x + g->firstThread + i] = result[0];
      p.participants[(round - 1) * l->block.x + g->firstThread + i] = result[1];
    }
  }
}
DUAL_KERNEL(red)

TEST_P(Barrier, RedCountsPredicatesOfAllThreads) {
  for (uint32_t block : {1u, 20u, 32u, 100u, 1000u}) {
    std::vector<uint32_t> popc(3 * block), participants(3 * block);
    Reds p{popc.data(), participants.data()};
    expectOk(launch(redCode(GetParam().lanes, GetParam().isCoroutine), {1}, {block}, &p));
    for (uint32_t i = 0; i < popc.size(); ++i) {
      uint32_t round = i / block + 1;
      ASSERT_EQ(popc[i], (block + round - 1) / round);
      ASSERT_EQ(participants[i], block);
    }
  }
}

// ---- threads that exit ----

struct Exits {
  uint32_t survivors; ///< threads below this number stay
  uint32_t *passed;
};

template <typename W> Task exits(const Launch *l, Cta *, Gang *g) {
  const auto &p = *static_cast<const Exits *>(l->params);
  co_await W::barSync(g, 0);
  uint32_t leavers = 0;
  for (uint32_t i = 0; i < g->laneCount; ++i)
    leavers |= uint32_t{g->firstThread + i >= p.survivors} << i;
  if (leavers)
    ptxrun_exit_lanes(g, leavers);
  if ((leavers & laneMask(g)) == laneMask(g))
    co_return;
  for (int round = 0; round < 3; ++round)
    co_await W::barSync(g, 0);
  co_await W::barSync(g, 1, l->block.x); // the whole block was asked for, what is left of it comes
  for (uint32_t i = 0; i < g->laneCount; ++i)
    p.passed[g->firstThread + i] = !(leavers >> i & 1);
}
DUAL_KERNEL(exits)

TEST_P(Barrier, DoesNotWaitForExitedThreads) {
  for (uint32_t survivors : {1u, 5u, 32u, 40u, 95u, 96u}) {
    uint32_t passed[96] = {};
    Exits p{survivors, passed};
    auto code = exitsCode(GetParam().lanes, GetParam().isCoroutine);
    code.needs.tracksExits = true;
    expectOk(launch(code, {1}, {96}, &p));
    for (uint32_t i = 0; i < 96; ++i)
      ASSERT_EQ(passed[i], i < survivors) << "thread " << i << " of " << survivors;
  }
}

// ---- warps that meet along with others that are done ----

template <typename W> Task uneven(const Launch *l, Cta *, Gang *g) {
  auto *counts = *static_cast<uint32_t *const *>(l->params);
  uint32_t warp = g->firstThread / 32;
  for (uint32_t round = 0; round <= warp; ++round) {
    co_await W::barSync(g, 0);
    counts[g->firstThread] = round + 1;
  }
}
DUAL_KERNEL(uneven)

TEST_P(Barrier, CompletesAsWarpsEndOneAfterAnother) {
  uint32_t counts[160] = {};
  uint32_t *p = counts;
  expectOk(launch(unevenCode(GetParam().lanes, GetParam().isCoroutine), {1}, {160}, &p));
  for (uint32_t t = 0; t < 160; t += GetParam().lanes)
    ASSERT_EQ(counts[t], t / 32 + 1);
}

// ---- reports ----

template <typename W> Task stuck(const Launch *, Cta *, Gang *g) {
  if (g->firstThread < 32)
    co_await W::barSync(g, 5, 96);
  else if (g->firstThread < 64)
    co_await W::barSync(g, 6);
}
DUAL_KERNEL(stuck)

TEST_P(Barrier, ReportsWhoWaitsWhereWhenNobodyCanCome) {
  Failure f = run(launch(stuckCode(GetParam().lanes, GetParam().isCoroutine), {3}, {96}));
  EXPECT_EQ(f.status, Status::deadlock);
  EXPECT_NE(f.message.find("barrier 5: 1 of 3 warps (32 of 96 threads) have arrived"),
            std::string::npos)
      << f.message;
  EXPECT_NE(f.message.find(
                "barrier 6: 1 of 2 warps (32 of 64 threads) have arrived; not arrived: warp 0; "
                "exited, can no longer arrive: warp 2"),
            std::string::npos)
      << f.message;
}

template <typename W> Task wrongNumber(const Launch *, Cta *, Gang *g) {
  co_await W::barSync(g, 16);
}
DUAL_KERNEL(wrongNumber)

TEST_P(Barrier, RejectsNumbersAboveFifteen) {
  Failure f = run(launch(wrongNumberCode(GetParam().lanes, GetParam().isCoroutine), {1}, {64}));
  EXPECT_EQ(f.status, Status::undefinedUse);
  EXPECT_NE(f.message.find("barrier 16"), std::string::npos);
}

} // namespace
} // namespace ptxrun::rt::test
