// Kernels compute in one floating-point environment, whatever the threads that run them have set.
#include <xmmintrin.h>

#include <cmath>
#include <cstring>

#include "tests/unit/rt/kernels.h"

namespace ptxrun::rt::test {
namespace {

struct Numbers {
  volatile float smallest, half, one, third; ///< operands, read at run time
  float product[64], quotient[64];           ///< of each CTA
  float infinity[64];
};

KERNEL void compute(const Launch *l, Cta *cta, Gang *) {
  auto &n = *static_cast<Numbers *>(const_cast<void *>(l->params));
  const uint32_t at = cta->ctaid.x;
  n.product[at] = n.smallest * n.half;          // subnormal
  n.quotient[at] = n.one / n.third;             // rounded
  n.infinity[at] = n.one / (n.smallest * 0.0f); // an exception, if one were unmasked
}

TEST(Environment, CallersRoundingFlushingAndExceptionsChangeNothing) {
  KernelCodeRegistration registration;
  const abi::KernelCode code = fiberKernel(compute);
  const unsigned own = _mm_getcsr();
  constexpr unsigned kFlush = 0x8040, kTowardZero = 0x6000, kUp = 0x4000, kUnmasked = 0x1f80;
  for (const unsigned set :
       {own, own | kFlush, own | kTowardZero, (own & ~kUnmasked) | kFlush | kUp})
    for (const int threads : {1, 3}) {
      Numbers n{0x1p-126f, 0.5f, 1.0f, 3.0f, {}, {}, {}};
      LaunchRequest r = launch(code, {64}, {32}, &n);
      r.threads = threads;
      _mm_setcsr(set);
      const Failure f = run(r);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(own);
      ASSERT_EQ(f.status, Status::ok) << f.message;
      EXPECT_EQ(after, set);
      for (unsigned cta = 0; cta < 64; ++cta) {
        ASSERT_EQ(n.product[cta], 0x1p-127f) << std::hex << set;
        ASSERT_EQ(n.quotient[cta], 0x1.555556p-2f) << std::hex << set;
        ASSERT_TRUE(std::isinf(n.infinity[cta]));
      }
    }
}

} // namespace
} // namespace ptxrun::rt::test
