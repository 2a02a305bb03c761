// f32 add, mul, fma, div, rcp, sqrt with directed rounding; conversions to f32 (PTX
// ISA 9.7.3, 9.7.9.21).
//   results     correctly rounded in the direction named: rz towards zero, rm down, rp up
//   specials    as IEEE 754; NaN is 0x7fffffff
#include "intrinsics/lane/rounding.h"

namespace ptxrun::lane {

/// The product of two floats is exact in double, range included.
template <Mode mode> LANE_INLINE float mulFloat(float a, float b) {
  return roundToFloat<mode>((double)a * (double)b, 0);
}

template <Mode mode> LANE_INLINE float fmaThroughDouble(float a, float b, float c) {
  const double product = (double)a * (double)b;
  const Sum sum = exactSum(product, c);
  return roundToFloat<mode>(signedZeroSum<mode>(sum.value, product, (double)c), sum.error);
}

LANE_INLINE bool isTiny(float x) { return (abs(x) < 0x1p-60f) & (x != 0.0f); }

/// Where c and the result s to nearest are within a factor of two, c - s is exact, and a * b + (c -
/// s), rounded once, has the sign of s's error; the bounds keep that from underflowing. expf is
/// compiled to such an fma.rm, so it is worth a branch. Everything else takes the long way.
template <Mode mode> LANE_INLINE float fmaFloat(float a, float b, float c) {
  const float s = fma(a, b, c);
  const float rest = c - s;
  const bool isClose = (abs(rest) < 0.5f * abs(s)) & (abs(s) >= 0x1p-60f);
  if (!isClose | isTiny(a) | isTiny(b)) [[unlikely]]
    return fmaThroughDouble<mode>(a, b, c);
  const float error = fma(a, b, rest);
  const uint32_t bits = bitsOf(s);
  const uint32_t towardsZero = bits - 1, away = bits + 1;
  const bool isNegative = bits >> 31;
  if constexpr (mode == Mode::down)
    return floatOf(pick(error < 0.0f, pick(isNegative, away, towardsZero), bits));
  if constexpr (mode == Mode::up)
    return floatOf(pick(error > 0.0f, pick(isNegative, towardsZero, away), bits));
  return floatOf(pick(pick(isNegative, error > 0.0f, error < 0.0f), towardsZero, bits));
}

/// A quotient of floats that is no float differs from every float by more than 2^-49 of itself, so
/// the double quotient is never one by accident; the same holds for square roots.
template <Mode mode> LANE_INLINE float divFloat(float a, float b) {
  return roundToFloat<mode>((double)a / (double)b, 0);
}
template <Mode mode> LANE_INLINE float sqrtFloat(float a) {
  return roundToFloat<mode>(squareRoot((double)a), 0);
}

/// 64-bit integers do not fit a double: high and low half do, and their exact sum decides.
LANE_INLINE Sum sumOf(int64_t x) {
  return exactSum((double)(int32_t)(x >> 32) * 0x1p32, (double)(uint32_t)x);
}
LANE_INLINE Sum sumOf(uint64_t x) {
  return exactSum((double)(uint32_t)(x >> 32) * 0x1p32, (double)(uint32_t)x);
}

#define ARITHMETIC(name, mode)                                                                     \
  LANE float ptx_add_##name##_f32(float a, float b) { return addDirected<mode>(a, b); }            \
  LANE float ptx_mul_##name##_f32(float a, float b) { return mulFloat<mode>(a, b); }               \
  LANE float ptx_fma_##name##_f32(float a, float b, float c) { return fmaFloat<mode>(a, b, c); }   \
  LANE float ptx_div_##name##_f32(float a, float b) { return divFloat<mode>(a, b); }               \
  LANE float ptx_sqrt_##name##_f32(float a) { return sqrtFloat<mode>(a); }

#define CONVERSION(name, mode)                                                                     \
  LANE float ptx_cvt_##name##_f32_f64(double a) { return roundToFloat<mode>(a, 0); }               \
  LANE float ptx_cvt_##name##_f32_s64(int64_t a) {                                                 \
    const Sum sum = sumOf(a);                                                                      \
    return roundToFloat<mode>(sum.value, sum.error);                                               \
  }                                                                                                \
  LANE float ptx_cvt_##name##_f32_u64(uint64_t a) {                                                \
    const Sum sum = sumOf(a);                                                                      \
    return roundToFloat<mode>(sum.value, sum.error);                                               \
  }

ARITHMETIC(rz, Mode::zero)
ARITHMETIC(rm, Mode::down)
ARITHMETIC(rp, Mode::up)
CONVERSION(rz, Mode::zero)
CONVERSION(rm, Mode::down)
CONVERSION(rp, Mode::up)
// Rounded to odd: an intermediate from which narrower formats are rounded once and correctly.
CONVERSION(odd, Mode::odd)

} // namespace ptxrun::lane
