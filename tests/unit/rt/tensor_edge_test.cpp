// Boxes far outside of their tensors, and maps that nobody encoded.
#include <climits>
#include <cstring>
#include <random>

#include "tests/unit/rt/tensor_fixture.h"

namespace ptxrun::rt::test {
namespace {

constexpr int32_t kFar[] = {INT32_MIN, INT32_MIN + 1, -(1 << 30),
                            1 << 30,   INT32_MAX - 1, INT32_MAX};

/// A 4-dimensional tensor of 16 x 5 x 4 x 3 words.
struct Images {
  std::vector<uint32_t> data = std::vector<uint32_t>(16 * 5 * 4 * 3 + 8, 7);
  TensorShape shape;
  Images() {
    shape.type = TensorType::u32;
    shape.rank = 4;
    shape.address = (reinterpret_cast<uint64_t>(data.data()) + 31) / 32 * 32;
    shape.sizes = {16, 5, 4, 3};
    shape.strides = {64, 320, 1280};
    shape.swizzle = TensorSwizzle::bytes64;
  }
};

void expectZeros(Copy &c) {
  Failure f = perform(c);
  ASSERT_EQ(f.status, Status::ok) << f.message;
  EXPECT_EQ(c.image, std::vector<uint8_t>(c.bytes, 0));
}

TEST(TensorEdge, TilesFarOutsideAreFilled) {
  Images images;
  Copy c;
  ASSERT_EQ(encodeTiled(&c.map, images.shape, {16, 3, 2, 1}), "");
  c.bytes = 64 * 6;
  for (uint32_t dimension = 0; dimension < 4; ++dimension)
    for (int32_t far : kFar) {
      std::memset(c.coordinates, 0, sizeof c.coordinates);
      c.coordinates[dimension] = far;
      expectZeros(c);
    }
}

TEST(TensorEdge, PixelsFarOutsideAreFilled) {
  Images images;
  Copy c;
  ASSERT_EQ(encodeIm2col(&c.map, images.shape, {-1, -1}, {-1, -1}, 16, 8), "");
  for (abi::TensorMode mode : {abi::TensorMode::im2col, abi::TensorMode::im2colNoOffsets,
                               abi::TensorMode::im2colW, abi::TensorMode::im2colW128}) {
    c.mode = mode;
    bool isWide = mode == abi::TensorMode::im2colW || mode == abi::TensorMode::im2colW128;
    c.offsets[0] = isWide ? 31 : 255;
    c.offsets[1] = isWide ? 31 : 255;
    c.bytes = 64 * (mode == abi::TensorMode::im2colW128 ? 252 : isWide ? 39 : 8);
    for (uint32_t dimension : {0u, 3u})
      for (int32_t far : kFar) {
        std::memset(c.coordinates, 0, sizeof c.coordinates);
        c.coordinates[dimension] = far;
        expectZeros(c);
      }
  }
}

TEST(TensorEdge, StoresFarOutsideChangeNothing) {
  Images images;
  const auto before = images.data;
  Copy c;
  ASSERT_EQ(encodeTiled(&c.map, images.shape, {16, 3, 2, 1}), "");
  c.bytes = 64 * 6;
  c.image.assign(c.bytes, 0xff);
  for (auto direction : {Copy::store, Copy::reduce})
    for (uint32_t dimension = 0; dimension < 4; ++dimension)
      for (int32_t far : kFar) {
        c.direction = direction;
        std::memset(c.coordinates, 0, sizeof c.coordinates);
        c.coordinates[dimension] = far;
        ASSERT_EQ(perform(c).status, Status::ok);
        EXPECT_EQ(images.data, before);
      }
}

TEST(TensorEdge, InterleavedSlicesFarOutsideAreFilled) {
  Images images;
  Copy c;
  images.shape.swizzle = TensorSwizzle::none;
  images.shape.interleave = TensorInterleave::bytes16;
  images.shape.strides = {16, 80, 1280};
  ASSERT_EQ(encodeTiled(&c.map, images.shape, {8, 3, 2, 1}), "");
  c.bytes = 16 * 3 * 2 * 2;
  for (uint32_t dimension = 0; dimension < 4; ++dimension)
    for (int32_t far : kFar) {
      std::memset(c.coordinates, 0, sizeof c.coordinates);
      c.coordinates[dimension] = far;
      expectZeros(c);
    }
}

TEST(TensorEdge, TheLargestTensorIsAddressedWithoutOverflow) {
  std::vector<uint32_t> data(64, 7);
  TensorShape shape;
  shape.type = TensorType::u32;
  shape.rank = 5;
  shape.address = (reinterpret_cast<uint64_t>(data.data()) + 15) / 16 * 16;
  shape.sizes.fill(uint64_t{1} << 32);
  shape.strides.fill((uint64_t{1} << 40) - 16);
  Copy c;
  ASSERT_EQ(encodeTiled(&c.map, shape, {4, 1, 1, 1, 1}), "");
  c.bytes = 16;
  ASSERT_EQ(perform(c).status, Status::ok);
  EXPECT_EQ(imageAs<uint32_t>(c), std::vector<uint32_t>(4, 7));
  for (int32_t &coordinate : c.coordinates)
    coordinate = INT32_MAX; // inside, and nowhere
  EXPECT_EQ(perform(c).status, Status::illegalAddress);
}

TEST(TensorEdge, MapsThatNobodyEncodedAreRefusedOrFault) {
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    Copy c;
    auto *bytes = reinterpret_cast<uint8_t *>(&c.map);
    for (size_t i = 4; i < sizeof c.map; ++i)
      bytes[i] = static_cast<uint8_t>(random() % 8 ? random() % 5 : random());
    c.mode = static_cast<abi::TensorMode>(random() % 6);
    c.map.address = 0x10;
    for (int32_t &coordinate : c.coordinates)
      coordinate = static_cast<int32_t>(random() % 9);
    c.direction = Copy::store;
    Failure f = perform(c);
    refused += f.status == Status::undefinedUse;
    ASSERT_TRUE(f.status == Status::undefinedUse || f.status == Status::illegalAddress ||
                f.status == Status::ok)
        << f.message;
  }
  EXPECT_GT(refused, 100);
}

} // namespace
} // namespace ptxrun::rt::test
