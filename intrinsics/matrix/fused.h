// One fused step in scalar arithmetic (see sum.h): what every vector form must agree with.
#pragma once
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "intrinsics/matrix/sum.h"

namespace ptxrun::matrix {

inline constexpr uint32_t kNaNBits = 0x7fffffffu;

inline double power(int exponent) { // of two; -1022 to 1023
  return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

/// The exponent of a finite x other than 0 as the step sees it: that of the leading bit, or the
/// least of the format.
inline int exponentOf(double x, int least) {
  const int field = int(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff) - 1023;
  return field > least ? field : least;
}

/// Cuts off behind the bit of weight 2^last, towards zero.
inline double truncateAt(double x, int last) { return std::trunc(x * power(-last)) * power(last); }

/// `value` is exact, a sum of aligned terms.
inline float roundTo(Rounding rounding, double value) {
  if (!(std::fabs(value) < 0x1p1000)) // NaN, infinity
    return value != value ? std::bit_cast<float>(kNaNBits) : float(value);
  switch (rounding) {
  case Rounding::nearestSingle:
    return float(value);
  case Rounding::zeroSingle:
  case Rounding::zeroShort: {
    const int bits = rounding == Rounding::zeroSingle ? 23 : 13;
    const double cut = truncateAt(value, exponentOf(value, -126) - bits);
    return float(cut); // from 2^128 on: infinity
  }
  case Rounding::nearestHalf: {
    const int last = exponentOf(value, -14) - 10;
    const double rounded = std::nearbyint(value * power(-last)) * power(last);
    return std::fabs(rounded) >= 65536 ? std::copysign(INFINITY, float(value)) : float(rounded);
  }
  }
  return 0;
}

/// An f32 result as the f16 that it becomes.
inline float narrowed(Narrowing narrowing, float x) {
  if (narrowing == Narrowing::none)
    return x;
  if (narrowing == Narrowing::nearest || !std::isfinite(x))
    return roundTo(Rounding::nearestHalf, x);
  const double cut = truncateAt(x, exponentOf(x, -14) - 10);
  return std::copysign(float(std::fmin(std::fabs(cut), 65504.0)), x);
}

/// Terms of one step, `significand * 2^exponent`, gathered one by one.
class FusedStep {
 public:
  explicit FusedStep(const Sum &sum) : sum_(sum), largest_(sum.leastExponent) {}

  void add(double significand, int exponent) {
    if (!std::isfinite(significand)) {
      special_ += significand;
      isSpecial_ = true;
      return;
    }
    if (significand == 0)
      return;
    significands_[count_] = significand;
    exponents_[count_++] = exponent;
    largest_ = exponent > largest_ ? exponent : largest_;
  }

  /// a * b, exact; `up`: exponents of block scales.
  void addProduct(float a, float b, int up = 0) {
    if (!std::isfinite(a) || !std::isfinite(b))
      return add(double(a) * double(b), 0);
    if (a == 0 || b == 0)
      return;
    const int ea = exponentOf(a, sum_.leastA), eb = exponentOf(b, sum_.leastB);
    add(double(a) * power(-ea) * (double(b) * power(-eb)), ea + eb + up);
  }

  void addAccumulator(float c) {
    if (!std::isfinite(c))
      return add(c, 0);
    if (c == 0)
      return;
    const int e = exponentOf(c, sum_.leastC);
    add(double(c) * power(-e), e);
  }

  /// A result that is zero is +0.
  float result() const {
    if (isSpecial_)
      return roundTo(sum_.rounding, special_);
    double total = 0; // of integers, exact
    for (unsigned i = 0; i < count_; ++i) {
      const int shift = exponents_[i] - largest_ + sum_.fraction;
      total += shift < -900 ? 0.0 : std::trunc(significands_[i] * power(shift));
    }
    const float rounded = roundTo(sum_.rounding, total * power(largest_ - sum_.fraction));
    return rounded == 0 ? 0.0f : rounded;
  }

 private:
  static constexpr unsigned kMostTerms = 65;
  const Sum &sum_;
  double significands_[kMostTerms];
  int exponents_[kMostTerms];
  unsigned count_ = 0;
  int largest_;
  double special_ = 0;
  bool isSpecial_ = false;
};

/// Fused steps over the products a(n) * b(n) of n below `count`, from c.
template <class A, class B>
float fusedSteps(const Sum &sum, size_t count, float c, const A &a, const B &b) {
  for (size_t first = 0; first < count; first += sum.length) {
    FusedStep step(sum);
    for (size_t n = first; n < count && n < first + sum.length; ++n)
      step.addProduct(a(n), b(n));
    step.addAccumulator(c);
    c = step.result();
  }
  return c;
}

} // namespace ptxrun::matrix
