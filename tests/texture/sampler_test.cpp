// The sampler against the model: every shape, format, filter and address mode, at W = 1, 8, 16 and
// 32 and on every CPU level, the same bits on all of them.
#include <gtest/gtest.h>

#include <cmath>

#include "rt/texture/kernels.h"
#include "tests/texture/image_maker.h"

namespace ptxrun::texture_test {
namespace {

using abi::TextureAction;
using abi::TextureGeometry;
using abi::TextureLevel;
using rt::AddressMode;
using rt::ChannelType;
using rt::ImageShape;

constexpr uint32_t kLanes = 32;
using Results = std::array<std::array<uint32_t, 4>, kLanes>;

Results run(void (*sample)(const rt::SampleCall &), const rt::Texture &t,
            const abi::TextureOperation &op, const std::vector<Operands> &lanes, uint32_t width) {
  Results results{};
  for (uint32_t first = 0; first < kLanes; first += width) {
    std::vector<uint32_t> in(abi::kTextureRows * width), out(abi::kTextureResults * width);
    for (uint32_t row = 0; row < abi::kTextureRows; ++row)
      for (uint32_t l = 0; l < width; ++l)
        in[row * width + l] = lanes[first + l][row];
    sample({&t, &t.sampler, op, width, in.data(), out.data()});
    for (uint32_t l = 0; l < width; ++l)
      for (uint32_t k = 0; k < 4; ++k)
        results[first + l][k] = out[k * width + l];
  }
  return results;
}

struct Level {
  const char *name;
  void (*sample)(const rt::SampleCall &);
};
std::vector<Level> levels() {
  std::vector<Level> all{{"sse4", rt::sampleOnSse4}};
  if (__builtin_cpu_supports("avx2"))
    all.push_back({"avx2", rt::sampleOnAvx2});
  if (__builtin_cpu_supports("avx512bw"))
    all.push_back({"avx512", rt::sampleOnAvx512});
  return all;
}

/// Lanes of a case against the model, and all widths and levels against each other.
void check(const rt::Texture &t, const abi::TextureOperation &op, std::mt19937 &random,
           const std::string &what) {
  std::vector<Operands> lanes;
  for (uint32_t l = 0; l < kLanes; ++l)
    lanes.push_back(makeOperands(t, op, t.sampler.isNormalized, random));
  const Results results = run(rt::sampleOnSse4, t, op, lanes, kLanes);
  for (const Level &level : levels())
    for (uint32_t width : {1, 8, 16, 32})
      ASSERT_EQ(run(level.sample, t, op, lanes, width), results)
          << what << " " << level.name << " W" << width;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const Fetched expected = model(t, t.sampler, op, lanes[l]);
    for (uint32_t k = 0; k < 4; ++k) {
      if (expected.isInteger)
        ASSERT_EQ(results[l][k], expected.bits[k]) << what << " lane " << l << " element " << k;
      else
        ASSERT_NEAR(floatOf(results[l][k]), expected.value[k], 4e-6)
            << what << " lane " << l << " element " << k;
    }
  }
}

struct Form {
  const char *name;
  TextureGeometry geometry;
  ImageShape shape;
  bool isLayered, isCube;
  uint32_t width, height, depth;
};
constexpr Form kForms[] = {
    {"1d", TextureGeometry::d1, ImageShape::d1, false, false, 32, 0, 0},
    {"2d", TextureGeometry::d2, ImageShape::d2, false, false, 16, 8, 0},
    {"2d, odd", TextureGeometry::d2, ImageShape::d2, false, false, 5, 3, 0},
    {"3d", TextureGeometry::d3, ImageShape::d3, false, false, 8, 4, 16},
    {"a1d", TextureGeometry::a1, ImageShape::d1, true, false, 16, 0, 5},
    {"a2d", TextureGeometry::a2, ImageShape::d2, true, false, 8, 16, 3},
    {"cube", TextureGeometry::cube, ImageShape::d2, false, true, 8, 8, 6},
    {"acube", TextureGeometry::acube, ImageShape::d2, true, true, 8, 8, 18},
};
constexpr AddressMode kModes[] = {AddressMode::wrap, AddressMode::mirror, AddressMode::clamp,
                                  AddressMode::border};

rt::Texture textureOf(const OwnImage &own, AddressMode mode, bool isLinear, bool isNormalized) {
  rt::Texture t;
  t.image = own.image;
  for (AddressMode &a : t.sampler.address)
    a = mode;
  t.sampler.isLinear = isLinear;
  t.sampler.isNormalized = isNormalized;
  t.sampler.maxLevel = 100;
  const float border[4] = {2, -3, 0.5f, 1};
  std::copy_n(border, 4, t.sampler.border);
  return t;
}

class Sampler : public testing::TestWithParam<Form> {
 protected:
  OwnImage image(uint32_t levels, ChannelType type, uint32_t channels) const {
    const Form &f = GetParam();
    return makeImage(f.shape, f.isLayered, f.isCube, f.width, f.height, f.depth, levels, type,
                     channels, 1, seed_++);
  }
  abi::TextureOperation operation() const {
    abi::TextureOperation op;
    op.geometry = GetParam().geometry;
    return op;
  }
  std::mt19937 random_{7};

 private:
  mutable uint32_t seed_ = 1;
};

TEST_P(Sampler, FiltersEveryFormatInEveryAddressMode) {
  for (int type = 0; type <= int(ChannelType::f32); ++type)
    for (uint32_t channels : {1, 2, 4}) {
      const OwnImage own = image(1, ChannelType(type), channels);
      for (AddressMode mode : kModes)
        for (int how = 0; how < 8; ++how) {
          rt::Texture t = textureOf(own, mode, how & 1, how & 2);
          t.read.isNormalizedFloat =
              !rt::isFloat(ChannelType(type)) && (how & 4) && rt::bytesOf(ChannelType(type)) < 4;
          check(t, operation(), random_,
                "type " + std::to_string(type) + " x" + std::to_string(channels) + " mode " +
                    std::to_string(int(mode)) + " how " + std::to_string(how));
          if (HasFatalFailure())
            return;
        }
    }
}

TEST_P(Sampler, TakesIntegerCoordinatesOffsetsAndDepths) {
  const bool isCube = GetParam().isCube;
  for (ChannelType type : {ChannelType::f32, ChannelType::u8}) {
    const OwnImage own = image(1, type, 1);
    for (AddressMode mode : kModes)
      for (int how = 0; how < 16; ++how) {
        rt::Texture t = textureOf(own, mode, how & 1, how & 2);
        abi::TextureOperation op = operation();
        op.hasIntegerCoordinates = !isCube && (how & 4);
        op.hasOffsets = !isCube && (how & 8);
        op.hasCompare = type == ChannelType::f32 && (how & 1) && op.geometry != TextureGeometry::d3;
        check(t, op, random_, "how " + std::to_string(how) + " mode " + std::to_string(int(mode)));
        if (HasFatalFailure())
          return;
      }
  }
}

TEST_P(Sampler, FindsLevelsOfMipmaps) {
  for (ChannelType type : {ChannelType::f32, ChannelType::u8, ChannelType::f16}) {
    const OwnImage own = image(4, type, 4);
    for (int how = 0; how < 16; ++how)
      for (TextureLevel level : {TextureLevel::base, TextureLevel::given, TextureLevel::gradient}) {
        rt::Texture t = textureOf(own, kModes[how & 3], how & 4, true);
        t.read.isNormalizedFloat = type == ChannelType::u8;
        t.sampler.isMipLinear = how & 8;
        t.sampler.bias = how % 3 == 0 ? 0.375f : 0.0f;
        t.sampler.minLevel = how % 5 == 0 ? 0.75f : 0.0f;
        t.sampler.maxLevel = how % 7 == 0 ? 1.5f : 20.0f;
        abi::TextureOperation op = operation();
        op.level = level;
        check(t, op, random_,
              "how " + std::to_string(how) + " level " + std::to_string(int(level)));
        if (HasFatalFailure())
          return;
      }
  }
}

TEST_P(Sampler, GathersTheFootprint) {
  const TextureGeometry g = GetParam().geometry;
  if (g == TextureGeometry::d1 || g == TextureGeometry::a1 || g == TextureGeometry::d3)
    GTEST_SKIP() << "tld4 is for two dimensions";
  for (ChannelType type : {ChannelType::f32, ChannelType::s16, ChannelType::u8}) {
    const OwnImage own = image(1, type, 4);
    for (AddressMode mode : kModes)
      for (uint8_t component = 0; component < 4; ++component) {
        abi::TextureOperation op = operation();
        op.action = TextureAction::gather;
        op.component = component;
        op.hasOffsets = !GetParam().isCube && component == 1;
        op.hasCompare = type == ChannelType::f32 && component == 2;
        check(textureOf(own, mode, component & 1, component & 2), op, random_, "component");
        if (HasFatalFailure())
          return;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Sampler, testing::ValuesIn(kForms), [](const auto &info) {
  std::string name = info.param.name;
  std::erase_if(name, [](char c) { return !isalnum(c); });
  return name;
});

TEST(SamplerSpecials, LinearMemoryIsZeroOutside) {
  for (ChannelType type : {ChannelType::f32, ChannelType::u8, ChannelType::s32}) {
    const OwnImage own = makeImage(ImageShape::linear, false, false, 37, 1, 0, 1, type, 4, 1, 3);
    rt::Texture t = textureOf(own, AddressMode::clamp, false, false);
    abi::TextureOperation op;
    op.geometry = TextureGeometry::d1;
    op.hasIntegerCoordinates = true;
    std::mt19937 random(5);
    check(t, op, random, "linear memory");
  }
}

TEST(SamplerSpecials, SrgbIsLinearisedBeforeFiltering) {
  const OwnImage own =
      makeImage(ImageShape::d2, false, false, 16, 16, 0, 1, ChannelType::u8, 4, 1, 4);
  for (AddressMode mode : kModes) {
    rt::Texture t = textureOf(own, mode, true, true);
    t.read = {true, true};
    abi::TextureOperation op;
    std::mt19937 random(6);
    check(t, op, random, "sRGB");
  }
}

TEST(SamplerSpecials, SamplesOfMultiSampleTexturesLieSideBySide) {
  for (bool isArray : {false, true}) {
    const OwnImage own =
        makeImage(ImageShape::d2, isArray, false, 8, 4, 3, 1, ChannelType::f32, 2, 4, 9);
    abi::TextureOperation op;
    op.geometry = isArray ? TextureGeometry::ams : TextureGeometry::ms;
    op.hasIntegerCoordinates = true;
    std::mt19937 random(8);
    check(textureOf(own, AddressMode::clamp, false, false), op, random, "multi-sample");
  }
}

/// Offsets of 64 bits, which images of 2 GiB and more have, on a small one.
TEST(SamplerSpecials, ReckonsTheSameWithWideOffsets) {
  OwnImage own = makeImage(ImageShape::d2, false, false, 16, 16, 0, 1, ChannelType::f32, 1, 1, 2);
  rt::Texture small = textureOf(own, AddressMode::wrap, true, true), large = small;
  large.image.bytes = uint64_t{1} << 32; // the same texels, by the other way of reckoning
  std::mt19937 random(3);
  for (int i = 0; i < 8; ++i) {
    std::vector<Operands> lanes;
    for (uint32_t l = 0; l < kLanes; ++l)
      lanes.push_back(makeOperands(small, {}, true, random));
    for (const Level &level : levels())
      for (uint32_t width : {1, 32})
        EXPECT_EQ(run(level.sample, small, {}, lanes, width),
                  run(level.sample, large, {}, lanes, width));
  }
}

/// Across the edge between +x and +z, half of each face's last column.
TEST(SamplerSpecials, SeamlessCubesFilterAcrossEdges) {
  OwnImage own = makeImage(ImageShape::d2, false, true, 4, 4, 6, 1, ChannelType::f32, 1, 1, 2);
  for (uint32_t face = 0; face < 6; ++face)
    for (uint64_t y = 0; y < 4; ++y)
      for (uint64_t x = 0; x < 4; ++x) {
        const float value = float(face * 16);
        memcpy(own.memory.data() + face * own.image.level[0].slice + y * own.image.level[0].pitch +
                   4 * x,
               &value, 4);
      }
  rt::Texture t = textureOf(own, AddressMode::clamp, true, true);
  t.sampler.isSeamless = true;
  abi::TextureOperation op;
  op.geometry = TextureGeometry::cube;
  for (const auto &[direction, expected] :
       std::initializer_list<std::pair<std::array<float, 3>, float>>{{{1, 0, 1}, 32},
                                                                     {{1, 0, -1}, 40},
                                                                     {{-1, 0, 1}, 40},
                                                                     {{1, 1, 0}, 16},
                                                                     {{0, 1, 1}, 48},
                                                                     {{0, -1, -1}, 64},
                                                                     {{-1, -1, 0}, 32},
                                                                     {{1, 0, 0}, 0},
                                                                     {{0, 0, -1}, 80}}) {
    Operands in{};
    for (uint32_t d = 0; d < 3; ++d)
      in[abi::kRowX + d] = bitsOf(direction[d]);
    const std::vector<Operands> lanes(kLanes, in);
    for (const Level &level : levels())
      for (uint32_t width : {1, 8})
        EXPECT_EQ(floatOf(run(level.sample, t, op, lanes, width)[0][0]), expected)
            << direction[0] << " " << direction[1] << " " << direction[2];
  }
}

} // namespace
} // namespace ptxrun::texture_test
