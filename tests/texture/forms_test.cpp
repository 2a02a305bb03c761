// Every form of 9.7.10 and 9.7.11 through the driver API: forms.ptx (generate.py) over arrays of
// every shape; fetches against the model, surfaces against a copy on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/driver/driver_fixture.h"
#include "tests/texture/image_maker.h"

namespace ptxrun::texture_test {
namespace {

using abi::TextureGeometry;
using rt::ChannelType;
using rt::ImageShape;
using tests::nameOf;

constexpr unsigned kThreads = 64;
using Row = std::array<uint32_t, kThreads>;

std::vector<std::string> split(const std::string &name) {
  std::vector<std::string> parts;
  std::stringstream stream(name);
  for (std::string part; std::getline(stream, part, '_');)
    parts.push_back(part);
  return parts;
}

struct Shape {
  const char *name;
  TextureGeometry geometry;
  ImageShape shape;
  bool isLayered, isCube;
  uint32_t width, height, depth;
};
constexpr Shape kShapes[] = {
    {"1d", TextureGeometry::d1, ImageShape::d1, false, false, 32, 0, 0},
    {"2d", TextureGeometry::d2, ImageShape::d2, false, false, 16, 8, 0},
    {"3d", TextureGeometry::d3, ImageShape::d3, false, false, 8, 4, 16},
    {"a1d", TextureGeometry::a1, ImageShape::d1, true, false, 16, 0, 5},
    {"a2d", TextureGeometry::a2, ImageShape::d2, true, false, 8, 16, 3},
    {"cube", TextureGeometry::cube, ImageShape::d2, false, true, 8, 8, 6},
    {"acube", TextureGeometry::acube, ImageShape::d2, true, true, 8, 8, 18},
    {"2dms", TextureGeometry::ms, ImageShape::d2, false, false, 16, 8, 0},
    {"a2dms", TextureGeometry::ams, ImageShape::d2, true, false, 8, 16, 3},
};
const Shape &shapeOf(const std::string &name) {
  for (const Shape &shape : kShapes)
    if (name == shape.name)
      return shape;
  ADD_FAILURE() << name;
  return kShapes[0];
}

CUarray_format formatOf(ChannelType type) {
  constexpr CUarray_format kFormats[] = {
      CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
      CU_AD_FORMAT_SIGNED_INT8,   CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
      CU_AD_FORMAT_HALF,          CU_AD_FORMAT_FLOAT};
  return kFormats[size_t(type)];
}

class TextureForms : public tests::DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    std::ifstream file(PTXRUN_TEXTURE_FORMS);
    text_.assign(std::istreambuf_iterator<char>(file), {});
    ASSERT_CUDA(cuModuleLoadData(&module_, text_.c_str()));
    ASSERT_CUDA(cuMemAlloc(&input_, abi::kTextureRows * sizeof(Row)));
    ASSERT_CUDA(cuMemAlloc(&output_, 64 * sizeof(Row)));
  }

  /// The kernels whose names begin so, of which there are `count`.
  std::vector<std::string> kernels(const std::string &prefix, size_t count) const {
    std::vector<std::string> names;
    const std::string word = ".entry ";
    for (size_t at = text_.find(word); at != std::string::npos; at = text_.find(word, at + 1)) {
      const size_t begin = at + word.size();
      const std::string name = text_.substr(begin, text_.find('(', begin) - begin);
      if (name.starts_with(prefix))
        names.push_back(name);
    }
    EXPECT_EQ(names.size(), count) << prefix;
    return names;
  }

  CUDA_ARRAY3D_DESCRIPTOR describe(const Shape &s, ChannelType type, uint32_t channels) const {
    return {s.width,        s.height, s.depth, formatOf(type),
            channels,
            (s.isLayered ? CUDA_ARRAY3D_LAYERED : 0u) | (s.isCube ? CUDA_ARRAY3D_CUBEMAP : 0u)};
  }

  /// Copies a level of an image to an array or back.
  void copyLevel(const OwnImage &own, uint32_t number, CUarray array, bool isToArray,
                 char *back = nullptr) {
    const rt::ImageLevel &level = own.image.level[number];
    CUDA_MEMCPY3D c = {};
    c.WidthInBytes = level.width * own.image.texelBytes();
    c.Height = level.height;
    c.Depth = std::max(level.depth, own.image.layers);
    c.srcPitch = c.dstPitch = level.pitch;
    c.srcHeight = c.dstHeight = level.height;
    c.srcMemoryType = isToArray ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = isToArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = own.image.base + level.offset;
    c.dstHost = back;
    c.srcArray = c.dstArray = array;
    ASSERT_CUDA(cuMemcpy3D(&c));
  }

  CUresult run(const std::string &name, uint64_t image, const std::vector<Operands> &lanes) {
    std::vector<Row> rows(abi::kTextureRows);
    for (uint32_t r = 0; r < abi::kTextureRows; ++r)
      for (uint32_t l = 0; l < kThreads; ++l)
        rows[r][l] = lanes[l][r];
    EXPECT_CUDA(cuMemcpyHtoD(input_, rows.data(), rows.size() * sizeof(Row)));
    CUfunction function = nullptr;
    EXPECT_CUDA(cuModuleGetFunction(&function, module_, name.c_str()));
    EXPECT_CUDA(launch(function, 1, kThreads, nullptr, image, input_, output_));
    return cuCtxSynchronize();
  }
  std::vector<Row> results(size_t count) { return download<Row>(output_, count); }

  std::string text_;
  CUmodule module_ = nullptr;
  CUdeviceptr input_ = 0, output_ = 0;
  std::mt19937 random_{11};
};

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
                     const std::vector<Operands> &lanes, double tolerance, const std::string &what) {
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
    checkTex(name, make(shape, isMs ? 1 : 4, ChannelType::f32, 4, true, true, rt::AddressMode::wrap));
    checkTex(name, make(shape, 1, ChannelType::u8, 2, true, false, rt::AddressMode::border));
    if (HasFatalFailure())
      return;
  }
}

TEST_F(TextureFetches, EveryFormOfTexFetchesElements) {
  for (const std::string &name : kernels("tex_", 52)) {
    const Shape &shape = shapeOf(split(name)[2]);
    const bool isMs = std::string(shape.name).ends_with("ms");
    checkTex(name, make(shape, isMs ? 1 : 3, ChannelType::s16, 4, false, true, rt::AddressMode::mirror));
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
  const MadeTexture m = make(shapeOf("a2d"), 3, ChannelType::u8, 4, true, true, rt::AddressMode::mirror);
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

class SurfaceForms : public TextureForms {
 protected:
  void make(const Shape &s, ChannelType type, uint32_t channels) {
    own_ = makeImage(s.shape, s.isLayered, s.isCube, s.width, s.height, s.depth, 1, type, channels,
                     1, 6);
    CUDA_ARRAY3D_DESCRIPTOR d = describe(s, type, channels);
    d.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
    ASSERT_CUDA(cuArray3DCreate(&array_, &d));
    copyLevel(own_, 0, array_, true);
    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array_;
    ASSERT_CUDA(cuSurfObjectCreate(&object_, &resource));
  }
  void destroy() {
    EXPECT_CUDA(cuSurfObjectDestroy(object_));
    EXPECT_CUDA(cuArrayDestroy(array_));
  }

  /// Operands with places of their own, so that stores do not meet: x by the thread's number in
  /// steps of `step`; some out of bounds unless the form traps.
  std::vector<Operands> places(const Shape &s, uint32_t step, uint32_t rowBytes, bool mayLeave) {
    std::vector<Operands> lanes(kThreads);
    const uint32_t across = rowBytes / step, rows = std::max(s.height, 1u),
                   layers = std::max(s.depth, 1u);
    for (uint32_t l = 0; l < kThreads; ++l) {
      const uint32_t place = l % (across * rows * layers);
      int x = int(place % across * step), y = int(place / across % rows),
          z = int(place / across / rows);
      if (mayLeave && l % 7 == 0)
        (l % 3 == 0 ? x : l % 3 == 1 && s.height ? y : x) = l % 2 ? -16 : 4096;
      lanes[l][abi::kRowX] = uint32_t(x);
      lanes[l][abi::kRowX + 1] = uint32_t(y);
      lanes[l][abi::kRowX + 2] = uint32_t(z);
      lanes[l][abi::kRowLayer] = uint32_t(z);
      for (uint32_t r = 4; r < 8; ++r)
        lanes[l][abi::kRowData + r - 4] = random_();
    }
    return lanes;
  }

  /// Where a lane's access lands in the host's copy; null where it is out of bounds.
  char *placeOf(const Shape &s, const Operands &in, uint32_t unit, uint32_t bytes,
                const std::string &bound) {
    const rt::ImageLevel &level = own_.image.level[0];
    const bool isArray = s.isLayered;
    int64_t at[3] = {int64_t(int32_t(in[abi::kRowX])) * unit, 0, 0};
    const int64_t most[3] = {int64_t(level.width) * own_.image.texelBytes() - bytes,
                             int64_t(level.height) - 1,
                             int64_t(isArray ? own_.image.layers : level.depth) - 1};
    if (s.height)
      at[1] = int32_t(in[abi::kRowX + 1]);
    if (s.shape == ImageShape::d3)
      at[2] = int32_t(in[abi::kRowX + 2]);
    else if (isArray)
      at[2] = in[abi::kRowLayer];
    for (int d = 0; d < 3; ++d) {
      const int64_t inside = std::clamp<int64_t>(at[d], 0, most[d]);
      if (inside != at[d] && bound != "clamp")
        return nullptr;
      at[d] = inside;
    }
    return own_.memory.data() + uint64_t(at[2]) * level.slice + uint64_t(at[1]) * level.pitch + at[0];
  }

  void expectSame(const std::string &what) {
    std::vector<char> back(own_.memory.size());
    copyLevel(own_, 0, array_, false, back.data());
    const rt::ImageLevel &level = own_.image.level[0];
    const uint64_t used = level.width * own_.image.texelBytes();
    for (uint64_t at = 0; at < back.size(); at += level.pitch)
      ASSERT_EQ(memcmp(back.data() + at, own_.memory.data() + at, used), 0) << what << " row " << at / level.pitch;
  }

  OwnImage own_;
  CUarray array_ = nullptr;
  CUsurfObject object_ = 0;
};

uint32_t bytesOf(const std::string &type) { return uint32_t(std::stoi(type.substr(1))) / 8; }
uint32_t elementsOf(const std::string &vector) { return uint32_t(vector[1] - '0'); }

TEST_F(SurfaceForms, EveryFormOfSuldLoads) {
  for (const std::string &name : kernels("suld_", 15)) {
    const auto parts = split(name);
    const Shape &s = shapeOf(parts[1]);
    make(s, ChannelType::u32, 4);
    const auto lanes = places(s, 16, s.width * 16, parts[2] != "trap");
    ASSERT_CUDA(run(name, object_, lanes));
    const std::vector<Row> rows = results(33);
    size_t row = 0;
    for (const auto &[bytes, count] : std::initializer_list<std::pair<uint32_t, uint32_t>>{
             {1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {2, 4}, {4, 1}, {4, 2}, {4, 4}, {8, 1}, {8, 2}})
      for (uint32_t at = 0; at < bytes * count; at += std::min(bytes, 4u), ++row)
        for (uint32_t l = 0; l < kThreads; ++l) {
          const char *place = placeOf(s, lanes[l], 1, bytes * count, parts[2]);
          uint32_t expected = 0;
          if (place)
            memcpy(&expected, place + at, std::min(bytes, 4u));
          ASSERT_EQ(rows[row][l], expected) << name << " row " << row << " lane " << l;
        }
    destroy();
  }
}

TEST_F(SurfaceForms, EveryFormOfSustStores) {
  for (const std::string &name : kernels("sust_", 165)) {
    const auto parts = split(name); // sust, geometry, bound, type, vector
    const Shape &s = shapeOf(parts[1]);
    make(s, ChannelType::u32, 4);
    const uint32_t bytes = bytesOf(parts[3]), count = elementsOf(parts[4]);
    auto lanes = places(s, 16, s.width * 16, parts[2] == "zero");
    ASSERT_CUDA(run(name, object_, lanes));
    for (const Operands &in : lanes)
      if (char *place = placeOf(s, in, 1, bytes * count, parts[2]))
        for (uint32_t at = 0, r = abi::kRowData; at < bytes * count; at += std::min(bytes, 4u), ++r)
          memcpy(place + at, &in[r], std::min(bytes, 4u));
    expectSame(name);
    if (HasFatalFailure())
      return;
    destroy();
  }
}

TEST_F(SurfaceForms, SustClampsToTheEdge) {
  const Shape &s = shapeOf("2d");
  make(s, ChannelType::u32, 1);
  std::vector<Operands> lanes(kThreads);
  for (Operands &in : lanes) { // all of them in one corner
    in[abi::kRowX] = 1000;
    in[abi::kRowX + 1] = uint32_t(-3);
    in[abi::kRowData] = 77;
  }
  ASSERT_CUDA(run("sust_2d_clamp_b32_v1", object_, lanes));
  const uint32_t value = 77;
  memcpy(own_.memory.data() + 4 * (s.width - 1), &value, 4);
  expectSame("clamp");
}

TEST_F(SurfaceForms, EveryFormOfFormattedSustConverts) {
  for (const std::string &name : kernels("sustp_", 27)) {
    const auto parts = split(name); // sustp, geometry, bound, vector
    const Shape &s = shapeOf(parts[1]);
    const uint32_t count = elementsOf(parts[3]);
    for (const ChannelType type : {ChannelType::f32, ChannelType::f16, ChannelType::u8,
                                   ChannelType::s16, ChannelType::u32}) {
      make(s, type, count);
      const uint32_t bytes = rt::bytesOf(type);
      auto lanes = places(s, 1, s.width, parts[2] == "zero");
      for (Operands &in : lanes)
        for (uint32_t c = 0; c < 4; ++c)
          in[abi::kRowData + c] = rt::isFloat(type) ? bitsOf(float(int(random_() % 256) - 128) / 16)
                                                    : random_() % 100'000 - 50'000;
      ASSERT_CUDA(run(name, object_, lanes));
      for (const Operands &in : lanes)
        if (char *place = placeOf(s, in, count * bytes, count * bytes, parts[2]))
          for (uint32_t c = 0; c < count; ++c) {
            const uint32_t word = in[abi::kRowData + c];
            const _Float16 half = static_cast<_Float16>(floatOf(word));
            const auto byte = static_cast<uint8_t>(std::min<uint32_t>(word, 255));
            const auto narrow = static_cast<int16_t>(std::clamp<int32_t>(int32_t(word), -32768, 32767));
            const void *from = type == ChannelType::f16   ? static_cast<const void *>(&half)
                               : type == ChannelType::u8  ? &byte
                               : type == ChannelType::s16 ? static_cast<const void *>(&narrow)
                                                          : &word;
            memcpy(place + c * bytes, from, bytes);
          }
      expectSame(name + " type " + std::to_string(int(type)));
      if (HasFatalFailure())
        return;
      destroy();
    }
  }
}

template <class T> T reduced(const std::string &op, T a, T b) {
  return op == "add"   ? T(a + b)
         : op == "min" ? std::min(a, b)
         : op == "max" ? std::max(a, b)
         : op == "and" ? T(a & b)
                       : T(a | b);
}

TEST_F(SurfaceForms, EveryFormOfSuredReduces) {
  for (const std::string &name : kernels("sured", 60))
    for (const bool isSigned : {false, true}) {
      const auto parts = split(name); // suredb or suredp, geometry, operation, type, bound
      const Shape &s = shapeOf(parts[1]);
      const bool isTexel = parts[0] == "suredp";
      const uint32_t bytes = bytesOf(parts[3]);
      make(s, isSigned ? ChannelType::s32 : ChannelType::u32, bytes / 4);
      auto lanes = places(s, isTexel ? 1 : bytes, s.width * (isTexel ? 1 : bytes), parts[4] == "zero");
      for (size_t l = 0; l < lanes.size(); l += 2) // two threads at each place
        if (l + 1 < lanes.size())
          for (uint32_t r = 0; r < 4; ++r)
            lanes[l + 1][r] = lanes[l][r];
      ASSERT_CUDA(run(name, object_, lanes));
      const bool hasSign = isTexel ? isSigned : parts[3][0] == 's';
      for (const Operands &in : lanes)
        if (char *place = placeOf(s, in, isTexel ? bytes : 1, bytes, parts[4])) {
          uint64_t old = 0, value = in[abi::kRowData] | uint64_t{in[abi::kRowData + 1]} << 32;
          memcpy(&old, place, bytes);
          const uint64_t now =
              bytes == 8 ? (hasSign ? uint64_t(reduced(parts[2], int64_t(old), int64_t(value)))
                                    : reduced(parts[2], old, value))
                         : (hasSign ? uint32_t(reduced(parts[2], int32_t(old), int32_t(value)))
                                    : reduced(parts[2], uint32_t(old), uint32_t(value)));
          memcpy(place, &now, bytes);
        }
      expectSame(name);
      if (HasFatalFailure())
        return;
      destroy();
    }
}

TEST_F(SurfaceForms, QueriesAnswer) {
  make(shapeOf("a2d"), ChannelType::s16, 2);
  ASSERT_CUDA(run("suq", object_, std::vector<Operands>(kThreads)));
  const uint32_t expected[] = {8, 16, 1, 0x10d8, 0x10b2, 3, 0};
  const std::vector<Row> rows = results(std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(rows[i][5], expected[i]) << i;
}

// --- Misuse: the launch fails, with a reason ----------------------------------------------------

TEST_F(SurfaceForms, TrapsOutOfBounds) {
  make(shapeOf("2d"), ChannelType::u32, 4);
  std::vector<Operands> lanes(kThreads);
  lanes[40][abi::kRowX] = 256;
  testing::internal::CaptureStderr();
  EXPECT_RESULT(run("suld_2d_trap", object_, lanes), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("coordinates 256, 0 are outside"),
            std::string::npos);
}

TEST_F(TextureForms, UnknownHandlesFailByName) {
  for (const uint64_t handle : {uint64_t{0}, uint64_t{12345}, ~uint64_t{0}, uint64_t{input_}}) {
    CUcontext own = nullptr;
    ASSERT_CUDA(cuCtxCreate(&own, nullptr, 0, 0));
    testing::internal::CaptureStderr();
    EXPECT_RESULT(run("tex_plain_2d_f32", handle, std::vector<Operands>(kThreads)),
                  CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("there is no texture"), std::string::npos);
    cuCtxDestroy(own);
  }
}

TEST_F(TextureFetches, WrongGeometriesFailByName) {
  const MadeTexture m = make(shapeOf("3d"), 1, ChannelType::f32, 1, false, false, rt::AddressMode::clamp);
  testing::internal::CaptureStderr();
  EXPECT_RESULT(run("tex_plain_2d_f32", m.object, std::vector<Operands>(kThreads)),
                CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("tex.2d: the geometry is not that"),
            std::string::npos);
}

} // namespace
} // namespace ptxrun::texture_test
