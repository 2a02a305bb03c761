// Strings, checksums and ciphers.
#include <array>
#include <bit>

#include "tests/bench/kinds/kinds.h"

namespace ptxrun::bench::kinds {
namespace {

constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64(Kinds::Group &group) {
  constexpr int triples = 1 << 20;
  Data<uint8_t> in(3 * triples), out(4 * triples);
  fill(in, 1, 0, 256);
  group.measure({.grid = {triples / 256},
                 .block = {256},
                 .arguments = args(triples, in, out),
                 .loop =
                     [&] {
                       const uint8_t *from = in.get();
                       uint8_t *to = out.get();
                       for (int i = 0; i < triples; ++i, from += 3, to += 4) {
                         unsigned v = static_cast<unsigned>(from[0] << 16 | from[1] << 8 | from[2]);
                         to[0] = static_cast<uint8_t>(kLetters[v >> 18]);
                         to[1] = static_cast<uint8_t>(kLetters[v >> 12 & 63]);
                         to[2] = static_cast<uint8_t>(kLetters[v >> 6 & 63]);
                         to[3] = static_cast<uint8_t>(kLetters[v & 63]);
                       }
                     },
                 .outputs = {bits(out)}});
}

void crc32(Kinds::Group &group) {
  constexpr int n = 8192, length = 256;
  Data<unsigned> table(256), out(n);
  Data<uint8_t> in(n * length);
  for (unsigned k = 0; k < 256; ++k) {
    unsigned c = k;
    for (int bit = 0; bit < 8; ++bit)
      c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    table[k] = c;
  }
  fill(in, 1, 0, 256);
  group.measure({.grid = {n / 128},
                 .block = {128},
                 .arguments = args(n, length, table, in, out),
                 .loop =
                     [&] {
                       // four messages at once: each step waits for the table
                       for (int i = 0; i < n; i += 4) {
                         unsigned crc[4] = {~0u, ~0u, ~0u, ~0u};
                         for (int k = 0; k < length; ++k)
                           for (int m = 0; m < 4; ++m)
                             crc[m] =
                                 crc[m] >> 8 ^ table[(crc[m] ^ in[(i + m) * length + k]) & 255];
                         for (int m = 0; m < 4; ++m)
                           out[i + m] = ~crc[m];
                       }
                     },
                 .outputs = {bits(out)}});
}

void fnv64(Kinds::Group &group) {
  constexpr int n = 16384, length = 64;
  Data<uint8_t> in(n * length);
  Data<uint64_t> out(n);
  fill(in, 1, 0, 256);
  group.measure({.grid = {n / 128},
                 .block = {128},
                 .arguments = args(n, length, in, out),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; i += 4) {
                         uint64_t hash[4];
                         for (uint64_t &h : hash)
                           h = 0xcbf29ce484222325;
                         for (int k = 0; k < length; ++k)
                           for (int m = 0; m < 4; ++m)
                             hash[m] = (hash[m] ^ in[(i + m) * length + k]) * 0x100000001b3;
                         for (int m = 0; m < 4; ++m)
                           out[i + m] = hash[m];
                       }
                     },
                 .outputs = {bits(out)}});
}

void utf8Count(Kinds::Group &group) {
  constexpr int n = 8 << 20;
  Data<uint8_t> in(n);
  Data<int> count(1);
  fill(in, 1, 0, 256);
  group.measure({.grid = {128},
                 .block = {256},
                 .arguments = args(n, in, count),
                 .loop =
                     [&] {
                       const uint8_t *from = in.get();
                       int characters = 0;
#pragma omp simd reduction(+ : characters)
                       for (int i = 0; i < n; ++i)
                         characters += (from[i] & 0xc0) != 0x80;
                       count[0] = characters;
                     },
                 .outputs = {bits(count)},
                 .prepare = clearer(count)});
}

void upperCase(Kinds::Group &group) {
  constexpr int n = 8 << 20;
  Data<uint8_t> in(n), out(n);
  fill(in, 1, 32, 127);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, in, out),
                 .loop =
                     [&] {
                       const uint8_t *from = in.get();
                       uint8_t *to = out.get();
#pragma omp simd
                       for (int i = 0; i < n; ++i)
                         to[i] = static_cast<uint8_t>(
                             from[i] >= 'a' && from[i] <= 'z' ? from[i] - 32 : from[i]);
                     },
                 .outputs = {bits(out)}});
}

/// `lanes` messages at once, each word an array of them.
template <size_t lanes> void hashMd5(const unsigned *sines, const unsigned *in, unsigned *out) {
  using Words = unsigned[lanes];
  static constexpr int shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
  Words w[16], a, b, c, d;
  for (size_t m = 0; m < lanes; ++m) {
    for (size_t k = 0; k < 16; ++k)
      w[k][m] = in[m * 16 + k];
    a[m] = 0x67452301, b[m] = 0xefcdab89, c[m] = 0x98badcfe, d[m] = 0x10325476;
  }
  for (unsigned k = 0; k < 64; ++k) {
    const unsigned g = k < 16 ? k : (k < 32 ? 5 * k + 1 : k < 48 ? 3 * k + 5 : 7 * k) % 16;
    const int shift = shifts[k / 16 * 4 + k % 4];
#pragma omp simd
    for (size_t m = 0; m < lanes; ++m) {
      unsigned f = k < 16   ? (b[m] & c[m]) | (~b[m] & d[m])
                   : k < 32 ? (d[m] & b[m]) | (~d[m] & c[m])
                   : k < 48 ? b[m] ^ c[m] ^ d[m]
                            : c[m] ^ (b[m] | ~d[m]);
      f += a[m] + sines[k] + w[g][m];
      a[m] = d[m];
      d[m] = c[m];
      c[m] = b[m];
      b[m] += f << shift | f >> (32 - shift);
    }
  }
  for (size_t m = 0; m < lanes; ++m) {
    out[m * 4] = a[m] + 0x67452301;
    out[m * 4 + 1] = b[m] + 0xefcdab89;
    out[m * 4 + 2] = c[m] + 0x98badcfe;
    out[m * 4 + 3] = d[m] + 0x10325476;
  }
}

void md5(Kinds::Group &group) {
  constexpr int n = 1 << 15;
  Data<unsigned> sines(64), in(16 * n), out(4 * n);
  for (int k = 0; k < 64; ++k)
    sines[k] = static_cast<unsigned>(std::abs(__builtin_sin(k + 1)) * 4294967296.0);
  fill(in, 1, 0, 4e9);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, sines, in, out),
                 .loop =
                     [&] {
                       for (int i = 0; i < n; i += 16)
                         hashMd5<16>(sines.get(), in.get() + 16 * i, out.get() + 4 * i);
                     },
                 .outputs = {bits(out)}});
}

void aesRounds(Kinds::Group &group) {
  constexpr int n = 1 << 17;
  Data<unsigned> tables(1024), keys(36), in(4 * n), out(4 * n);
  fill(tables, 1, 0, 4e9);
  fill(keys, 2, 0, 4e9);
  fill(in, 3, 0, 4e9);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, tables, keys, in, out),
                 .loop =
                     [&] {
                       const unsigned *t = tables.get(), *key = keys.get();
                       for (int i = 0; i < n; ++i) {
                         std::array<unsigned, 4> s, d;
                         std::memcpy(s.data(), in.get() + 4 * i, 16);
                         for (int r = 0; r < 9; ++r, s = d)
                           for (unsigned k = 0; k < 4; ++k)
                             d[k] = t[s[k] & 255] ^ t[256 + (s[(k + 1) % 4] >> 8 & 255)] ^
                                    t[512 + (s[(k + 2) % 4] >> 16 & 255)] ^
                                    t[768 + (s[(k + 3) % 4] >> 24)] ^ key[4 * r + k];
                         std::memcpy(out.get() + 4 * i, s.data(), 16);
                       }
                     },
                 .outputs = {bits(out)}});
}

void findPattern(Kinds::Group &group) {
  constexpr int n = 2 << 20;
  const int length = 5;
  Data<uint8_t> text(n), pattern(16), found(n);
  fill(text, 1, 'a', 'e');
  fill(pattern, 2, 'a', 'e');
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, length, text, pattern, found),
                 .loop =
                     [&] {
                       const uint8_t *from = text.get(), *what = pattern.get();
                       uint8_t *to = found.get();
                       std::memset(to, 1, n - length + 1);
                       for (int k = 0; k < length; ++k)
#pragma omp simd
                         for (int i = 0; i <= n - length; ++i)
                           to[i] &= from[i + k] == what[k];
                     },
                 .outputs = {bits(found)}});
}

template <size_t lanes> void quarter(unsigned (*x)[lanes], size_t a, size_t b, size_t c, size_t d) {
#pragma omp simd
  for (size_t m = 0; m < lanes; ++m) {
    x[a][m] += x[b][m], x[d][m] = std::rotl(x[d][m] ^ x[a][m], 16);
    x[c][m] += x[d][m], x[b][m] = std::rotl(x[b][m] ^ x[c][m], 12);
    x[a][m] += x[b][m], x[d][m] = std::rotl(x[d][m] ^ x[a][m], 8);
    x[c][m] += x[d][m], x[b][m] = std::rotl(x[b][m] ^ x[c][m], 7);
  }
}

template <size_t lanes> void streamBlocks(const unsigned *key, unsigned first, unsigned *out) {
  unsigned x[16][lanes];
  for (size_t k = 0; k < 16; ++k)
    for (size_t m = 0; m < lanes; ++m)
      x[k][m] = key[k] + (k == 12 ? first + static_cast<unsigned>(m) : 0);
  for (int r = 0; r < 10; ++r) {
    for (size_t k = 0; k < 4; ++k)
      quarter(x, k, 4 + k, 8 + k, 12 + k);
    for (size_t k = 0; k < 4; ++k)
      quarter(x, k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4);
  }
  for (size_t m = 0; m < lanes; ++m)
    for (size_t k = 0; k < 16; ++k)
      out[m * 16 + k] = x[k][m] + key[k] + (k == 12 ? first + static_cast<unsigned>(m) : 0);
}

void chacha(Kinds::Group &group) {
  constexpr int n = 1 << 15;
  Data<unsigned> key(16), out(16 * n);
  fill(key, 1, 0, 4e9);
  group.measure({.grid = {n / 256},
                 .block = {256},
                 .arguments = args(n, key, out),
                 .loop =
                     [&] {
                       for (unsigned i = 0; i < n; i += 16)
                         streamBlocks<16>(key.get(), i, out.get() + 16 * i);
                     },
                 .outputs = {bits(out)}});
}

} // namespace

void measureBytes(Kinds &kinds) {
  kinds.measureAll("bytes", {{"base64", base64},
                             {"crc32", crc32},
                             {"fnv64", fnv64},
                             {"utf8Count", utf8Count},
                             {"upperCase", upperCase},
                             {"md5", md5},
                             {"aesRounds", aesRounds},
                             {"findPattern", findPattern},
                             {"chacha", chacha}});
}

} // namespace ptxrun::bench::kinds
