// Better code that comes while a launch runs.
#include <chrono>
#include <new>
#include <thread>

#include "tests/unit/rt/dual.h"

namespace ptxrun::rt::test {
namespace {

/// Gives out better code as soon as the first code has run so long.
struct Offer : CodeUpgrade {
  void tellRuntime(uint64_t ns) override {
    told.fetch_add(ns);
    if (told > after && better)
      code_.store(better, std::memory_order_release);
  }
  const abi::KernelCode *better = nullptr;
  uint64_t after = 0;
  std::atomic<uint64_t> told{0};
};

/// Who ran each CTA: 1 the first code, 2 the better code.
struct Runs {
  std::atomic<uint32_t> *by;
  uint32_t pauseUs = 0;
};

template <uint32_t Who> void note(const Launch *l, uint64_t cta) {
  const auto &runs = *static_cast<const Runs *>(l->params);
  runs.by[cta].fetch_add(Who);
  if (Who == 1)
    std::this_thread::sleep_for(std::chrono::microseconds(runs.pauseUs));
}

template <uint32_t Who> void range(const Launch *l, Cta *, Gang *, uint64_t first, uint64_t end) {
  for (uint64_t i = first; i < end; ++i)
    note<Who>(l, i);
}

template <uint32_t Who> void gang(const Launch *l, Cta *cta, Gang *g) {
  ptxrun_bar_sync(g, 0, 0, laneMask(g));
  if (g->firstThread == 0)
    note<Who>(l, linear(cta->ctaid, l->grid));
}

/// The frames of the two codes have different sizes.
template <uint32_t Who> Task coroutine(const Launch *l, Cta *cta, Gang *g) {
  std::array<uint32_t, Who * 100> kept;
  kept.fill(g->firstThread + 7);
  co_await Waits<false>::barSync(g, 0);
  for (uint32_t k : kept)
    if (k != g->firstThread + 7)
      std::abort();
  if (g->firstThread == 0)
    note<Who>(l, linear(cta->ctaid, l->grid));
}
template <uint32_t Who> void *start(const Launch *l, Cta *cta, Gang *g) {
  return coroutine<Who>(l, cta, g).handle.address();
}

struct Form {
  const char *name;
  abi::KernelCode codes[2];
};

Form ranges() {
  Form form{"ranges", {}};
  form.codes[0].ctaRange = range<1>;
  form.codes[1].ctaRange = range<2>;
  return form;
}
Form fibers() { return {"fibers", {fiberKernel(gang<1>), fiberKernel(gang<2>)}}; }
Form coroutines() {
  Form form = fibers();
  form.name = "coroutines";
  form.codes[0].gangStart = start<1>;
  form.codes[1].gangStart = start<2>;
  return form;
}

class Upgrade : public testing::TestWithParam<Form> {
 protected:
  static constexpr uint32_t kCtas = 400;
  Upgrade() : by(kCtas) {}
  uint32_t count(uint32_t who) const {
    return static_cast<uint32_t>(std::count(by.begin(), by.end(), who));
  }
  std::vector<std::atomic<uint32_t>> by;
  Offer offer;
};

TEST_P(Upgrade, BlocksThatStartLaterRunTheBetterCode) {
  for (int threads : {1, 2}) {
    for (auto &b : by)
      b = 0;
    Offer offer;
    offer.better = &GetParam().codes[1];
    offer.after = 2'000'000;
    Runs runs{by.data(), 100};
    auto r = launch(GetParam().codes[0], {kCtas}, {64}, &runs);
    r.upgrade = &offer;
    r.threads = threads;
    ASSERT_EQ(run(r).status, Status::ok);
    EXPECT_GT(count(1), 0u);
    EXPECT_GT(count(2), kCtas / 4) << threads;
    EXPECT_EQ(count(1) + count(2), kCtas);
  }
}

TEST_P(Upgrade, TheFirstCodeRunsToTheEndWhereNothingBetterComes) {
  Runs runs{by.data(), 1};
  auto r = launch(GetParam().codes[0], {kCtas}, {64}, &runs);
  r.upgrade = &offer;
  ASSERT_EQ(run(r).status, Status::ok);
  EXPECT_EQ(count(1), kCtas);
  EXPECT_GT(offer.told, kCtas * 1000u);
}

TEST_P(Upgrade, CodeOfAnotherFormWaitsForTheNextLaunch) {
  const Form other = GetParam().codes[0].ctaRange ? fibers() : ranges();
  offer.better = &other.codes[1];
  Runs runs{by.data(), 1};
  auto r = launch(GetParam().codes[0], {kCtas}, {64}, &runs);
  r.upgrade = &offer;
  ASSERT_EQ(run(r).status, Status::ok);
  EXPECT_EQ(count(1), kCtas);
}

TEST_P(Upgrade, LargerStacksComeWithTheCode) {
  abi::KernelCode larger = GetParam().codes[1];
  larger.needs.stackBytes = 4 << 20;
  offer.better = &larger;
  Runs runs{by.data(), 1};
  auto r = launch(GetParam().codes[0], {kCtas}, {64}, &runs);
  r.upgrade = &offer;
  ASSERT_EQ(run(r).status, Status::ok);
  EXPECT_EQ(count(1) + count(2), kCtas);
}

/// On a thread of its own, whose end shows (to a sanitizer) what was not given back.
TEST_P(Upgrade, ThatFindsNoMemoryEndsTheLaunchAndNothingIsLost) {
  struct ShortOfMemory : Offer {
    void tellRuntime(uint64_t) override { throw std::bad_alloc(); }
  } shortOfMemory;
  std::thread([&] {
    Runs runs{by.data(), 1};
    auto r = launch(GetParam().codes[0], {kCtas}, {64}, &runs);
    r.threads = 1;
    r.upgrade = &shortOfMemory;
    EXPECT_EQ(run(r).status, Status::outOfMemory);
    EXPECT_LT(count(1), kCtas);
    r.upgrade = nullptr;
    for (auto &b : by)
      b = 0;
    EXPECT_EQ(run(r).status, Status::ok);
    EXPECT_EQ(count(1), kCtas);
  }).join();
}

INSTANTIATE_TEST_SUITE_P(Forms, Upgrade, testing::Values(ranges(), fibers(), coroutines()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace ptxrun::rt::test
