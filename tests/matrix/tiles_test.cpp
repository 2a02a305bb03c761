// The ways in which tiles are multiplied (intrinsics/matrix/tile.h), whichever of them the CPU at
// hand would take: against products in scalar arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "intrinsics/matrix/amx.h"
#include "intrinsics/matrix/decode.h"
#include "intrinsics/matrix/tile.h"
#include "intrinsics/matrix/vnni.h"

namespace ptxrun::matrix {
namespace {

/// Where row `row` (0 to 15) has column `column` of a block of 8 among its accumulators.
size_t accumulatorOf(unsigned row, unsigned column) {
  return (2 * (row / 8) + column % 2) * 32 + row % 8 * 4 + column / 2;
}

/// Tiles of random shapes: rows of the one are columns' partners of the other, some of them twice.
class RandomTiles {
 public:
  static constexpr unsigned kRows = 5, kColumns = 9; ///< fragments, blocks
  std::mt19937 random;
  std::vector<PanelTile> tiles;
  std::vector<uint16_t> numbers;
  unsigned accumulators = 0;

  explicit RandomTiles(unsigned seed) : random(seed) {
    const unsigned count = 1 + random() % 3;
    for (unsigned i = 0; i < count; ++i) {
      const auto blocks = uint16_t(1 + random() % kColumns), steps = uint16_t(1 + random() % 5);
      PanelTile tile = {blocks, steps, uint32_t(numbers.size()), 0, 0};
      addRandom(steps, kRows);
      tile.accumulators = uint32_t(numbers.size());
      for (unsigned n = 0; n < blocks; ++n)
        numbers.push_back(uint16_t(accumulators++));
      tile.columns = uint32_t(numbers.size());
      // Sometimes the columns of the tile before.
      if (i != 0 && random() % 2 && tiles.back().steps == steps && tiles.back().blocks == blocks)
        tile.columns = tiles.back().columns;
      else
        addRandom(size_t{steps} * blocks, kColumns);
      tiles.push_back(tile);
    }
  }

  template <class F> void forEach(F f) const {
    for (const PanelTile &tile : tiles)
      for (unsigned n = 0; n < tile.blocks; ++n)
        for (unsigned step = 0; step < tile.steps; ++step)
          f(numbers[tile.accumulators + n], numbers[tile.rows + step],
            numbers[tile.columns + step * tile.blocks + n]);
  }

 private:
  void addRandom(size_t count, unsigned limit) {
    for (size_t i = 0; i < count; ++i)
      numbers.push_back(uint16_t(random() % limit));
  }
};

/// As PanelTiles has it, on accumulators one behind the other.
struct Homes {
  std::vector<float> values;
  std::vector<float *> homes;
  Homes(unsigned count, size_t each) : values(count * each), homes(count) {
    for (unsigned i = 0; i < count; ++i)
      homes[i] = values.data() + i * each;
  }
};

PanelTiles tilesOf(const RandomTiles &r, Homes &homes) {
  PanelTiles t;
  t.tiles = r.tiles.data();
  t.count = unsigned(r.tiles.size());
  t.numbers = r.numbers.data();
  t.homes = homes.homes.data();
  return t;
}

Sum chainSum() {
  Operation o;
  o.a = o.b = Element::f16;
  o.c = o.d = Element::f32;
  o.m = 16, o.n = 8, o.k = 16;
  return sumOf(Policy::fast, o);
}

class Floats : public testing::TestWithParam<bool> {};

TEST_P(Floats, AreChainsOfFma) {
  const Sum sum = chainSum();
  ASSERT_EQ(sum.method, Sum::Method::chain);
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomTiles r(seed);
    const unsigned k = seed % 3 == 0 ? 8 : seed % 3 == 1 ? 16 : 64;
    std::vector<float> rows(RandomTiles::kRows * 16 * k), columns(RandomTiles::kColumns * 8 * k);
    const auto number = [&] { return float(int(r.random() % 4001) - 2000) / 512; };
    for (float &x : rows)
      x = number();
    for (float &x : columns)
      x = number();
    Homes homes(r.accumulators, 128);
    for (float &x : homes.values)
      x = number() * 1000;
    std::vector<float> expected = homes.values;
    r.forEach([&](unsigned d, unsigned a, unsigned b) {
      for (unsigned row = 0; row < 16; ++row)
        for (unsigned column = 0; column < 8; ++column) {
          float &x = expected[d * 128 + accumulatorOf(row, column)];
          for (unsigned i = 0; i < k; ++i)
            x = std::fma(rows[a * 16 * k + (row / 8 * (k / 4) + i / 4) * 32 + row % 8 * 4 + i % 4],
                         columns[b * 8 * k + i * 8 + column % 2 * 4 + column / 2], x);
        }
    });
    PanelTiles t = tilesOf(r, homes);
    t.rows = rows.data();
    t.rowPitch = 16 * k;
    t.columns = columns.data();
    t.columnPitch = 8 * k;
    t.isSpreading = GetParam();
    multiplyTiles(sum, k, t);
    ASSERT_EQ(std::memcmp(expected.data(), homes.values.data(), expected.size() * sizeof(float)), 0)
        << "seed " << seed << ", k = " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, Floats, testing::Bool(),
                         [](const auto &i) { return i.param ? "spread" : "asPrepared"; });

/// Bits of the nearest f16, ties to even.
uint16_t halfOf(float x) {
  if (std::isnan(x))
    return 0x7fff;
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const float size = std::abs(x);
  if (size >= 65520)
    return sign | 0x7c00;
  const int exponent = size < 0x1p-14f ? -14 : std::ilogb(size);
  const auto units = uint16_t(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return uint16_t(sign | ((exponent + 14) * 1024 + units));
}

float numberOf(uint16_t half) {
  const int exponent = half >> 10 & 31, units = half & 0x3ff;
  const float size = exponent == 31  ? (units ? NAN : INFINITY)
                     : exponent == 0 ? std::ldexp(float(units), -24)
                                     : std::ldexp(float(1024 + units), exponent - 25);
  return half & 0x8000 ? -size : size;
}

TEST(Tiles, RoundHalvesBehindEachStep) {
  const Sum sum = chainSum();
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomTiles r(seed);
    const unsigned k = seed % 2 ? 8 : 16;
    std::vector<float> rows(RandomTiles::kRows * 16 * k), columns(RandomTiles::kColumns * 8 * k);
    // Sums that need rounding, some below the normal numbers, some too large, a few not numbers.
    const auto number = [&] {
      const float x = float(int(r.random() % 4001) - 2000) / 512;
      const unsigned kind = r.random() % 400;
      return kind == 0    ? INFINITY
             : kind == 1  ? NAN
             : kind < 12  ? x * 64
             : kind < 200 ? x / 4096
                          : x;
    };
    for (float &x : rows)
      x = number();
    for (float &x : columns)
      x = number();
    Homes homes(r.accumulators, 64); // 128 halves: [half of rows][row][4 times even, odd]
    std::vector<uint16_t> halves(size_t{r.accumulators} * 128);
    for (uint16_t &x : halves)
      x = halfOf(number() * 100);
    std::memcpy(homes.values.data(), halves.data(), halves.size() * sizeof(uint16_t));
    r.forEach([&](unsigned d, unsigned a, unsigned b) {
      for (unsigned row = 0; row < 16; ++row)
        for (unsigned column = 0; column < 8; ++column) {
          uint16_t &half = halves[d * 128 + row * 8 + column];
          float x = numberOf(half);
          for (unsigned i = 0; i < k; ++i)
            x = std::fma(rows[a * 16 * k + (row / 8 * (k / 4) + i / 4) * 32 + row % 8 * 4 + i % 4],
                         columns[b * 8 * k + i * 8 + column % 2 * 4 + column / 2], x);
          half = halfOf(x);
        }
    });
    PanelTiles t = tilesOf(r, homes);
    t.hasHalves = true;
    t.rows = rows.data();
    t.rowPitch = 16 * k;
    t.columns = columns.data();
    t.columnPitch = 8 * k;
    multiplyTiles(sum, k, t);
    EXPECT_EQ(std::memcmp(halves.data(), homes.values.data(), halves.size() * 2), 0)
        << "seed " << seed << ", k = " << k;
  }
}

TEST(Tiles, ArePreparedFromScatteredPieces) {
  std::mt19937 random(1);
  for (Element element : {Element::f16, Element::bf16, Element::tf32, Element::e4m3, Element::e5m2,
                          Element::e3m2, Element::e2m3})
    for (unsigned pieces = 1; pieces <= 4; ++pieces) {
      const unsigned perPiece = bitsOf(element) == 32 || element == Element::tf32 ? 4
                                : bitsOf(element) == 16                           ? 8
                                                                                  : 16;
      const unsigned k = pieces * perPiece;
      std::vector<char> memory(8192);
      for (char &x : memory)
        x = char(random());
      uint32_t places[8 * 4];
      for (uint32_t &place : places)
        place = random() % 500 * 16;
      const Pieces of = {memory.data(), places};
      const auto numberAt = [&](unsigned row, unsigned i) {
        std::vector<float> piece(perPiece);
        decode(element, Packing::byteEach, memory.data() + places[i / perPiece * 8 + row], perPiece,
               piece.data());
        return piece[i % perPiece];
      };
      const auto expectSame = [&](float expected, float got, unsigned row, unsigned i) {
        if (std::isnan(expected))
          EXPECT_TRUE(std::isnan(got)) << int(element) << " " << row << " " << i;
        else
          EXPECT_EQ(expected, got) << int(element) << " " << row << " " << i;
      };
      std::vector<float> rows(16 * k), columns(2 * 8 * k + 5), plainRows(16 * (k + 3)),
          plainColumns(k * 21);
      const Pieces halves[2] = {of, of}, blocks[2] = {of, of};
      prepareRows(element, k, halves, 1, rows.data(), 0);
      prepareColumns(element, k, blocks, 2, columns.data(), 8 * k + 5);
      decodeRows(element, k, blocks, 2, plainRows.data(), k + 3);
      decodeColumns(element, k, blocks, 2, plainColumns.data(), 21);
      for (unsigned row = 0; row < 8; ++row)
        for (unsigned i = 0; i < k; ++i) {
          const float expected = numberAt(row, i);
          for (unsigned twice = 0; twice < 2; ++twice) {
            expectSame(expected, rows[twice * 8 * k + i / 4 * 32 + row * 4 + i % 4], row, i);
            expectSame(expected, columns[twice * (8 * k + 5) + i * 8 + row % 2 * 4 + row / 2], row,
                       i);
            expectSame(expected, plainRows[(twice * 8 + row) * (k + 3) + i], row, i);
            expectSame(expected, plainColumns[i * 21 + twice * 8 + row], row, i);
          }
        }
    }
}

class Bytes : public testing::TestWithParam<ByteUnit> {};

TEST_P(Bytes, AreExactSums) {
  const ByteUnit unit = GetParam();
  if ((unit == ByteUnit::vnni && !hasVnni()) || (unit == ByteUnit::amx && !hasAmx()))
    GTEST_SKIP() << "not on this CPU";
  for (unsigned seed = 0; seed < 160; ++seed) {
    RandomTiles r(seed);
    const unsigned k = seed % 4 == 0 ? 16 : seed % 4 == 1 ? 32 : seed % 4 == 2 ? 64 : 128;
    const ByteProducts p = {unit, k, seed / 4 % 2 == 0, seed / 8 % 2 == 0, seed / 16 % 2 == 0};
    std::vector<uint32_t> a(RandomTiles::kRows * 4 * k), b(RandomTiles::kColumns * 2 * k);
    for (uint32_t &x : a)
      x = uint32_t(r.random());
    for (uint32_t &x : b)
      x = uint32_t(r.random());
    const auto byteOf = [](const uint32_t *words, size_t at, bool isSigned) {
      const auto byte = reinterpret_cast<const uint8_t *>(words)[at];
      return isSigned ? int(int8_t(byte)) : int(byte);
    };
    Homes homes(r.accumulators, 128);
    std::vector<int32_t> expected(homes.values.size());
    for (int32_t &x : expected) // some of them where sums saturate
      x = r.random() % 4 ? int32_t(r.random() % 100000) - 50000
                         : int32_t(r.random() % 2 ? INT32_MAX - r.random() % 1000
                                                  : INT32_MIN + r.random() % 1000);
    std::memcpy(homes.values.data(), expected.data(), expected.size() * sizeof(int32_t));
    r.forEach([&](unsigned d, unsigned rows, unsigned columns) {
      for (unsigned row = 0; row < 16; ++row)
        for (unsigned column = 0; column < 8; ++column) {
          int64_t sum = 0;
          for (unsigned i = 0; i < k; ++i) // a register is 8 rows of 16 bytes, halves by turns
            sum += byteOf(a.data() + rows * 4 * k,
                          (i / 16 * 2 + row / 8) * 128 + row % 8 * 16 + i % 16, p.isSignedA) *
                   byteOf(b.data() + columns * 2 * k, i / 16 * 128 + column * 16 + i % 16,
                          p.isSignedB);
          int32_t &x = expected[d * 128 + accumulatorOf(row, column)];
          const int64_t total = x + sum;
          x = p.isSaturating
                  ? int32_t(std::min<int64_t>(std::max<int64_t>(total, INT32_MIN), INT32_MAX))
                  : int32_t(uint32_t(total));
        }
    });
    std::vector<int32_t> rows(RandomTiles::kRows * preparedIntegersA(k)),
        columns(RandomTiles::kColumns * preparedIntegersB(k));
    PanelTiles t = tilesOf(r, homes);
    t.rowPitch = preparedIntegersA(k);
    t.columnPitch = preparedIntegersB(k);
    t.areRowsRegisters = takesRegisters(p);
    t.flippedRows = t.areRowsRegisters && p.isSignedA ? 0x80808080u : 0;
    for (unsigned i = 0; i < RandomTiles::kRows; ++i) {
      int32_t *to = rows.data() + i * t.rowPitch;
      if (t.areRowsRegisters)
        std::memcpy(to, a.data() + i * 4 * k, 4 * k * sizeof *to);
      else
        prepareIntegerRows(p, a.data() + i * 4 * k, to);
    }
    prepareIntegerColumns(p, b.data(), columns.data(), RandomTiles::kColumns, t.columnPitch);
    t.rows = reinterpret_cast<const float *>(rows.data());
    t.columns = reinterpret_cast<const float *>(columns.data());
    multiplyIntegerTiles(p, t);
    ASSERT_EQ(std::memcmp(expected.data(), homes.values.data(), expected.size() * sizeof(int32_t)),
              0)
        << "seed " << seed << ", k = " << k << ", signed " << p.isSignedA << p.isSignedB
        << ", saturating " << p.isSaturating;
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, Bytes,
                         testing::Values(ByteUnit::vectors, ByteUnit::vnni, ByteUnit::amx),
                         [](const auto &i) {
                           return i.param == ByteUnit::vectors ? "vectors"
                                  : i.param == ByteUnit::vnni  ? "vnni"
                                                               : "amx";
                         });

} // namespace
} // namespace ptxrun::matrix
