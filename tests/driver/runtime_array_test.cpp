// Arrays, textures and surfaces of the runtime API, without nvcc: what texture_program.cu does not
// ask. Kernels are the driver API's.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "loader/libcudart/cudart_abi.h"

extern "C" {
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, int);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *, cudaArray_t);
cudaError_t cudaMallocArray(cudaArray_t *, const cudaChannelFormatDesc *, size_t, size_t, unsigned);
cudaError_t cudaMalloc3DArray(cudaArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *, const cudaChannelFormatDesc *,
                                     cudaExtent, unsigned, unsigned);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *, cudaMipmappedArray_t, unsigned);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t);
cudaError_t cudaFreeArray(cudaArray_t);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *, cudaExtent *, unsigned *, cudaArray_t);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *);
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *);
cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyFromArray(void *, cudaArray_t, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyArrayToArray(cudaArray_t, size_t, size_t, cudaArray_t, size_t, size_t, size_t,
                                   cudaMemcpyKind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t, size_t, size_t, const void *, size_t, size_t,
                                     size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpy2DFromArrayAsync(void *, size_t, cudaArray_t, size_t, size_t, size_t, size_t,
                                       cudaMemcpyKind, cudaStream_t);
cudaError_t cudaCreateTextureObject(CUtexObject *, const cudaResourceDesc *,
                                    const cudaTextureDesc *, const CUDA_RESOURCE_VIEW_DESC *);
cudaError_t cudaDestroyTextureObject(CUtexObject);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *, CUtexObject);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *, CUtexObject);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
}

namespace ptxrun::tests {
namespace {

template <class T> std::vector<T> counting(size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

TEST(RuntimeArrays, ChannelDescriptorsSurviveEveryFormat) {
  for (int kind :
       {cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat})
    for (int bits : {8, 16, 32})
      for (int channels : {1, 2, 3, 4}) {
        const auto has = [&](int c) { return c < channels ? bits : 0; };
        const cudaChannelFormatDesc given =
            cudaCreateChannelDesc(has(0), has(1), has(2), has(3), kind);
        const bool isValid = channels != 3 && !(kind == cudaChannelFormatKindFloat && bits == 8);
        cudaArray_t array = nullptr;
        ASSERT_EQ(cudaMallocArray(&array, &given, 4, 4, 0),
                  isValid ? cudaSuccess : cudaErrorInvalidChannelDescriptor);
        if (!isValid)
          continue;
        cudaChannelFormatDesc said = {};
        ASSERT_EQ(cudaGetChannelDesc(&said, array), cudaSuccess);
        EXPECT_EQ(memcmp(&said, &given, sizeof said), 0);
        EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
      }
  cudaGetLastError();
  EXPECT_EQ(cudaFreeArray(nullptr), cudaSuccess);
}

/// Extents and positions count elements where an array takes part.
TEST(RuntimeArrays, BoxesAreCountedInElements) {
  const cudaChannelFormatDesc shorts =
      cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t a = nullptr, b = nullptr;
  ASSERT_EQ(cudaMalloc3DArray(&a, &shorts, {10, 6, 4}, 0), cudaSuccess);
  ASSERT_EQ(cudaMalloc3DArray(&b, &shorts, {10, 6, 4}, 1 /* layered */), cudaSuccess);
  auto values = counting<uint32_t>(10 * 6 * 4);
  cudaMemcpy3DParms c = {};
  c.srcPtr = {values.data(), 40, 10, 6};
  c.dstArray = a;
  c.extent = {10, 6, 4};
  c.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&c), cudaSuccess);
  cudaMemcpy3DPeerParms p = {};
  p.srcArray = a;
  p.srcPos = {2, 1, 1};
  p.dstArray = b;
  p.dstPos = {0, 0, 2};
  p.extent = {8, 5, 2};
  ASSERT_EQ(cudaMemcpy3DPeer(&p), cudaSuccess);
  std::vector<uint32_t> back(8 * 5 * 2);
  cudaMemcpy3DParms out = {};
  out.srcArray = b;
  out.srcPos = {0, 0, 2};
  out.dstPtr = {back.data(), 32, 8, 5};
  out.extent = {8, 5, 2};
  out.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&out), cudaSuccess);
  for (size_t z = 0; z < 2; ++z)
    for (size_t y = 0; y < 5; ++y)
      for (size_t x = 0; x < 8; ++x)
        ASSERT_EQ(back[(z * 5 + y) * 8 + x], values[((z + 1) * 6 + y + 1) * 10 + x + 2]);
  c.dstPos.x = 1; // out of the array
  EXPECT_EQ(cudaMemcpy3D(&c), cudaErrorInvalidValue);
  c.srcArray = b; // two sources
  EXPECT_EQ(cudaMemcpy3D(&c), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(RuntimeArrays, RangesAndRectanglesOfArrays) {
  const cudaChannelFormatDesc bytes =
      cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t a = nullptr, b = nullptr;
  ASSERT_EQ(cudaMallocArray(&a, &bytes, 10, 3, 0), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&b, &bytes, 10, 3, 0), cudaSuccess);
  const auto values = counting<uint8_t>(30);
  std::vector<uint8_t> back(25);
  ASSERT_EQ(cudaMemcpyToArray(a, 0, 0, values.data(), 30, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyArrayToArray(b, 2, 0, a, 5, 0, 25, cudaMemcpyDeviceToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromArray(back.data(), b, 2, 0, 25, cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t i = 0; i < 25; ++i)
    EXPECT_EQ(back[i], values[i + 5]);
  ASSERT_EQ(
      cudaMemcpy2DToArrayAsync(a, 4, 1, values.data(), 7, 5, 2, cudaMemcpyHostToDevice, nullptr),
      cudaSuccess);
  ASSERT_EQ(
      cudaMemcpy2DFromArrayAsync(back.data(), 5, a, 4, 1, 5, 2, cudaMemcpyDeviceToHost, nullptr),
      cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(back[0], 1);
  EXPECT_EQ(back[5], 8);
  EXPECT_EQ(
      cudaMemcpy2DToArrayAsync(a, 4, 1, values.data(), 4, 5, 2, cudaMemcpyHostToDevice, nullptr),
      cudaErrorInvalidPitchValue);
  cudaGetLastError();
}

TEST(RuntimeArrays, MipmapsHaveLevels) {
  const cudaChannelFormatDesc floats =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaMipmappedArray_t mipmap = nullptr;
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmap, &floats, {32, 8, 0}, 3, 0), cudaSuccess);
  cudaArray_t level = nullptr;
  ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 2), cudaSuccess);
  cudaExtent extent = {};
  ASSERT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, level), cudaSuccess);
  EXPECT_EQ(extent.width, 8u);
  EXPECT_EQ(extent.height, 2u);
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 3), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmap), cudaSuccess);
  cudaGetLastError();
}

TEST(RuntimeTextures, SayWhatTheyWereMadeOf) {
  void *memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 4096), cudaSuccess);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D = {memory, cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned), 16, 4,
                   128};
  cudaTextureDesc t = {};
  t.addressMode[1] = 3;
  t.filterMode = 1;
  t.readMode = cudaReadModeNormalizedFloat;
  t.sRGB = 1;
  t.borderColor[2] = 0.5f;
  t.maxAnisotropy = 4;
  t.seamlessCubemap = 1;
  CUtexObject object = 0;
  ASSERT_EQ(cudaCreateTextureObject(&object, &r, &t, nullptr), cudaSuccess);
  cudaResourceDesc saidResource;
  cudaTextureDesc saidTexture;
  ASSERT_EQ(cudaGetTextureObjectResourceDesc(&saidResource, object), cudaSuccess);
  ASSERT_EQ(cudaGetTextureObjectTextureDesc(&saidTexture, object), cudaSuccess);
  EXPECT_EQ(saidResource.res.pitch2D.devPtr, memory);
  EXPECT_EQ(saidResource.res.pitch2D.desc.w, 8);
  EXPECT_EQ(saidResource.res.pitch2D.pitchInBytes, 128u);
  EXPECT_EQ(memcmp(&saidTexture, &t, sizeof t), 0);
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaErrorInvalidValue);
  t.readMode = cudaReadModeElementType; // integers have no filter
  EXPECT_EQ(cudaCreateTextureObject(&object, &r, &t, nullptr), cudaErrorInvalidFilterSetting);
  r.res.pitch2D.pitchInBytes = 48; // rows do not fit
  t.filterMode = 0;
  EXPECT_EQ(cudaCreateTextureObject(&object, &r, &t, nullptr), cudaErrorInvalidValue);
  cudaGetLastError();
}

} // namespace
} // namespace ptxrun::tests
