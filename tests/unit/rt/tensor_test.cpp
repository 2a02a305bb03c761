#include <cstring>

#include "tests/unit/rt/tensor_fixture.h"

namespace ptxrun::rt::test {
namespace {

std::vector<uint32_t> counted(size_t n) {
  std::vector<uint32_t> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = static_cast<uint32_t>(i) + 1;
  return v;
}

/// 3-dimensional tensor of u32: 20 x 9 x 5 in rows padded to 24.
struct Cube {
  static constexpr int64_t kX = 20, kY = 9, kZ = 5, kPitch = 24;
  std::vector<uint32_t> data = counted(kPitch * kY * kZ);
  TensorShape shape;
  Cube() {
    shape.type = TensorType::u32;
    shape.rank = 3;
    shape.address = reinterpret_cast<uint64_t>(data.data());
    shape.sizes = {kX, kY, kZ};
    shape.strides = {kPitch * 4, kPitch * kY * 4};
  }
  uint32_t *at(int64_t x, int64_t y, int64_t z) {
    bool isInside = x >= 0 && x < kX && y >= 0 && y < kY && z >= 0 && z < kZ;
    return isInside ? &data[static_cast<size_t>(x + kPitch * (y + kY * z))] : nullptr;
  }
};

TEST(TensorCopy, LoadsBoxesAndFillsWhatLiesOutsideWithZeros) {
  Cube cube;
  struct Case {
    int32_t x, y, z;
    uint32_t strideY;
  };
  for (Case t : {Case{0, 0, 0, 1}, Case{4, 3, 1, 1}, Case{-4, -2, -1, 1}, Case{16, 7, 4, 1},
                 Case{0, 1, 0, 2}, Case{100, 0, 0, 1}, Case{-8, 0, 0, 3}}) {
    Copy c;
    cube.shape.elementStrides = {1, t.strideY, 1};
    ASSERT_EQ(encodeTiled(&c.map, cube.shape, {8, 6, 2}), "");
    uint32_t rows = (6 + t.strideY - 1) / t.strideY;
    c.coordinates[0] = t.x, c.coordinates[1] = t.y, c.coordinates[2] = t.z;
    c.bytes = 8 * rows * 2 * 4;
    Failure f = perform(c);
    ASSERT_EQ(f.status, Status::ok) << f.message;
    auto seen = imageAs<uint32_t>(c);
    size_t i = 0;
    for (int z = 0; z < 2; ++z)
      for (uint32_t y = 0; y < rows; ++y)
        for (int x = 0; x < 8; ++x, ++i) {
          uint32_t *p = cube.at(t.x + x, t.y + y * t.strideY, t.z + z);
          ASSERT_EQ(seen[i], p ? *p : 0) << i << " at " << t.x << "," << t.y << "," << t.z;
        }
  }
}

TEST(TensorCopy, FillsWithNanWhereTheMapSaysSo) {
  Cube cube;
  cube.shape.type = TensorType::f32;
  cube.shape.fill = TensorFill::nan;
  Copy c;
  ASSERT_EQ(encodeTiled(&c.map, cube.shape, {4, 1, 1}), "");
  c.coordinates[0] = 18;
  c.bytes = 16;
  ASSERT_EQ(perform(c).status, Status::ok);
  auto seen = imageAs<uint32_t>(c);
  EXPECT_EQ(seen[1], *cube.at(19, 0, 0));
  EXPECT_EQ(seen[2], 0x7ff77ff7u);
}

TEST(TensorCopy, StoresOnlyWhatLiesInside) {
  Cube cube;
  auto before = cube.data;
  Copy c;
  c.direction = Copy::store;
  ASSERT_EQ(encodeTiled(&c.map, cube.shape, {8, 3, 1}), "");
  c.coordinates[0] = 16, c.coordinates[1] = 7, c.coordinates[2] = 2;
  c.bytes = 8 * 3 * 4;
  auto box = counted(24);
  c.image.resize(c.bytes);
  std::memcpy(c.image.data(), box.data(), c.bytes);
  ASSERT_EQ(perform(c).status, Status::ok);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 4; ++x) {
      EXPECT_EQ(*cube.at(16 + x, 7 + y, 2), box[static_cast<size_t>(y * 8 + x)]);
      before[static_cast<size_t>(cube.at(16 + x, 7 + y, 2) - cube.data.data())] =
          *cube.at(16 + x, 7 + y, 2);
    }
  EXPECT_EQ(cube.data, before) << "nothing else has changed";
}

TEST(TensorCopy, ReducesIntoTheTensor) {
  Cube cube;
  auto before = cube.data;
  Copy c;
  c.direction = Copy::reduce;
  ASSERT_EQ(encodeTiled(&c.map, cube.shape, {4, 2, 1}), "");
  c.coordinates[0] = 4;
  c.bytes = 32;
  auto box = counted(8);
  c.image.resize(32);
  std::memcpy(c.image.data(), box.data(), 32);
  ASSERT_EQ(perform(c).status, Status::ok);
  EXPECT_EQ(*cube.at(5, 1, 0), before[24 + 5] + box[5]);
}

// The tables of the manual, 5.5.7: the 16-byte unit that stands at each place of each 128-byte
// line.
struct Pattern {
  TensorSwizzle swizzle;
  TensorAtomicity atomicity;
  std::vector<std::vector<int>> lines;
};
const Pattern kPatterns[] = {
    {TensorSwizzle::none, TensorAtomicity::bytes16, {{0, 1, 2, 3, 4, 5, 6, 7}}},
    {TensorSwizzle::bytes32,
     TensorAtomicity::bytes16,
     {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}}},
    {TensorSwizzle::bytes64,
     TensorAtomicity::bytes16,
     {{0, 1, 2, 3, 4, 5, 6, 7},
      {1, 0, 3, 2, 5, 4, 7, 6},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {3, 2, 1, 0, 7, 6, 5, 4}}},
    {TensorSwizzle::bytes128,
     TensorAtomicity::bytes16,
     {{0, 1, 2, 3, 4, 5, 6, 7},
      {1, 0, 3, 2, 5, 4, 7, 6},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {3, 2, 1, 0, 7, 6, 5, 4},
      {4, 5, 6, 7, 0, 1, 2, 3},
      {5, 4, 7, 6, 1, 0, 3, 2},
      {6, 7, 4, 5, 2, 3, 0, 1},
      {7, 6, 5, 4, 3, 2, 1, 0}}},
    {TensorSwizzle::bytes128,
     TensorAtomicity::bytes32,
     {{0, 1, 2, 3, 4, 5, 6, 7},
      {2, 3, 0, 1, 6, 7, 4, 5},
      {4, 5, 6, 7, 0, 1, 2, 3},
      {6, 7, 4, 5, 2, 3, 0, 1}}},
    {TensorSwizzle::bytes128,
     TensorAtomicity::bytes64,
     {{0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}}},
};

TEST(TensorCopy, SwizzlesAsTheManualsTables) {
  for (const Pattern &p : kPatterns) {
    uint32_t inner = p.swizzle == TensorSwizzle::bytes32   ? 8
                     : p.swizzle == TensorSwizzle::bytes64 ? 16
                                                           : 32;
    constexpr uint32_t kLines = 32;
    uint32_t rows = kLines * 32 / inner;
    auto data = counted(inner * rows);
    TensorShape shape;
    shape.type = TensorType::u32;
    shape.rank = 2;
    shape.address = reinterpret_cast<uint64_t>(data.data());
    shape.sizes = {inner, rows};
    shape.strides = {inner * 4};
    shape.swizzle = p.swizzle;
    shape.atomicity = p.atomicity;
    Copy c;
    ASSERT_EQ(encodeTiled(&c.map, shape, {inner, rows}), "");
    c.bytes = kLines * 128;
    Failure f = perform(c);
    ASSERT_EQ(f.status, Status::ok) << f.message;
    auto seen = imageAs<uint32_t>(c);
    for (uint32_t line = 0; line < kLines; ++line)
      for (uint32_t unit = 0; unit < 8; ++unit)
        for (uint32_t word = 0; word < 4; ++word) {
          auto source = static_cast<uint32_t>(p.lines[line % p.lines.size()][unit]);
          ASSERT_EQ(seen[line * 32 + unit * 4 + word], data[line * 32 + source * 4 + word])
              << "line " << line << " unit " << unit;
        }
    // And back: storing the swizzled box gives the tensor again.
    auto expected = data;
    std::fill(data.begin(), data.end(), 0);
    c.direction = Copy::store;
    ASSERT_EQ(perform(c).status, Status::ok);
    EXPECT_EQ(data, expected);
  }
}

TEST(TensorCopy, GathersAndScattersFourRows) {
  constexpr uint32_t kRows = 12, kColumns = 16;
  auto data = counted(kRows * kColumns);
  TensorShape shape;
  shape.type = TensorType::u32;
  shape.rank = 2;
  shape.address = reinterpret_cast<uint64_t>(data.data());
  shape.sizes = {kColumns, kRows};
  shape.strides = {kColumns * 4};
  Copy c;
  ASSERT_EQ(encodeTiled(&c.map, shape, {8, 1}), "");
  c.mode = abi::TensorMode::tile4;
  int32_t coordinates[] = {4, 2, 5, 0, 9};
  std::memcpy(c.coordinates, coordinates, sizeof coordinates);
  c.bytes = 4 * 8 * 4;
  ASSERT_EQ(perform(c).status, Status::ok);
  auto seen = imageAs<uint32_t>(c);
  for (size_t r = 0; r < 4; ++r)
    for (size_t x = 0; x < 8; ++x)
      EXPECT_EQ(seen[r * 8 + x], data[static_cast<size_t>(coordinates[r + 1]) * kColumns + 4 + x]);
  auto expected = data;
  std::fill(data.begin(), data.end(), 0);
  c.direction = Copy::store;
  ASSERT_EQ(perform(c).status, Status::ok);
  EXPECT_EQ(data[5 * kColumns + 4], expected[5 * kColumns + 4]);
  EXPECT_EQ(data[5 * kColumns + 3], 0u);
  EXPECT_EQ(data[1 * kColumns + 4], 0u);
}

/// The pixels of an im2col copy by counting through the box, not by stepping.
TEST(TensorCopy, Im2colWalksTheManualsBoundingBoxes) {
  constexpr int64_t kC = 16, kW = 9, kH = 14, kN = 3;
  auto data = counted(kC * kW * kH * kN);
  TensorShape shape;
  shape.type = TensorType::u32;
  shape.rank = 4;
  shape.address = reinterpret_cast<uint64_t>(data.data());
  shape.sizes = {kC, kW, kH, kN};
  shape.strides = {kC * 4, kC * kW * 4, kC * kW * kH * 4};
  struct Case {
    std::array<int, 3> lower, upper;
    int32_t c, w, h, n;
    uint16_t offW, offH;
  };
  for (Case t :
       {Case{{-1, -1}, {-1, -1}, 4, 7, 4, 0, 0, 0}, Case{{0, 0}, {-2, -2}, 8, 6, 4, 0, 2, 2},
        Case{{-1, -1}, {-1, -1}, 0, -1, -1, 2, 1, 2}, Case{{0, 0}, {-2, -2}, 12, 0, 9, 2, 0, 1}}) {
    Copy c;
    ASSERT_EQ(encodeIm2col(&c.map, shape, t.lower, t.upper, 8, 64), "");
    c.mode = abi::TensorMode::im2col;
    int32_t coordinates[] = {t.c, t.w, t.h, t.n, 0};
    std::memcpy(c.coordinates, coordinates, sizeof coordinates);
    c.offsets[0] = t.offW, c.offsets[1] = t.offH;
    c.bytes = 64 * 8 * 4;
    Failure f = perform(c);
    ASSERT_EQ(f.status, Status::ok) << f.message;
    auto seen = imageAs<uint32_t>(c);
    int64_t width = kW + t.upper[0] - t.lower[0], height = kH + t.upper[1] - t.lower[1];
    int64_t start = (t.n * height + t.h - t.lower[1]) * width + t.w - t.lower[0];
    for (int64_t pixel = 0; pixel < 64; ++pixel) {
      int64_t at = start + pixel;
      int64_t w = at % width + t.lower[0] + t.offW, h = at / width % height + t.lower[1] + t.offH;
      int64_t n = at / width / height;
      for (int64_t ch = 0; ch < 8; ++ch) {
        bool isInside = w >= 0 && w < kW && h >= 0 && h < kH && n < kN && t.c + ch < kC;
        uint32_t expected =
            isInside ? data[static_cast<size_t>(t.c + ch + kC * (w + kW * (h + kH * n)))] : 0;
        ASSERT_EQ(seen[static_cast<size_t>(pixel * 8 + ch)], expected) << pixel << " " << ch;
      }
    }
  }
}

TEST(TensorCopy, RoundsToTf32AndFlushesSubnormals) {
  alignas(16) uint32_t data[4] = {0x3f801fff, 0x3f801000, 0x3f803000, 0x00000001};
  TensorShape shape;
  shape.rank = 1;
  shape.address = reinterpret_cast<uint64_t>(data);
  shape.sizes = {4};
  auto load = [&](TensorType type) {
    shape.type = type;
    Copy c;
    EXPECT_EQ(encodeTiled(&c.map, shape, {4}), "");
    c.bytes = 16;
    EXPECT_EQ(perform(c).status, Status::ok);
    return imageAs<uint32_t>(c);
  };
  EXPECT_EQ(load(TensorType::f32), std::vector<uint32_t>(data, data + 4));
  EXPECT_EQ(load(TensorType::f32Ftz)[3], 0u);
  // Ties go to even: ...1000 down to even, ...3000 up to even.
  EXPECT_EQ(load(TensorType::tf32), (std::vector<uint32_t>{0x3f802000, 0x3f800000, 0x3f804000, 0}));
}

TEST(TensorCopy, NamesWhatItCannotDo) {
  Cube cube;
  auto messageOf = [](Copy &c) {
    c.bytes = 16;
    Failure f = perform(c);
    EXPECT_EQ(f.status, Status::undefinedUse);
    return f.message;
  };
  Copy c;
  std::memset(static_cast<void *>(&c.map), 0, sizeof c.map);
  EXPECT_NE(messageOf(c).find("not one that cuTensorMapEncode made"), std::string::npos);
  ASSERT_EQ(encodeTiled(&c.map, cube.shape, {4, 1, 1}), "");
  c.mode = abi::TensorMode::im2col;
  EXPECT_NE(messageOf(c).find("encoded for another mode"), std::string::npos);
  c.mode = abi::TensorMode::tile;
  c.map.box[0] = 2;
  EXPECT_NE(messageOf(c).find("multiple of 16 bytes"), std::string::npos);
  c.map.elementStride[1] = 0;
  EXPECT_NE(messageOf(c).find("not one that cuTensorMapEncode made"), std::string::npos);
}

TEST(TensorMap, EncodingChecksTheDriversRules) {
  Cube cube;
  TensorMap map;
  auto with = [&](auto change, std::array<uint32_t, 5> box) {
    TensorShape s = cube.shape;
    change(s);
    return encodeTiled(&map, s, box);
  };
  auto nothing = [](TensorShape &) {};
  EXPECT_EQ(with(nothing, {4, 1, 1}), "");
  EXPECT_NE(with(nothing, {3, 1, 1}), "") << "12 bytes";
  EXPECT_NE(with(nothing, {260, 1, 1}), "");
  EXPECT_NE(with([](TensorShape &s) { s.rank = 6; }, {4, 1, 1}), "");
  EXPECT_NE(with([](TensorShape &s) { s.address += 8; }, {4, 1, 1}), "");
  EXPECT_NE(with([](TensorShape &s) { s.strides[0] = 40; }, {4, 1, 1}), "");
  EXPECT_NE(with([](TensorShape &s) { s.elementStrides[1] = 9; }, {4, 1, 1}), "");
  EXPECT_NE(with([](TensorShape &s) { s.swizzle = TensorSwizzle::bytes32; }, {16, 1, 1}), "");
  EXPECT_NE(with([](TensorShape &s) { s.fill = TensorFill::nan; }, {4, 1, 1}), "");
}

struct Replace {
  TensorMap map;
};
void replaceGang(const Launch *l, Cta *, Gang *g) {
  auto &r = **static_cast<Replace *const *>(l->params);
  using F = abi::TensorField;
  ptxrun_tensormap_replace(g, &r.map, F::globalAddress, 0, 0x10000);
  ptxrun_tensormap_replace(g, &r.map, F::rank, 0, 1);
  ptxrun_tensormap_replace(g, &r.map, F::boxDim, 1, 7);
  ptxrun_tensormap_replace(g, &r.map, F::globalDim, 0, 99);
  ptxrun_tensormap_replace(g, &r.map, F::globalStride, 0, 400);
  ptxrun_tensormap_replace(g, &r.map, F::elementStride, 1, 2);
  ptxrun_tensormap_replace(g, &r.map, F::elementType, 0, 6);
  ptxrun_tensormap_replace(g, &r.map, F::swizzle, 0, 3);
  ptxrun_tensormap_replace(g, &r.map, F::fill, 0, 1);
}

TEST(TensorMap, ReplaceChangesOneField) {
  Replace r;
  ASSERT_EQ(encodeTiled(&r.map, Cube().shape, {4, 1, 1}), "");
  Replace *p = &r;
  ASSERT_EQ(run(launch(fiberKernel(replaceGang), {1}, {1}, &p)).status, Status::ok);
  EXPECT_EQ(r.map.address, 0x10000u);
  EXPECT_EQ(r.map.rank, 2);
  EXPECT_EQ(r.map.box[1], 7);
  EXPECT_EQ(r.map.size(0), 99u);
  EXPECT_EQ(r.map.stride[0], 400u);
  EXPECT_EQ(r.map.elementStride[1], 2);
  EXPECT_EQ(r.map.type, TensorType::f16);
  EXPECT_EQ(r.map.swizzle, TensorSwizzle::bytes128);
  EXPECT_EQ(r.map.fill, TensorFill::nan);
}

} // namespace
} // namespace ptxrun::rt::test
