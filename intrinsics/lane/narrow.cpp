// The 8-, 6- and 4-bit formats: e4m3, e5m2, e2m3, e3m2, e2m1, ue8m0, s2f6 (PTX
// ISA 5.2.3, 9.7.9.21).
//   to narrow   .satfinite always: NaN gives NaN (e4m3, e5m2: 0x7f) or the largest positive number;
//   infinities the largest from narrow exact, as f32
#include "intrinsics/lane/formats.h"

namespace ptxrun::lane {

#define FORMAT(format, F)                                                                          \
  LANE uint32_t ptx_cvt_rn_##format(float a) { return narrow<F, Narrow::nearestEven, true>(a); }   \
  LANE uint32_t ptx_cvt_rs_##format(float a, uint32_t random) {                                    \
    return narrow<F, Narrow::stochastic, true, 16>(a, random & 0xffff);                            \
  }                                                                                                \
  LANE float ptx_cvt_f32_##format(uint32_t a) { return widen<F>(a); }

FORMAT(e4m3, E4m3)
FORMAT(e5m2, E5m2)
FORMAT(e2m3, E2m3)
FORMAT(e3m2, E3m2)
FORMAT(e2m1, E2m1)

// Four 4-bit results share 32 random bits: eight for each.
LANE uint32_t ptx_cvt_rs8_e2m1(float a, uint32_t random) {
  return narrow<E2m1, Narrow::stochastic, true, 8>(a, random & 0xff);
}

// ue8m0 is an f32's exponent field: 2^(n - 127), 255 is NaN; no sign, no zero. |a| counts; 0 and
// what lies below 2^-127 gives 0. `isUp` rounds away from zero: anything between two powers takes
// the larger.
LANE_INLINE uint32_t toUe8m0(float a, bool isUp, bool isFinite) {
  const uint32_t magnitude = bitsOf(a) & 0x7fffffffu;
  const uint32_t field = magnitude >> 23;
  const bool isBetween = ((magnitude & 0x7fffffu) != 0) & (magnitude > 0x00400000u) & (field < 255);
  const uint32_t rounded = field + (isUp & isBetween);
  return pick(magnitude > 0x7f800000u, 255u, pick(isFinite & (rounded == 255), 254u, rounded));
}
LANE uint32_t ptx_cvt_rz_ue8m0(float a) { return toUe8m0(a, false, false); }
LANE uint32_t ptx_cvt_rp_ue8m0(float a) { return toUe8m0(a, true, false); }
LANE uint32_t ptx_cvt_rz_satfinite_ue8m0(float a) { return toUe8m0(a, false, true); }
LANE uint32_t ptx_cvt_rp_satfinite_ue8m0(float a) { return toUe8m0(a, true, true); }

/// 2^(a - 127) as f32, exact (2^-127 is subnormal); 255 gives NaN.
LANE float ptx_cvt_f32_ue8m0(uint32_t a) {
  const uint32_t field = a & 0xff;
  return pick(field == 255, canonicalNaN(), floatOf(pick(field == 0, 0x00400000u, field << 23)));
}

// s2f6: two's complement with six fraction bits, value / 64, from -2 to 1.984375. NaN gives the
// largest number.
LANE uint32_t ptx_cvt_rn_s2f6(float a) {
  const float scaled = a * 64.0f;
  const float low = pick(scaled < -128.0f, -128.0f, scaled);
  const float clamped = pick(low < 127.0f, low, 127.0f);
  // Adding 1.5 * 2^23 rounds to nearest even at the units and leaves the integer in the low bits.
  return bitsOf(clamped + 12582912.0f) & 0xff;
}
LANE float ptx_cvt_f32_s2f6(uint32_t a) { return (float)(int32_t)(int8_t)a * 0x1p-6f; }

} // namespace ptxrun::lane
