// Texture and surface references: variables of a module, bound by the host; unified mode, and
// independent mode with samplers of their own.
#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

constexpr const char *kUnified = R"(.version 9.0
.target sm_90
.address_size 64
.global .texref image = { normalized_coords = 0, filter_mode = nearest };
.global .surfref target;
.visible .entry sample(.param .u64 out) {
  .reg .b64 %out, %at, %indirect;
  .reg .b32 %t;
  .reg .f32 %x, %g<4>;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 8;
  add.s64 %out, %out, %at;
  cvt.rn.f32.u32 %x, %t;
  tex.1d.v4.f32.f32 {%g0, %g1, %g2, %g3}, [image, {%x}];
  st.global.f32 [%out], %g0;
  mov.u64 %indirect, image;
  tex.1d.v4.f32.f32 {%g0, %g1, %g2, %g3}, [%indirect, {%x}];
  st.global.f32 [%out+4], %g0;
  ret;
}
.visible .entry store() {
  .reg .b32 %t, %x;
  mov.u32 %t, %tid.x;
  shl.b32 %x, %t, 2;
  sust.b.1d.b32.trap [target, {%x}], %t;
  ret;
})";

constexpr const char *kIndependent = R"(.version 9.0
.target sm_90, texmode_independent
.address_size 64
.global .texref image;
.global .samplerref edge = { addr_mode_0 = clamp_to_border, filter_mode = nearest, force_unnormalized_coords = 1 };
.global .samplerref between = { addr_mode_0 = clamp_to_edge, filter_mode = linear, force_unnormalized_coords = 1 };
.visible .entry sample(.param .u64 out, .param .texref given, .param .samplerref how) {
  .reg .b64 %out, %at;
  .reg .b32 %t, %q<3>;
  .reg .f32 %x, %g<4>;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 24;
  add.s64 %out, %out, %at;
  cvt.rn.f32.u32 %x, %t;
  tex.1d.v4.f32.f32 {%g0, %g1, %g2, %g3}, [image, edge, {%x}];
  st.global.f32 [%out], %g0;
  tex.1d.v4.f32.f32 {%g0, %g1, %g2, %g3}, [image, between, {%x}];
  st.global.f32 [%out+4], %g0;
  tex.1d.v4.f32.f32 {%g0, %g1, %g2, %g3}, [given, how, {%x}];
  st.global.f32 [%out+8], %g0;
  txq.force_unnormalized_coords.b32 %q0, [edge];
  st.global.b32 [%out+12], %q0;
  txq.filter_mode.b32 %q1, [between];
  st.global.b32 [%out+16], %q1;
  txq.addr_mode_0.b32 %q2, [edge];
  st.global.b32 [%out+20], %q2;
  ret;
})";

class TextureReferences : public DriverTest {
 protected:
  CUarray line(const std::vector<float> &values) {
    const CUDA_ARRAY_DESCRIPTOR d{values.size(), 0, CU_AD_FORMAT_FLOAT, 1};
    CUarray array = nullptr;
    EXPECT_CUDA(cuArrayCreate(&array, &d));
    EXPECT_CUDA(cuMemcpyHtoA(array, 0, values.data(), values.size() * 4));
    return array;
  }
};

TEST_F(TextureReferences, SampleWhatIsBound) {
  const CUmodule module = load(kUnified);
  CUtexref image = nullptr;
  ASSERT_CUDA(cuModuleGetTexRef(&image, module, "image"));
  EXPECT_RESULT(cuModuleGetTexRef(&image, module, "target"), CUDA_ERROR_NOT_FOUND);
  CUfunction sample = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&sample, module, "sample"));
  CUdeviceptr out = 0;
  ASSERT_CUDA(cuMemAlloc(&out, 8 * 8));
  const CUarray array = line({1, 2, 3, 4});
  ASSERT_CUDA(cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT));
  ASSERT_CUDA(launch(sample, 1, 8, nullptr, out));
  const std::vector<float> clamped = {1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  EXPECT_EQ(download<float>(out, 16), clamped);
  // Settings change what the next launch sees, not one before.
  ASSERT_CUDA(cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_LINEAR));
  ASSERT_CUDA(cuTexRefSetAddressMode(image, 0, CU_TR_ADDRESS_MODE_BORDER));
  float border[4] = {9, 9, 9, 9};
  ASSERT_CUDA(cuTexRefSetBorderColor(image, border));
  ASSERT_CUDA(launch(sample, 1, 8, nullptr, out));
  const std::vector<float> blended = download<float>(out, 16);
  EXPECT_EQ(blended[0], 5); // halfway between 9 and 1
  EXPECT_EQ(blended[2], 1.5f);
  EXPECT_EQ(blended[15], 9);
  CUarray bound = nullptr;
  CUfilter_mode filter{};
  CUaddress_mode mode{};
  CUarray_format format{};
  int channels = 0;
  EXPECT_CUDA(cuTexRefGetArray(&bound, image));
  EXPECT_CUDA(cuTexRefGetFilterMode(&filter, image));
  EXPECT_CUDA(cuTexRefGetAddressMode(&mode, image, 0));
  EXPECT_CUDA(cuTexRefGetFormat(&format, &channels, image));
  EXPECT_EQ(bound, array);
  EXPECT_EQ(filter, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ(mode, CU_TR_ADDRESS_MODE_BORDER);
  EXPECT_EQ(format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(channels, 1);
  EXPECT_RESULT(cuTexRefDestroy(image), CUDA_ERROR_INVALID_VALUE); // the module's
}

TEST_F(TextureReferences, SampleLinearMemory) {
  const CUmodule module = load(kUnified);
  CUtexref image = nullptr;
  ASSERT_CUDA(cuModuleGetTexRef(&image, module, "image"));
  CUfunction sample = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&sample, module, "sample"));
  const CUdeviceptr memory = upload(std::vector<float>{5, 6, 7});
  CUdeviceptr out = 0;
  ASSERT_CUDA(cuMemAlloc(&out, 4 * 8));
  size_t offset = 1;
  ASSERT_CUDA(cuTexRefSetFormat(image, CU_AD_FORMAT_FLOAT, 1));
  ASSERT_CUDA(cuTexRefSetAddress(&offset, image, memory, 12));
  EXPECT_EQ(offset, 0u);
  ASSERT_CUDA(launch(sample, 1, 4, nullptr, out));
  EXPECT_EQ(download<float>(out, 8), (std::vector<float>{5, 5, 6, 6, 7, 7, 0, 0}));
  CUdeviceptr bound = 0;
  EXPECT_CUDA(cuTexRefGetAddress(&bound, image));
  EXPECT_EQ(bound, memory);
}

TEST_F(TextureReferences, UnboundOnesFailByName) {
  const CUmodule module = load(kUnified);
  CUfunction sample = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&sample, module, "sample"));
  CUdeviceptr out = 0;
  ASSERT_CUDA(cuMemAlloc(&out, 64));
  testing::internal::CaptureStderr();
  ASSERT_CUDA(launch(sample, 1, 1, nullptr, out));
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("nothing is bound to the reference"),
            std::string::npos);
}

TEST_F(TextureReferences, SurfacesStoreToWhatIsBound) {
  const CUmodule module = load(kUnified);
  CUsurfref target = nullptr;
  ASSERT_CUDA(cuModuleGetSurfRef(&target, module, "target"));
  CUfunction store = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&store, module, "store"));
  const CUDA_ARRAY3D_DESCRIPTOR d{
      16, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray array = nullptr;
  ASSERT_CUDA(cuArray3DCreate(&array, &d));
  ASSERT_CUDA(cuSurfRefSetArray(target, array, 0));
  ASSERT_CUDA(launch(store, 1, 16, nullptr));
  std::vector<uint32_t> back(16);
  ASSERT_CUDA(cuMemcpyAtoH(back.data(), array, 0, 64));
  for (uint32_t i = 0; i < 16; ++i)
    EXPECT_EQ(back[i], i);
  CUarray bound = nullptr;
  EXPECT_CUDA(cuSurfRefGetArray(&bound, target));
  EXPECT_EQ(bound, array);
}

TEST_F(TextureReferences, SamplersOfTheirOwnInIndependentMode) {
  const CUmodule module = load(kIndependent);
  CUtexref image = nullptr;
  ASSERT_CUDA(cuModuleGetTexRef(&image, module, "image"));
  CUfunction sample = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&sample, module, "sample"));
  ASSERT_CUDA(cuTexRefSetArray(image, line({1, 2, 3, 4}), 0));
  // As parameters: objects, which have a sampler as well.
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = line({10, 20, 30, 40});
  CUDA_TEXTURE_DESC sampling = {};
  sampling.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject object = 0;
  ASSERT_CUDA(cuTexObjectCreate(&object, &resource, &sampling, nullptr));
  CUdeviceptr out = 0;
  ASSERT_CUDA(cuMemAlloc(&out, 6 * 24));
  ASSERT_CUDA(launch(sample, 1, 6, nullptr, out, object, object));
  const auto seen = download<float>(out, 36);
  const float edge[] = {1, 2, 3, 4, 0, 0}, between[] = {1, 1.5f, 2.5f, 3.5f, 4, 4},
              given[] = {10, 20, 30, 40, 40, 40};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(seen[6 * i], edge[i]) << i;
    EXPECT_EQ(seen[6 * i + 1], between[i]) << i;
    EXPECT_EQ(seen[6 * i + 2], given[i]) << i;
  }
  const auto asked = download<uint32_t>(out, 36);
  EXPECT_EQ(asked[3], 1u);
  EXPECT_EQ(asked[4], 1u);
  EXPECT_EQ(asked[5], 4u); // clamp_to_border
}

TEST_F(TextureReferences, ObjectsTakeViewsAndSayWhatTheyAre) {
  const CUDA_ARRAY3D_DESCRIPTOR d{8, 8, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_LAYERED};
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  ASSERT_CUDA(cuArray3DCreate(&resource.res.array.hArray, &d));
  CUDA_TEXTURE_DESC sampling = {};
  sampling.mipmapLevelBias = 0.25f;
  CUDA_RESOURCE_VIEW_DESC view = {};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = view.height = 8;
  view.firstLayer = 1;
  view.lastLayer = 2;
  CUtexObject object = 0;
  ASSERT_CUDA(cuTexObjectCreate(&object, &resource, &sampling, &view));
  CUDA_RESOURCE_DESC saidResource = {};
  CUDA_TEXTURE_DESC saidSampling = {};
  CUDA_RESOURCE_VIEW_DESC saidView = {};
  EXPECT_CUDA(cuTexObjectGetResourceDesc(&saidResource, object));
  EXPECT_CUDA(cuTexObjectGetTextureDesc(&saidSampling, object));
  EXPECT_CUDA(cuTexObjectGetResourceViewDesc(&saidView, object));
  EXPECT_EQ(saidResource.res.array.hArray, resource.res.array.hArray);
  EXPECT_EQ(saidSampling.mipmapLevelBias, 0.25f);
  EXPECT_EQ(saidView.lastLayer, 2u);
  view.format = CU_RES_VIEW_FORMAT_FLOAT_4X32; // other bytes per element
  CUtexObject refused = 0;
  EXPECT_RESULT(cuTexObjectCreate(&refused, &resource, &sampling, &view), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuTexObjectDestroy(object));
  EXPECT_RESULT(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuSurfObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace ptxrun::tests
