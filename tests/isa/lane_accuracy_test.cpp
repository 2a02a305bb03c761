// The errors of the approximate functions over (a sample of) all f32, against the host's
// double-precision functions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/isa/lane_library.h"

namespace {

/// Every `kStep`-th bit pattern: a prime, so that all exponents and low bits occur.
constexpr uint64_t kStep = 97;

template <class Visit> void forEachFloat(Visit visit) {
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += kStep)
    visit(std::bit_cast<float>(static_cast<uint32_t>(bits)));
}

/// The distance of two normal results in units of the exact one's last place.
double ulps(float actual, double exact) {
  return std::fabs(actual - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}

TEST(Ex2, StaysWithinTwoUlp) {
  double worst = 0, worstFlushed = 0;
  forEachFloat([&](float x) {
    if (!(x > -149.0f && x < 128.0f))
      return;
    const double exact = std::exp2(static_cast<double>(x));
    worst = std::max(worst, ulps(ptx_ex2_approx_f32(x), exact));
    if (x >= -126.0f)
      worstFlushed = std::max(worstFlushed, ulps(ptx_ex2_approx_ftz_f32(x), exact));
  });
  EXPECT_LE(worst, 1.1);
  EXPECT_LE(worstFlushed, 1.1);
}

TEST(Lg2, StaysWithinItsAbsoluteAndRelativeBounds) {
  double absolute = 0, relative = 0;
  forEachFloat([&](float x) {
    if (!(x > 0 && std::isfinite(x)))
      return;
    const double exact = std::log2(static_cast<double>(x));
    const double error = std::fabs(ptx_lg2_approx_f32(x) - exact);
    const bool isNearOne = x > 0.5f && x < 2.0f;
    absolute = std::max(absolute, isNearOne ? error : 0);
    relative = std::max(relative, isNearOne ? 0 : error / std::fabs(exact));
    if (x >= 0x1p-126f)
      EXPECT_EQ(ptx_lg2_approx_ftz_f32(x), ptx_lg2_approx_f32(x)) << x;
  });
  EXPECT_LE(absolute, 0x1p-22);
  EXPECT_LE(relative, 0x1p-22);
}

template <class Approximate, class Exact> void checkAngles(Approximate approximate, Exact exact) {
  double near = 0, far = 0;
  forEachFloat([&](float x) {
    if (std::isfinite(x))
      EXPECT_LE(std::fabs(approximate(x)), 1.0f) << x;
    if (!(std::fabs(x) <= 314.159f))
      return;
    const double error = std::fabs(approximate(x) - exact(static_cast<double>(x)));
    near = std::max(near, std::fabs(x) <= 6.2831853f ? error : 0);
    far = std::max(far, error);
  });
  EXPECT_LE(near, std::exp2(-20.5));
  EXPECT_LE(far, std::exp2(-14.7));
}

TEST(Sin, StaysWithinItsBounds) {
  checkAngles(ptx_sin_approx_f32, [](double x) { return std::sin(x); });
}
TEST(Cos, StaysWithinItsBounds) {
  checkAngles(ptx_cos_approx_f32, [](double x) { return std::cos(x); });
}

TEST(Tanh, StaysWithinItsRelativeBound) {
  double worst = 0;
  forEachFloat([&](float x) {
    if (std::isfinite(x) && x != 0)
      worst = std::max(worst,
                       std::fabs(ptx_tanh_approx_f32(x) / std::tanh(static_cast<double>(x)) - 1));
  });
  EXPECT_LE(worst, 0x1p-11);
}

TEST(UpperWordReciprocals, HaveTwentyBits) {
  for (uint64_t high = 0x00100000; high < 0x7fe00000; high += 104729) {
    const double x = std::bit_cast<double>(high << 32);
    const double reciprocal = ptx_rcp_approx_ftz_f64(x), root = ptx_rsqrt_approx_ftz_f64(x);
    EXPECT_EQ(std::bit_cast<uint64_t>(reciprocal) << 32, 0u);
    EXPECT_EQ(std::bit_cast<uint64_t>(root) << 32, 0u);
    if (reciprocal != 0)
      EXPECT_LE(std::fabs(reciprocal * x - 1), 0x1p-20) << x;
    EXPECT_LE(std::fabs(root * std::sqrt(x) - 1), 0x1p-20) << x;
  }
}

} // namespace
