// What the tests of forms.ptx share: shapes of arrays, the module, kernels by name, copies to arrays.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/driver/driver_fixture.h"
#include "tests/texture/image_maker.h"

namespace ptxrun::texture_test {
using abi::TextureGeometry;
using rt::ChannelType;
using rt::ImageShape;
using tests::nameOf;

inline constexpr unsigned kThreads = 64;
using Row = std::array<uint32_t, kThreads>;

inline std::vector<std::string> split(const std::string &name) {
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
inline constexpr Shape kShapes[] = {
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
inline const Shape &shapeOf(const std::string &name) {
  for (const Shape &shape : kShapes)
    if (name == shape.name)
      return shape;
  ADD_FAILURE() << name;
  return kShapes[0];
}

inline CUarray_format formatOf(ChannelType type) {
  constexpr CUarray_format kFormats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16,
                                         CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
                                         CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
                                         CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
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
    return {s.width,
            s.height,
            s.depth,
            formatOf(type),
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

} // namespace ptxrun::texture_test
