#include "tests/isa/compare.h"

#include <bit>
#include <cmath>
#include <cstdio>

namespace ptxrun::isa_test {

namespace {

/// Exponent and mantissa widths of a float type.
struct Layout {
  int exponent, mantissa;
};
Layout layoutOf(const std::string &type) {
  if (type == "f64")
    return {11, 52};
  if (type == "f16")
    return {5, 10};
  if (type == "bf16")
    return {8, 7};
  return {8, 23};
}

double decode(uint64_t bits, Layout layout) {
  const int total = layout.exponent + layout.mantissa;
  const double sign = bits >> total & 1 ? -1 : 1;
  const int field = static_cast<int>(bits >> layout.mantissa & ((1u << layout.exponent) - 1));
  const double fraction = static_cast<double>(bits & ((uint64_t{1} << layout.mantissa) - 1));
  const int bias = (1 << (layout.exponent - 1)) - 1;
  if (field == (1 << layout.exponent) - 1)
    return fraction != 0 ? NAN : sign * INFINITY;
  const double significand = field == 0 ? fraction : fraction + std::ldexp(1.0, layout.mantissa);
  return sign * std::ldexp(significand, (field == 0 ? 1 : field) - bias - layout.mantissa);
}

double ulpOf(double value, Layout layout) {
  const int bias = (1 << (layout.exponent - 1)) - 1;
  const int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  return std::ldexp(1.0, exponent - layout.mantissa);
}

bool isWithin(const Slot &slot, const Tolerance &tolerance, uint64_t expected, uint64_t actual) {
  const Layout layout = layoutOf(slot.type);
  const double want = decode(expected, layout), got = decode(actual, layout);
  if (!std::isfinite(want) || !std::isfinite(got))
    return false;
  const double error = std::fabs(want - got);
  switch (tolerance.kind) {
  case Tolerance::Kind::ulp:
    return error <= tolerance.bound * ulpOf(want, layout);
  case Tolerance::Kind::absolute:
    return error <= tolerance.bound;
  case Tolerance::Kind::relative:
    return error <= tolerance.bound * std::fabs(want);
  case Tolerance::Kind::exact:
    break;
  }
  return false;
}

std::string show(const Slot &slot, uint64_t bits) {
  char text[80];
  const int digits = static_cast<int>((slot.bits + 3) / 4);
  if (slot.isFloat())
    std::snprintf(text, sizeof text, "0x%0*llx (%.9g)", digits,
                  static_cast<unsigned long long>(bits), decode(bits, layoutOf(slot.type)));
  else
    std::snprintf(text, sizeof text, "0x%0*llx (%lld)", digits,
                  static_cast<unsigned long long>(bits), static_cast<long long>(bits));
  return text;
}

} // namespace

std::string differenceOf(const Slot &slot, const Tolerance &tolerance, const Value &expected,
                         unsigned element, uint64_t actual) {
  const uint64_t mask = slot.bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << slot.bits) - 1;
  const uint64_t got = actual & mask, want = expected.element[element] & mask;
  if (expected.isAnyNaN)
    return std::isnan(decode(got, layoutOf(slot.type))) ? ""
                                                        : "expected a NaN, got " + show(slot, got);
  if (got == want ||
      (tolerance.kind != Tolerance::Kind::exact && isWithin(slot, tolerance, want, got)))
    return "";
  return "expected " + show(slot, want) + ", got " + show(slot, got);
}

} // namespace ptxrun::isa_test
