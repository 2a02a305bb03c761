// Kernels give the same bits whatever floating-point environment the calling thread has, and leave
// it as it was; signals that arrive meanwhile change nothing.
#include <fenv.h>
#include <signal.h>
#include <sys/time.h>
#include <xmmintrin.h>

#include <thread>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

/// numbers(out, in): from 2^-126, 0.5, 1, 3 at `in`.
constexpr const char *kNumbers = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry numbers(.param .u64 out, .param .u64 in)
{
  .reg .f32 %f<12>;
  .reg .f64 %d<4>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd3, %r1, 32;
  add.s64 %rd1, %rd1, %rd3;
  ld.global.f32 %f1, [%rd2];
  ld.global.f32 %f2, [%rd2+4];
  ld.global.f32 %f3, [%rd2+8];
  ld.global.f32 %f4, [%rd2+12];
  mul.f32 %f5, %f1, %f2;
  mul.ftz.f32 %f6, %f1, %f2;
  div.rn.f32 %f7, %f3, %f4;
  div.rp.f32 %f8, %f3, %f4;
  div.rn.f32 %f9, %f3, %f6;
  cvt.f64.f32 %d1, %f3;
  cvt.f64.f32 %d2, %f4;
  div.rn.f64 %d3, %d1, %d2;
  st.global.f32 [%rd1], %f5;
  st.global.f32 [%rd1+4], %f6;
  st.global.f32 [%rd1+8], %f7;
  st.global.f32 [%rd1+12], %f8;
  st.global.f32 [%rd1+16], %f9;
  bar.sync 0;
  st.global.f64 [%rd1+24], %d3;
  ret;
}
)";
constexpr unsigned kBlocks = 64;

/// The x87 control word.
uint16_t controlWord() {
  uint16_t word = 0;
  asm volatile("fnstcw %0" : "=m"(word));
  return word;
}

class Environment : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    numbers_ = function(kNumbers, "numbers");
    in_ = upload<float>({0x1p-126f, 0.5f, 1.0f, 3.0f});
    out_ = upload(std::vector<char>(kBlocks * 32));
  }
  /// By IEEE 754 and PTX's words on .ftz.
  void expectNumbers() {
    const auto bits = download<uint32_t>(out_, kBlocks * 8);
    for (unsigned block = 0; block < kBlocks; ++block) {
      const uint32_t *of = &bits[block * 8];
      ASSERT_EQ(of[0], 0x00400000u); // 2^-127
      ASSERT_EQ(of[1], 0u);
      ASSERT_EQ(of[2], 0x3eaaaaabu);
      ASSERT_EQ(of[3], 0x3eaaaaabu);
      ASSERT_EQ(of[4], 0x7f800000u);
      ASSERT_EQ(of[6], 0x55555555u);
      ASSERT_EQ(of[7], 0x3fd55555u);
    }
  }
  void launchAndWait() {
    ASSERT_CUDA(cuMemsetD8(out_, 0xcc, kBlocks * 32));
    ASSERT_CUDA(launch(numbers_, kBlocks, 32, nullptr, out_, in_));
    ASSERT_CUDA(cuStreamSynchronize(nullptr));
  }
  CUfunction numbers_ = nullptr;
  CUdeviceptr in_ = 0, out_ = 0;
};

struct Case {
  unsigned mxcsr;
  uint16_t control;
};

/// Every rounding, FTZ, DAZ; all exceptions masked or none.
std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (unsigned rounding = 0; rounding < 4; ++rounding)
    for (unsigned flush = 0; flush < 4; ++flush)
      for (const unsigned masks : {0x1f80u, 0u}) {
        const unsigned mxcsr = masks | rounding << 13 | (flush & 1) << 15 | (flush & 2) << 5;
        const unsigned control = (masks ? 0x3fu : 0u) | 0x340u | rounding << 10;
        cases.push_back({mxcsr, static_cast<uint16_t>(control)});
      }
  return cases;
}

TEST_F(Environment, OfTheCallerChangesNoBitAndIsKept) {
  const unsigned own = _mm_getcsr();
  const uint16_t ownControl = controlWord();
  for (const Case &c : allCases()) {
    SCOPED_TRACE(c.mxcsr);
    _mm_setcsr(c.mxcsr);
    asm volatile("fnclex; fldcw %0" : : "m"(c.control));
    launchAndWait();
    const unsigned after = _mm_getcsr();
    const uint16_t controlAfter = controlWord();
    _mm_setcsr(own);
    asm volatile("fldcw %0" : : "m"(ownControl));
    EXPECT_EQ(after, c.mxcsr);
    EXPECT_EQ(controlAfter, c.control);
    expectNumbers();
  }
}

TEST_F(Environment, OfTheThreadThatCompilesChangesNoBit) {
  for (const Case &c : allCases())
    std::thread([&] {
      ASSERT_CUDA(cuCtxSetCurrent(context_));
      _mm_setcsr(c.mxcsr);
      numbers_ =
          function((std::string(kNumbers) + "// " + std::to_string(c.mxcsr)).c_str(), "numbers");
      launchAndWait();
      EXPECT_EQ(_mm_getcsr(), c.mxcsr);
      _mm_setcsr(0x1f80);
      expectNumbers();
    }).join();
}

TEST_F(Environment, HostFunctionsHaveTheProgramsOrTheDefault) {
  struct Seen {
    unsigned mxcsr = 0;
    std::thread::id thread;
  } seen;
  const unsigned own = _mm_getcsr();
  _mm_setcsr(0x9f80); // FTZ
  ASSERT_CUDA(cuLaunchHostFunc(
      nullptr,
      [](void *data) {
        *static_cast<Seen *>(data) = {_mm_getcsr() & ~0x3fu, std::this_thread::get_id()};
      },
      &seen));
  ASSERT_CUDA(cuStreamSynchronize(nullptr));
  _mm_setcsr(own);
  EXPECT_EQ(seen.mxcsr, seen.thread == std::this_thread::get_id() ? 0x9f80u : 0x1f80u);
}

TEST_F(Environment, IsKeptWhenAKernelFails) {
  const unsigned own = _mm_getcsr();
  CUfunction store = function(kSmall, "store");
  _mm_setcsr(0xff80 & ~0x1f80u);
  EXPECT_CUDA(launch(store, 1, 1, nullptr, CUdeviceptr{8}, 1));
  EXPECT_RESULT(cuStreamSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(own);
  EXPECT_EQ(after, 0xff80 & ~0x1f80u);
}

} // namespace
} // namespace ptxrun::tests
