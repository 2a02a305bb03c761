#include "intrinsics/matrix/multiply.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "intrinsics/matrix/fused.h"
#include "intrinsics/matrix/tile.h"

// Of the lane library.
extern "C" {
double ptx_fma_rz_f64(double a, double b, double c);
double ptx_fma_rm_f64(double a, double b, double c);
double ptx_fma_rp_f64(double a, double b, double c);
}

namespace ptxrun::matrix {

namespace {

using Floats = Product<float, float>;

float canonical(float x) { return x == x ? x : std::bit_cast<float>(kNaNBits); }

/// Row i of A and column j of B.
struct Factors {
  const Floats &product;
  size_t i, j;
  float a(size_t k) const { return product.a.at(i, k); }
  float b(size_t k) const { return product.b.at(k, j); }
};

float chain(const Factors &f, float start, size_t first, size_t last) {
  for (size_t k = first; k < last; ++k)
    start = std::fma(f.a(k), f.b(k), start);
  return start;
}

float pairs(const Factors &f, float c) {
  for (size_t k = 0; k + 1 < f.product.k; k += 2)
    c += std::fma(f.a(k + 1), f.b(k + 1), f.a(k) * f.b(k));
  return c;
}

/// Fused steps over the first, second, ... k: place(0), place(1), ... of them.
template <class Place>
float fusedStepsAt(const Sum &sum, const Factors &f, size_t count, float c, Place place) {
  return fusedSteps(
      sum, count, c, [&](size_t n) { return f.a(place(n)); },
      [&](size_t n) { return f.b(place(n)); });
}

float dotProduct(const Sum &sum, const Factors &f, float c) {
  switch (sum.method) {
  case Sum::Method::chain:
    return canonical(roundTo(sum.rounding, chain(f, c, 0, f.product.k)));
  case Sum::Method::chainThenAdd:
    return canonical(c + chain(f, 0, 0, f.product.k));
  case Sum::Method::pairsThenAdd:
    return roundTo(sum.rounding, pairs(f, c));
  case Sum::Method::quads: {
    const size_t half = f.product.k / 2; // k = 0, 1 (mod 4), then the others
    float s = fusedStepsAt(sum, f, half, 0, [](size_t n) { return n / 2 * 4 + n % 2; });
    s = fusedStepsAt(sum, f, half, s, [](size_t n) { return n / 2 * 4 + 2 + n % 2; });
    const bool isHalf = sum.rounding == Rounding::nearestHalf;
    return roundTo(isHalf ? Rounding::nearestHalf : Rounding::nearestSingle, double(s) + double(c));
  }
  default:
    c = fusedStepsAt(sum, f, f.product.k, c, [](size_t n) { return n; });
    return narrowed(sum.narrowing, c);
  }
}

/// Significand and exponent of a scale, NaN as such.
struct Scale {
  double significand;
  int exponent;
};
Scale scaleOf(const Sum &sum, float x) {
  if (!std::isfinite(x) || x == 0)
    return {x, 0};
  const int e = exponentOf(x, sum.leastScale);
  return {double(x) * power(-e), e};
}

float scaledProducts(const Sum &sum, const Factors &f, const Scales &scales, float c) {
  for (size_t first = 0; first < f.product.k; first += sum.length) {
    FusedStep step(sum);
    const size_t last = std::min<size_t>(f.product.k, first + sum.length);
    for (size_t k = first; k < last; ++k) {
      const Scale a = scaleOf(sum, scales.a.at(f.i, k / scales.block)),
                  b = scaleOf(sum, scales.b.at(k / scales.block, f.j));
      if (std::isnan(a.significand) || std::isnan(b.significand))
        step.add(NAN, 0);
      else
        step.addProduct(f.a(k), f.b(k), a.exponent + b.exponent);
    }
    step.addAccumulator(c);
    c = step.result();
  }
  return c;
}

float scaledGroups(const Sum &sum, const Factors &f, const Scales &scales, float c) {
  constexpr size_t kGroup = 16;
  for (size_t first = 0; first < f.product.k; first += sum.length) {
    FusedStep step(sum);
    for (size_t group = first; group < std::min<size_t>(f.product.k, first + sum.length);
         group += kGroup) {
      double total = 0; // multiples of 1/4 below 2^10: exact
      for (size_t k = group; k < group + kGroup; ++k)
        total += double(f.a(k)) * double(f.b(k));
      const Scale a = scaleOf(sum, scales.a.at(f.i, group / scales.block)),
                  b = scaleOf(sum, scales.b.at(group / scales.block, f.j));
      step.add(total * a.significand * b.significand, a.exponent + b.exponent);
    }
    step.addAccumulator(c);
    c = step.result();
  }
  return c;
}

float scaledChain(const Factors &f, const Scales &scales, float c) {
  for (size_t first = 0; first < f.product.k; first += scales.block) {
    const float dot = chain(f, 0, first, std::min<size_t>(f.product.k, first + scales.block));
    const float scaled = dot * scales.a.at(f.i, first / scales.block);
    c = std::fma(scaled, scales.b.at(first / scales.block, f.j), c);
  }
  return canonical(c);
}

} // namespace

namespace {

/// Columns side by side: B as it is, or a transposed copy.
const float *sideBySide(const Floats &p, std::vector<float> &copy) {
  if (p.b.columnStride == 1)
    return p.b.data;
  copy.resize(size_t(p.k) * p.n);
  if (p.b.rowStride == 1 && p.k % 4 == 0)
    transposeFloats(p.b.data, p.b.columnStride, p.n, p.k, copy.data(), p.n);
  else
    for (size_t k = 0; k < p.k; ++k)
      for (size_t j = 0; j < p.n; ++j)
        copy[k * p.n + j] = p.b.at(k, j);
  return copy.data();
}

void roundToHalves(const Tile &t, Narrowing narrowing) {
  for (size_t i = 0; i < t.m; ++i) {
    float *row = t.d + ptrdiff_t(i) * t.dRow;
    for (size_t j = narrowing == Narrowing::nearest ? roundInVectors(row, t.n) : 0; j < t.n; ++j)
      row[j] = narrowed(narrowing, row[j]);
  }
}

/// In vectors; false where that is not possible.
bool multiplyTile(const Sum &sum, const Floats &p) {
  const bool isChain = sum.method == Sum::Method::chain;
  if ((!isChain && sum.method != Sum::Method::fused) || p.n % 8 != 0 || p.c.columnStride != 1 ||
      p.d.columnStride != 1)
    return false;
  thread_local std::vector<float> copy;
  const float *b = sideBySide(p, copy);
  const Tile tile = {p.m,
                     p.n,
                     p.k,
                     p.a.data,
                     p.a.rowStride,
                     p.a.columnStride,
                     b,
                     b == p.b.data ? p.b.rowStride : ptrdiff_t(p.n),
                     p.c.data,
                     p.c.rowStride,
                     p.d.data,
                     p.d.rowStride};
  if (!(isChain ? multiplyChain(sum, tile) : multiplyFused(sum, tile)))
    return false;
  const bool isRoundedLast = isChain && sum.rounding == Rounding::nearestHalf;
  if (const Narrowing end = isRoundedLast ? Narrowing::nearest : sum.narrowing;
      end != Narrowing::none)
    roundToHalves(tile, end);
  return true;
}

} // namespace

void multiply(const Sum &sum, const Floats &p) {
  if (multiplyTile(sum, p))
    return;
  for (size_t i = 0; i < p.m; ++i)
    for (size_t j = 0; j < p.n; ++j)
      p.d.at(i, j) = dotProduct(sum, {p, i, j}, p.c.at(i, j));
}

void multiplyScaled(const Sum &sum, const Floats &p, const Scales &scales) {
  for (size_t i = 0; i < p.m; ++i)
    for (size_t j = 0; j < p.n; ++j) {
      const Factors f = {p, i, j};
      const float c = p.c.at(i, j);
      p.d.at(i, j) = sum.method == Sum::Method::chain    ? scaledChain(f, scales, c)
                     : sum.method == Sum::Method::groups ? scaledGroups(sum, f, scales, c)
                                                         : scaledProducts(sum, f, scales, c);
    }
}

void multiplyInteger(const Product<uint8_t, int32_t> &p, bool isSignedA, bool isSignedB,
                     bool isSaturating) {
  if (p.n % 8 == 0 && p.k % 2 == 0 && p.k <= 512 && p.a.columnStride == 1 &&
      p.b.columnStride == 1 && p.c.columnStride == 1 && p.d.columnStride == 1)
    return multiplyIntegerTile({p.m, p.n, p.k, p.a.data, p.a.rowStride, p.b.data, p.b.rowStride,
                                p.c.data, p.c.rowStride, p.d.data, p.d.rowStride, isSignedA,
                                isSignedB, isSaturating});
  const auto number = [](uint8_t byte, bool isSigned) {
    return isSigned ? int64_t(int8_t(byte)) : int64_t(byte);
  };
  for (size_t i = 0; i < p.m; ++i)
    for (size_t j = 0; j < p.n; ++j) {
      int64_t total = p.c.at(i, j);
      for (size_t k = 0; k < p.k; ++k)
        total += number(p.a.at(i, k), isSignedA) * number(p.b.at(k, j), isSignedB);
      if (isSaturating)
        total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
      p.d.at(i, j) = int32_t(uint32_t(total));
    }
}

void multiplyBits(const Product<uint32_t, int32_t> &p, BitOperation operation) {
  for (size_t i = 0; i < p.m; ++i)
    for (size_t j = 0; j < p.n; ++j) {
      uint32_t total = uint32_t(p.c.at(i, j));
      for (size_t k = 0; k < p.k; ++k) {
        const uint32_t a = p.a.at(i, k), b = p.b.at(k, j);
        total += uint32_t(std::popcount(operation == BitOperation::bitXor ? a ^ b : a & b));
      }
      p.d.at(i, j) = int32_t(total);
    }
}

namespace {

double fmaRounded(double a, double b, double c, DoubleRounding rounding) {
  switch (rounding) {
  case DoubleRounding::zero:
    return ptx_fma_rz_f64(a, b, c);
  case DoubleRounding::down:
    return ptx_fma_rm_f64(a, b, c);
  case DoubleRounding::up:
    return ptx_fma_rp_f64(a, b, c);
  default:
    return std::fma(a, b, c);
  }
}

} // namespace

void multiplyDouble(const Product<double, double> &p, DoubleRounding rounding) {
  for (size_t i = 0; i < p.m; ++i)
    for (size_t j = 0; j < p.n; ++j) {
      double total = p.c.at(i, j);
      for (size_t k = 0; k < p.k; ++k)
        total = fmaRounded(p.a.at(i, k), p.b.at(k, j), total, rounding);
      p.d.at(i, j) = total;
    }
}

} // namespace ptxrun::matrix
