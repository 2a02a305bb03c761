#include "tests/unit/rt/kernels.h"

namespace ptxrun::rt::test {
namespace {

struct Shifts {
  uint32_t *out;
  int rounds;
};

/// Every round: write own value to shared memory, barrier, read the neighbour's, barrier.
KERNEL void shiftKernel(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Shifts *>(l->params);
  auto *shared = reinterpret_cast<uint32_t *>(cta->sharedBase + abi::kSharedFirstOffset);
  uint32_t n = l->block.x;
  uint32_t values[32];
  for (uint32_t i = 0; i < g->laneCount; ++i)
    values[i] = g->firstThread + i;
  for (int round = 0; round < p.rounds; ++round) {
    for (uint32_t i = 0; i < g->laneCount; ++i)
      shared[g->firstThread + i] = values[i];
    ptxrun_bar_sync(g, 0, 0, laneMask(g));
    for (uint32_t i = 0; i < g->laneCount; ++i)
      values[i] = shared[(g->firstThread + i + 1) % n];
    ptxrun_bar_sync(g, 0, 0, laneMask(g));
  }
  uint64_t base = linear(cta->ctaid, l->grid) * n;
  for (uint32_t i = 0; i < g->laneCount; ++i)
    p.out[base + g->firstThread + i] = values[i];
}

class BarrierWidth : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Lanes, BarrierWidth, ::testing::Values(1, 8, 16, 32));

TEST_P(BarrierWidth, KeepsRoundsApart) {
  for (uint32_t block : {1u, 31u, 33u, 64u, 250u, 1024u}) {
    for (uint32_t grid : {1u, 7u, 40u}) {
      std::vector<uint32_t> out(block * grid);
      Shifts p{out.data(), 5};
      auto code = fiberKernel(shiftKernel, GetParam());
      code.needs.staticSharedBytes = block * 4;
      Failure f = run(launch(code, {grid}, {block}, &p));
      ASSERT_EQ(f.status, Status::ok) << f.message;
      for (uint32_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], (i % block + 5) % block) << "thread " << i;
    }
  }
}

} // namespace
} // namespace ptxrun::rt::test
