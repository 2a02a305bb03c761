// Arrays, mipmaps, textures, surfaces and references to them.
#include <cmath>
#include <cstring>

#include "tests/capture/recorded_program.h"

using namespace recorded;

namespace {

constexpr unsigned kWidth = 16, kHeight = 16;

constexpr const char *kReferences = R"(.version 7.0
.target sm_80
.address_size 64
.global .u32 turns;
.global .texref image = { normalized_coords = 0, filter_mode = nearest };
.global .surfref target[2];
.visible .entry through_references(.param .u64 out) {
  .reg .b64 %out, %at;
  .reg .b32 %t, %x, %turn;
  .reg .f32 %f, %g<4>;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 4;
  add.s64 %out, %out, %at;
  cvt.rn.f32.u32 %f, %t;
  tex.1d.v4.f32.f32 {%g0, %g1, %g2, %g3}, [image, {%f}];
  st.global.f32 [%out], %g0;
  shl.b32 %x, %t, 2;
  cvt.rzi.u32.f32 %turn, %g0;
  sust.b.1d.b32.trap [target, {%x}], %turn;
  red.global.add.u32 [turns], 1;
  ret;
})";

CUarray makeArray(size_t width, size_t height, size_t depth, unsigned flags) {
  const CUDA_ARRAY3D_DESCRIPTOR d{width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
  CUarray array;
  CHECK(cuArray3DCreate(&array, &d));
  return array;
}

/// Value i of the picture is start + i * step.
void fill(CUarray array, size_t width, size_t height, size_t depth, float start, float step) {
  std::vector<float> values(width * height * depth);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = start + static_cast<float>(i) * step;
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values.data();
  copy.srcPitch = width * 4;
  copy.srcHeight = height;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = width * 4;
  copy.Height = height;
  copy.Depth = depth;
  CHECK(cuMemcpy3D(&copy));
}

CUDA_RESOURCE_DESC of(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

CUtexObject makeTexture(const CUDA_RESOURCE_DESC &resource, CUaddress_mode mode,
                        CUfilter_mode filter, unsigned flags) {
  CUDA_TEXTURE_DESC d{};
  d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
  d.filterMode = d.mipmapFilterMode = filter;
  d.flags = flags;
  d.maxMipmapLevelClamp = 99;
  d.borderColor[0] = 0.25f;
  CUtexObject texture;
  CHECK(cuTexObjectCreate(&texture, &resource, &d, nullptr));
  return texture;
}

void textures() { // drawn anew, sampled otherwise, made and destroyed between launches
  const auto out = device<float>(512);
  const CUarray array = makeArray(kWidth, kHeight, 0, 0), other = makeArray(kWidth, kHeight, 0, 0);
  fill(array, kWidth, kHeight, 1, 0, 0.37f);
  const CUtexObject near =
      makeTexture(of(array), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
  for (int k = 0; k < 4; ++k) {
    const CUtexObject mixed =
        makeTexture(of(k % 2 ? array : other), static_cast<CUaddress_mode>(k),
                    CU_TR_FILTER_MODE_LINEAR, k == 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0);
    launch("textured", 4, 128, nullptr, out, near, 500u);
    launch("textured", 4, 128, nullptr, out, mixed, 400u);
    fill(k % 2 ? other : array, kWidth, kHeight, 1, static_cast<float>(k), 1.5f);
    if (k % 2)
      CHECK(cuTexObjectDestroy(mixed));
  }
  print<float>("textures", out, 5);
}

void surfaces() { // what kernels draw, others read
  const auto out = device<float>(512);
  const CUarray array = makeArray(kWidth, kHeight, 0, CUDA_ARRAY3D_SURFACE_LDST);
  const CUDA_RESOURCE_DESC resource = of(array);
  CUsurfObject surface;
  CHECK(cuSurfObjectCreate(&surface, &resource));
  const CUtexObject texture =
      makeTexture(resource, CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR, 0);
  for (int k = 0; k < 3; ++k) {
    launch("draw", kHeight, kWidth, nullptr, surface, static_cast<float>(k));
    launch("blur", kHeight, kWidth, nullptr, surface);
    launch("textured", 4, 64, nullptr, out, texture, 256u);
  }
  print<float>("surfaces", out, 5);
  std::vector<float> row(kWidth);
  CHECK(cuMemcpyAtoH(row.data(), array, 3 * kWidth * 4, row.size() * 4));
  std::printf("row %.9g %.9g\n", row[1], row[15]);
  CHECK(cuSurfObjectDestroy(surface));
  CHECK(cuTexObjectDestroy(texture));
  CHECK(cuArrayDestroy(array));
  const auto again = device<float>(64); // where the array was, perhaps
  launch("scale", 1, 64, nullptr, again, out, 2.0f, 64u);
  print<float>("again", again, 2);
}

void mipmaps() {
  const CUDA_ARRAY3D_DESCRIPTOR d{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUmipmappedArray mipmap;
  CHECK(cuMipmappedArrayCreate(&mipmap, &d, 3));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmap;
  const CUtexObject texture = makeTexture(resource, CU_TR_ADDRESS_MODE_CLAMP,
                                          CU_TR_FILTER_MODE_LINEAR, CU_TRSF_NORMALIZED_COORDINATES);
  const auto out = device<float>(512);
  for (unsigned level = 0; level < 3; ++level) {
    CUarray one;
    CHECK(cuMipmappedArrayGetLevel(&one, mipmap, level));
    if (level != 1) {
      fill(one, 8u >> level, 8u >> level, 1, 10.0f * static_cast<float>(level), 0.7f);
    } else {
      const CUDA_RESOURCE_DESC target = of(one);
      CUsurfObject surface;
      CHECK(cuSurfObjectCreate(&surface, &target));
      launch("draw", 4, 4, nullptr, surface, 0.5f);
      CHECK(cuCtxSynchronize());
      CHECK(cuSurfObjectDestroy(surface));
    }
    launch("levels", 4, 128, nullptr, out, texture);
  }
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = view.height = 4;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  how.maxMipmapLevelClamp = 9;
  CUtexObject part;
  CHECK(cuTexObjectCreate(&part, &resource, &how, &view));
  launch("levels", 4, 128, nullptr, out, part);
  print<float>("mipmaps", out, 5);
}

void layers() {
  const CUarray array = makeArray(8, 8, 5, CUDA_ARRAY3D_LAYERED);
  fill(array, 8, 8, 5, 1, 0.3f);
  const auto out = device<float>(384);
  const CUtexObject texture =
      makeTexture(of(array), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
  launch("layers", 6, 64, nullptr, out, texture); // the sixth is clamped
  print<float>("layers", out + 4 * 320, 4);
}

void linear() { // textures of memory that kernels write otherwise
  const auto words = device<unsigned>(1024), out = device<unsigned>(600);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {words, CU_AD_FORMAT_SIGNED_INT32, 1, 500 * 4};
  const CUtexObject row = makeTexture(resource, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
                                      CU_TRSF_READ_AS_INTEGER);
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {words, CU_AD_FORMAT_UNSIGNED_INT8, 4, 12, 16, 64};
  const CUtexObject bytes =
      makeTexture(resource, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
  for (int k = 0; k < 3; ++k) {
    launch("add_to", 4, 256, nullptr, words, 1024u);
    launch("elements", 5, 128, nullptr, out, row, 600u);
    launch("textured", 2, 128, nullptr, out, bytes, 250u);
  }
  print<unsigned>("linear", out + 4 * 300, 4);
}

void references() { // bound to one array, then to another
  CUmodule own;
  CHECK(cuModuleLoadData(&own, kReferences));
  CUtexref image;
  CUsurfref target;
  CHECK(cuModuleGetTexRef(&image, own, "image"));
  CHECK(cuModuleGetSurfRef(&target, own, "target"));
  CUfunction function;
  CHECK(cuModuleGetFunction(&function, own, "through_references"));
  CUdeviceptr out = device<float>(32);
  void *arguments[] = {&out};
  const CUarray drawn = makeArray(32, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
  CHECK(cuSurfRefSetArray(target, drawn, 0));
  for (int k = 0; k < 3; ++k) {
    const CUarray array = makeArray(32, 0, 0, 0);
    std::vector<float> values(32, 1.0f + static_cast<float>(k));
    values[5] = 77;
    CHECK(cuMemcpyHtoA(array, 0, values.data(), values.size() * 4));
    CHECK(cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT));
    CHECK(cuTexRefSetAddressMode(image, 0,
                                 k == 1 ? CU_TR_ADDRESS_MODE_BORDER : CU_TR_ADDRESS_MODE_CLAMP));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  }
  std::vector<unsigned> row(32);
  CHECK(cuMemcpyAtoH(row.data(), drawn, 0, row.size() * 4));
  std::printf("references %u %u\n", row[5], row[6]);
  CHECK(cuModuleUnload(own));
  launch("scale", 1, 32, nullptr, out, out, 2.0f, 32u);
  print<float>("references", out, 7);
}

} // namespace

Scenarios recorded::imageScenarios() {
  return {{"textures", textures}, {"surfaces", surfaces}, {"mipmaps", mipmaps},
          {"layers", layers},     {"linear", linear},     {"references", references}};
}
