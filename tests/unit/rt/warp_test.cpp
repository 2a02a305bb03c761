#include "tests/unit/rt/dual.h"

namespace ptxrun::rt::test {
namespace {

class WarpGather : public ::testing::TestWithParam<Way> {};
ALL_WAYS(WarpGather);

struct Gathered {
  uint64_t values[32];
  uint32_t participants;
};

struct Meet {
  Gathered *out; ///< per thread
  uint32_t rounds;
  uint32_t (*maskOf)(uint32_t lane);
  uint32_t exited; ///< lanes that exit first
};

uint64_t valueOf(uint32_t thread, uint32_t round) { return thread * 1000 + round; }

/// Lanes meet those with the same mask, `rounds` times; each keeps what it saw last.
template <typename W> Task meet(const Launch *l, Cta *, Gang *g) {
  const auto &p = *static_cast<const Meet *>(l->params);
  uint32_t laneOfFirst = g->firstThread % 32;
  uint32_t gone = 0;
  for (uint32_t i = 0; i < g->laneCount; ++i)
    gone |= (p.exited >> (laneOfFirst + i) & 1) << i;
  if (gone)
    ptxrun_exit_lanes(g, gone);
  if (gone == laneMask(g))
    co_return;
  uint64_t in[32], out[32];
  uint32_t participants;
  for (uint32_t round = 0; round < p.rounds; ++round) {
    for (uint32_t i = 0; i < g->laneCount; ++i)
      in[i] = valueOf(g->firstThread + i, round);
    for (uint32_t left = laneMask(g) & ~gone; left;) {
      uint32_t members = p.maskOf(laneOfFirst + static_cast<uint32_t>(__builtin_ctz(left)));
      uint32_t mask = 0;
      for (uint32_t i = 0; i < g->laneCount; ++i)
        mask |= uint32_t{p.maskOf(laneOfFirst + i) == members} << i;
      mask &= left;
      left &= ~mask;
      co_await W::gather(g, members, mask, in, out, &participants);
      for (uint32_t i = 0; i < g->laneCount; ++i)
        if (mask >> i & 1) {
          std::copy(out, out + 32, p.out[g->firstThread + i].values);
          p.out[g->firstThread + i].participants = participants;
        }
    }
  }
}
DUAL_KERNEL(meet)

void check(Way way, uint32_t block, uint32_t (*maskOf)(uint32_t), uint32_t exited) {
  std::vector<Gathered> out(block);
  Meet p{out.data(), 3, maskOf, exited};
  auto code = meetCode(way.lanes, way.isCoroutine);
  code.needs.tracksExits = exited != 0;
  Failure f = run(launch(code, {1}, {block}, &p));
  ASSERT_EQ(f.status, Status::ok) << f.message;
  for (uint32_t t = 0; t < block; ++t) {
    uint32_t lane = t % 32, warpStart = t - lane;
    if (exited >> lane & 1)
      continue;
    uint32_t exists = std::min(32u, block - warpStart);
    uint32_t expected = maskOf(lane) & ~exited & (exists == 32 ? ~0u : (1u << exists) - 1);
    ASSERT_EQ(out[t].participants, expected) << "thread " << t;
    for (uint32_t i = 0; i < 32; ++i)
      ASSERT_EQ(out[t].values[i], expected >> i & 1 ? valueOf(warpStart + i, 2) : 0)
          << t << " sees " << i;
  }
}

TEST_P(WarpGather, BringsAllThreadsOfTheWarpTogether) {
  for (uint32_t block : {32u, 64u, 1024u})
    check(GetParam(), block, [](uint32_t) { return ~0u; }, 0);
}

TEST_P(WarpGather, IgnoresThreadsThatDoNotExist) {
  check(GetParam(), 45, [](uint32_t) { return ~0u; }, 0);
}

TEST_P(WarpGather, LetsDifferentMasksMeetIndependently) {
  check(GetParam(), 96, [](uint32_t lane) { return lane % 2 ? 0xaaaaaaaau : 0x55555555u; }, 0);
  check(GetParam(), 96, [](uint32_t lane) { return lane < 8 ? 0xffu : 0xffffff00u; }, 0);
  check(GetParam(), 64, [](uint32_t lane) { return 1u << lane; }, 0);
}

TEST_P(WarpGather, DoesNotWaitForExitedThreads) {
  check(GetParam(), 64, [](uint32_t) { return ~0u; }, 0x0000ff01u);
}

template <typename W> Task alone(const Launch *, Cta *, Gang *g) {
  uint64_t in[32] = {}, out[32];
  uint32_t participants;
  if (g->firstThread == 0)
    co_await W::gather(g, 3, 1, in, out, &participants);
  else
    co_await W::barSync(g, 0);
}
DUAL_KERNEL(alone)

TEST_P(WarpGather, ReportsLanesThatNeverCome) {
  if (GetParam().lanes != 1)
    GTEST_SKIP() << "lanes of one gang arrive together";
  Failure f = run(launch(aloneCode(1, GetParam().isCoroutine), {1}, {2}));
  EXPECT_EQ(f.status, Status::deadlock);
  EXPECT_NE(f.message.find("membermask 0x3: lanes 0 have arrived; not arrived: lanes 1"), std::string::npos)
      << f.message;
}

} // namespace
} // namespace ptxrun::rt::test
