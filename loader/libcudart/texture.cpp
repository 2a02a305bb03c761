// Texture and surface objects.
#include "loader/libcudart/array.h"
#include "loader/libcudart/runtime.h"

#include <algorithm>

namespace ptxrun::runtime {

namespace {

CUresult toDriver(const cudaResourceDesc &r, CUDA_RESOURCE_DESC &d) {
  d = {};
  d.resType = static_cast<CUresourcetype>(r.resType); // the same numbers
  switch (r.resType) {
  case cudaResourceTypeArray:
    d.res.array.hArray = r.res.array.array;
    return CUDA_SUCCESS;
  case cudaResourceTypeMipmappedArray:
    d.res.mipmap.hMipmappedArray = r.res.mipmap.mipmap;
    return CUDA_SUCCESS;
  case cudaResourceTypeLinear:
    d.res.linear.devPtr = toDevice(r.res.linear.devPtr);
    d.res.linear.sizeInBytes = r.res.linear.sizeInBytes;
    return readChannels(r.res.linear.desc, d.res.linear.format, d.res.linear.numChannels);
  case cudaResourceTypePitch2D:
    d.res.pitch2D.devPtr = toDevice(r.res.pitch2D.devPtr);
    d.res.pitch2D.width = r.res.pitch2D.width;
    d.res.pitch2D.height = r.res.pitch2D.height;
    d.res.pitch2D.pitchInBytes = r.res.pitch2D.pitchInBytes;
    return readChannels(r.res.pitch2D.desc, d.res.pitch2D.format, d.res.pitch2D.numChannels);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

void fromDriver(const CUDA_RESOURCE_DESC &d, cudaResourceDesc &r) {
  r = {};
  r.resType = static_cast<cudaResourceType>(d.resType);
  switch (r.resType) {
  case cudaResourceTypeArray:
    r.res.array.array = d.res.array.hArray;
    return;
  case cudaResourceTypeMipmappedArray:
    r.res.mipmap.mipmap = d.res.mipmap.hMipmappedArray;
    return;
  case cudaResourceTypeLinear:
    r.res.linear.devPtr = reinterpret_cast<void *>(d.res.linear.devPtr);
    r.res.linear.desc = describeChannels(d.res.linear.format, d.res.linear.numChannels);
    r.res.linear.sizeInBytes = d.res.linear.sizeInBytes;
    return;
  case cudaResourceTypePitch2D:
    r.res.pitch2D = {reinterpret_cast<void *>(d.res.pitch2D.devPtr),
                     describeChannels(d.res.pitch2D.format, d.res.pitch2D.numChannels),
                     d.res.pitch2D.width, d.res.pitch2D.height, d.res.pitch2D.pitchInBytes};
    return;
  }
}

CUDA_TEXTURE_DESC toDriver(const cudaTextureDesc &t) {
  CUDA_TEXTURE_DESC d = {};
  for (int i = 0; i < 3; ++i)
    d.addressMode[i] = static_cast<CUaddress_mode>(t.addressMode[i]); // the same numbers
  d.filterMode = static_cast<CUfilter_mode>(t.filterMode);
  d.flags = (t.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
            (t.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
            (t.sRGB ? CU_TRSF_SRGB : 0) |
            (t.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
            (t.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
  d.maxAnisotropy = t.maxAnisotropy;
  d.mipmapFilterMode = static_cast<CUfilter_mode>(t.mipmapFilterMode);
  d.mipmapLevelBias = t.mipmapLevelBias;
  d.minMipmapLevelClamp = t.minMipmapLevelClamp;
  d.maxMipmapLevelClamp = t.maxMipmapLevelClamp;
  std::copy_n(t.borderColor, 4, d.borderColor);
  return d;
}

void fromDriver(const CUDA_TEXTURE_DESC &d, cudaTextureDesc &t) {
  t = {};
  for (int i = 0; i < 3; ++i)
    t.addressMode[i] = d.addressMode[i];
  t.filterMode = d.filterMode;
  t.readMode =
      d.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  t.sRGB = (d.flags & CU_TRSF_SRGB) != 0;
  std::copy_n(d.borderColor, 4, t.borderColor);
  t.normalizedCoords = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  t.maxAnisotropy = d.maxAnisotropy;
  t.mipmapFilterMode = d.mipmapFilterMode;
  t.mipmapLevelBias = d.mipmapLevelBias;
  t.minMipmapLevelClamp = d.minMipmapLevelClamp;
  t.maxMipmapLevelClamp = d.maxMipmapLevelClamp;
  t.disableTrilinearOptimization = (d.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  t.seamlessCubemap = (d.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
}

/// Filtering is for what is read as floats: integers of 32 bits, and of fewer that stay integers,
/// have no filter.
CUresult checkFilter(const CUDA_RESOURCE_DESC &resource, const cudaTextureDesc &t) {
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  CUarray level = nullptr;
  if (t.filterMode != CU_TR_FILTER_MODE_LINEAR)
    return CUDA_SUCCESS;
  if (resource.resType == CU_RESOURCE_TYPE_ARRAY)
    cuArray3DGetDescriptor(&d, resource.res.array.hArray);
  else if (resource.resType == CU_RESOURCE_TYPE_PITCH2D)
    d.Format = resource.res.pitch2D.format;
  else if (resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
           cuMipmappedArrayGetLevel(&level, resource.res.mipmap.hMipmappedArray, 0) == CUDA_SUCCESS)
    cuArray3DGetDescriptor(&d, level);
  const int format = d.Format;
  const bool isInteger =
      (format >= CU_AD_FORMAT_UNSIGNED_INT8 && format <= CU_AD_FORMAT_SIGNED_INT32);
  const bool isWide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
  return isInteger && (isWide || t.readMode == cudaReadModeElementType)
             ? static_cast<CUresult>(cudaErrorInvalidFilterSetting)
             : CUDA_SUCCESS;
}

} // namespace
} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API cudaError_t cudaCreateTextureObject(CUtexObject *handle,
                                                       const cudaResourceDesc *resource,
                                                       const cudaTextureDesc *sampling,
                                                       const CUDA_RESOURCE_VIEW_DESC *view) {
  return perform([&] {
    if (!handle || !resource || !sampling)
      return CUDA_ERROR_INVALID_VALUE;
    CUDA_RESOURCE_DESC r;
    if (const CUresult result = toDriver(*resource, r); result != CUDA_SUCCESS)
      return result;
    if (const CUresult result = checkFilter(r, *sampling); result != CUDA_SUCCESS)
      return result;
    const CUDA_TEXTURE_DESC t = toDriver(*sampling);
    return cuTexObjectCreate(handle, &r, &t, view);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaDestroyTextureObject(CUtexObject handle) {
  return perform([&] { return handle ? cuTexObjectDestroy(handle) : CUDA_SUCCESS; });
}
PTXRUN_RUNTIME_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *out,
                                                                CUtexObject handle) {
  return perform([&] {
    CUDA_RESOURCE_DESC d;
    const CUresult result = out ? cuTexObjectGetResourceDesc(&d, handle) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
      fromDriver(d, *out);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *out,
                                                               CUtexObject handle) {
  return perform([&] {
    CUDA_TEXTURE_DESC d;
    const CUresult result = out ? cuTexObjectGetTextureDesc(&d, handle) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
      fromDriver(d, *out);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGetTextureObjectResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *out,
                                                                    CUtexObject handle) {
  return perform([&] { return cuTexObjectGetResourceViewDesc(out, handle); });
}

PTXRUN_RUNTIME_API cudaError_t cudaCreateSurfaceObject(CUsurfObject *handle,
                                                       const cudaResourceDesc *resource) {
  return perform([&] {
    if (!handle || !resource)
      return CUDA_ERROR_INVALID_VALUE;
    CUDA_RESOURCE_DESC r;
    const CUresult result = toDriver(*resource, r);
    return result == CUDA_SUCCESS ? cuSurfObjectCreate(handle, &r) : result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaDestroySurfaceObject(CUsurfObject handle) {
  return perform([&] { return handle ? cuSurfObjectDestroy(handle) : CUDA_SUCCESS; });
}
PTXRUN_RUNTIME_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *out,
                                                                CUsurfObject handle) {
  return perform([&] {
    CUDA_RESOURCE_DESC d;
    const CUresult result =
        out ? cuSurfObjectGetResourceDesc(&d, handle) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
      fromDriver(d, *out);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    size_t *width, const cudaChannelFormatDesc *channels, int device) {
  return perform([&] {
    CUarray_format format{};
    unsigned count = 0;
    if (!channels)
      return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = readChannels(*channels, format, count);
    return result == CUDA_SUCCESS ? cuDeviceGetTexture1DLinearMaxWidth(width, format, count, device)
                                  : result;
  });
}
