// Launches that have the process to themselves, and that others join.
//
// What is found out once in a process is found out in one of its own (a death test that ends well).
#include <chrono>
#include <thread>

#include "tests/unit/rt/kernels.h"

namespace ptxrun::rt::test {
namespace {

using namespace std::chrono_literals;

class SoleLaunches : public ::testing::Test {
 protected:
  SoleLaunches() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
#define IN_A_NEW_PROCESS(holds)                                                                    \
  EXPECT_EXIT(_exit((holds) ? 0 : 1), ::testing::ExitedWithCode(0), "")

template <typename Kernel> abi::KernelCode updatingKernel(Kernel range) {
  abi::KernelCode code;
  code.ctaRange = range;
  code.needs.hasDeviceUpdates = true;
  return code;
}

Failure runOnOneThread(const abi::KernelCode &code, uint32_t ctas, const void *params) {
  LaunchRequest request = launch(code, {ctas}, {32}, params);
  request.threads = 1;
  return run(request);
}

/// What each CTA found; one for each.
void noteSole(const Launch *l, Cta *, Gang *, uint64_t first, uint64_t end) {
  for (uint64_t cta = first; cta < end; ++cta)
    static_cast<std::atomic<int> *>(const_cast<void *>(l->params))[cta] = int(l->isSole) + 1;
}

/// How many of 100 CTAs were sole.
int soleCtas(const abi::KernelCode &code, int threads) {
  std::vector<std::atomic<int>> seen(100);
  LaunchRequest request = launch(code, {100}, {32}, seen.data());
  request.threads = threads;
  if (run(request).status != Status::ok)
    return -1;
  int sole = 0;
  for (const auto &s : seen)
    sole += s == 2;
  return sole;
}

TEST_F(SoleLaunches, OneOnOneThreadIs) {
  IN_A_NEW_PROCESS(soleCtas(updatingKernel(noteSole), 1) == 100 &&
                   soleCtas(updatingKernel(noteSole), 1) == 100);
}

TEST_F(SoleLaunches, NotWithMoreThreads) {
  IN_A_NEW_PROCESS(soleCtas(updatingKernel(noteSole), 2) == 0);
}

TEST_F(SoleLaunches, NotWithoutUpdates) {
  abi::KernelCode code = updatingKernel(noteSole);
  code.needs.hasDeviceUpdates = false;
  IN_A_NEW_PROCESS(soleCtas(code, 1) == 0);
}

/// A launch that goes on, CTA by CTA of a millisecond, until another has run.
struct Meeting {
  std::atomic<bool> hasBegun{false}, hasMet{false};
  std::atomic<uint64_t> sole{0}, shared{0};
  std::atomic<bool> isMixedUp{false}; ///< sole again behind an end of that
};

void goOnUntilMet(const Launch *l, Cta *, Gang *, uint64_t first, uint64_t end) {
  auto &m = *static_cast<Meeting *>(const_cast<void *>(l->params));
  for (uint64_t cta = first; cta < end && !m.hasMet; ++cta) {
    m.hasBegun = true;
    (l->isSole ? m.sole : m.shared)++;
    if (l->isSole && m.shared > 0)
      m.isMixedUp = true;
    std::this_thread::sleep_for(1ms);
  }
}

void meet(const Launch *l, Cta *, Gang *, uint64_t, uint64_t) {
  static_cast<Meeting *>(const_cast<void *>(l->params))->hasMet = true;
}

/// Runs `first`, and another launch once it has begun; true if both have ended as they should.
bool doMeet(const abi::KernelCode &first, uint32_t ctas, Meeting &m) {
  const abi::KernelCode second = updatingKernel(meet);
  std::thread other([&] {
    while (!m.hasBegun)
      std::this_thread::yield();
    runOnOneThread(second, 1, &m);
  });
  const Failure failure = runOnOneThread(first, ctas, &m);
  other.join();
  return failure.status == Status::ok && m.hasMet;
}

bool isEndedByTheNext() {
  Meeting m;
  return doMeet(updatingKernel(goOnUntilMet), 100'000, m) && m.sole > 0 && !m.isMixedUp &&
         soleCtas(updatingKernel(noteSole), 1) == 0; // and so it stays
}

TEST_F(SoleLaunches, TheNextEndsIt) { IN_A_NEW_PROCESS(isEndedByTheNext()); }

/// One that waits for the other lets it in, in whichever form its code is.
KERNEL void waitForTheOther(const Launch *l, Cta *, Gang *g) {
  auto &m = *static_cast<Meeting *>(const_cast<void *>(l->params));
  m.hasBegun = true;
  while (!m.hasMet)
    ptxrun_yield(g, abi::WaitReason::spin, 0);
}
KERNEL void waitInRange(const Launch *l, Cta *cta, Gang *g, uint64_t, uint64_t) {
  waitForTheOther(l, cta, g);
}

bool isLetIn(const abi::KernelCode &first) {
  Meeting m;
  return doMeet(first, 1, m);
}

TEST_F(SoleLaunches, WaitsLetOthersIn) {
  abi::KernelCode onFibers = fiberKernel(waitForTheOther);
  onFibers.needs.hasDeviceUpdates = true;
  IN_A_NEW_PROCESS(isLetIn(onFibers));
  IN_A_NEW_PROCESS(isLetIn(updatingKernel(waitInRange)));
}

/// Counts as generated code does.
void count(const Launch *l, Cta *, Gang *, uint64_t first, uint64_t end) {
  auto &counter = *static_cast<volatile uint64_t *>(const_cast<void *>(l->params));
  for (uint64_t cta = first; cta < end; ++cta)
    for (int k = 0; k < 1000; ++k)
      if (l->isSole)
        counter = counter + 1;
      else
        __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
}

bool countsAll() {
  constexpr int kLaunches = 200, kThreads = 3;
  uint64_t counter = 0;
  const abi::KernelCode code = updatingKernel(count);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int n = 0; n < kLaunches; ++n)
        runOnOneThread(code, 8, &counter);
    });
  for (std::thread &t : threads)
    t.join();
  return counter == uint64_t{kThreads} * kLaunches * 8 * 1000;
}

TEST_F(SoleLaunches, NoUpdateIsLost) { IN_A_NEW_PROCESS(countsAll()); }

} // namespace
} // namespace ptxrun::rt::test
