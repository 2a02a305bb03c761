// f64 add, mul, fma, div, rcp, sqrt with directed rounding (PTX ISA 9.7.3).
//   results     correctly rounded in the direction named: rz towards zero, rm down, rp up;
//   subnormals and overflow included specials    as IEEE 754
//
// Operands are taken apart into significands in [1, 2) and exponents, so that nothing over- or
// underflows on the way; the result to nearest and the sign of its exact error give the truncated
// significand and whether it is exact; assemble() rounds that once, in integers, to the precision
// its exponent leaves.
#include "intrinsics/lane/rounding.h"

namespace ptxrun::lane {

constexpr uint64_t kFraction = (1ull << 52) - 1;
constexpr uint64_t kHidden = 1ull << 52;
constexpr uint64_t kSign = 1ull << 63;
constexpr uint64_t kInfinityBits = 0x7ffull << 52;

/// |x| = significand * 2^exponent, significand in [1, 2); a zero has significand 0. Infinity and
/// NaN give any number.
struct Parts {
  double significand;
  int64_t exponent;
};

LANE_INLINE Parts partsOf(double x) {
  const uint64_t magnitude = bitsOf(x) & ~kSign;
  const bool isSubnormal = magnitude < kHidden;
  const uint64_t normal = pick(isSubnormal, bitsOf(doubleOf(magnitude) * 0x1p64), magnitude);
  const int64_t exponent = (int64_t)(normal >> 52) - 1023 - pick<int64_t>(isSubnormal, 64, 0);
  const double significand = doubleOf((normal & kFraction) | (1023ull << 52));
  return {pick(magnitude == 0, 0.0, significand), pick<int64_t>(magnitude == 0, -4000, exponent)};
}

/// Rounds ±(|value| + error) * 2^exponent, where the sign is value's and error's magnitude is at
/// most half an ulp of value; value is not zero.
template <Mode mode> LANE_INLINE double assemble(double value, double error, int64_t exponent) {
  const uint64_t sign = bitsOf(value) & kSign;
  const bool isNegative = sign != 0;
  const bool isTooFar = pick(isNegative, error > 0, error < 0);
  const uint64_t truncated = (bitsOf(value) & ~kSign) - isTooFar;
  const uint64_t significand = (truncated & kFraction) | kHidden;
  const int64_t biased = (int64_t)(truncated >> 52) + exponent;
  const int64_t deficit =
      pick<int64_t>(biased < 1, 1 - biased, 0); // bits that fall off a subnormal result
  const uint64_t shift = (uint64_t)pick<int64_t>(deficit > 60, 60, deficit);
  const uint64_t kept = significand >> shift;
  const bool isInexact = (error != 0) | ((kept << shift) != significand);
  const bool isAway = mode == Mode::up ? !isNegative : mode == Mode::down ? isNegative : false;
  const uint64_t base = pick<uint64_t>(biased < 1, 0, (uint64_t)(biased - 1) << 52);
  const uint64_t rounded = base + kept + (isAway & isInexact);
  const uint64_t overflow = pick(isAway, kInfinityBits, kInfinityBits - 1);
  return doubleOf(sign | pick(biased > 2046, overflow, rounded));
}

template <Mode mode> LANE_INLINE double mulDouble(double a, double b) {
  const Parts x = partsOf(a), y = partsOf(b);
  const double product = x.significand * y.significand;
  const double error = fma(x.significand, y.significand, -product);
  const uint64_t sign = (bitsOf(a) ^ bitsOf(b)) & kSign;
  const double signedProduct = doubleOf(bitsOf(product) | sign);
  const double signedError = doubleOf(bitsOf(error) ^ sign);
  const double result = assemble<mode>(signedProduct, signedError, x.exponent + y.exponent);
  const bool isPlain = isFinite(a) & isFinite(b) & (a != 0) & (b != 0);
  return pick(isPlain, result, a * b);
}

template <Mode mode> LANE_INLINE double divDouble(double a, double b) {
  const Parts x = partsOf(a), y = partsOf(b);
  const double quotient = x.significand / y.significand;
  const double error =
      fma(-quotient, y.significand, x.significand); // its sign is the quotient's error's
  const uint64_t sign = (bitsOf(a) ^ bitsOf(b)) & kSign;
  const double signedQuotient = doubleOf(bitsOf(quotient) | sign);
  const double signedError = doubleOf(bitsOf(error) ^ sign);
  const double result = assemble<mode>(signedQuotient, signedError, x.exponent - y.exponent);
  const bool isPlain = isFinite(a) & isFinite(b) & (a != 0) & (b != 0);
  return pick(isPlain, result, a / b);
}

template <Mode mode> LANE_INLINE double sqrtDouble(double a) {
  const Parts x = partsOf(a);
  const int64_t isOdd = x.exponent & 1;
  const double significand = pick(isOdd != 0, 2 * x.significand, x.significand);
  const double root = squareRoot(significand);
  const double error = fma(-root, root, significand);
  const double result = assemble<mode>(root, error, (x.exponent - isOdd) >> 1);
  const bool isPlain = (a > 0) & isFinite(a);
  return pick(isPlain, result, squareRoot(a));
}

template <Mode mode> LANE_INLINE double fmaDouble(double a, double b, double c) {
  const Parts x = partsOf(a), y = partsOf(b), z = partsOf(c);
  const uint64_t productSign = (bitsOf(a) ^ bitsOf(b)) & kSign;
  const int64_t exponent = x.exponent + y.exponent;
  // Relative to the product's exponent the addend lies within 2^±160; farther away it (or the
  // product) is only sticky.
  const int64_t distance = z.exponent - exponent;
  const int64_t clamped =
      pick<int64_t>(distance > 160, 160, pick<int64_t>(distance < -160, -160, distance));
  const double addend = z.significand * doubleOf((uint64_t)(1023 + clamped) << 52);
  const int64_t scale = z.exponent - clamped; // == exponent unless clamped
  const double signedAddend = doubleOf(bitsOf(addend) | (bitsOf(c) & kSign));
  const double high = x.significand * y.significand;
  const double low = fma(x.significand, y.significand, -high);
  const double signedHigh = doubleOf(bitsOf(high) | productSign);
  const double signedLow = doubleOf(bitsOf(low) ^ productSign);
  // high + low + addend as a leading term, rounded to nearest, and a tail whose sign decides.
  const Sum small = exactSum(signedAddend, signedLow);
  const Sum big = exactSum(signedHigh, small.value);
  const Sum rest = exactSum(big.error, small.error);
  const Sum top = exactSum(big.value, rest.value);
  const double tail = pick(top.error != 0, top.error, rest.error);
  const int64_t unit = pick((c == 0) | (distance < -160), exponent, scale);
  const double result = assemble<mode>(top.value, tail, unit);
  const bool isPlain = isFinite(a) & isFinite(b) & isFinite(c) & (a != 0) & (b != 0);
  const double zero = signedZeroSum<mode>(0.0, doubleOf(productSign), c);
  const double special = signedZeroSum<mode>(fma(a, b, c), a * b, c);
  return pick(!isPlain, special, pick(top.value == 0, zero, result));
}

#define DIRECTED(name, mode)                                                                       \
  LANE double ptx_add_##name##_f64(double a, double b) { return addDirected<mode>(a, b); }         \
  LANE double ptx_mul_##name##_f64(double a, double b) { return mulDouble<mode>(a, b); }           \
  LANE double ptx_fma_##name##_f64(double a, double b, double c) {                                 \
    return fmaDouble<mode>(a, b, c);                                                               \
  }                                                                                                \
  LANE double ptx_div_##name##_f64(double a, double b) { return divDouble<mode>(a, b); }           \
  LANE double ptx_sqrt_##name##_f64(double a) { return sqrtDouble<mode>(a); }                      \
  LANE double ptx_cvt_##name##_f64_s64(int64_t a) {                                                \
    return addDirected<mode>((double)(int32_t)(a >> 32) * 0x1p32, (double)(uint32_t)a);            \
  }                                                                                                \
  LANE double ptx_cvt_##name##_f64_u64(uint64_t a) {                                               \
    return addDirected<mode>((double)(uint32_t)(a >> 32) * 0x1p32, (double)(uint32_t)a);           \
  }

DIRECTED(rz, Mode::zero)
DIRECTED(rm, Mode::down)
DIRECTED(rp, Mode::up)

} // namespace ptxrun::lane
