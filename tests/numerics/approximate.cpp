#include "tests/numerics/approximate.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

// Four at once, within 4 ulp (glibc's libmvec).
extern "C" {
__m256d _ZGVdN4v_exp2(__m256d);
__m256d _ZGVdN4v_log2(__m256d);
__m256d _ZGVdN4v_sin(__m256d);
__m256d _ZGVdN4v_cos(__m256d);
__m256d _ZGVdN4v_tanh(__m256d);
}

namespace ptxrun::numerics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;

std::vector<Approximation> makeAll() {
  const auto everywhere = [](Unit unit, double bound) {
    return std::vector<Range>{{"all", 0, kInfinity, false, unit, bound}};
  };
  const std::vector<Range> logarithm = {
      {"(0.5, 2)", 0x1.000002p-1, 0x1.fffffep0, false, Unit::absolute, 0x1p-22},
      {"outside of (0.5, 2)", 0x1.000002p-1, 0x1.fffffep0, true, Unit::relative, 0x1p-22}};
  const std::vector<Range> angles = {
      {"[-2pi, 2pi]", 0, 2 * kPi, false, Unit::absolute, std::exp2(-20.5)},
      {"[-100pi, 100pi]", 0, 100 * kPi, false, Unit::absolute, std::exp2(-14.7)},
      {"outside of [-100pi, 100pi]", 0, 100 * kPi, true, Unit::magnitude, 1}};
  const std::vector<Range> divisor = {
      {"|b| in [2^-126, 2^126]", 0x1p-126, 0x1p126, false, Unit::ulp, 2}};
  using enum Function;
  using enum Format;
  return {
      {"ex2.approx.f32", ex2, f32, false, false, everywhere(Unit::ulp, 2)},
      {"ex2.approx.ftz.f32", ex2, f32, true, false, everywhere(Unit::ulp, 2)},
      {"lg2.approx.f32", lg2, f32, false, false, logarithm},
      {"lg2.approx.ftz.f32", lg2, f32, true, false, logarithm},
      {"sin.approx.f32", Function::sin, f32, false, false, angles},
      {"sin.approx.ftz.f32", Function::sin, f32, true, false, angles},
      {"cos.approx.f32", Function::cos, f32, false, false, angles},
      {"cos.approx.ftz.f32", Function::cos, f32, true, false, angles},
      {"tanh.approx.f32", Function::tanh, f32, false, false, everywhere(Unit::relative, 0x1p-11)},
      {"rcp.approx.f32", rcp, f32, false, false, everywhere(Unit::ulp, 1)},
      {"rcp.approx.ftz.f32", rcp, f32, true, false, everywhere(Unit::ulp, 1)},
      {"sqrt.approx.f32", Function::sqrt, f32, false, false, everywhere(Unit::relative, 0x1p-23)},
      {"sqrt.approx.ftz.f32", Function::sqrt, f32, true, false,
       everywhere(Unit::relative, 0x1p-23)},
      {"rsqrt.approx.f32", rsqrt, f32, false, false, everywhere(Unit::relative, std::exp2(-22.9))},
      {"rsqrt.approx.ftz.f32", rsqrt, f32, true, false,
       everywhere(Unit::relative, std::exp2(-22.9))},
      {"div.approx.f32", Function::div, f32, false, false, divisor},
      {"div.approx.ftz.f32", Function::div, f32, true, false, divisor},
      {"div.full.f32", Function::div, f32, false, false, everywhere(Unit::ulp, 2)},
      {"div.full.ftz.f32", Function::div, f32, true, false, everywhere(Unit::ulp, 2)},
      {"rcp.approx.ftz.f64", rcp, f64, true, true, everywhere(Unit::relative, kInfinity)},
      {"rsqrt.approx.ftz.f64", rsqrt, f64, true, true, everywhere(Unit::relative, kInfinity)},
      {"rsqrt.approx.f64", rsqrt, f64, false, false, everywhere(Unit::relative, kInfinity)},
      {"tanh.approx.f16", Function::tanh, f16, false, false,
       everywhere(Unit::absolute, std::exp2(-10.987))},
      {"tanh.approx.f16x2", Function::tanh, f16, false, false,
       everywhere(Unit::absolute, std::exp2(-10.987))},
      {"tanh.approx.bf16", Function::tanh, bf16, false, false, everywhere(Unit::absolute, 0x1p-8)},
      {"tanh.approx.bf16x2", Function::tanh, bf16, false, false,
       everywhere(Unit::absolute, 0x1p-8)},
      {"ex2.approx.f16", ex2, f16, false, false, everywhere(Unit::relative, std::exp2(-9.9))},
      {"ex2.approx.f16x2", ex2, f16, false, false, everywhere(Unit::relative, std::exp2(-9.9))},
      {"ex2.approx.ftz.bf16", ex2, bf16, true, false, everywhere(Unit::relative, 0x1p-7)},
      {"ex2.approx.ftz.bf16x2", ex2, bf16, true, false, everywhere(Unit::relative, 0x1p-7)},
  };
}

struct Layout {
  int digits, minExponent;
};
constexpr Layout layoutOf(Format format) {
  switch (format) {
  case Format::f16:
    return {11, -14};
  case Format::bf16:
    return {8, -126};
  case Format::f32:
    return {24, -126};
  default:
    return {53, -1022};
  }
}

/// What inputs and results of an upper-word instruction are for the function.
double upperWord(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0xffffffff00000000ull);
}

double flush(double x, double smallest) {
  return std::fabs(x) < smallest ? std::copysign(0.0, x) : x;
}

/// The error of `y`, and infinity where y is zero, infinite or NaN and should not be, or is not and
/// should, or has the wrong sign of zero. `rounded`: `exact`, rounded to the format.
template <class Real>
inline double errorOf(Unit unit, bool flushes, double smallest, double inverseEpsilon, double y,
                      Real exact, double rounded) {
  const Real magnitude = std::fabs(exact),
             floor = magnitude > smallest ? magnitude : Real(smallest);
  const Real distance = std::fabs(Real(y) - exact);
  Real error = distance;
  if (unit == Unit::relative)
    error = distance / floor;
  else if (unit == Unit::ulp) {
    // 1 / the power of two at or below `floor`; of the largest powers it is subnormal, and right.
    const uint64_t exponent = std::bit_cast<uint64_t>(double(floor)) & 0x7ff0000000000000ull;
    const double inverse = std::bit_cast<double>(0x7fe0000000000000ull - exponent);
    error = distance * (inverse * inverseEpsilon);
  }
  const bool isSpecial = (y == 0) | !(std::fabs(y) < kInfinity);
  const bool isFlushed = flushes & (y == 0) & (magnitude < smallest * (1 + 4 / inverseEpsilon));
  const bool isSame = (y == rounded) | ((y != y) & (exact != exact));
  const bool hasSign = (y != 0) | (std::signbit(y) == std::signbit(double(exact)));
  const double special = ((isSame | isFlushed) & hasSign) ? 0 : kInfinity;
  const double ordinary = error >= 0 ? double(error) : kInfinity;
  return isSpecial ? special : ordinary;
}

double decode(Format format, uint64_t bits) {
  switch (format) {
  case Format::f16: {
    _Float16 x = std::bit_cast<_Float16>(static_cast<uint16_t>(bits));
    return static_cast<double>(x);
  }
  case Format::bf16:
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  case Format::f32:
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  default:
    return std::bit_cast<double>(bits);
  }
}

double roundTo(Format format, double exact) {
  if (format == Format::f32)
    return static_cast<float>(exact);
  if (format == Format::f16)
    return static_cast<double>(static_cast<_Float16>(exact));
  if (format == Format::f64)
    return exact;
  const float single = static_cast<float>(exact);
  return std::fabs(single) < 0x1p-134f   ? std::copysign(0.0, exact)
         : std::fabs(exact) > 0x1.ffp127 ? exact * kInfinity
                                         : exact;
}

bool isIn(const Range &range, double x) {
  const double magnitude = std::fabs(x);
  const bool isInside = !(magnitude < range.low) & !(magnitude > range.high);
  return isInside != range.isOutside;
}

template <class Real> Real reference(Function function, Real a, Real b) {
  switch (function) {
  case Function::ex2:
    return std::exp2(a);
  case Function::lg2:
    return std::log2(a);
  case Function::sin:
    return std::sin(a);
  case Function::cos:
    return std::cos(a);
  case Function::tanh:
    return std::tanh(a);
  case Function::rcp:
    return Real(1) / a;
  case Function::rsqrt:
    return Real(1) / std::sqrt(a);
  case Function::sqrt:
    return std::sqrt(a);
  default:
    return a / b;
  }
}

/// reference() of n doubles.
void references(Function function, const double *a, const double *b, size_t n, double *exact) {
  const auto four = [&](__m256d (*f)(__m256d)) {
    for (size_t i = 0; i < n; i += 4)
      _mm256_storeu_pd(exact + i, f(_mm256_loadu_pd(a + i)));
  };
  switch (function) {
  case Function::ex2:
    return four(_ZGVdN4v_exp2);
  case Function::lg2:
    return four(_ZGVdN4v_log2);
  case Function::sin:
    return four(_ZGVdN4v_sin);
  case Function::cos:
    return four(_ZGVdN4v_cos);
  case Function::tanh:
    return four(_ZGVdN4v_tanh);
  case Function::rcp:
    for (size_t i = 0; i < n; ++i)
      exact[i] = 1 / a[i];
    return;
  case Function::rsqrt:
    for (size_t i = 0; i < n; ++i)
      exact[i] = 1 / std::sqrt(a[i]);
    return;
  case Function::sqrt:
    for (size_t i = 0; i < n; ++i)
      exact[i] = std::sqrt(a[i]);
    return;
  default:
    for (size_t i = 0; i < n; ++i)
      exact[i] = a[i] / b[i];
  }
}

uint64_t element(const Bytes &bytes, unsigned bits, size_t i) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * (bits / 8), bits / 8);
  return value;
}

constexpr size_t kStep = 2048; // numbers in flight fit the first cache

/// Where the range asks for a magnitude of at most 1 only: |y|, and infinity where one of x and y
/// is infinite or NaN and the other is a number.
inline double magnitudeOf(double x, double y) {
  const bool isNumber = std::fabs(x) < kInfinity, hasResult = y == y;
  return isNumber != hasResult ? kInfinity : hasResult ? std::fabs(y) : 0;
}

/// f32: whole arrays at a time.
template <Unit unit>
void measureSingles(const Approximation &one, const Range &range, const double *x,
                    const double *exact, const float *y, size_t n, size_t first, Worst &worst,
                    size_t &best) {
  double errors[kStep + 8];
  std::fill_n(errors + n, 8, -1.0);
  uint64_t count = 0;
  const bool flushes = one.flushes, isOutside = range.isOutside;
  const double low = range.low, high = range.high;
  for (size_t i = 0; i < n; ++i) {
    const double magnitude = std::fabs(x[i]);
    const bool isInside = !(magnitude < low) & !(magnitude > high);
    const bool isMeant = isInside != isOutside;
    const double error = unit == Unit::magnitude
                             ? magnitudeOf(x[i], y[i])
                             : errorOf<double>(unit, flushes, 0x1p-126, 0x1p23, y[i], exact[i],
                                               static_cast<double>(static_cast<float>(exact[i])));
    errors[i] = isMeant ? error : -1;
    count += isMeant;
  }
  double most[8];
  std::fill_n(most, 8, worst.error);
  for (size_t i = 0; i < n; i += 8) // n is a multiple of 8 or the rest is -1
    for (size_t k = 0; k < 8; ++k)
      most[k] = errors[i + k] > most[k] ? errors[i + k] : most[k];
  const double largest = *std::max_element(most, most + 8);
  worst.inputs += count;
  if (!(largest > worst.error))
    return;
  worst.error = largest;
  best = first + static_cast<size_t>(std::find(errors, errors + n, largest) - errors);
}

/// Flushed subnormals, from f32.
void widen(const float *from, size_t n, bool flushes, double *to) {
  for (size_t i = 0; i < n; ++i)
    to[i] = (flushes & (std::fabs(from[i]) < 0x1p-126f)) ? std::copysign(0.0, double(from[i]))
                                                         : double(from[i]);
}

void measureF32(std::span<const Approximation> twins, const Bytes &a, const Bytes &b,
                std::span<const Bytes> results, size_t n, std::vector<std::vector<Worst>> &worst) {
  const auto *x = reinterpret_cast<const float *>(a.data()),
             *y = reinterpret_cast<const float *>(b.data());
  double first[kStep], second[kStep], meant[kStep], exact[kStep];
  const Function function = twins[0].function;
  const bool isAngle = function == Function::sin || function == Function::cos;
  const double atZero[2] = {reference<double>(function, 0.0, 1.0),
                            reference<double>(function, -0.0, 1.0)};
  for (size_t at = 0; at < n; at += kStep) {
    const size_t count = std::min(kStep, n - at);
    for (size_t t = 0; t < twins.size(); ++t) {
      const Approximation &one = twins[t];
      const bool isFirst = t == 0 || one.arity() == 2;
      if (one.arity() == 2)
        widen(y + at, count, one.flushes, second);
      widen(x + at, count, one.flushes && isFirst, first);
      if (isFirst) {
        for (size_t i = 0; isAngle && i < count;
             ++i) // far angles, which take long, are not compared
          meant[i] = std::fabs(first[i]) > 400 && std::fabs(first[i]) < kInfinity ? 0 : first[i];
        references(function, isAngle ? meant : first, second, count, exact);
      } else if (one.flushes) { // the references of the first twin, but for subnormals
        for (size_t i = 0; i < count; ++i)
          exact[i] = std::fabs(first[i]) < 0x1p-126 ? atZero[std::signbit(first[i])] : exact[i];
        widen(x + at, count, true, first);
      }
      for (size_t r = 0; r < one.ranges.size(); ++r) {
        size_t best = SIZE_MAX;
        const Unit unit = one.ranges[r].unit;
        const auto measureIn = unit == Unit::ulp        ? measureSingles<Unit::ulp>
                               : unit == Unit::relative ? measureSingles<Unit::relative>
                               : unit == Unit::absolute ? measureSingles<Unit::absolute>
                                                        : measureSingles<Unit::magnitude>;
        Worst &most = worst[t][r];
        measureIn(one, one.ranges[r], one.arity() == 2 ? second : first, exact,
                  reinterpret_cast<const float *>(results[t].data()) + at, count, at, most, best);
        if (best == SIZE_MAX)
          continue;
        most.at[0] = element(a, 32, best);
        most.at[1] = one.arity() == 2 ? element(b, 32, best) : 0;
        most.result = element(results[t], 32, best);
      }
    }
  }
}

/// The other formats: one by one; f64 in long double precision.
template <class Real>
void measureOneByOne(const Approximation &one, const Bytes &a, const Bytes &results, size_t n,
                     std::vector<Worst> &worst) {
  const Layout layout = layoutOf(one.format);
  const double smallest = std::ldexp(1.0, layout.minExponent);
  const double inverseEpsilon = std::ldexp(1.0, layout.digits - 1);
  const unsigned bits = one.bits(), elements = one.isPacked() ? 2 : 1;
  for (size_t i = 0; i < n * elements; ++i) {
    double x = decode(one.format, element(a, bits, i));
    if (one.isUpperWord)
      x = x != x ? x : upperWord(x);
    if (one.flushes)
      x = flush(x, smallest);
    const uint64_t result = element(results, bits, i);
    const Real exact = reference<Real>(one.function, x, Real(0));
    for (size_t r = 0; r < one.ranges.size(); ++r) {
      if (!isIn(one.ranges[r], x))
        continue;
      const double error =
          errorOf<Real>(one.ranges[r].unit, one.flushes, smallest, inverseEpsilon,
                        decode(one.format, result), exact, roundTo(one.format, double(exact)));
      ++worst[r].inputs;
      if (error > worst[r].error)
        worst[r].error = error, worst[r].at[0] = element(a, bits, i), worst[r].result = result;
    }
  }
}

} // namespace

bool Approximation::isPacked() const { return std::string_view(mnemonic).ends_with("x2"); }

Instruction Approximation::instruction() const {
  const Field field{isPacked() ? 32 : bits()};
  return {mnemonic, std::vector<Field>(arity(), field), {field}};
}

std::span<const Approximation> approximations() {
  static const std::vector<Approximation> all = makeAll();
  return all;
}

const char *unitText(Unit unit) {
  constexpr const char *kTexts[] = {"ulp", "relative", "absolute", "magnitude"};
  return kTexts[static_cast<size_t>(unit)];
}

void measure(std::span<const Approximation> twins, const Bytes &a, const Bytes &b,
             std::span<const Bytes> results, size_t n, std::vector<std::vector<Worst>> &worst) {
  if (twins[0].format == Format::f32)
    return measureF32(twins, a, b, results, n, worst);
  for (size_t t = 0; t < twins.size(); ++t)
    if (twins[t].format == Format::f64)
      measureOneByOne<long double>(twins[t], a, results[t], n, worst[t]);
    else
      measureOneByOne<double>(twins[t], a, results[t], n, worst[t]);
}

bool canMeasure() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

} // namespace ptxrun::numerics
