// CUDA arrays: what is created and refused, what they say of themselves, copies in all directions.
#include <numeric>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

class Arrays : public DriverTest {
 protected:
  CUarray make(CUDA_ARRAY3D_DESCRIPTOR d) {
    CUarray array = nullptr;
    EXPECT_CUDA(cuArray3DCreate(&array, &d));
    return array;
  }
  CUresult refused(CUDA_ARRAY3D_DESCRIPTOR d) {
    CUarray array = nullptr;
    return cuArray3DCreate(&array, &d);
  }
};

TEST_F(Arrays, SayWhatTheyAre) {
  const CUDA_ARRAY3D_DESCRIPTOR given{24, 12, 6, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_LAYERED};
  const CUarray array = make(given);
  CUDA_ARRAY3D_DESCRIPTOR said = {};
  ASSERT_CUDA(cuArray3DGetDescriptor(&said, array));
  EXPECT_EQ(said.Width, 24u);
  EXPECT_EQ(said.Height, 12u);
  EXPECT_EQ(said.Depth, 6u);
  EXPECT_EQ(said.Format, CU_AD_FORMAT_HALF);
  EXPECT_EQ(said.NumChannels, 4u);
  EXPECT_EQ(said.Flags, unsigned(CUDA_ARRAY3D_LAYERED));
  CUDA_ARRAY_DESCRIPTOR flat = {};
  EXPECT_RESULT(cuArrayGetDescriptor(&flat, array), CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs = {};
  EXPECT_CUDA(cuArrayGetMemoryRequirements(&needs, array, 0));
  EXPECT_GE(needs.size, 24u * 12 * 6 * 8);
  EXPECT_CUDA(cuArrayDestroy(array));
  EXPECT_RESULT(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuArray3DGetDescriptor(&said, array), CUDA_ERROR_INVALID_HANDLE);

  const CUDA_ARRAY_DESCRIPTOR line{100, 0, CU_AD_FORMAT_SIGNED_INT16, 2};
  CUarray one = nullptr;
  ASSERT_CUDA(cuArrayCreate(&one, &line));
  ASSERT_CUDA(cuArrayGetDescriptor(&flat, one));
  EXPECT_EQ(flat.Width, 100u);
  EXPECT_EQ(flat.Height, 0u);
}

TEST_F(Arrays, RefuseWhatCannotBe) {
  const auto floats = CU_AD_FORMAT_FLOAT;
  EXPECT_RESULT(refused({0, 4, 0, floats, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({4, 4, 0, floats, 3, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({4, 0, 4, floats, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({4, 4, 0, floats, 1, CUDA_ARRAY3D_LAYERED}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({4, 4, 2, floats, 1, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_TEXTURE_GATHER}),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({4, 4, 2, floats, 1, CUDA_ARRAY3D_TEXTURE_GATHER}),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({8, 4, 6, floats, 1, CUDA_ARRAY3D_CUBEMAP}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({8, 8, 5, floats, 1, CUDA_ARRAY3D_CUBEMAP}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({8, 8, 12, floats, 1, CUDA_ARRAY3D_CUBEMAP}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({200'000, 0, 0, floats, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({4, 4, 0, CUarray_format(5), 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({4, 4, 0, CU_AD_FORMAT_UNORM_INT8X2, 4, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(refused({8, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0}), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_RESULT(refused({8, 8, 0, floats, 1, CUDA_ARRAY3D_SPARSE}), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_RESULT(cuArray3DCreate(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Arrays, MipmapsHalveToOne) {
  const CUDA_ARRAY3D_DESCRIPTOR d{20, 6, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
  CUmipmappedArray mipmap = nullptr;
  ASSERT_CUDA(cuMipmappedArrayCreate(&mipmap, &d, 99)); // as many as there can be: five
  const size_t sizes[][2] = {{20, 6}, {10, 3}, {5, 1}, {2, 1}, {1, 1}};
  CUarray level = nullptr;
  for (unsigned i = 0; i < 5; ++i) {
    CUDA_ARRAY3D_DESCRIPTOR said = {};
    ASSERT_CUDA(cuMipmappedArrayGetLevel(&level, mipmap, i));
    ASSERT_CUDA(cuArray3DGetDescriptor(&said, level));
    EXPECT_EQ(said.Width, sizes[i][0]);
    EXPECT_EQ(said.Height, sizes[i][1]);
  }
  EXPECT_RESULT(cuMipmappedArrayGetLevel(&level, mipmap, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuMipmappedArrayDestroy(mipmap));
  EXPECT_RESULT(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
}

/// Host to array to array to device to host, each a part of the one before.
TEST_F(Arrays, CopyRectanglesInAllDirections) {
  std::vector<uint32_t> values(40 * 30);
  std::iota(values.begin(), values.end(), 1u);
  const CUarray a = make({40, 30, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0});
  const CUarray b = make({20, 0, 10, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_LAYERED});
  const CUarray v = make({20, 10, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0});
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = values.data();
  c.srcPitch = 160;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = a;
  c.WidthInBytes = 160;
  c.Height = 30;
  ASSERT_CUDA(cuMemcpy2D(&c));
  CUDA_MEMCPY3D box = {};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  box.srcArray = a;
  box.srcXInBytes = 8;
  box.srcY = 3;
  box.dstArray = v;
  box.dstZ = 2;
  box.WidthInBytes = 80;
  box.Height = 10;
  box.Depth = 1;
  ASSERT_CUDA(cuMemcpy3D(&box));
  CUdeviceptr memory = 0;
  ASSERT_CUDA(cuMemAlloc(&memory, 4096));
  CUDA_MEMCPY3D out = {};
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = v;
  out.srcXInBytes = 4;
  out.srcY = 1;
  out.srcZ = 2;
  out.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  out.dstDevice = memory;
  out.dstPitch = 64;
  out.WidthInBytes = 40;
  out.Height = 5;
  out.Depth = 1;
  ASSERT_CUDA(cuMemcpy3DAsync(&out, nullptr));
  const auto back = download<uint32_t>(memory, 16 * 5);
  for (unsigned y = 0; y < 5; ++y)
    for (unsigned x = 0; x < 10; ++x)
      ASSERT_EQ(back[y * 16 + x], values[(y + 4) * 40 + x + 3]) << x << " " << y;
  // Out of the array, through either end.
  for (CUDA_MEMCPY3D bad : {box, box, box, box}) {
    static int which = 0;
    (which == 0   ? bad.srcXInBytes
     : which == 1 ? bad.srcY
     : which == 2 ? bad.dstZ
                  : bad.dstY) += which == 0   ? 80
                                 : which == 1 ? 18
                                 : which == 2 ? 2
                                              : 1;
    ++which;
    EXPECT_RESULT(cuMemcpy3D(&bad), CUDA_ERROR_INVALID_VALUE) << which;
  }
  bool isLayer = false;
  CUDA_MEMCPY3D layer = box; // a layer is a slice
  layer.dstArray = b;
  layer.dstZ = 9;
  layer.Height = 1;
  EXPECT_CUDA(cuMemcpy3D(&layer));
  std::vector<uint32_t> row(20);
  layer = {};
  layer.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  layer.srcArray = b;
  layer.srcZ = 9;
  layer.dstMemoryType = CU_MEMORYTYPE_HOST;
  layer.dstHost = row.data();
  layer.WidthInBytes = 80;
  layer.Height = layer.Depth = 1;
  EXPECT_CUDA(cuMemcpy3D(&layer));
  isLayer = row[0] == values[3 * 40 + 2] && row[19] == values[3 * 40 + 21];
  EXPECT_TRUE(isLayer);
}

TEST_F(Arrays, CopyRangesFromRowToRow) {
  std::vector<uint8_t> values(10 * 3);
  std::iota(values.begin(), values.end(), uint8_t{1});
  const CUarray a = make({10, 3, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0});
  const CUarray b = make({15, 2, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0});
  ASSERT_CUDA(cuMemcpyHtoA(a, 0, values.data(), 30));
  ASSERT_CUDA(cuMemcpyAtoA(b, 2, a, 5, 20)); // rows of 10 into rows of 15
  std::vector<uint8_t> back(20);
  ASSERT_CUDA(cuMemcpyAtoH(back.data(), b, 2, 20));
  for (size_t i = 0; i < 20; ++i)
    EXPECT_EQ(back[i], values[5 + i]);
  const CUdeviceptr memory = upload(values);
  ASSERT_CUDA(cuMemcpyDtoA(b, 10, memory, 20));
  CUdeviceptr other = 0;
  ASSERT_CUDA(cuMemAlloc(&other, 30));
  ASSERT_CUDA(cuMemcpyAtoD(other, b, 10, 20));
  EXPECT_EQ(download<uint8_t>(other, 20),
            std::vector<uint8_t>(values.begin(), values.begin() + 20));
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, 0));
  ASSERT_CUDA(cuMemcpyHtoAAsync(a, 10, values.data(), 10, stream));
  ASSERT_CUDA(cuMemcpyAtoHAsync(back.data(), a, 10, 10, stream));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(back[9], values[9]);
  EXPECT_RESULT(cuMemcpyAtoH(back.data(), a, 25, 6), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemcpyHtoA(nullptr, 0, values.data(), 6), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace ptxrun::tests
