// Narrow floating point formats: f16, bf16, tf32 and the 8-, 6- and 4-bit ones (PTX ISA 5.2.3), to
// and from f32.
#pragma once
#include "intrinsics/lane/lane.h"

namespace ptxrun::lane {

/// What the highest exponent means.
enum class Top { infinityAndNaN, nanOnly, numbers };

template <int exponentBits, int mantissaBits, Top topExponent> struct Format {
  static constexpr int kMantissa = mantissaBits;
  static constexpr int kBits = 1 + exponentBits + mantissaBits;
  static constexpr int kBias = (1 << (exponentBits - 1)) - 1;
  static constexpr Top kTop = topExponent;
  static constexpr uint32_t kSign = 1u << (exponentBits + mantissaBits);
  static constexpr uint32_t kAllOnes = kSign - 1;
  static constexpr uint32_t kInfinity = kAllOnes & ~((1u << mantissaBits) - 1);
  static constexpr uint32_t kLargest = topExponent == Top::infinityAndNaN ? kInfinity - 1
                                       : topExponent == Top::nanOnly      ? kAllOnes - 1
                                                                          : kAllOnes;
  /// NaN; formats without one give their largest number.
  static constexpr uint32_t kNaN = kAllOnes;
};

using F16 = Format<5, 10, Top::infinityAndNaN>;
using Bf16 = Format<8, 7, Top::infinityAndNaN>;
using Tf32 = Format<8, 10, Top::infinityAndNaN>;
using E5m2 = Format<5, 2, Top::infinityAndNaN>;
using E4m3 = Format<4, 3, Top::nanOnly>;
using E3m2 = Format<3, 2, Top::numbers>;
using E2m3 = Format<2, 3, Top::numbers>;
using E2m1 = Format<2, 1, Top::numbers>;

enum class Narrow { nearestEven, nearestAway, zero, down, up, stochastic };

/// f32 to a narrower format, rounded once; subnormals of both formats are kept.
///   random        stochastic only: added to the discarded bits, of which there are 23 - mantissa
///   (more for subnormal
///                 results); its `randomBits` low bits are aligned with their most significant ones
///   isFinite      .satfinite: beyond the largest number the result is the largest number, infinity
///   included
/// NaN gives the format's NaN (all ones, positive), or its largest positive number where it has
/// none.
template <class F, Narrow mode, bool isFinite, int randomBits = 0>
LANE_INLINE uint32_t narrow(float x, uint32_t random = 0) {
  constexpr int kDropped = 23 - F::kMantissa;
  constexpr int kRebias = 127 - F::kBias; // exponent field of f32 minus that of F
  const uint32_t bits = bitsOf(x);
  // The exponents of f32: fields may carry into one another, and the largest number into infinity.
  if constexpr (kRebias == 0 && mode == Narrow::nearestEven && !isFinite) {
    const uint32_t isOdd = bits >> kDropped & 1;
    const uint32_t rounded = (bits + ((1u << (kDropped - 1)) - 1) + isOdd) >> kDropped;
    return pick(isNaN(x), F::kNaN, rounded);
  }
  const uint32_t magnitude = bits & 0x7fffffffu;
  const bool isNegative = bits >> 31;
  const int field = (int)(magnitude >> 23);
  const int exponent = pick(field > 0, field, 1);
  const uint32_t significand = (magnitude & 0x7fffffu) | pick(field > 0, 0x800000u, 0u);
  // Below the smallest normal number of F the significand moves right until the exponent fits.
  const int deficit = pick(exponent < kRebias + 1, kRebias + 1 - exponent, 0);
  const int wanted = kDropped + deficit;
  const int shift = pick(wanted > 31, 31, wanted);
  const uint32_t kept = significand >> shift;
  const uint32_t rest = significand - (kept << shift);
  const uint32_t half = 1u << (shift - 1);
  bool isUp = false;
  if constexpr (mode == Narrow::nearestEven)
    isUp = (rest > half) | ((rest == half) & ((kept & 1) != 0));
  if constexpr (mode == Narrow::nearestAway)
    isUp = rest >= half;
  if constexpr (mode == Narrow::down)
    isUp = isNegative & (rest != 0);
  if constexpr (mode == Narrow::up)
    isUp = !isNegative & (rest != 0);
  if constexpr (mode == Narrow::stochastic) {
    const uint64_t aligned = (uint64_t)random << 32 >> randomBits << shift >> 32;
    isUp = (uint64_t)rest + aligned >= ((uint64_t)1 << shift);
  }
  const int base = exponent + deficit - kRebias - 1;
  const uint32_t rounded = ((uint32_t)base << F::kMantissa) + kept + isUp;
  constexpr bool kIsNearest =
      mode == Narrow::nearestEven || mode == Narrow::nearestAway || mode == Narrow::stochastic;
  const bool isAway = mode == Narrow::down ? isNegative
                      : mode == Narrow::up ? !isNegative
                                           : kIsNearest;
  // What lies beyond the largest number: infinity, unless .satfinite or the rounding points
  // inwards.
  const bool isInfinite = magnitude == 0x7f800000u;
  constexpr uint32_t kBeyond = F::kTop == Top::infinityAndNaN ? F::kInfinity : F::kNaN;
  const uint32_t beyond = pick(!isFinite & (isAway | isInfinite), kBeyond, F::kLargest);
  const uint32_t number = pick(rounded > F::kLargest, beyond, rounded);
  const bool isNaN = magnitude > 0x7f800000u;
  return pick(isNaN, F::kNaN, number | pick(isNegative, F::kSign, 0u));
}

/// The exact value of a narrow number as f32. Bits above the format's are ignored. NaN gives the
/// canonical NaN.
template <class F> LANE_INLINE float widen(uint32_t bits) {
  constexpr int kUp = 23 - F::kMantissa;
  const uint32_t magnitude = bits & F::kAllOnes;
  const uint32_t sign = pick((bits & F::kSign) != 0, 0x80000000u, 0u);
  const uint32_t normal = (magnitude << kUp) + ((uint32_t)(127 - F::kBias) << 23);
  // Subnormals: mantissa * 2^(1 - bias - mantissa bits), exact.
  const float tiny =
      (float)(int32_t)magnitude * floatOf((uint32_t)(128 - F::kBias - F::kMantissa) << 23);
  uint32_t result = pick(magnitude < (1u << F::kMantissa), bitsOf(tiny), normal);
  if constexpr (F::kTop == Top::infinityAndNaN)
    result = pick(magnitude == F::kInfinity, 0x7f800000u,
                  pick(magnitude > F::kInfinity, 0x7fffffffu, result));
  if constexpr (F::kTop == Top::nanOnly)
    result = pick(magnitude == F::kAllOnes, 0x7fffffffu, result);
  return floatOf(pick(result == 0x7fffffffu, result, result | sign));
}

/// bf16 is the upper half of an f32 (exact; NaN payloads and all).
LANE_INLINE float widenBf16(uint32_t bits) { return floatOf(bits << 16); }

} // namespace ptxrun::lane
