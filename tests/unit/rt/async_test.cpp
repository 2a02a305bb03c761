#include <cmath>
#include <cstring>

#include "rt/atomics/reduce.h"
#include "tests/unit/rt/dual.h"

namespace ptxrun::rt::test {
namespace {

class Async : public ::testing::TestWithParam<AsyncCopies> {};
INSTANTIATE_TEST_SUITE_P(Policies, Async,
                         ::testing::Values(AsyncCopies::eager, AsyncCopies::late,
                                           AsyncCopies::seeded));

char *sharedBytes(Cta *cta) { return cta->sharedBase + abi::kSharedFirstOffset; }

struct Parameters {
  const uint32_t *source;
  uint32_t *out;
};
using Body = void (*)(Cta *, Gang *, const Parameters &);
struct BodyCall {
  Body body;
  Parameters parameters;
};
void bodyGang(const Launch *l, Cta *cta, Gang *g) {
  const auto &call = *static_cast<const BodyCall *>(l->params);
  call.body(cta, g, call.parameters);
}

Failure runBody(Body body, AsyncCopies policy, const uint32_t *source, uint32_t *out,
                uint32_t threads = 32, uint32_t ctas = 1) {
  BodyCall call{body, {source, out}};
  auto code = fiberKernel(bodyGang);
  code.needs.staticSharedBytes = 32768;
  auto r = launch(code, {ctas}, {threads}, &call);
  r.cluster = {ctas, 1, 1};
  r.asyncCopies = policy;
  r.seed = 3;
  return run(r);
}

std::vector<uint32_t> counted(size_t n) {
  std::vector<uint32_t> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = static_cast<uint32_t>(i) + 1;
  return v;
}

/// Lane i copies 4 words from source + 4 i to shared + 16 (i + `to`).
void copyWords(Cta *cta, Gang *g, const uint32_t *source, uint32_t to) {
  void *destinations[32];
  const void *sources[32];
  for (uint32_t i = 0; i < 32; ++i) {
    destinations[i] = sharedBytes(cta) + 16 * (i + to);
    sources[i] = source + 4 * i;
  }
  ptxrun_cp_async(g, ~0u, destinations, sources, 16, nullptr);
}

TEST_P(Async, WaitGroupCompletesEarlierGroups) {
  auto source = counted(384);
  uint32_t out[384] = {};
  Failure f = runBody(
      [](Cta *cta, Gang *g, const Parameters &p) {
        std::memset(sharedBytes(cta), 0, 3 * 512);
        for (uint32_t group = 0; group < 3; ++group) {
          copyWords(cta, g, p.source + 128 * group, 32 * group);
          ptxrun_cp_async_commit_group(g, ~0u);
        }
        ptxrun_cp_async_wait_group(g, ~0u, 1);
        std::memcpy(p.out, sharedBytes(cta), 2 * 512);
        ptxrun_cp_async_wait_group(g, ~0u, 0);
        std::memcpy(p.out + 256, sharedBytes(cta) + 1024, 512);
      },
      GetParam(), source.data(), out);
  ASSERT_EQ(f.status, Status::ok) << f.message;
  for (uint32_t i = 0; i < 384; ++i)
    ASSERT_EQ(out[i], i + 1);
}

TEST(AsyncPolicy, LateCopiesAreNotThereWithoutAWait) {
  auto source = counted(128);
  for (auto policy : {AsyncCopies::eager, AsyncCopies::late}) {
    uint32_t out[128] = {};
    runBody(
        [](Cta *cta, Gang *g, const Parameters &p) {
          std::memset(sharedBytes(cta), 0, 512);
          copyWords(cta, g, p.source, 0);
          ptxrun_cp_async_commit_group(g, ~0u);
          ptxrun_cp_async_wait_group(g, ~0u, 1); // one group may be pending: this one
          std::memcpy(p.out, sharedBytes(cta), 512);
        },
        policy, source.data(), out);
    EXPECT_EQ(out[5], policy == AsyncCopies::eager ? 6u : 0u);
  }
}

TEST_P(Async, ZerosFillWhatTheSourceSizeLeaves) {
  auto source = counted(128);
  uint32_t out[128];
  Failure f = runBody(
      [](Cta *cta, Gang *g, const Parameters &p) {
        void *destinations[32];
        const void *sources[32];
        uint32_t sizes[32];
        std::memset(sharedBytes(cta), 0xff, 512);
        for (uint32_t i = 0; i < 32; ++i) {
          destinations[i] = sharedBytes(cta) + 16 * i;
          sources[i] = p.source + 4 * i;
          sizes[i] = i % 5 * 4;
        }
        ptxrun_cp_async(g, 0x7fffffff, destinations, sources, 16, sizes);
        ptxrun_cp_async_commit_group(g, ~0u);
        ptxrun_cp_async_wait_group(g, ~0u, 0);
        std::memcpy(p.out, sharedBytes(cta), 512);
      },
      GetParam(), source.data(), out);
  ASSERT_EQ(f.status, Status::ok) << f.message;
  for (uint32_t i = 0; i < 128; ++i) {
    uint32_t lane = i / 4;
    EXPECT_EQ(out[i], lane == 31 ? ~0u : i % 4 < lane % 5 ? i + 1 : 0u) << i;
  }
}

TEST_P(Async, MbarrierArriveFollowsTheCopies) {
  auto source = counted(128);
  for (uint32_t isNoinc : {0u, 1u}) {
    uint32_t out[129] = {};
    out[128] = isNoinc;
    Failure f = runBody(
        [](Cta *cta, Gang *g, const Parameters &p) {
          uint32_t isNoinc = p.out[128];
          auto *bar = reinterpret_cast<uint64_t *>(sharedBytes(cta) + 8192);
          ptxrun_mbarrier_init(g, bar, isNoinc ? 64 : 32);
          copyWords(cta, g, p.source, 0);
          for (uint32_t lane = 0; lane < 32; ++lane)
            ptxrun_cp_async_mbarrier_arrive(g, lane, bar, isNoinc);
          uint64_t state = ptxrun_mbarrier_arrive(g, bar, 32);
          while (!ptxrun_mbarrier_try_wait(g, bar, state, 0, 0))
            ;
          std::memcpy(p.out, sharedBytes(cta), 512);
        },
        GetParam(), source.data(), out);
    ASSERT_EQ(f.status, Status::ok) << f.message;
    for (uint32_t i = 0; i < 128; ++i)
      ASSERT_EQ(out[i], i + 1);
  }
}

TEST_P(Async, BulkCopyCompletesItsBytesAtTheMbarrier) {
  auto source = counted(4096);
  std::vector<uint32_t> out(4096);
  Failure f = runBody(
      [](Cta *cta, Gang *g, const Parameters &p) {
        auto *bar = reinterpret_cast<uint64_t *>(sharedBytes(cta) + 16384);
        if (g->firstThread == 0) {
          ptxrun_mbarrier_init(g, bar, 1);
          ptxrun_mbarrier_expect_tx(g, bar, 16384);
          ptxrun_mbarrier_arrive(g, bar, 1);
          for (uint32_t part = 0; part < 4; ++part)
            ptxrun_cp_async_bulk(g, 0, sharedBytes(cta) + 4096 * part, p.source + 1024 * part, 4096,
                                 bar, 0xffff);
        }
        ptxrun_bar_sync(g, 0, 0, ~0u);
        while (!ptxrun_mbarrier_try_wait(g, bar, 0, 1, 0))
          ;
        if (g->firstThread == 32) { // and back, through a bulk group
          ptxrun_cp_async_bulk(g, 0, p.out, sharedBytes(cta), 16384, nullptr, 0xffff);
          ptxrun_bulk_commit_group(g, 1);
          ptxrun_bulk_wait_group(g, 1, 0, 1);
        }
      },
      GetParam(), source.data(), out.data(), 64);
  ASSERT_EQ(f.status, Status::ok) << f.message;
  EXPECT_EQ(out, source);
}

TEST_P(Async, CopiesWithoutAWaitAreDoneByTheEndOfTheBlock) {
  auto source = counted(4);
  uint32_t out[4] = {};
  Failure f = runBody(
      [](Cta *, Gang *g, const Parameters &p) {
        ptxrun_cp_async_bulk(g, 0, p.out, p.source, 16, nullptr, 0xffff);
        ptxrun_bulk_commit_group(g, 1);
      },
      GetParam(), source.data(), out);
  ASSERT_EQ(f.status, Status::ok);
  EXPECT_EQ(out[3], 4u);
}

TEST_P(Async, ByteMaskChoosesBytesOfEverySixteen) {
  alignas(16) uint8_t source[32], out[32];
  for (int i = 0; i < 32; ++i)
    source[i] = static_cast<uint8_t>(i + 1), out[i] = 0;
  Failure f = runBody(
      [](Cta *, Gang *g, const Parameters &p) {
        ptxrun_cp_async_bulk(g, 0, p.out, p.source, 32, nullptr, 0b1000'0000'0000'0101);
        ptxrun_bulk_commit_group(g, 1);
        ptxrun_bulk_wait_group(g, 1, 0, 0);
      },
      GetParam(), reinterpret_cast<uint32_t *>(source), reinterpret_cast<uint32_t *>(out));
  ASSERT_EQ(f.status, Status::ok) << f.message;
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i % 16 == 0 || i % 16 == 2 || i % 16 == 15 ? i + 1 : 0);
}

TEST_P(Async, MulticastReachesEveryNamedBlockAndItsMbarrier) {
  auto source = counted(64);
  uint32_t out[4 * 64] = {};
  Failure f = runBody(
      [](Cta *cta, Gang *g, const Parameters &p) {
        char *own = sharedBytes(cta) + (uint64_t{cta->clusterRank} << abi::kSharedWindowShift);
        auto *bar = reinterpret_cast<uint64_t *>(own + 8192);
        std::memset(own, 0, 256);
        ptxrun_mbarrier_init(g, bar, 1);
        ptxrun_cluster_arrive(g, ~0u);
        ptxrun_cluster_wait(g, ~0u);
        bool isTarget = cta->clusterRank != 2;
        if (isTarget) {
          ptxrun_mbarrier_expect_tx(g, bar, 256);
          ptxrun_mbarrier_arrive(g, bar, 1);
        }
        if (cta->clusterRank == 1)
          ptxrun_cp_async_bulk_multicast(g, 0, own, p.source, 256, bar, 0b1011);
        while (isTarget && !ptxrun_mbarrier_try_wait(g, bar, 0, 1, 0))
          ;
        std::memcpy(p.out + 64 * cta->clusterRank, own, 256);
        ptxrun_cluster_arrive(g, ~0u);
        ptxrun_cluster_wait(g, ~0u);
      },
      GetParam(), source.data(), out, 32, 4);
  ASSERT_EQ(f.status, Status::ok) << f.message;
  for (uint32_t i = 0; i < 256; ++i)
    EXPECT_EQ(out[i], i / 64 == 2 ? 0 : i % 64 + 1);
}

TEST_P(Async, BulkReductionAddsToTheDestination) {
  auto source = counted(64);
  std::vector<uint32_t> out(64, 1000);
  Failure f = runBody(
      [](Cta *cta, Gang *g, const Parameters &p) {
        std::memcpy(sharedBytes(cta), p.source, 256);
        ptxrun_cp_reduce_async_bulk(g, 0, p.out, sharedBytes(cta), 256, nullptr, abi::ReduceOp::add,
                                    abi::ReduceType::u32);
        ptxrun_bulk_commit_group(g, 1);
        ptxrun_bulk_wait_group(g, 1, 0, 0);
      },
      GetParam(), source.data(), out.data(), 32);
  ASSERT_EQ(f.status, Status::ok) << f.message;
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 1000 + i + 1);
}

TEST_P(Async, BadAddressFailsTheLaunchWhenTheCopyHappens) {
#if defined(PTXRUN_ASAN) || defined(PTXRUN_TSAN)
  GTEST_SKIP() << "the sanitizer reports the access before the signal";
#endif
  Failure f = runBody(
      [](Cta *cta, Gang *g, const Parameters &) {
        auto *bar = reinterpret_cast<uint64_t *>(sharedBytes(cta) + 8192);
        ptxrun_mbarrier_init(g, bar, 1);
        ptxrun_mbarrier_expect_tx(g, bar, 64);
        ptxrun_mbarrier_arrive(g, bar, 1);
        ptxrun_cp_async_bulk(g, 0, sharedBytes(cta), reinterpret_cast<void *>(0x2000), 64, bar,
                             0xffff);
        while (!ptxrun_mbarrier_try_wait(g, bar, 0, 1, 0))
          ;
      },
      GetParam(), nullptr, nullptr);
  EXPECT_EQ(f.status, Status::illegalAddress);
  EXPECT_EQ(f.address & ~63ull, 0x2000u);
}

TEST(AsyncPolicy, MisalignedBulkCopyIsRejected) {
  Failure f = runBody(
      [](Cta *cta, Gang *g, const Parameters &p) {
        ptxrun_cp_async_bulk(g, 0, sharedBytes(cta), p.source + 1, 16, nullptr, 0xffff);
      },
      AsyncCopies::eager, counted(64).data(), nullptr);
  EXPECT_EQ(f.status, Status::illegalAddress);
  EXPECT_NE(f.message.find("not aligned to 16 bytes"), std::string::npos) << f.message;
}

// ---- element-wise reductions ----

template <typename T> T reduced(abi::ReduceOp op, abi::ReduceType type, T d, T s, bool isPrivate) {
  alignas(16) T to[16 / sizeof(T)], from[16 / sizeof(T)];
  for (size_t i = 0; i < 16 / sizeof(T); ++i)
    to[i] = d, from[i] = s;
  reduceArray(op, type, to, from, 16, isPrivate);
  EXPECT_EQ(std::memcmp(&to[0], &to[16 / sizeof(T) - 1], sizeof(T)), 0);
  return to[0];
}

TEST(Reduce, FollowsTheManualsDefinitions) {
  using abi::ReduceOp;
  using abi::ReduceType;
  for (bool p : {false, true}) {
    EXPECT_EQ(reduced<uint32_t>(ReduceOp::add, ReduceType::u32, ~0u, 2, p), 1u);
    EXPECT_EQ(reduced<int32_t>(ReduceOp::min, ReduceType::s32, -5, 3, p), -5);
    EXPECT_EQ(reduced<uint32_t>(ReduceOp::max, ReduceType::u32, ~4u, 3, p), ~4u);
    EXPECT_EQ(reduced<int64_t>(ReduceOp::max, ReduceType::s64, -5, 3, p), 3);
    EXPECT_EQ(reduced<uint32_t>(ReduceOp::inc, ReduceType::u32, 6, 7, p), 7u);
    EXPECT_EQ(reduced<uint32_t>(ReduceOp::inc, ReduceType::u32, 7, 7, p), 0u);
    EXPECT_EQ(reduced<uint32_t>(ReduceOp::dec, ReduceType::u32, 0, 7, p), 7u);
    EXPECT_EQ(reduced<uint32_t>(ReduceOp::dec, ReduceType::u32, 9, 7, p), 7u);
    EXPECT_EQ(reduced<uint32_t>(ReduceOp::dec, ReduceType::u32, 5, 7, p), 4u);
    EXPECT_EQ(reduced<uint64_t>(ReduceOp::xor_, ReduceType::b64, 0xff00, 0x0ff0, p), 0xf0f0u);
    EXPECT_EQ(reduced<float>(ReduceOp::add, ReduceType::f32, 1.5f, 2.25f, p), 3.75f);
    EXPECT_EQ(reduced<float>(ReduceOp::add, ReduceType::f32, 1e-40f, 1e-40f, p), 0.0f) << "flushed";
    EXPECT_EQ(reduced<double>(ReduceOp::add, ReduceType::f64, 1e-310, 1e-310, p), 2e-310);
    // f16: 2048 + 1 rounds to even; the smallest subnormal is kept. bf16: 256 + 1 rounds to even.
    EXPECT_EQ(reduced<uint16_t>(ReduceOp::add, ReduceType::f16, 0x6800, 0x3c00, p), 0x6800);
    EXPECT_EQ(reduced<uint16_t>(ReduceOp::add, ReduceType::f16, 0x0001, 0x0001, p), 0x0002);
    EXPECT_EQ(reduced<uint16_t>(ReduceOp::min, ReduceType::f16, 0x0000, 0x8000, p), 0x8000);
    EXPECT_EQ(reduced<uint16_t>(ReduceOp::max, ReduceType::f16, 0x7e00, 0x3c00, p), 0x3c00)
        << "NaN loses";
    EXPECT_EQ(reduced<uint16_t>(ReduceOp::add, ReduceType::bf16, 0x4380, 0x3f80, p), 0x4380);
    EXPECT_EQ(reduced<uint16_t>(ReduceOp::add, ReduceType::bf16, 0x3f80, 0x3f80, p), 0x4000);
  }
}

// ---- taking clusters that have not started ----

struct Steal {
  std::atomic<uint32_t> *visits;
  uint32_t *runs;
};

void stealGang(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Steal *>(l->params);
  auto *result = reinterpret_cast<uint32_t *>(sharedBytes(cta));
  auto *bar = reinterpret_cast<uint64_t *>(sharedBytes(cta) + 64);
  __atomic_fetch_add(p.runs, 1, __ATOMIC_RELAXED);
  ptxrun_mbarrier_init(g, bar, 1);
  Dim3 at = cta->ctaid;
  for (uint32_t round = 0;; ++round) {
    p.visits[linear(at, l->grid)].fetch_add(1);
    ptxrun_mbarrier_expect_tx(g, bar, 16);
    ptxrun_mbarrier_arrive(g, bar, 1);
    ptxrun_cluster_try_cancel(g, 0, result, bar, 0);
    while (!ptxrun_mbarrier_try_wait(g, bar, round & 1, 1, 0))
      ;
    if (!(result[3] & 1))
      return;
    at = {result[0], result[1], result[2]};
  }
}

TEST(ClusterLaunchControl, EveryBlockIsRunOrTakenOnce) {
  std::vector<std::atomic<uint32_t>> visits(600);
  uint32_t runs = 0;
  Steal p{visits.data(), &runs};
  auto code = fiberKernel(stealGang);
  code.needs.staticSharedBytes = 128;
  std::atomic<uint64_t> finished{0};
  auto r = launch(code, {20, 30}, {1}, &p);
  r.finishedCtas = &finished;
  Failure f = run(r);
  ASSERT_EQ(f.status, Status::ok) << f.message;
  for (auto &v : visits)
    ASSERT_EQ(v, 1u);
  EXPECT_LT(runs, 600u);
  EXPECT_EQ(finished, 600u);
}

} // namespace
} // namespace ptxrun::rt::test
