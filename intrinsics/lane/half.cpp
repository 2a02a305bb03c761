// Half-precision arithmetic that IR's half does not give with one rounding, and all of bf16 (PTX
// ISA 9.7.4, 9.7.5).
//   results     correctly rounded to nearest even; subnormals kept
//   NaN         0x7fff
#include "intrinsics/lane/formats.h"
#include "intrinsics/lane/rounding.h"

namespace ptxrun::lane {

LANE_INLINE uint16_t toBf16(float x) {
  return (uint16_t)narrow<Bf16, Narrow::nearestEven, false>(x);
}

// a * b + c of f16 values, rounded to odd in f32, from which the conversion to f16 rounds once: the
// product of two f16 has 22 bits and is exact; 24 bits rounded to odd are at least two more than
// f16's 11. Nothing over- or underflows: finite f16 products and sums lie between 2^-48 and 2^33.
LANE float ptx_fma_f16(float a, float b, float c) {
  const float product = a * b;
  const float sum = product + c;
  const float cPart = sum - product;
  const float error = (product - (sum - cPart)) + (c - cPart);
  const uint32_t bits = bitsOf(sum);
  const bool isBelow = (bitsOf(error) ^ bits) >> 31; // the exact sum is smaller in magnitude
  const uint32_t odd = pick((bits & 1) != 0, bits, pick(isBelow, bits - 1, bits + 1));
  // An infinite or NaN sum has the error NaN, which compares unequal to 0 but is no error.
  const float special = pick(isNaN(sum), canonicalNaN(), sum); // one NaN, whatever the CPU makes
  return pick((error != 0) & (abs(sum) < kInfinity), floatOf(odd), special);
}

// Sums and products of bf16 round twice harmlessly on the way through f32 (24 bits are more than 2
// * 8 + 1, and f32's subnormals have 16 bits more).
LANE uint16_t ptx_add_bf16(uint16_t a, uint16_t b) { return toBf16(widenBf16(a) + widenBf16(b)); }
LANE uint16_t ptx_mul_bf16(uint16_t a, uint16_t b) { return toBf16(widenBf16(a) * widenBf16(b)); }

// The product is exact in double; the sum is rounded to odd on the way to f32, and from there once.
LANE uint16_t ptx_fma_bf16(uint16_t a, uint16_t b, uint16_t c) {
  const double product = (double)widenBf16(a) * (double)widenBf16(b);
  const Sum sum = exactSum(product, widenBf16(c));
  return toBf16(roundToFloat<Mode::odd>(sum.value, sum.error));
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
