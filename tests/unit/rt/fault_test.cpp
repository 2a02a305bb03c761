#include <signal.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "rt/launch/sanitizers.h"
#include "tests/unit/rt/kernels.h"

namespace ptxrun::rt::test {
namespace {

class Fault : public ::testing::Test {
  KernelCodeRegistration registration_;
};
class Interrupt : public Fault {};
class Trap : public Fault {};
class Printf : public Fault {};

struct Poke {
  uint32_t *bad;
  uint32_t faultyCta;
  uint32_t faultyGang;
  uint32_t *finished;
};

KERNEL void pokeGang(const Launch *l, Cta *cta, Gang *g) {
  const auto &p = *static_cast<const Poke *>(l->params);
  if (cta->ctaid.x == p.faultyCta && g->firstThread == p.faultyGang)
    *static_cast<volatile uint32_t *>(p.bad) = 1;
  __atomic_fetch_add(p.finished, 1, __ATOMIC_RELAXED);
}

KERNEL void pokeRange(const Launch *l, Cta *cta, Gang *g, uint64_t first, uint64_t end) {
  for (uint64_t i = first; i < end; ++i) {
    cta->ctaid = {static_cast<uint32_t>(i), 0, 0};
    for (uint32_t t = 0; t < l->block.x; t += 32) {
      g->firstThread = t;
      g->laneCount = 32;
      pokeGang(l, cta, g);
    }
  }
}

uint32_t *badAddress() { return reinterpret_cast<uint32_t *>(0x10); }

void expectPokeReport(const Failure &f) {
  EXPECT_EQ(f.status, Status::illegalAddress);
  EXPECT_EQ(f.address, 0x10u);
  EXPECT_TRUE(f.isWrite);
  EXPECT_EQ(f.ctaid.x, 7u);
  EXPECT_EQ(f.firstThread, 64u);
  EXPECT_EQ(f.threadCount, 32u);
  EXPECT_TRUE(isKernelCode(reinterpret_cast<uint64_t>(f.pc)));
  EXPECT_EQ(f.message, "illegal address: write at 0x10 by thread block (7,0,0), threads 64 to 95");
}

TEST_F(Fault, BadAccessOnFiberFailsTheLaunchAndNamesItsPlace) {
  uint32_t finished = 0;
  Poke p{badAddress(), 7, 64, &finished};
  auto code = fiberKernel(pokeGang);
  for (int i = 0; i < 20; ++i)
    expectPokeReport(run(launch(code, {50}, {128}, &p)));
}

TEST_F(Fault, BadAccessInRangeFailsTheLaunchAndNamesItsPlace) {
  uint32_t finished = 0;
  Poke p{badAddress(), 7, 64, &finished};
  abi::KernelCode code;
  code.ctaRange = pokeRange;
  for (int i = 0; i < 20; ++i)
    expectPokeReport(run(launch(code, {50}, {128}, &p)));
}

TEST_F(Fault, WorkersRunOnAfterwards) {
  uint32_t finished = 0;
  Poke p{badAddress(), 7, 64, &finished};
  auto code = fiberKernel(pokeGang);
  run(launch(code, {50}, {128}, &p));
  p.faultyCta = ~0u;
  finished = 0;
  EXPECT_EQ(run(launch(code, {50}, {128}, &p)).status, Status::ok);
  EXPECT_EQ(finished, 200u);
}

TEST_F(Fault, AddressBeyond48BitsIsReported) {
#ifdef PTXRUN_TSAN
  GTEST_SKIP() << "ThreadSanitizer looks up its own record of the address first";
#endif
  uint32_t finished = 0;
  Poke p{reinterpret_cast<uint32_t *>(0x1234567812345678), 7, 64, &finished};
  Failure f = run(launch(fiberKernel(pokeGang), {50}, {128}, &p));
  EXPECT_EQ(f.status, Status::illegalAddress);
  EXPECT_EQ(f.message.find("illegal address: misaligned, or beyond 48 bits"), 0u) << f.message;
}

KERNEL void copyGang(const Launch *l, Cta *, Gang *) {
  char local[64];
  size_t n = 64;
  asm volatile("" : "+r"(n));
  std::memcpy(local, *static_cast<char *const *>(l->params), n);
  asm volatile("" : : "r"(local) : "memory");
}

TEST_F(Fault, FaultInFunctionCalledByTheKernelIsTheKernels) {
#if defined(PTXRUN_ASAN) || defined(PTXRUN_TSAN)
  GTEST_SKIP() << "memcpy belongs to the sanitizer's run time here, which lies in this program";
#endif
  char *bad = reinterpret_cast<char *>(0x1000);
  Failure f = run(launch(fiberKernel(copyGang), {1}, {32}, &bad));
  EXPECT_EQ(f.status, Status::illegalAddress);
  EXPECT_FALSE(f.isWrite);
  EXPECT_TRUE(isKernelCode(reinterpret_cast<uint64_t>(f.pc))) << "the call in the kernel is named";
}

KERNEL int recurse(volatile char *above, int depth) {
  volatile char here[512];
  here[0] = above[0];
  here[511] = 1;
  return depth == 0 ? here[0] : recurse(here, depth - 1) + here[511];
}
KERNEL void overflowGang(const Launch *, Cta *, Gang *) {
  volatile char start[1] = {0};
  recurse(start, 1 << 20);
}

TEST_F(Fault, StackOverflowIsReported) {
  Failure f = run(launch(fiberKernel(overflowGang), {4}, {64}));
  EXPECT_EQ(f.status, Status::illegalAddress);
  EXPECT_EQ(f.message.find("stack overflow in thread block"), 0u) << f.message;
}

KERNEL void sharedGang(const Launch *l, Cta *cta, Gang *) {
  auto offset = *static_cast<const int64_t *>(l->params);
  *reinterpret_cast<volatile uint32_t *>(cta->sharedBase + offset) = 1;
}

TEST_F(Fault, SharedAccessOutsideTheBlocksMemoryIsNamedByItsOffset) {
  auto code = fiberKernel(sharedGang);
  code.needs.staticSharedBytes = 4096 - 128;
  for (int64_t offset : {0L, 1020L, 1024L + (1 << 20), 0x7fffffffL - 3, -4L, -0x7fffffffL}) {
    Failure f = run(launch(code, {1}, {32}, &offset));
    EXPECT_EQ(f.status, Status::illegalAddress) << offset;
    EXPECT_NE(f.message.find(".shared address"), std::string::npos) << f.message;
  }
  for (int64_t offset : {1024L, 1024L + 4096 - 132}) {
    Failure f = run(launch(code, {1}, {32}, &offset));
    EXPECT_EQ(f.status, Status::ok) << f.message;
  }
}

KERNEL void divideGang(const Launch *l, Cta *, Gang *) {
  const auto *p = static_cast<const int *>(l->params);
  int quotient;
  asm volatile("cltd; idivl %2" : "=a"(quotient) : "a"(p[0]), "r"(p[1]) : "edx", "cc");
}

TEST_F(Fault, ArithmeticFaultFailsTheLaunch) {
  int p[] = {1, 0};
  Failure f = run(launch(fiberKernel(divideGang), {1}, {32}, p));
  EXPECT_EQ(f.status, Status::illegalAddress);
  EXPECT_EQ(f.message, "arithmetic fault in thread block (0,0,0), threads 0 to 31");
}

KERNEL void illegalGang(const Launch *, Cta *, Gang *) { __builtin_trap(); }

TEST_F(Fault, IllegalInstructionFailsTheLaunch) {
  EXPECT_EQ(run(launch(fiberKernel(illegalGang), {1}, {32})).status, Status::trap);
}

void chainedHandler(int, siginfo_t *, void *) { _exit(42); }

TEST_F(Fault, FaultsOfTheProgramGoToItsOwnHandler) {
  auto program = [] {
    struct sigaction action = {};
    action.sa_sigaction = chainedHandler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    uint32_t finished = 0;
    Poke p{badAddress(), 0, 0, &finished};
    run(launch(fiberKernel(pokeGang), {1}, {32}, &p));
    *static_cast<volatile uint32_t *>(badAddress()) = 1;
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(program(), ::testing::ExitedWithCode(42), "");
}

// ---- loops that never end ----

KERNEL void endlessGang(const Launch *l, Cta *cta, Gang *g) {
  if (cta->ctaid.x == 0 && g->firstThread == 0)
    for (volatile uint64_t i = 0;; i = i + 1)
      ;
  (void)l;
}
KERNEL void endlessRange(const Launch *l, Cta *cta, Gang *g, uint64_t first, uint64_t) {
  cta->ctaid = {static_cast<uint32_t>(first), 0, 0};
  g->firstThread = 0;
  endlessGang(l, cta, g);
}
void endlessYield(const Launch *, Cta *, Gang *g) {
  for (;;)
    ptxrun_yield(g, abi::WaitReason::spin, 100);
}
void endlessBarrier(const Launch *, Cta *, Gang *g) {
  for (;;)
    ptxrun_bar_sync(g, 0, 0, ~0u);
}

#ifdef PTXRUN_TSAN
#define SKIP_WITHOUT_SIGNALS()                                                                     \
  GTEST_SKIP() << "ThreadSanitizer holds signals back until the next system call"
#else
#define SKIP_WITHOUT_SIGNALS() (void)0
#endif

void expectTimeout(const abi::KernelCode &code) {
  for (uint32_t grid : {1u, 10u}) {
    auto r = launch(code, {grid}, {64});
    r.timeout = std::chrono::milliseconds(20);
    EXPECT_EQ(run(r).status, Status::timeout);
  }
}

TEST_F(Interrupt, TimeoutEndsLoopsWithoutCalls) {
  SKIP_WITHOUT_SIGNALS();
  expectTimeout(fiberKernel(endlessGang));
  abi::KernelCode code;
  code.ctaRange = endlessRange;
  expectTimeout(code);
}

TEST_F(Interrupt, TimeoutEndsSpinLoops) { expectTimeout(fiberKernel(endlessYield)); }
TEST_F(Interrupt, TimeoutEndsLoopsOfBarriers) { expectTimeout(fiberKernel(endlessBarrier)); }

TEST_F(Interrupt, CancelEndsTheLaunch) {
  SKIP_WITHOUT_SIGNALS();
  std::atomic<bool> cancel{false};
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancel = true;
  });
  auto code = fiberKernel(endlessGang);
  auto r = launch(code, {10}, {64});
  r.cancel = &cancel;
  EXPECT_EQ(run(r).status, Status::cancelled);
  canceller.join();
}

KERNEL void oneFailsGang(const Launch *l, Cta *cta, Gang *g) {
  if (cta->ctaid.x == 1)
    ptxrun_trap(g, abi::TrapKind::trap, 1, 17);
  endlessGang(l, cta, g);
}

TEST_F(Interrupt, FailureOfOneBlockEndsTheOthers) {
  SKIP_WITHOUT_SIGNALS();
  auto r = launch(fiberKernel(oneFailsGang), {2}, {32});
  auto code = fiberKernel(oneFailsGang);
  r.code = &code;
  r.threads = 2;
  Failure f = run(r);
  EXPECT_EQ(f.status, Status::trap);
  EXPECT_EQ(f.ptxLine, 17u);
}

// ---- trap and assert ----

KERNEL void trapGang(const Launch *l, Cta *cta, Gang *g) {
  auto kind = *static_cast<const abi::TrapKind *>(l->params);
  if (cta->ctaid.x == 3 && g->firstThread == 32)
    ptxrun_trap(g, kind, 0b101, 123);
}

TEST_F(Trap, FailsTheLaunchWithLineAndThreads) {
  auto kind = abi::TrapKind::trap;
  Failure f = run(launch(fiberKernel(trapGang), {8}, {64}, &kind));
  EXPECT_EQ(f.status, Status::trap);
  EXPECT_EQ(f.ptxLine, 123u);
  EXPECT_EQ(f.ctaid.x, 3u);
  EXPECT_EQ(f.firstThread, 32u);
  EXPECT_EQ(f.message, "trap in thread block (3,0,0), threads 32 to 63, lanes 0 2");
}

void assertGang(const Launch *, Cta *cta, Gang *g) {
  if (cta->ctaid.x == 1 && cta->ctaid.y == 2 && g->firstThread == 32)
    ptxrun_assertfail(g, 0b11000, "x < 0", "file.cu", 9, "void kernel(int)");
}

TEST_F(Trap, AssertionPrintsWhatCudaPrints) {
  std::string printed;
  auto code = fiberKernel(assertGang);
  auto r = launch(code, {2, 3}, {8, 8});
  r.printf = [&](std::string_view text) { printed += text; };
  Failure f = run(r);
  EXPECT_EQ(f.status, Status::assertion);
  EXPECT_EQ(f.firstThread, 35u);
  EXPECT_EQ(f.threadCount, 1u);
  EXPECT_EQ(
      printed,
      "file.cu:9: void kernel(int): block: [1,2,0], thread: [3,4,0] Assertion `x < 0` failed.\n"
      "file.cu:9: void kernel(int): block: [1,2,0], thread: [4,4,0] Assertion `x < 0` failed.\n");
}

KERNEL void callBadBarrierGang(const Launch *, Cta *, Gang *g) {
  ptxrun_bar_sync(g, 99, 0, ~0u);
  asm volatile("");
}

TEST_F(Trap, ErrorsFoundInTheRuntimeNameTheCallInTheKernel) {
  Failure f = run(launch(fiberKernel(callBadBarrierGang), {1}, {32}));
  EXPECT_EQ(f.status, Status::undefinedUse);
  auto pc = reinterpret_cast<uint64_t>(f.pc),
       start = reinterpret_cast<uint64_t>(callBadBarrierGang);
  EXPECT_TRUE(pc > start && pc < start + 256);
}

KERNEL void waitForeverGang(const Launch *, Cta *, Gang *g) {
  if (g->firstThread == 64) {
    ptxrun_bar_sync(g, 4, 0, ~0u);
    asm volatile("# one place");
  } else {
    ptxrun_bar_sync(g, 5, 0, ~0u);
    asm volatile("# another");
  }
}

TEST_F(Trap, DeadlockListsWhereEveryGangWaits) {
  Failure f = run(launch(fiberKernel(waitForeverGang), {1}, {96}));
  EXPECT_EQ(f.status, Status::deadlock);
  ASSERT_EQ(f.waiters.size(), 3u);
  for (const Waiter &w : f.waiters)
    EXPECT_TRUE(isKernelCode(reinterpret_cast<uint64_t>(w.pc)));
  EXPECT_EQ(f.waiters[0].pc, f.waiters[1].pc);
  EXPECT_NE(f.waiters[0].pc, f.waiters[2].pc);
  EXPECT_EQ(f.waiters[2].firstThread, 64u);
  EXPECT_EQ(f.waiters[2].at.find("barrier 4: 1 of 3 warps"), 0u) << f.waiters[2].at;
}

// ---- printf ----

struct Arguments {
  alignas(8) char bytes[64] = {};
  size_t used = 0;
  template <typename T> Arguments &add(T value) {
    used = (used + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    std::memcpy(bytes + used, &value, sizeof(T));
    used += sizeof(T);
    return *this;
  }
};
struct Call {
  const char *format;
  Arguments arguments;
  int32_t result = -2;
};

void printGang(const Launch *l, Cta *, Gang *g) {
  auto *call = *static_cast<Call *const *>(l->params);
  call->result = ptxrun_vprintf(g, call->format, call->arguments.bytes);
}

std::string printed(Call &call) {
  std::string text;
  Call *p = &call;
  auto code = fiberKernel(printGang);
  auto r = launch(code, {1}, {1}, &p);
  r.printf = [&](std::string_view t) { text += t; };
  EXPECT_EQ(run(r).status, Status::ok);
  return text;
}

TEST_F(Printf, FormatsPackedArguments) {
  Call ints{"%d %u %x %5d|%-5d|%05d\n",
            Arguments().add(-1).add(7u).add(255).add(42).add(42).add(42)};
  EXPECT_EQ(printed(ints), "-1 7 ff    42|42   |00042\n");
  EXPECT_EQ(ints.result, 6);
  Call mixed{"%d %f %lld %c%% %s",
             Arguments().add(1).add(2.5).add(-5'000'000'000LL).add(int{'A'}).add("text")};
  EXPECT_EQ(printed(mixed), "1 2.500000 -5000000000 A% text");
  Call longs{"%ld %lu %llx %hd", Arguments().add(-1L).add(1UL).add(~0ULL).add(3)};
  EXPECT_EQ(printed(longs), "-1 1 ffffffffffffffff 3");
  Call floats{"%g %e %.3f %a", Arguments().add(0.5).add(1.0).add(3.14159).add(1.0)};
  EXPECT_EQ(printed(floats), "0.5 1.000000e+00 3.142 0x1p+0");
  Call star{"%*d|%.*f", Arguments().add(6).add(42).add(1).add(2.25)};
  EXPECT_EQ(printed(star), "    42|2.2");
  Call pointer{"%p", Arguments().add(reinterpret_cast<void *>(0x1234))};
  EXPECT_EQ(printed(pointer), "0x1234");
  Call none{"hello\n", {}};
  EXPECT_EQ(printed(none), "hello\n");
  EXPECT_EQ(none.result, 0);
}

void floodGang(const Launch *, Cta *, Gang *g) {
  std::string line(1000, 'x');
  for (int i = 0; i < 6000; ++i)
    ptxrun_vprintf(g, line.c_str(), nullptr);
}

TEST_F(Printf, VeryMuchTextComesInPieces) {
  size_t total = 0, pieces = 0;
  auto code = fiberKernel(floodGang);
  auto r = launch(code, {2}, {32});
  r.printf = [&](std::string_view t) { total += t.size(), ++pieces; };
  EXPECT_EQ(run(r).status, Status::ok);
  EXPECT_EQ(total, 12'000'000u);
  EXPECT_EQ(pieces, 3u);
}

TEST_F(Printf, BadPointerIsTheKernelsFault) {
#if defined(PTXRUN_ASAN) || defined(PTXRUN_TSAN)
  GTEST_SKIP() << "the sanitizer reports the access before the signal";
#endif
  Call call{reinterpret_cast<const char *>(0x20), {}};
  Call *p = &call;
  Failure f = run(launch(fiberKernel(printGang), {1}, {1}, &p));
  EXPECT_EQ(f.status, Status::illegalAddress);
  EXPECT_EQ(f.address, 0x20u);
}

void manyPrintsGang(const Launch *, Cta *cta, Gang *g) {
  Arguments a;
  a.add(cta->ctaid.x).add(g->firstThread);
  ptxrun_vprintf(g, "block %u thread %u\n", a.bytes);
}

TEST_F(Printf, LinesOfDifferentThreadsStayWhole) {
  std::string text;
  auto code = fiberKernel(manyPrintsGang, 8);
  auto r = launch(code, {100}, {64});
  r.printf = [&](std::string_view t) { text += t; };
  EXPECT_EQ(run(r).status, Status::ok);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 800);
  for (uint32_t b = 0; b < 100; ++b)
    for (uint32_t t = 0; t < 64; t += 8)
      ASSERT_NE(text.find("block " + std::to_string(b) + " thread " + std::to_string(t) + "\n"),
                std::string::npos);
}

// ---- device heap ----

void heapGang(const Launch *l, Cta *, Gang *g) {
  auto **out = *static_cast<void **const *>(l->params);
  auto *block = static_cast<char *>(ptxrun_malloc(g, 100));
  block[99] = 1;
  out[0] = ptxrun_malloc(g, uint64_t{1} << 40);
  ptxrun_free(g, block);
  ptxrun_free(g, nullptr);
}

TEST(DeviceHeap, GivesAndTakesBlocksAndRefusesTooMuch) {
  void *out[1] = {&out};
  void **p = out;
  EXPECT_EQ(run(launch(fiberKernel(heapGang), {1}, {1}, &p)).status, Status::ok);
  EXPECT_EQ(out[0], nullptr);
}

void badFreeGang(const Launch *, Cta *, Gang *g) { ptxrun_free(g, &g); }

TEST(DeviceHeap, FailsOnFreeOfForeignAddress) {
  EXPECT_EQ(run(launch(fiberKernel(badFreeGang), {1}, {1})).status, Status::illegalAddress);
}

} // namespace
} // namespace ptxrun::rt::test
