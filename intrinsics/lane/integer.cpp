// Integer functions that IR has no instruction for (PTX ISA 9.7.1).
#include "intrinsics/lane/lane.h"

namespace ptxrun::lane {

// Division never faults. By zero the quotient is all ones and the remainder the dividend; MININT /
// -1 is MININT with remainder 0: what NVIDIA's GPUs give (the manual leaves both unspecified).
//
// 16- and 32-bit quotients are taken in floating point, which widens where integer division does
// not: a quotient that is no integer misses the next one by at least 1/b, relatively 1/a, more than
// half an ulp of `Wide`; so truncation is exact. Those of signed numbers are of the divisor's
// magnitude and negated behind: MININT / 1 does not overflow, and where threads share a divisor and
// a quotient they share all of it. Remainders of 64 bits are made of quotients
// (translate/lower/integer.cpp).
#define DIVISION(width, Unsigned, Signed, Wide)                                                    \
  LANE Unsigned ptx_div_u##width(Unsigned a, Unsigned b) {                                         \
    const Unsigned divisor = pick(b == 0, (Unsigned)1, b);                                         \
    return pick(b == 0, (Unsigned) ~(Unsigned)0, (Unsigned)((Wide)a / (Wide)divisor));             \
  }                                                                                                \
  LANE_INLINE Signed byMagnitude(Signed a, Signed b) {                                             \
    return (Signed)((Wide)a / abs((Wide)pick(b == 0, (Signed)1, b)));                              \
  }                                                                                                \
  LANE Signed ptx_div_s##width(Signed a, Signed b) {                                               \
    const Signed quotient = byMagnitude(a, b);                                                     \
    return pick(b == 0, (Signed)-1, pick(b < 0, (Signed)(0 - (uint32_t)quotient), quotient));      \
  }                                                                                                \
  LANE Unsigned ptx_rem_u##width(Unsigned a, Unsigned b) {                                         \
    const Unsigned divisor = pick(b == 0, (Unsigned)1, b);                                         \
    return pick(b == 0, a, (Unsigned)(a - (Unsigned)((Wide)a / (Wide)divisor) * divisor));         \
  }                                                                                                \
  LANE Signed ptx_rem_s##width(Signed a, Signed b) {                                               \
    const uint32_t magnitude = pick(b < 0, 0 - (uint32_t)b, (uint32_t)b);                          \
    return pick(b == 0, a, (Signed)((uint32_t)a - (uint32_t)byMagnitude(a, b) * magnitude));       \
  }
DIVISION(16, uint16_t, int16_t, float)
DIVISION(32, uint32_t, int32_t, double)

LANE uint64_t ptx_div_u64(uint64_t a, uint64_t b) {
  return pick(b == 0, ~(uint64_t)0, a / pick(b == 0, (uint64_t)1, b));
}
/// Of 64 bits, MININT has no magnitude; dividing by itself it does not overflow either.
LANE int64_t ptx_div_s64(int64_t a, int64_t b) {
  const int64_t divisor = pick(b < 0, (int64_t)(0 - (uint64_t)b), b);
  const int64_t quotient = a / pick(b == 0, (int64_t)1, divisor);
  return pick(b == 0, (int64_t)-1, pick(divisor != b, (int64_t)(0 - (uint64_t)quotient), quotient));
}

/// The position of the n-th set bit of `word` (n from 0), 32 if there is none: binary search over
/// population counts.
LANE_INLINE uint32_t selectBit(uint32_t word, uint32_t n) {
  const uint32_t total = (uint32_t)__builtin_popcount(word);
  uint32_t position = 0, left = n;
#pragma clang loop unroll(full)
  for (uint32_t width = 16; width > 0; width /= 2) {
    const uint32_t below = (word >> position) & ((1u << width) - 1);
    const uint32_t count = (uint32_t)__builtin_popcount(below);
    const bool isAbove = left >= count;
    left -= pick(isAbove, count, 0u);
    position += pick(isAbove, width, 0u);
  }
  return pick(n < total, position, 32u);
}

/// fns (9.7.1.17): the |offset|-th set bit of mask from `base` upwards (offset > 0) or downwards;
/// the base bit itself for 0.
LANE uint32_t ptx_fns_b32(uint32_t mask, uint32_t base, int32_t offset) {
  const uint32_t from = base & 31;
  const uint32_t n = pick(offset < 0, 0u - (uint32_t)offset, (uint32_t)offset) - 1;
  const uint32_t up = selectBit(mask & (~0u << from), n);
  const uint32_t down = selectBit(__builtin_bitreverse32(mask & (~0u >> (31 - from))), n);
  const uint32_t found = pick(offset > 0, up, pick(down == 32, 32u, 31 - down));
  const uint32_t result = pick(offset == 0, pick((mask >> from & 1) != 0, from, 32u), found);
  return pick((result == 32) | (base > 31), ~0u, result);
}

} // namespace ptxrun::lane
