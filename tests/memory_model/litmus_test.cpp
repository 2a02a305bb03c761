#include "tests/unit/rt/dual.h"

namespace ptxrun::rt::test {
namespace {

constexpr uint32_t kRounds = 2000;

/// One round's shared variables, each on a line of its own.
struct Variable {
  alignas(64) std::atomic<uint32_t> value{0};
};
struct Round {
  Variable x, y;
  Variable arrived; ///< blocks that are about to start the round
  uint32_t seen[4][2] = {};
};

using Role = void (*)(Round &, uint32_t *seen);
struct Litmus {
  std::vector<Round> rounds{kRounds};
  std::vector<Role> roles; ///< one per block
};

/// Every block waits until all have come to the round, then plays its role.
void litmusGang(const Launch *l, Cta *cta, Gang *g) {
  auto &litmus = **static_cast<Litmus *const *>(l->params);
  uint32_t self = cta->ctaid.x;
  for (Round &round : litmus.rounds) {
    round.arrived.value.fetch_add(1, std::memory_order_acq_rel);
    while (round.arrived.value.load(std::memory_order_acquire) < l->grid.x)
      ptxrun_yield(g, abi::WaitReason::spin, 0);
    litmus.roles[self](round, round.seen[self]);
  }
}

/// Plays the litmus test; `isForbidden` judges a round.
template <typename Judge> void play(std::vector<Role> roles, Judge isForbidden) {
  Litmus litmus;
  litmus.roles = roles;
  Litmus *p = &litmus;
  auto code = fiberKernel(litmusGang);
  auto r = launch(code, {static_cast<uint32_t>(roles.size())}, {32}, &p);
  r.isCooperative = true;
  r.threads = static_cast<int>(roles.size());
  Failure f = run(r);
  ASSERT_EQ(f.status, Status::ok) << f.message;
  for (Round &round : litmus.rounds)
    ASSERT_FALSE(isForbidden(round)) << "round " << &round - litmus.rounds.data();
}

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kSeqCst = std::memory_order_seq_cst;

TEST(GpuScope, MessagePassingByReleaseAndAcquire) {
  play({[](Round &r, uint32_t *) {
          r.x.value.store(1, kRelaxed);
          r.y.value.store(1, kRelease);
        },
        [](Round &r, uint32_t *seen) {
          seen[0] = r.y.value.load(kAcquire);
          seen[1] = r.x.value.load(kRelaxed);
        }},
       [](Round &r) { return r.seen[1][0] == 1 && r.seen[1][1] == 0; });
}

TEST(GpuScope, MessagePassingByFences) {
  play({[](Round &r, uint32_t *) {
          r.x.value.store(1, kRelaxed);
          std::atomic_thread_fence(std::memory_order_acq_rel);
          r.y.value.store(1, kRelaxed);
        },
        [](Round &r, uint32_t *seen) {
          seen[0] = r.y.value.load(kRelaxed);
          std::atomic_thread_fence(std::memory_order_acq_rel);
          seen[1] = r.x.value.load(kRelaxed);
        }},
       [](Round &r) { return r.seen[1][0] == 1 && r.seen[1][1] == 0; });
}

TEST(GpuScope, MessagePassingByReadModifyWrite) {
  play({[](Round &r, uint32_t *) {
          r.x.value.store(1, kRelaxed);
          r.y.value.fetch_add(1, kRelease);
        },
        [](Round &r, uint32_t *seen) {
          seen[0] = r.y.value.fetch_add(2, kAcquire);
          seen[1] = r.x.value.load(kRelaxed);
        }},
       [](Round &r) { return r.seen[1][0] == 1 && r.seen[1][1] == 0; });
}

TEST(GpuScope, StoreBufferingIsForbiddenByScFences) {
  Role roles[] = {[](Round &r, uint32_t *seen) {
                    r.x.value.store(1, kRelaxed);
                    std::atomic_thread_fence(kSeqCst);
                    seen[0] = r.y.value.load(kRelaxed);
                  },
                  [](Round &r, uint32_t *seen) {
                    r.y.value.store(1, kRelaxed);
                    std::atomic_thread_fence(kSeqCst);
                    seen[0] = r.x.value.load(kRelaxed);
                  }};
  play({roles[0], roles[1]}, [](Round &r) { return r.seen[0][0] == 0 && r.seen[1][0] == 0; });
}

TEST(GpuScope, LoadBufferingNeverReadsFromTheFuture) {
  play({[](Round &r, uint32_t *seen) {
          seen[0] = r.x.value.load(kAcquire);
          r.y.value.store(1, kRelease);
        },
        [](Round &r, uint32_t *seen) {
          seen[0] = r.y.value.load(kAcquire);
          r.x.value.store(1, kRelease);
        }},
       [](Round &r) { return r.seen[0][0] == 1 && r.seen[1][0] == 1; });
}

TEST(GpuScope, IndependentReadersAgreeOnTheOrderOfWritesWithScFences) {
  play({[](Round &r, uint32_t *) { r.x.value.store(1, kRelaxed); },
        [](Round &r, uint32_t *) { r.y.value.store(1, kRelaxed); },
        [](Round &r, uint32_t *seen) {
          seen[0] = r.x.value.load(kRelaxed);
          std::atomic_thread_fence(kSeqCst);
          seen[1] = r.y.value.load(kRelaxed);
        },
        [](Round &r, uint32_t *seen) {
          seen[0] = r.y.value.load(kRelaxed);
          std::atomic_thread_fence(kSeqCst);
          seen[1] = r.x.value.load(kRelaxed);
        }},
       [](Round &r) {
         return r.seen[2][0] == 1 && r.seen[2][1] == 0 && r.seen[3][0] == 1 && r.seen[3][1] == 0;
       });
}

TEST(GpuScope, ReadsOfOneLocationNeverGoBack) {
  play({[](Round &r, uint32_t *) {
          r.x.value.store(1, kRelaxed);
          r.x.value.store(2, kRelaxed);
        },
        [](Round &r, uint32_t *seen) {
          seen[0] = r.x.value.load(kRelaxed);
          seen[1] = r.x.value.load(kRelaxed);
        }},
       [](Round &r) { return r.seen[1][1] < r.seen[1][0]; });
}

TEST(GpuScope, ReadModifyWritesAreNeverLost) {
  Role add = [](Round &r, uint32_t *) { r.x.value.fetch_add(1, kRelaxed); };
  play({add, add, add, add}, [](Round &r) { return r.x.value.load() != 4; });
}

// ---- a barrier of the whole grid, built from atomics as cooperative groups do ----

struct GridBarrier {
  std::atomic<uint32_t> *count;
  std::vector<uint32_t> *cells; ///< plain memory
  std::atomic<uint32_t> *errors;
};

void gridBarrierGang(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const GridBarrier *>(l->params);
  uint32_t self = cta->ctaid.x, blocks = l->grid.x;
  for (uint32_t round = 1; round <= 20; ++round) {
    if (g->firstThread == 0) {
      (*p.cells)[self] = round;
      p.count->fetch_add(1, std::memory_order_acq_rel);
      while (p.count->load(kAcquire) < blocks * (2 * round - 1))
        ptxrun_yield(g, abi::WaitReason::spin, 0);
    }
    ptxrun_bar_sync(g, 0, 0, ~0u);
    if ((*p.cells)[(self + 1) % blocks] != round)
      p.errors->fetch_add(1);
    ptxrun_bar_sync(g, 0, 0, ~0u);
    if (g->firstThread == 0) {
      p.count->fetch_add(1, std::memory_order_acq_rel);
      while (p.count->load(kAcquire) < blocks * 2 * round)
        ptxrun_yield(g, abi::WaitReason::spin, 0);
    }
  }
}

TEST(GridBarrier, OrdersPlainMemoryOfAllBlocks) {
  for (uint32_t blocks : {2u, 7u, 64u}) {
    std::atomic<uint32_t> count{0}, errors{0};
    std::vector<uint32_t> cells(blocks);
    GridBarrier p{&count, &cells, &errors};
    auto code = fiberKernel(gridBarrierGang);
    auto r = launch(code, {blocks}, {64}, &p);
    r.isCooperative = true;
    r.threads = 4;
    Failure f = run(r);
    ASSERT_EQ(f.status, Status::ok) << f.message;
    EXPECT_EQ(errors, 0u);
  }
}

// ---- inside a block: plain accesses, any synchronisation, any interleaving ----

struct Inside {
  std::atomic<uint32_t> *errors;
};

/// Warp w writes, warp w + 1 reads what was written before the synchronisation.
template <typename W> Task inside(const Launch *l, Cta *cta, Gang *g) {
  auto *errors = static_cast<const Inside *>(l->params)->errors;
  auto *base = cta->sharedBase + (uint64_t{cta->clusterRank} << abi::kSharedWindowShift);
  auto *cells = reinterpret_cast<uint32_t *>(base + abi::kSharedFirstOffset);
  auto *object = reinterpret_cast<uint64_t *>(cells + 256);
  uint32_t n = l->block.x, self = g->firstThread, other = (self + 32) % n;
  if (self == 0)
    ptxrun_mbarrier_init(g, object, n);
  co_await W::barSync(g, 0);
  for (uint32_t round = 1; round <= 30; ++round) {
    cells[self] = round;
    if (round % 3 == 0) {
      co_await W::barSync(g, 1);
    } else if (round % 3 == 1) {
      ptxrun_cluster_arrive(g, laneMask(g));
      co_await W::clusterWait(g);
    } else {
      uint64_t state = ptxrun_mbarrier_arrive(g, object, g->laneCount);
      uint32_t done = 0;
      while (!done)
        co_await W::tryWait(g, object, state, false, &done);
    }
    if (cells[other] != round)
      errors->fetch_add(1);
    co_await W::barSync(g, 2);
  }
}
DUAL_KERNEL(inside)

class CtaScope : public ::testing::TestWithParam<Way> {};
ALL_WAYS(CtaScope);

TEST_P(CtaScope, EverySynchronisationOrdersPlainAccesses) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::atomic<uint32_t> errors{0};
    Inside p{&errors};
    auto code = insideCode(GetParam().lanes, GetParam().isCoroutine);
    code.needs.staticSharedBytes = 2048;
    auto r = launch(code, {4}, {96}, &p);
    r.cluster = {2, 1, 1};
    r.schedule = seed == 0 ? Schedule::fast : Schedule::seeded;
    r.seed = seed;
    Failure f = run(r);
    ASSERT_EQ(f.status, Status::ok) << f.message;
    ASSERT_EQ(errors, 0u) << "seed " << seed;
  }
}

} // namespace
} // namespace ptxrun::rt::test
