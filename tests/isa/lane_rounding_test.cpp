// Directed rounding and single rounding of the lane library at random, against the CPU's own
// rounding modes, and integer division against the CPU's.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>

#include "tests/isa/lane_library.h"

namespace {

constexpr int kRounds = 300000;

/// Computes `operation` while the CPU rounds in `direction`. Volatile keeps the compiler from
/// moving or folding it.
template <class Operation> auto rounded(int direction, Operation operation) {
  std::fesetround(direction);
  volatile auto result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}

/// Random numbers that meet: of any exponent, of like exponents, near the ends of the range, with
/// few bits.
template <class Float, class Bits> class Numbers {
 public:
  Float next() {
    const Bits bits = static_cast<Bits>(engine_());
    switch (engine_() % 6) {
    case 0:
      return std::bit_cast<Float>(bits);
    case 1:
      return std::ldexp(std::bit_cast<Float>(static_cast<Bits>((bits & kFraction) | kOne)),
                        small(kBits)) *
             sign();
    case 2:
      return std::bit_cast<Float>(
          static_cast<Bits>(bits & (kFraction | kSign) & (bits >> 7))); // subnormal
    case 3:
      return std::bit_cast<Float>(static_cast<Bits>((bits & (kFraction | kSign)) |
                                                    (kTop - (engine_() % 3 << kBits)))); // huge
    case 4:
      return std::ldexp(static_cast<Float>(small(64)), small(6));
    default:
      return std::bit_cast<Float>(
          static_cast<Bits>((bits & (kFraction | kSign)) | (engine_() % 80 << kBits))); // small
    }
  }
  /// Near -x, so that adding it cancels.
  Float near(Float x) {
    return -std::bit_cast<Float>(static_cast<Bits>(std::bit_cast<Bits>(x) + engine_() % 3));
  }
  uint64_t word() { return engine_(); }

 private:
  static constexpr int kBits = sizeof(Float) == 4 ? 23 : 52;
  static constexpr Bits kFraction = (Bits{1} << kBits) - 1,
                        kSign = Bits{1} << (8 * sizeof(Float) - 1);
  static constexpr Bits kOne = std::bit_cast<Bits>(Float{1});
  static constexpr Bits kTop = std::bit_cast<Bits>(std::numeric_limits<Float>::max()) & ~kFraction;
  int small(int range) { return static_cast<int>(engine_() % (2 * range + 1)) - range; }
  Float sign() { return engine_() & 1 ? Float{-1} : Float{1}; }
  std::mt19937_64 engine_{20240611};
};

template <class Float> bool isSame(Float a, Float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// One direction of one type; `name` is the PTX suffix.
#define CHECK_DIRECTION(Float, Bits, suffix, mode, direction)                                      \
  {                                                                                                \
    Numbers<Float, Bits> numbers;                                                                  \
    for (int i = 0; i < kRounds; ++i) {                                                            \
      const volatile Float a = numbers.next(), b = numbers.next();                                 \
      const Float product = a * b;                                                                 \
      const volatile Float c = i % 3 ? numbers.next() : numbers.near(product);                     \
      ASSERT_TRUE(isSame<Float>(ptx_add_##mode##_##suffix(a, c),                                   \
                                rounded(direction, [&] { return a + c; })))                        \
          << a << " + " << c;                                                                      \
      ASSERT_TRUE(isSame<Float>(ptx_mul_##mode##_##suffix(a, b),                                   \
                                rounded(direction, [&] { return a * b; })))                        \
          << a << " * " << b;                                                                      \
      ASSERT_TRUE(isSame<Float>(ptx_div_##mode##_##suffix(a, b),                                   \
                                rounded(direction, [&] { return a / b; })))                        \
          << a << " / " << b;                                                                      \
      ASSERT_TRUE(isSame<Float>(ptx_sqrt_##mode##_##suffix(a),                                     \
                                rounded(direction, [&] { return std::sqrt(Float(a)); })))          \
          << a;                                                                                    \
      ASSERT_TRUE(isSame<Float>(                                                                   \
          ptx_fma_##mode##_##suffix(a, b, c),                                                      \
          rounded(direction, [&] { return std::fma(Float(a), Float(b), Float(c)); })))             \
          << std::hexfloat << a << " * " << b << " + " << c;                                       \
      const volatile int64_t n = static_cast<int64_t>(numbers.word() >> numbers.word() % 64);      \
      const volatile uint64_t u = static_cast<uint64_t>(n);                                        \
      ASSERT_TRUE(isSame<Float>(ptx_cvt_##mode##_##suffix##_s64(n),                                \
                                rounded(direction, [&] { return static_cast<Float>(n); })))        \
          << n;                                                                                    \
      ASSERT_TRUE(isSame<Float>(ptx_cvt_##mode##_##suffix##_u64(u),                                \
                                rounded(direction, [&] { return fromUnsigned<Float>(u); })))       \
          << u;                                                                                    \
    }                                                                                              \
  }

/// uint64_t to Float under the current rounding mode: the compiler's own conversion may halve and
/// round to odd first.
template <class Float> Float fromUnsigned(uint64_t value) {
  const volatile Float high = static_cast<Float>(static_cast<int64_t>(value >> 32)) * Float(0x1p32);
  const volatile Float low = static_cast<Float>(static_cast<int64_t>(value & 0xffffffffu));
  if constexpr (sizeof(Float) == 8)
    return high + low;
  else
    return static_cast<Float>(static_cast<long double>(value));
}

TEST(DirectedRounding,
     OfF32EqualsTheCpus){CHECK_DIRECTION(float, uint32_t, f32, rz, FE_TOWARDZERO)
                             CHECK_DIRECTION(float, uint32_t, f32, rm, FE_DOWNWARD)
                                 CHECK_DIRECTION(float, uint32_t, f32, rp, FE_UPWARD)}

TEST(DirectedRounding, OfF64EqualsTheCpus) {
  CHECK_DIRECTION(double, uint64_t, f64, rz, FE_TOWARDZERO)
  CHECK_DIRECTION(double, uint64_t, f64, rm, FE_DOWNWARD)
  CHECK_DIRECTION(double, uint64_t, f64, rp, FE_UPWARD)
}

/// Finite f16 are multiples of 2^-24: products and sums are integers of 81 bits, and the nearest
/// f16 can be found exactly.
using Wide = __int128;

Wide scaled(uint16_t half, int shift) {
  const int field = half >> 10 & 31;
  const Wide significand = (half & 0x3ff) | (field ? 0x400 : 0);
  const Wide magnitude = significand << ((field ? field - 1 : 0) + shift);
  return half & 0x8000 ? -magnitude : magnitude;
}

/// The nearest f16 magnitude to |x| * 2^-48, ties to even.
uint16_t nearestHalf(Wide x) {
  const Wide magnitude = x < 0 ? -x : x;
  uint16_t low = 0, high = 0x7c00; // 0x7c00 stands for 65536, infinity
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (scaled(middle, 24) <= magnitude ? low : high) = middle;
  }
  const Wide below = magnitude - scaled(low, 24), above = scaled(high, 24) - magnitude;
  return below < above || (below == above && low % 2 == 0) ? low : high;
}

TEST(HalfFma, RoundsOnce) {
  std::mt19937_64 engine(7);
  for (int i = 0; i < 10 * kRounds; ++i) {
    const uint64_t word = engine();
    uint16_t half[3] = {static_cast<uint16_t>(word), static_cast<uint16_t>(word >> 16),
                        static_cast<uint16_t>(word >> 32)};
    if (i % 2) // something small beside a tie
      half[2] &= 0x83ff >> (word >> 60);
    if ((half[0] & 0x7c00) == 0x7c00 || (half[1] & 0x7c00) == 0x7c00 ||
        (half[2] & 0x7c00) == 0x7c00)
      continue;
    const auto value = [&](int k) { return static_cast<float>(std::bit_cast<_Float16>(half[k])); };
    const auto actual =
        std::bit_cast<uint16_t>(static_cast<_Float16>(ptx_fma_f16(value(0), value(1), value(2))));
    const Wide exact = scaled(half[0], 0) * scaled(half[1], 0) + scaled(half[2], 24);
    ASSERT_EQ(actual & 0x7fff, nearestHalf(exact))
        << value(0) << " * " << value(1) << " + " << value(2);
  }
}

/// Units of 2^-266, the last bit of the least product of bf16.
using Bfloats = _BitInt(640);

Bfloats inUnits(uint32_t bfloat, int scale) {
  const uint32_t field = bfloat >> 7 & 0xff, fraction = bfloat & 0x7f;
  const Bfloats magnitude = Bfloats{field ? fraction | 0x80 : fraction}
                            << (static_cast<int>(field ? field : 1) - 1 + scale);
  return bfloat >> 15 ? -magnitude : magnitude;
}

/// The nearest bf16 magnitude, ties to even.
uint16_t nearestBfloat(Bfloats x) {
  constexpr int kScale = 266 - 133;
  const Bfloats magnitude = x < 0 ? -x : x;
  uint16_t low = 0, high = 0x7f80; // 0x7f80 stands for 2^128, infinity
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (inUnits(middle, kScale) <= magnitude ? low : high) = middle;
  }
  const Bfloats below = magnitude - inUnits(low, kScale), above = inUnits(high, kScale) - magnitude;
  return below < above || (below == above && low % 2 == 0) ? low : high;
}

TEST(BfloatFma, RoundsOnce) {
  std::mt19937_64 engine(11);
  for (int i = 0; i < 10 * kRounds; ++i) {
    const uint64_t word = engine();
    uint16_t a = static_cast<uint16_t>(word), b = static_cast<uint16_t>(word >> 16),
             c = static_cast<uint16_t>(word >> 32);
    const int kind = i % 4; // as they come; near the product; among the least; beside the largest
    const int sum = (a >> 7 & 0xff) + (b >> 7 & 0xff) - 127;
    if (kind == 1)
      c = static_cast<uint16_t>(
          (c & 0x807f) | std::clamp(sum + 8 - static_cast<int>(word >> 48) % 32, 0, 254) << 7);
    if (kind == 2)
      b = static_cast<uint16_t>((b & 0x807f) | std::clamp(124 - (a >> 7 & 0xff), 0, 254) << 7),
      c &= 0x81ff;
    if (kind == 3)
      b = static_cast<uint16_t>((b & 0x807f) | std::clamp(381 - (a >> 7 & 0xff), 0, 254) << 7),
      c = static_cast<uint16_t>((c & 0x807f) | 254 << 7);
    if ((a & 0x7f80) == 0x7f80 || (b & 0x7f80) == 0x7f80 || (c & 0x7f80) == 0x7f80)
      continue;
    const auto value = [](uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); };
    const uint16_t actual = ptx_cvt_rn_bf16(ptx_fma_bf16(value(a), value(b), value(c)));
    const Bfloats exact = inUnits(a, 0) * inUnits(b, 0) + inUnits(c, 133);
    ASSERT_EQ(actual & 0x7fff, nearestBfloat(exact))
        << value(a) << " * " << value(b) << " + " << value(c);
  }
}

TEST(HalfConversion, RoundsAsTheCompilers) {
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 251) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!std::isnan(x))
      ASSERT_EQ(ptx_cvt_rn_f16(x), std::bit_cast<uint16_t>(static_cast<_Float16>(x))) << x;
  }
}

template <class T, class Div, class Rem> void checkDivision(Div quotient, Rem remainder) {
  std::mt19937_64 engine(3);
  for (int i = 0; i < 10 * kRounds; ++i) {
    const T a = static_cast<T>(engine() >> engine() % 64),
            b = static_cast<T>(engine() >> engine() % 64);
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)))
      continue;
    ASSERT_EQ(quotient(a, b), static_cast<T>(a / b)) << a << " / " << b;
    ASSERT_EQ(remainder(a, b), static_cast<T>(a % b)) << a << " % " << b;
  }
}

TEST(Division, EqualsTheCpus) {
  checkDivision<uint16_t>(ptx_div_u16, ptx_rem_u16);
  checkDivision<int16_t>(ptx_div_s16, ptx_rem_s16);
  checkDivision<uint32_t>(ptx_div_u32, ptx_rem_u32);
  checkDivision<int32_t>(ptx_div_s32, ptx_rem_s32);
}

} // namespace
