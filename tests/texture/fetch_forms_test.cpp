// Every form of 9.7.10 through the driver API: forms.ptx (generate.py) over arrays of every shape,
// against the model.
#include <cmath>

#include "tests/texture/forms_fixture.h"

namespace ptxrun::texture_test {
namespace {

/// A texture object with the host's copy of what it shows.
struct MadeTexture {
  OwnImage own;
  rt::Texture texture;
  CUtexObject object = 0;
};

class TextureFetches : public TextureForms {
 protected:
  MadeTexture make(const Shape &s, uint32_t levels, ChannelType type, uint32_t channels,
                   bool isLinear, bool isNormalized, rt::AddressMode mode) {
    MadeTexture m;
    m.own = makeImage(s.shape, s.isLayered, s.isCube, s.width, s.height, s.depth, levels, type,
                      channels, 1, 5);
    const CUDA_ARRAY3D_DESCRIPTOR d = describe(s, type, channels);
    CUmipmappedArray mipmap = nullptr;
    EXPECT_CUDA(cuMipmappedArrayCreate(&mipmap, &d, levels));
    for (uint32_t i = 0; i < levels; ++i) {
      CUarray level = nullptr;
      EXPECT_CUDA(cuMipmappedArrayGetLevel(&level, mipmap, i));
      copyLevel(m.own, i, level, true);
    }
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = mipmap;
    CUDA_TEXTURE_DESC sampling = {};
    constexpr CUaddress_mode kModes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR,
                                         CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER};
    for (int i = 0; i < 3; ++i)
      sampling.addressMode[i] = kModes[size_t(mode)];
    sampling.filterMode = isLinear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    sampling.mipmapFilterMode = sampling.filterMode;
    sampling.flags = (isNormalized ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                     (isLinear ? 0 : CU_TRSF_READ_AS_INTEGER);
    sampling.maxMipmapLevelClamp = 100;
    const float border[4] = {2, -3, 0.5f, 1};
    std::copy_n(border, 4, sampling.borderColor);
    EXPECT_CUDA(cuTexObjectCreate(&m.object, &resource, &sampling, nullptr));
    m.texture.image = m.own.image;
    rt::Sampler &sampler = m.texture.sampler;
    for (rt::AddressMode &a : sampler.address)
      a = mode;
    sampler.isLinear = sampler.isMipLinear = isLinear;
    sampler.isNormalized = isNormalized;
    sampler.maxLevel = 100;
    std::copy_n(border, 4, sampler.border);
    m.texture.read.isNormalizedFloat = isLinear && !rt::isFloat(type);
    return m;
  }

  void expectFetched(const Row *rows, const MadeTexture &m, const abi::TextureOperation &op,
                     const std::vector<Operands> &lanes, double tolerance,
                     const std::string &what) {
    for (uint32_t l = 0; l < kThreads; ++l) {
      const Fetched expected = model(m.texture, m.texture.sampler, op, lanes[l]);
      for (uint32_t k = 0; k < 4; ++k) {
        if (expected.isInteger) {
          ASSERT_EQ(rows[k][l], expected.bits[k]) << what << " lane " << l;
          continue;
        }
        const double value = expected.value[k];
        ASSERT_NEAR(floatOf(rows[k][l]), value, tolerance * std::max(1.0, std::fabs(value)))
            << what << " lane " << l << " element " << k;
      }
    }
  }

  void checkTex(const std::string &name, const MadeTexture &m) {
    const auto parts = split(name); // tex, level, geometry, ctype
    abi::TextureOperation op;
    op.geometry = shapeOf(parts[2]).geometry;
    op.level = parts[1] == "level"  ? abi::TextureLevel::given
               : parts[1] == "grad" ? abi::TextureLevel::gradient
                                    : abi::TextureLevel::base;
    op.hasIntegerCoordinates = parts[3] == "s32";
    std::vector<Operands> lanes;
    abi::TextureOperation all = op;
    all.hasOffsets = all.hasCompare = true;
    for (unsigned l = 0; l < kThreads; ++l)
      lanes.push_back(makeOperands(m.texture, all, m.texture.sampler.isNormalized, random_));
    ASSERT_CUDA(run(name, m.object, lanes));
    const std::vector<Row> rows = results(20);
    abi::TextureOperation offset = op, compare = op;
    offset.hasOffsets = !m.own.image.isCube;
    compare.hasCompare = parts[3] == "f32" && op.geometry != TextureGeometry::d3;
    expectFetched(&rows[0], m, op, lanes, 4e-6, name + " f32");
    expectFetched(&rows[4], m, offset, lanes, 4e-6, name + " u32");
    expectFetched(&rows[8], m, op, lanes, 4e-6, name + " s32");
    if (m.texture.isInteger())
      return; // integers are no halves
    expectFetched(&rows[12], m, op, lanes, 0x1p-10, name + " f16");
    expectFetched(&rows[16], m, compare, lanes, 0x1p-10, name + " f16x2");
  }
};

TEST_F(TextureFetches, EveryFormOfTexFilters) {
  for (const std::string &name : kernels("tex_", 52)) {
    const Shape &shape = shapeOf(split(name)[2]);
    const bool isMs = std::string(shape.name).ends_with("ms");
    checkTex(name,
             make(shape, isMs ? 1 : 4, ChannelType::f32, 4, true, true, rt::AddressMode::wrap));
    checkTex(name, make(shape, 1, ChannelType::u8, 2, true, false, rt::AddressMode::border));
    if (HasFatalFailure())
      return;
  }
}

TEST_F(TextureFetches, EveryFormOfTexFetchesElements) {
  for (const std::string &name : kernels("tex_", 52)) {
    const Shape &shape = shapeOf(split(name)[2]);
    const bool isMs = std::string(shape.name).ends_with("ms");
    checkTex(name,
             make(shape, isMs ? 1 : 3, ChannelType::s16, 4, false, true, rt::AddressMode::mirror));
    if (HasFatalFailure())
      return;
  }
}

TEST_F(TextureFetches, EveryFormOfTld4Gathers) {
  for (const std::string &name : kernels("tld4_", 4)) {
    const Shape &shape = shapeOf(split(name)[1]);
    const MadeTexture m = make(shape, 1, ChannelType::f32, 4, true, true, rt::AddressMode::clamp);
    abi::TextureOperation op;
    op.action = abi::TextureAction::gather;
    op.geometry = shape.geometry;
    std::vector<Operands> lanes;
    abi::TextureOperation all = op;
    all.hasOffsets = all.hasCompare = true;
    for (unsigned l = 0; l < kThreads; ++l)
      lanes.push_back(makeOperands(m.texture, all, true, random_));
    ASSERT_CUDA(run(name, m.object, lanes));
    const std::vector<Row> rows = results(16);
    for (uint8_t c = 0; c < 4; ++c) {
      op.component = c;
      op.hasOffsets = c == 1 && !shape.isCube;
      op.hasCompare = c == 2;
      expectFetched(&rows[4 * c], m, op, lanes, 0, name + " component " + std::to_string(c));
    }
    if (HasFatalFailure())
      return;
  }
}

TEST_F(TextureFetches, QueriesAnswer) {
  const MadeTexture m =
      make(shapeOf("a2d"), 3, ChannelType::u8, 4, true, true, rt::AddressMode::mirror);
  std::vector<Operands> lanes(kThreads);
  for (Operands &in : lanes)
    in[abi::kRowLevel] = 1;
  ASSERT_CUDA(run("txq", m.object, lanes));
  const uint32_t expected[] = {8, 16, 1, 0x10d2, 0x10b5, 1, 3, 3, 0, 1, 1, 1, 1, 4, 8, 1};
  const std::vector<Row> rows = results(std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(rows[i][17], expected[i]) << i;
  // Kinds of: the object, a .texref, a .surfref, no image, other memory.
  ASSERT_CUDA(run("istypep", m.object, lanes));
  const uint32_t kinds[] = {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0};
  const std::vector<Row> answers = results(std::size(kinds));
  for (size_t i = 0; i < std::size(kinds); ++i)
    EXPECT_EQ(answers[i][0], kinds[i]) << i;
}

TEST_F(TextureForms, UnknownHandlesFailByName) {
  for (const uint64_t handle : {uint64_t{0}, uint64_t{12345}, ~uint64_t{0}, uint64_t{input_}}) {
    CUcontext own = nullptr;
    ASSERT_CUDA(cuCtxCreate(&own, nullptr, 0, 0));
    testing::internal::CaptureStderr();
    EXPECT_RESULT(run("tex_plain_2d_f32", handle, std::vector<Operands>(kThreads)),
                  CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("there is no texture"),
              std::string::npos);
    cuCtxDestroy(own);
  }
}

TEST_F(TextureFetches, WrongGeometriesFailByName) {
  const MadeTexture m =
      make(shapeOf("3d"), 1, ChannelType::f32, 1, false, false, rt::AddressMode::clamp);
  testing::internal::CaptureStderr();
  EXPECT_RESULT(run("tex_plain_2d_f32", m.object, std::vector<Operands>(kThreads)),
                CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("tex.2d: the geometry is not that"),
            std::string::npos);
}

} // namespace
} // namespace ptxrun::texture_test
