#include "loader/libcuda/texture.h"

#include <algorithm>
#include <cmath>

namespace ptxrun::driver {

namespace {

constexpr CUdeviceptr kLinearAlignment = 16, kPitchAlignment = 32;

/// A row of elements, or rows `pitch` bytes apart.
CUresult readMemory(CUdeviceptr address, CUarray_format number, unsigned channels, size_t width,
                    size_t height, size_t pitch, rt::Image &image, bool &isFraction) {
  TexelFormat format;
  PTXRUN_TRY(readFormat(number, channels, format));
  image = {};
  image.type = format.type;
  image.channels = static_cast<uint8_t>(format.channels);
  isFraction = format.isFraction;
  if (address == 0 || width == 0 || height == 0)
    return CUDA_ERROR_INVALID_VALUE;
  image.base = reinterpret_cast<char *>(address);
  image.level[0].width = static_cast<uint32_t>(width);
  image.level[0].height = static_cast<uint32_t>(height);
  image.level[0].pitch = pitch;
  image.level[0].slice = image.bytes = pitch * height;
  return CUDA_SUCCESS;
}

CUresult readLinear(const CUDA_RESOURCE_DESC &r, rt::Image &image, bool &isFraction) {
  const auto &linear = r.res.linear;
  TexelFormat format;
  PTXRUN_TRY(readFormat(linear.format, linear.numChannels, format));
  const size_t texel = format.channels * rt::bytesOf(format.type);
  const size_t count = linear.sizeInBytes / texel;
  if (linear.devPtr % kLinearAlignment != 0 || count > kMostLinearTexels)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(readMemory(linear.devPtr, linear.format, linear.numChannels, count, 1, count * texel,
                        image, isFraction));
  image.shape = rt::ImageShape::linear;
  return CUDA_SUCCESS;
}

CUresult readPitched(const CUDA_RESOURCE_DESC &r, rt::Image &image, bool &isFraction) {
  const auto &p = r.res.pitch2D;
  if (p.devPtr % kLinearAlignment != 0 || p.width > UINT32_MAX || p.height > UINT32_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(readMemory(p.devPtr, p.format, p.numChannels, p.width, p.height, p.pitchInBytes, image,
                        isFraction));
  if (p.pitchInBytes < p.width * image.texelBytes() || p.pitchInBytes % kPitchAlignment != 0)
    return CUDA_ERROR_INVALID_VALUE;
  image.shape = rt::ImageShape::d2;
  image.isPitched = true;
  return CUDA_SUCCESS;
}

rt::AddressMode addressMode(CUaddress_mode mode) {
  switch (mode) {
  case CU_TR_ADDRESS_MODE_WRAP:
    return rt::AddressMode::wrap;
  case CU_TR_ADDRESS_MODE_MIRROR:
    return rt::AddressMode::mirror;
  case CU_TR_ADDRESS_MODE_BORDER:
    return rt::AddressMode::border;
  default:
    return rt::AddressMode::clamp;
  }
}

/// Another format for the same memory, some of the levels, some of the layers.
CUresult applyView(const CUDA_RESOURCE_VIEW_DESC &view, rt::Image &image, bool &isFraction) {
  TexelFormat format{image.type, image.channels, isFraction};
  PTXRUN_TRY(readViewFormat(view.format, format));
  const uint32_t before = image.texelBytes();
  image.type = format.type;
  image.channels = static_cast<uint8_t>(format.channels);
  isFraction = format.isFraction;
  const bool isLayered = image.isLayered || image.isCube;
  if (image.texelBytes() != before || view.firstMipmapLevel > view.lastMipmapLevel ||
      view.lastMipmapLevel >= image.levels ||
      (isLayered && (view.firstLayer > view.lastLayer || view.lastLayer >= image.layers)))
    return CUDA_ERROR_INVALID_VALUE;
  image.levels = view.lastMipmapLevel - view.firstMipmapLevel + 1;
  for (uint32_t i = 0; i < image.levels; ++i) {
    image.level[i] = image.level[i + view.firstMipmapLevel];
    if (isLayered)
      image.level[i].offset += view.firstLayer * image.level[i].slice;
  }
  if (isLayered)
    image.layers = view.lastLayer - view.firstLayer + 1;
  return CUDA_SUCCESS;
}

} // namespace

CUresult readResource(const CUDA_RESOURCE_DESC &r, rt::Image &image, bool &isFraction) {
  switch (r.resType) {
  case CU_RESOURCE_TYPE_ARRAY: {
    const auto array = resolve<Array>(r.res.array.hArray);
    if (!array)
      return CUDA_ERROR_INVALID_HANDLE;
    image = array->image;
    isFraction = array->isFraction;
    return CUDA_SUCCESS;
  }
  case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
    const auto array = resolve<MipmappedArray>(r.res.mipmap.hMipmappedArray);
    if (!array)
      return CUDA_ERROR_INVALID_HANDLE;
    image = array->image;
    isFraction = array->isFraction;
    return CUDA_SUCCESS;
  }
  case CU_RESOURCE_TYPE_LINEAR:
    return readLinear(r, image, isFraction);
  case CU_RESOURCE_TYPE_PITCH2D:
    return readPitched(r, image, isFraction);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult readSampling(const CUDA_TEXTURE_DESC &d, bool isFraction, rt::Texture &texture) {
  rt::Sampler &s = texture.sampler;
  for (int i = 0; i < 3; ++i) {
    if (d.addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
      return CUDA_ERROR_INVALID_VALUE;
    s.address[i] = addressMode(d.addressMode[i]);
  }
  if (d.filterMode > CU_TR_FILTER_MODE_LINEAR || d.mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
    return CUDA_ERROR_INVALID_VALUE;
  s.isLinear = d.filterMode == CU_TR_FILTER_MODE_LINEAR;
  s.isMipLinear = d.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  s.isNormalized = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  s.isSeamless = (d.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  // Descriptors hold the bias in steps of 1/256, cut towards zero.
  s.bias = std::trunc(d.mipmapLevelBias * 256.0f) / 256.0f;
  s.minLevel = d.minMipmapLevelClamp;
  s.maxLevel = d.maxMipmapLevelClamp;
  std::copy_n(d.borderColor, 4, s.border);
  // Integers of 32 bits are no fractions of anything.
  const rt::ChannelType type = texture.image.type;
  const bool isNarrow = !rt::isFloat(type) && rt::bytesOf(type) < 4;
  texture.read.isNormalizedFloat =
      isNarrow && (isFraction || (d.flags & CU_TRSF_READ_AS_INTEGER) == 0);
  texture.read.isSrgb = type == rt::ChannelType::u8 && texture.read.isNormalizedFloat &&
                        (d.flags & CU_TRSF_SRGB) != 0;
  return CUDA_SUCCESS;
}

CUresult readTexture(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &sampling,
                     const CUDA_RESOURCE_VIEW_DESC *view, rt::Texture &texture) {
  bool isFraction = false;
  PTXRUN_TRY(readResource(resource, texture.image, isFraction));
  const bool isArray = resource.resType == CU_RESOURCE_TYPE_ARRAY ||
                       resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  if (view && isArray)
    PTXRUN_TRY(applyView(*view, texture.image, isFraction));
  return readSampling(sampling, isFraction, texture);
}

} // namespace ptxrun::driver
