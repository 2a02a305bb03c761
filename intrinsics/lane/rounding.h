// Directed rounding without touching the CPU's rounding mode.
//
// f32: every f32 operation fits in double so well that the double result, rounded to nearest,
// together with the sign of what it still lacks decides each rounding: a double lies on the same
// side of every float as the exact value does, except where it is itself a float. roundToFloat()
// takes that pair.
#pragma once
#include "intrinsics/lane/lane.h"

namespace ptxrun::lane {

/// Rounds value + error (|error| at most half an ulp of value; only its sign is looked at) to
/// float. NaN stays NaN.
///   down, up, zero: IEEE 754 directed roundings, overflow and subnormals included
///   odd: truncated, the last bit set where inexact (never overflows to infinity)
template <Mode mode> LANE_INLINE float roundToFloat(double value, double error) {
  const float near = (float)value;
  const double back = (double)near;
  const bool isNegative = bitsOf(near) >> 31;
  const bool isTooHigh = (back > value) | ((back == value) & (error < 0));
  const bool isTooLow = (back < value) | ((back == value) & (error > 0));
  const uint32_t bits = bitsOf(near);
  // One step towards zero is bits - 1, away from it bits + 1; this holds across subnormals, zero
  // and infinity as long as the step does not change the sign, which the rounding to nearest
  // already guarantees.
  uint32_t result = bits;
  if constexpr (mode == Mode::down)
    result = pick(isTooHigh, pick(isNegative, bits + 1, bits - 1), bits);
  if constexpr (mode == Mode::up)
    result = pick(isTooLow, pick(isNegative, bits - 1, bits + 1), bits);
  if constexpr (mode == Mode::zero)
    result = pick(pick(isNegative, isTooLow, isTooHigh), bits - 1, bits);
  if constexpr (mode == Mode::odd) {
    const bool isTooFar = pick(isNegative, isTooLow, isTooHigh);
    const uint32_t truncated = bits - isTooFar;
    result = truncated | (isTooHigh | isTooLow);
  }
  return pick(isNaN(near), canonicalNaN(), floatOf(result));
}

/// The zero that an exact cancellation gives: -0 when rounding down, else +0 (IEEE 754 6.3). `sum`
/// is the sum to nearest of two numbers with the signs of a and b.
template <Mode mode, class Float> LANE_INLINE Float signedZeroSum(Float sum, Float a, Float b) {
  if constexpr (mode == Mode::down) {
    const auto signs = bitsOf(a) | bitsOf(b);
    return pick((sum == 0) & (signs >> (8 * sizeof(Float) - 1) != 0), (Float)-0.0, sum);
  }
  return sum;
}

LANE_INLINE float fromBits(uint32_t bits) { return floatOf(bits); }
LANE_INLINE double fromBits(uint64_t bits) { return doubleOf(bits); }

/// a + b, float or double. The error of a sum is exact (sums do not underflow); where the sum
/// overflows, infinity lies beyond the exact value.
template <Mode mode, class Float> LANE_INLINE Float addDirected(Float a, Float b) {
  const SumOf<Float> sum = twoSum(a, b);
  const auto bits = bitsOf(sum.value);
  const bool isNegative = bits >> (8 * sizeof(Float) - 1) != 0;
  const bool isOverflow = !isFinite(sum.value) & isFinite(a) & isFinite(b);
  const bool isTooHigh = pick(isOverflow, !isNegative, sum.error < 0);
  const bool isTooLow = pick(isOverflow, isNegative, sum.error > 0);
  auto result = bits;
  if constexpr (mode == Mode::down)
    result = pick(isTooHigh, pick(isNegative, bits + 1, bits - 1), bits);
  if constexpr (mode == Mode::up)
    result = pick(isTooLow, pick(isNegative, bits - 1, bits + 1), bits);
  if constexpr (mode == Mode::zero)
    result = bits - pick(isNegative, isTooLow, isTooHigh);
  return pick(isNaN(sum.value), sum.value, signedZeroSum<mode>(fromBits(result), a, b));
}

} // namespace ptxrun::lane
