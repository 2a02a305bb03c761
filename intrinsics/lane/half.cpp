// What half-precision arithmetic needs besides that of f32, to be rounded once, and conversions to
// the halves and tf32 (PTX ISA 9.7.4, 9.7.5, 9.7.9.21).
#include "intrinsics/lane/formats.h"

namespace ptxrun::lane {

/// The f32 nearest to an exact sum, and what it lacks of it, rounded to odd. An infinity or NaN has
/// the error NaN, and stays as it is.
LANE_INLINE float roundedToOdd(float sum, float error) {
  const uint32_t bits = bitsOf(sum);
  const uint32_t isBelow = (bitsOf(error) ^ bits) >> 31; // the exact sum is smaller in magnitude
  const bool isInexact = (error < 0) | (error > 0);
  return floatOf(pick(isInexact, (bits - isBelow) | 1, bits));
}

// a * b + c of f16 values, rounded to odd in f32, from which the conversion to f16 rounds once: the
// product of two f16 has 22 bits and is exact; 24 bits rounded to odd are at least two more than
// f16's 11. Nothing over- or underflows: finite f16 products and sums lie between 2^-48 and 2^33.
LANE float ptx_fma_f16(float a, float b, float c) {
  const SumOf<float> sum = twoSum(a * b, c);
  return roundedToOdd(sum.value, sum.error);
}

// The same of bf16 values, for the conversion to bf16. Products have 16 bits. In f32 they are exact
// from 2^-134 on; smaller ones are rounded to less than that, half of the least bf16, and change no
// sum's nearest bf16, exact or not. Where a product overflows, a finite sum has at most 15 bits.
LANE float ptx_fma_bf16(float a, float b, float c) {
  const float product = a * b;
  const float sum = fma(a, b, c);
  const float cPart = sum - product;
  return roundedToOdd(sum, (product - (sum - cPart)) + (c - cPart));
}

#define NARROW(format, F)                                                                          \
  LANE uint16_t ptx_cvt_rn_##format(float a) {                                                     \
    return (uint16_t)narrow<F, Narrow::nearestEven, false>(a);                                     \
  }                                                                                                \
  LANE uint16_t ptx_cvt_rz_##format(float a) {                                                     \
    return (uint16_t)narrow<F, Narrow::zero, false>(a);                                            \
  }                                                                                                \
  LANE uint16_t ptx_cvt_rm_##format(float a) {                                                     \
    return (uint16_t)narrow<F, Narrow::down, false>(a);                                            \
  }                                                                                                \
  LANE uint16_t ptx_cvt_rp_##format(float a) { return (uint16_t)narrow<F, Narrow::up, false>(a); } \
  LANE uint16_t ptx_cvt_rn_satfinite_##format(float a) {                                           \
    return (uint16_t)narrow<F, Narrow::nearestEven, true>(a);                                      \
  }                                                                                                \
  LANE uint16_t ptx_cvt_rz_satfinite_##format(float a) {                                           \
    return (uint16_t)narrow<F, Narrow::zero, true>(a);                                             \
  }

NARROW(f16, F16)
NARROW(bf16, Bf16)

// Stochastic rounding (9.7.9.21): f16 takes the 13 low bits of `random`, bf16 16 of them.
LANE uint16_t ptx_cvt_rs_f16(float a, uint32_t random) {
  return (uint16_t)narrow<F16, Narrow::stochastic, false, 13>(a, random & 0x1fff);
}
LANE uint16_t ptx_cvt_rs_satfinite_f16(float a, uint32_t random) {
  return (uint16_t)narrow<F16, Narrow::stochastic, true, 13>(a, random & 0x1fff);
}
LANE uint16_t ptx_cvt_rs_bf16(float a, uint32_t random) {
  return (uint16_t)narrow<Bf16, Narrow::stochastic, false, 16>(a, random & 0xffff);
}
LANE uint16_t ptx_cvt_rs_satfinite_bf16(float a, uint32_t random) {
  return (uint16_t)narrow<Bf16, Narrow::stochastic, true, 16>(a, random & 0xffff);
}

// tf32: an f32 whose 13 low bits are zero; NaN is 0x7fffffff.
template <Narrow mode, bool isFinite> LANE_INLINE uint32_t toTf32(float a) {
  return pick(isNaN(a), 0x7fffffffu, narrow<Tf32, mode, isFinite>(a) << 13);
}
LANE uint32_t ptx_cvt_rna_tf32(float a) { return toTf32<Narrow::nearestAway, false>(a); }
LANE uint32_t ptx_cvt_rn_tf32(float a) { return toTf32<Narrow::nearestEven, false>(a); }
LANE uint32_t ptx_cvt_rz_tf32(float a) { return toTf32<Narrow::zero, false>(a); }
LANE uint32_t ptx_cvt_rna_satfinite_tf32(float a) { return toTf32<Narrow::nearestAway, true>(a); }
LANE uint32_t ptx_cvt_rn_satfinite_tf32(float a) { return toTf32<Narrow::nearestEven, true>(a); }
LANE uint32_t ptx_cvt_rz_satfinite_tf32(float a) { return toTf32<Narrow::zero, true>(a); }

} // namespace ptxrun::lane
