// Integers.
#include <bit>
#include <numeric>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

constexpr int kCount = 1 << 20;

/// One thread for each of n results: y[i] = f(i).
template <class T, class F>
void map(Kinds::Group &group, int n, Data<T> &y, const Arguments &arguments, F f) {
  measureMap(group, n, y, arguments, bits(y), f);
}

void fillWords(Data<uint64_t> &data, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t k = 0; k < data.size(); ++k)
    data[k] = random();
}

void mix64(Kinds::Group &group) {
  Data<uint64_t> x(kCount), y(kCount);
  fillWords(x, 1);
  map(group, kCount, y, args(kCount, x, y), [from = x.get()](int i) {
    uint64_t z = from[i] + 0x9e3779b97f4a7c15;
    for (int k = 0; k < 4; ++k) {
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      z ^= z >> 31;
    }
    return z;
  });
}

void divideUniform(Kinds::Group &group) {
  const unsigned d = 1237;
  Data<unsigned> x(kCount), y(kCount);
  fill(x, 1, 0, 4e9);
  map(group, kCount, y, args(kCount, d, x, y),
      [from = x.get(), d = *const_cast<const volatile unsigned *>(&d)](int i) {
        return from[i] / d * 7 + from[i] % d;
      });
}

void divideVarying(Kinds::Group &group) {
  Data<int> a(kCount), b(kCount), y(kCount);
  fill(a, 1, -2e9, 2e9);
  fill(b, 2, 1, 1e5);
  map(group, kCount, y, args(kCount, a, b, y),
      [p = a.get(), q = b.get()](int i) { return p[i] / q[i] + p[i] % q[i]; });
}

void divide64(Kinds::Group &group) {
  constexpr int n = kCount / 2;
  Data<uint64_t> a(n), b(n), y(n);
  fillWords(a, 1);
  fillWords(b, 2);
  for (int i = 0; i < n; ++i)
    b[i] = (b[i] >> (i % 40)) + 1;
  map(group, n, y, args(n, a, b, y), [p = a.get(), q = b.get()](int i) { return p[i] / q[i]; });
}

void permuteAxes(Kinds::Group &group) {
  const int nx = 96, ny = 100, nz = 110, n = nx * ny * nz;
  Data<float> in(n), out(n);
  fill(in, 1, -1, 1);
  group.measure({.grid = {blocksFor(n, 256)},
                 .block = {256},
                 .arguments = args(nx, ny, nz, in, out),
                 .loop =
                     [&] {
                       float *to = out.get();
                       for (int z = 0; z < nz; ++z)
                         for (int y = 0; y < ny; ++y, to += nx)
                           std::memcpy(to, in.get() + (y * nz + z) * nx, nx * sizeof(float));
                     },
                 .outputs = {bits(out)}});
}

void brighten8(Kinds::Group &group) {
  constexpr int n = 4 * kCount;
  const int add = 60;
  Data<uint8_t> x(n), y(n);
  fill(x, 1, 0, 256);
  map(group, n, y, args(n, add, x, y), [from = x.get()](int i) {
    int v = from[i] + add;
    return static_cast<uint8_t>(v > 255 ? 255 : v);
  });
}

void blend16(Kinds::Group &group) {
  constexpr int n = 2 * kCount;
  Data<int16_t> a(n), b(n), y(n);
  fill(a, 1, -30000, 30000);
  fill(b, 2, -30000, 30000);
  map(group, n, y, args(n, a, b, y), [p = a.get(), q = b.get()](int i) {
    return static_cast<int16_t>((p[i] * 3 + q[i] * 5) >> 3);
  });
}

void grey(Kinds::Group &group) {
  constexpr int n = 2 * kCount;
  Data<uint8_t> in(4 * n), out(n);
  fill(in, 1, 0, 256);
  map(group, n, out, args(n, in, out), [p = in.get()](int i) {
    return static_cast<uint8_t>((77 * p[4 * i] + 150 * p[4 * i + 1] + 29 * p[4 * i + 2]) >> 8);
  });
}

void dotBytes(Kinds::Group &group) {
  constexpr int rows = 4096, length = 1024;
  Data<int8_t> a(rows * length), x(length);
  Data<int> y(rows);
  fill(a, 1, -128, 128);
  fill(x, 2, -128, 128);
  group.measure({.grid = {rows / 8},
                 .block = {256},
                 .arguments = args(rows, length, a, x, y),
                 .loop =
                     [&] {
                       for (int r = 0; r < rows; ++r) {
                         const int8_t *row = a.get() + r * length, *by = x.get();
                         int sum = 0;
#pragma omp simd reduction(+ : sum)
                         for (int k = 0; k < length; ++k)
                           sum += row[k] * by[k];
                         y[r] = sum;
                       }
                     },
                 .outputs = {bits(y)}});
}

void swapBytes(Kinds::Group &group) {
  constexpr int n = 2 * kCount;
  Data<unsigned> x(n), y(n);
  fill(x, 1, 0, 4e9);
  map(group, n, y, args(n, x, y), [from = x.get()](int i) {
    const unsigned v = from[i];
    // the selector 0x2614: bytes 4, 1, 6, 2 of the pair, from the lowest on
    return __builtin_bswap32(v) ^ (0x5a005au | (v & 0xff00) | (v & 0xff0000) << 8);
  });
}

void countBits(Kinds::Group &group) {
  Data<unsigned> x(kCount), y(kCount);
  fill(x, 1, 0, 4e9);
  map(group, kCount, y, args(kCount, x, y), [from = x.get()](int i) {
    const unsigned v = from[i];
    return static_cast<unsigned>(__builtin_popcount(v)) +
           100u * static_cast<unsigned>(std::countl_zero(v)) +
           10000u * (__builtin_bitreverse32(v) >> 20);
  });
}

void gcds(Kinds::Group &group) {
  constexpr int n = kCount / 8;
  Data<unsigned> a(n), b(n), y(n);
  fill(a, 1, 1, 1e6);
  fill(b, 2, 1, 1e6);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, a, b, y),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; ++i)
                         y[i] = std::gcd(a[i], b[i]);
                     },
                 .outputs = {bits(y)}});
}

void powerModulo(Kinds::Group &group) {
  constexpr int n = kCount / 64;
  const uint64_t modulus = 4294967291;
  Data<uint64_t> base(n), y(n);
  Data<unsigned> exponent(n);
  fillWords(base, 1);
  for (int i = 0; i < n; ++i)
    base[i] %= modulus;
  fill(exponent, 2, 0, 60000);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, modulus, base, exponent, y),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; ++i) {
                         uint64_t result = 1, b = base[i];
                         for (unsigned e = exponent[i]; e != 0; e >>= 1) {
                           if (e & 1)
                             result = result * b % modulus;
                           b = b * b % modulus;
                         }
                         y[i] = result;
                       }
                     },
                 .outputs = {bits(y)}});
}

void multiplyHigh(Kinds::Group &group) {
  Data<uint64_t> a(kCount), b(kCount), y(kCount);
  fillWords(a, 1);
  fillWords(b, 2);
  map(group, kCount, y, args(kCount, a, b, y), [p = a.get(), q = b.get()](int i) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(p[i]) * q[i] >> 64) + p[i] * 3;
  });
}

} // namespace

void measureIntegers(Kinds &kinds) {
  kinds.measureAll("integers", {{"mix64", mix64},
                                {"divideUniform", divideUniform},
                                {"divideVarying", divideVarying},
                                {"divide64", divide64},
                                {"permuteAxes", permuteAxes},
                                {"brighten8", brighten8},
                                {"blend16", blend16},
                                {"grey", grey},
                                {"dotBytes", dotBytes},
                                {"swapBytes", swapBytes},
                                {"countBits", countBits},
                                {"gcds", gcds},
                                {"powerModulo", powerModulo},
                                {"multiplyHigh", multiplyHigh}});
}

} // namespace ptxrun::bench::kinds
