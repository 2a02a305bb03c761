// Signals of a program while kernels run: its handlers have room, arrive as often as they like, and
// those for faults get what is not a kernel's.
#include <signal.h>
#include <sys/time.h>

#include <atomic>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

/// meet(out, rounds): each block counts its threads' rounds, with barriers in a function between,
/// so that each warp has a stack of its own. spin(out, rounds): no barrier.
constexpr const char *kMeet = R"(.version 8.0
.target sm_70
.address_size 64
.func wait(.reg .u32 %n)
{
  .reg .pred %p<2>;
  setp.eq.u32 %p1, %n, 0;
  @%p1 bra $done;
  bar.sync 0;
$done:
  ret;
}
.visible .entry meet(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .shared .align 4 .u32 sum;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p1, %r2, 0;
  @!%p1 st.shared.u32 [sum], 0;
  bar.sync 0;
$again:
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra $done;
  atom.shared.add.u32 %r3, [sum], 1;
  call wait, (%r1);
  sub.u32 %r1, %r1, 1;
  bra $again;
$done:
  bar.sync 0;
  mov.u32 %r4, %ctaid.x;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.shared.u32 %r5, [sum];
  st.global.u32 [%rd3], %r5;
  ret;
}
)";

std::atomic<unsigned> arrived{0};

/// A handler with 200 KB of frames.
__attribute__((noinline)) void useStack(int, siginfo_t *, void *) {
  volatile char frame[200 * 1024];
  for (size_t i = 0; i < sizeof frame; i += 512)
    frame[i] = static_cast<char>(i);
  arrived.fetch_add(frame[512] == 0, std::memory_order_relaxed);
}

/// SIGALRM to this process each millisecond while one lives.
class Timer {
 public:
  explicit Timer(int flags) {
    struct sigaction action = {};
    action.sa_sigaction = useStack;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(SIGALRM, &action, &before_);
    const itimerval period{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &period, nullptr);
  }
  ~Timer() {
    const itimerval off = {};
    setitimer(ITIMER_REAL, &off, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_;
};

class Signals : public DriverTest {
 protected:
  void meetUnderTimer(int flags) {
    constexpr unsigned kGrid = 40, kBlock = 96, kRounds = 1000;
    CUfunction meet = function(kMeet, "meet");
    const CUdeviceptr out = upload(std::vector<uint32_t>(kGrid));
    arrived = 0;
    const Timer timer(flags);
    for (int turn = 0; turn < 5000 && (turn < 10 || arrived < 50); ++turn) {
      ASSERT_CUDA(cuMemsetD32(out, 0, kGrid));
      ASSERT_CUDA(launch(meet, kGrid, kBlock, nullptr, out, kRounds));
      ASSERT_CUDA(cuCtxSynchronize());
      ASSERT_EQ(download<uint32_t>(out, kGrid), std::vector<uint32_t>(kGrid, kBlock * kRounds));
    }
    EXPECT_GE(arrived, 50u);
  }
  void failLaunch() {
    CUfunction store = function(kSmall, "store");
    EXPECT_CUDA(launch(store, 1, 1, nullptr, CUdeviceptr{8}, 1));
    EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    cuCtxDestroy(context_);
    ASSERT_CUDA(cuCtxCreate(&context_, nullptr, 0, 0));
  }
};

TEST_F(Signals, HandlersHaveRoomOnTheInterruptedStack) { meetUnderTimer(0); }
TEST_F(Signals, HandlersHaveRoomOnTheAlternateStack) { meetUnderTimer(SA_ONSTACK); }

volatile sig_atomic_t programsFaults = 0;

template <int Exit> void exitWith(int, siginfo_t *, void *) { _exit(Exit); }
void install(void (*handler)(int, siginfo_t *, void *), struct sigaction *before = nullptr) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, before);
}
void fault() { *reinterpret_cast<volatile int *>(16) = 1; }

TEST_F(Signals, KernelsFaultsAreNotTakenByAHandlerThatCameLater) {
  struct sigaction before;
  failLaunch(); // ours are in place
  for (int round = 0; round < 3; ++round) {
    install(exitWith<3>, &before);
    failLaunch();
    failLaunch();
    sigaction(SIGSEGV, &before, nullptr);
    failLaunch();
  }
}

TEST_F(Signals, OtherFaultsAreTheProgramsOwn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        failLaunch();
        install(exitWith<3>);
        failLaunch();
        fault();
      },
      testing::ExitedWithCode(3), "");
}

struct sigaction found;
void passOn(int signal, siginfo_t *info, void *context) {
  programsFaults = programsFaults + 1;
  if (programsFaults > 1)
    _exit(4); // handed round in a circle
  if (found.sa_flags & SA_SIGINFO)
    found.sa_sigaction(signal, info, context);
}

TEST_F(Signals, AHandlerMayPassFaultsOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        install(exitWith<5>);
        failLaunch(); // ours comes behind the first
        install(passOn, &found);
        failLaunch();
        fault();
      },
      testing::ExitedWithCode(5), "");
}

} // namespace
} // namespace ptxrun::tests
