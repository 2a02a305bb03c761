// Numbers where floating-point instructions go wrong.
#pragma once
#include <cstdint>
#include <vector>

namespace ptxrun::numerics {

/// Bits of a format with `exponentBits` and `mantissaBits`: zeros, ends of the subnormal and normal
/// numbers, 1 and its neighbours, powers of two near places where results overflow, round or
/// vanish, infinities, quiet and signalling NaNs with payloads; all with both signs.
inline std::vector<uint64_t> specialValues(unsigned exponentBits, unsigned mantissaBits) {
  const uint64_t one = uint64_t{1} << mantissaBits, mask = one - 1, sign = one << exponentBits;
  const uint64_t bias = (uint64_t{1} << (exponentBits - 1)) - 1, top = 2 * bias + 1;
  const auto power = [&](int64_t exponent) {
    return uint64_t(int64_t(bias) + exponent) << mantissaBits;
  };
  const int64_t digits = mantissaBits;
  std::vector<uint64_t> values = {0,
                                  1,
                                  2,
                                  3,
                                  mask / 2,
                                  mask - 1,
                                  mask,
                                  one,
                                  one + 1,
                                  2 * one - 1,
                                  2 * one,
                                  power(0),
                                  power(0) + 1,
                                  power(0) - 1,
                                  power(0) + mask / 2 + 1,
                                  power(0) + mask / 3,
                                  power(1),
                                  power(1) + 1,
                                  power(-1),
                                  power(-1) - 1,
                                  power(2) - 1,
                                  power(-digits),
                                  power(-digits - 1),
                                  power(-digits - 1) + 1,
                                  power(-digits - 2),
                                  power(digits),
                                  power(digits + 1) - 1,
                                  power(int64_t(bias)),
                                  power(int64_t(bias)) + mask,
                                  power(int64_t(bias)) + mask - 1,
                                  power(int64_t(bias) - 1),
                                  power(1 - int64_t(bias)),
                                  power(2 - int64_t(bias)) - 1,
                                  top << mantissaBits,
                                  (top << mantissaBits) + 1,
                                  (top << mantissaBits) + mask,
                                  (top << mantissaBits) + mask / 2 + 1,
                                  (top << mantissaBits) + mask / 2 + 2,
                                  (top << mantissaBits) + mask / 4};
  for (size_t i = 0, n = values.size(); i < n; ++i)
    values.push_back(values[i] | sign);
  return values;
}

/// Of f16, f32 and f64, by width.
inline std::vector<uint64_t> specialValues(unsigned bits) {
  return bits == 64   ? specialValues(11, 52)
         : bits == 32 ? specialValues(8, 23)
                      : specialValues(5, 10);
}

} // namespace ptxrun::numerics
