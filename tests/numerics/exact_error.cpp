// Errors by MPFR.
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/numerics/approximate.h"

namespace ptxrun::numerics {
namespace {

constexpr mpfr_prec_t kPrecision = 256;

struct Number {
  mpfr_t value;
  Number() { mpfr_init2(value, kPrecision); }
  ~Number() { mpfr_clear(value); }
  Number(const Number &) = delete;
  Number &operator=(const Number &) = delete;
};

double decode(Format format, uint64_t bits) {
  if (format == Format::f64)
    return std::bit_cast<double>(bits);
  if (format == Format::f32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (format == Format::bf16)
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  return static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
}

void apply(Function function, mpfr_t result, const mpfr_t a, const mpfr_t b) {
  switch (function) {
  case Function::ex2:
    mpfr_exp2(result, a, MPFR_RNDN);
    break;
  case Function::lg2:
    mpfr_log2(result, a, MPFR_RNDN);
    break;
  case Function::sin:
    mpfr_sin(result, a, MPFR_RNDN);
    break;
  case Function::cos:
    mpfr_cos(result, a, MPFR_RNDN);
    break;
  case Function::tanh:
    mpfr_tanh(result, a, MPFR_RNDN);
    break;
  case Function::rcp:
    mpfr_ui_div(result, 1, a, MPFR_RNDN);
    break;
  case Function::rsqrt:
    mpfr_rec_sqrt(result, a, MPFR_RNDN);
    break;
  case Function::sqrt:
    mpfr_sqrt(result, a, MPFR_RNDN);
    break;
  case Function::div:
    mpfr_div(result, a, b, MPFR_RNDN);
    break;
  }
}

} // namespace

double exactError(const Approximation &one, Unit unit, const uint64_t (&at)[2], uint64_t result) {
  const int digits = one.format == Format::f64   ? 53
                     : one.format == Format::f32 ? 24
                     : one.format == Format::f16 ? 11
                                                 : 8;
  const int minExponent = one.format == Format::f64   ? -1022
                          : one.format == Format::f16 ? -14
                                                      : -126;
  const double smallest = std::ldexp(1.0, minExponent);
  double inputs[2];
  for (int i = 0; i < 2; ++i) {
    inputs[i] = decode(one.format, one.isUpperWord ? at[i] & 0xffffffff00000000ull : at[i]);
    if (one.flushes && std::fabs(inputs[i]) < smallest)
      inputs[i] = std::copysign(0.0, inputs[i]);
  }
  Number a, b, exact, error, floor;
  mpfr_set_d(a.value, inputs[0], MPFR_RNDN);
  mpfr_set_d(b.value, inputs[1], MPFR_RNDN);
  apply(one.function, exact.value, a.value, b.value);
  const double y = decode(one.format, result);
  if (unit == Unit::magnitude)
    return std::fabs(y);
  if (!mpfr_number_p(exact.value) || !std::isfinite(y))
    return (mpfr_nan_p(exact.value) && std::isnan(y)) || mpfr_get_d(exact.value, MPFR_RNDN) == y
               ? 0
               : std::numeric_limits<double>::infinity();
  mpfr_sub_d(error.value, exact.value, y, MPFR_RNDN);
  mpfr_abs(error.value, error.value, MPFR_RNDN);
  if (unit == Unit::absolute)
    return mpfr_get_d(error.value, MPFR_RNDU);
  mpfr_abs(floor.value, exact.value, MPFR_RNDN);
  if (mpfr_cmp_d(floor.value, smallest) < 0)
    mpfr_set_d(floor.value, smallest, MPFR_RNDN);
  if (unit == Unit::ulp)
    mpfr_set_ui_2exp(floor.value, 1, mpfr_get_exp(floor.value) - digits, MPFR_RNDN);
  mpfr_div(error.value, error.value, floor.value, MPFR_RNDN);
  return mpfr_get_d(error.value, MPFR_RNDU);
}

} // namespace ptxrun::numerics
