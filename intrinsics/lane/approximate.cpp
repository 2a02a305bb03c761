// Approximate functions of f32 and f64 (PTX ISA 9.7.3). Each says its bound (the manual's) and what
// it reaches; all of that is measured by tests/isa/lane_accuracy_test.cpp, the f32 functions of one
// argument over every f32.
//
// Reciprocals and roots use the CPU's divider: on the CPUs of today a division or root costs no
// more than the three Newton steps from an integer guess that would replace it, leaves the
// multipliers free, and treats specials as asked.
#include "intrinsics/lane/lane.h"

namespace ptxrun::lane {

/// 1.5 * 2^23: adding it rounds |x| < 2^22 to an integer, which then stands in the low bits of the
/// sum.
constexpr float kRound = 12582912.0f;

/// 2^x for x >= -126 (or NaN), +0 for -127; above 128 like 128. A polynomial of degree 6 on [-1/2,
/// 1/2], exact where x is an integer.
LANE_INLINE float exponential(float x) {
  const float clamped = pick(x > 128.0f, 128.0f, x);
  const float shifted = clamped + kRound;
  const float f = clamped - (shifted - kRound);
  float p = fma(0x1.470b3ap-13f, f, 0x1.5f7278p-10f);
  p = fma(p, f, 0x1.3b270ep-7f);
  p = fma(p, f, 0x1.c6ae72p-5f);
  p = fma(p, f, 0x1.ebfbe2p-3f);
  p = fma(p, f, 0x1.62e432p-1f);
  p = fma(p, f, 1.0f);
  // The integer is added to the exponent: below 2^128 nothing overflows, at 128 the result is
  // infinity's pattern.
  return floatOf(bitsOf(p) + (bitsOf(shifted) << 23));
}

/// ex2.approx.ftz.f32 (9.7.3.21)
///   max error   2 ulp allowed, below 1.1 reached
///   specials    subnormal x -> 1, -inf -> +0, +inf -> +inf, NaN -> NaN; results below 2^-126 -> +0
LANE float ptx_ex2_approx_ftz_f32(float x) {
  const float low = pick(x < 0.0f, 0.0f, x); // 0 below -126, NaN for NaN
  return pick(x >= -126.0f, exponential(x), low);
}

/// ex2.approx.f32: as above, with subnormal results.
LANE float ptx_ex2_approx_f32(float x) {
  const bool isSmall = x < -126.0f;
  // What is far below (-inf, of an attention's mask) is made of 0: a product that is too small for
  // any number takes CPUs several times as long.
  const float scaled = pick(isSmall, x + 64.0f, x);
  const float power = exponential(pick(scaled < -127.0f, -127.0f, scaled));
  const float result = power * pick(isSmall, 0x1p-64f, 1.0f);
  return pick(isNaN(x), x, result);
}

/// log2 of a positive normal x: the significand, moved to [2/3, 4/3), by a polynomial of degree 8.
LANE_INLINE float logarithm(float x) {
  const int32_t bits = (int32_t)bitsOf(x);
  const int32_t exponent = (bits - 0x3f2aaaab) & (int32_t)0xff800000;
  const float t = floatOf((uint32_t)(bits - exponent)) - 1.0f;
  float q = fma(-0x1.c5fef6p-3f, t, 0x1.f992d8p-3f);
  q = fma(q, t, -0x1.e527c4p-3f);
  q = fma(q, t, 0x1.246f9ep-2f);
  q = fma(q, t, -0x1.717148p-2f);
  q = fma(q, t, 0x1.ec8238p-2f);
  q = fma(q, t, -0x1.715458p-1f);
  q = fma(q, t, 0x1.715472p+0f);
  return fma(q, t, (float)(exponent >> 23));
}

/// lg2.approx.ftz.f32 (9.7.3.20)
///   max error   2^-22 absolute in (0.5, 2), 2^-22 relative elsewhere
///   specials    ±0 and subnormals -> -inf, x < 0 -> NaN, +inf -> +inf, NaN -> NaN
LANE float ptx_lg2_approx_ftz_f32(float x) {
  const bool isPlain = (x >= kSmallestNormal) & (x < kInfinity);
  const float negative = pick(x < 0.0f, canonicalNaN(), x);
  const float special = pick(abs(x) < kSmallestNormal, -kInfinity, negative);
  return pick(isPlain, logarithm(x), special);
}

/// lg2.approx.f32: subnormals are numbers.
LANE float ptx_lg2_approx_f32(float x) {
  const bool isSubnormal = x < kSmallestNormal;
  const float normal = x * pick(isSubnormal, 0x1p32f, 1.0f);
  const float result = logarithm(normal) - pick(isSubnormal, 32.0f, 0.0f);
  const bool isPlain = (x > 0.0f) & (x < kInfinity);
  const float negative = pick(x < 0.0f, canonicalNaN(), x);
  const float special = pick(x == 0.0f, -kInfinity, negative);
  return pick(isPlain, result, special);
}

/// sin of f + n * pi, where f lies in [-pi/2, pi/2] (degree 9, absolute error below 2^-23) and n is
/// odd if `isOdd` has bit 0.
LANE_INLINE float sineOfReduced(float f, uint32_t isOdd) {
  const float s = f * f;
  float p = fma(0x1.5baf62p-19f, s, -0x1.9f412cp-13f);
  p = fma(p, s, 0x1.110d6ep-7f);
  p = fma(p, s, -0x1.55553cp-3f);
  p = fma(p, s, 1.0f);
  const float sine = floatOf(bitsOf(f * p) ^ (isOdd << 31));
  // Far outside of the range with guarantees the reduction is too coarse; the result still is a
  // sine's.
  const float low = pick(sine < -1.0f, -1.0f, sine);
  return pick(low > 1.0f, 1.0f, low);
}

// Both parts of pi are positive, so that sin keeps the sign of a zero.
constexpr float kPiHigh = 0x1.921fb4p+1f, kPiLow = 0x1.4442d2p-23f, kInversePi = 0x1.45f306p-2f;

/// sin.approx.f32 (9.7.3.18)
///   max error   2^-20.5 absolute in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi]; below 2^-22.5 reached
///   in both specials    ±0 -> ±0, ±inf -> NaN, NaN -> NaN
LANE float ptx_sin_approx_f32(float x) {
  const float shifted = fma(x, kInversePi, kRound);
  const float n = shifted - kRound;
  const float f = fma(n, -kPiLow, fma(n, -kPiHigh, x));
  return sineOfReduced(f, bitsOf(shifted));
}

/// cos.approx.f32 (9.7.3.19): sin(x + pi/2), reduced by odd multiples of pi/2.
///   specials    ±0 -> 1, ±inf -> NaN, NaN -> NaN
LANE float ptx_cos_approx_f32(float x) {
  const float shifted = fma(x, kInversePi, -0.5f) + kRound;
  const float half = (shifted - kRound) + 0.5f;
  const float f = fma(half, -kPiLow, fma(half, -kPiHigh, x));
  return sineOfReduced(f, bitsOf(shifted) + 1);
}

/// tanh.approx.f32 (9.7.3.22): an odd rational function of degree 5 over 4, 1 from 5 on.
///   max error   2^-11 relative allowed, 2^-13 reached
///   specials    ±0 -> ±0, ±inf -> ±1, NaN -> NaN, subnormals -> themselves
LANE float ptx_tanh_approx_f32(float x) {
  const float s = x * x;
  const float p = fma(fma(0x1.63696ap-11f, s, 0x1.a4ce1cp-4f), s, 1.0f);
  const float q = fma(fma(0x1.a6d4ccp-7f, s, 0x1.be4ed6p-2f), s, 1.0f);
  return pick(abs(x) > 5.0f, copySign(1.0f, x), x * p / q);
}

/// div.approx.f32 (9.7.3.8): correctly rounded where the manual gives 2 ulp.
///   specials    2^126 < |b|: a sign-preserving zero, NaN if a is infinite
LANE float ptx_div_approx_f32(float a, float b) {
  return a / pick(abs(b) > 0x1p126f, copySign(kInfinity, b), b);
}

constexpr uint64_t kSignBit = 1ull << 63, kUpperNaN = 0x7fffffffull << 32;

/// The upper word of an f64, rounded to nearest even from the value: 1.11.20 format. NaN is
/// 0x7fffffff00000000, subnormal results are flushed to zero.
LANE_INLINE double upperWord(double x) {
  const uint64_t bits = bitsOf(x);
  const uint64_t rounded = (bits + 0x7fffffffull + (bits >> 32 & 1)) & 0xffffffff00000000ull;
  const uint64_t flushed = pick(abs(x) < 0x1p-1022, bits & kSignBit, rounded);
  return doubleOf(pick(isNaN(x), kUpperNaN, flushed));
}

/// The upper word of an operand, subnormals flushed to zero.
LANE_INLINE double flushedUpper(double x) {
  const double upper = doubleOf(bitsOf(x) & 0xffffffff00000000ull);
  const double flushed = pick(abs(upper) < 0x1p-1022, copySign(0.0, x), upper);
  return pick(isNaN(x), x, flushed);
}

/// rcp.approx.ftz.f64 (9.7.3.14): 1 / a of the upper words, 20 mantissa bits, correctly rounded.
LANE double ptx_rcp_approx_ftz_f64(double a) { return upperWord(1.0 / flushedUpper(a)); }

/// rsqrt.approx.ftz.f64 (9.7.3.17): 1 / sqrt(a) of the upper words, within one unit of the 20th
/// mantissa bit.
LANE double ptx_rsqrt_approx_ftz_f64(double a) {
  return upperWord(1.0 / squareRoot(flushedUpper(a)));
}

} // namespace ptxrun::lane
