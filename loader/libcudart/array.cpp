// Arrays, mipmapped arrays, channel formats.
#include "loader/libcudart/array.h"

#include "loader/libcudart/runtime.h"

namespace ptxrun::runtime {

namespace {

constexpr CUresult kBadChannels = static_cast<CUresult>(cudaErrorInvalidChannelDescriptor);

/// The format of one channel; false if there is none.
bool channelFormat(int bits, int kind, CUarray_format &format) {
  const bool isSigned = kind == cudaChannelFormatKindSigned;
  if (kind == cudaChannelFormatKindFloat) {
    format = bits == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    return bits == 16 || bits == 32;
  }
  if (kind != cudaChannelFormatKindUnsigned && !isSigned)
    return false;
  format = bits == 8    ? (isSigned ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8)
           : bits == 16 ? (isSigned ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16)
                        : (isSigned ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32);
  return bits == 8 || bits == 16 || bits == 32;
}

/// Kinds of fractions name a format whole: UnsignedNormalized8X1 to SignedNormalized16X4.
constexpr CUarray_format kFractions[] = {
    CU_AD_FORMAT_UNORM_INT8X1,  CU_AD_FORMAT_UNORM_INT8X2,  CU_AD_FORMAT_UNORM_INT8X4,
    CU_AD_FORMAT_UNORM_INT16X1, CU_AD_FORMAT_UNORM_INT16X2, CU_AD_FORMAT_UNORM_INT16X4,
    CU_AD_FORMAT_SNORM_INT8X1,  CU_AD_FORMAT_SNORM_INT8X2,  CU_AD_FORMAT_SNORM_INT8X4,
    CU_AD_FORMAT_SNORM_INT16X1, CU_AD_FORMAT_SNORM_INT16X2, CU_AD_FORMAT_SNORM_INT16X4};
constexpr int kFractionCount = sizeof kFractions / sizeof *kFractions;

int bitsOf(CUarray_format format) {
  switch (format) {
  case CU_AD_FORMAT_UNSIGNED_INT8:
  case CU_AD_FORMAT_SIGNED_INT8:
    return 8;
  case CU_AD_FORMAT_UNSIGNED_INT16:
  case CU_AD_FORMAT_SIGNED_INT16:
  case CU_AD_FORMAT_HALF:
    return 16;
  case CU_AD_FORMAT_UNSIGNED_INT32:
  case CU_AD_FORMAT_SIGNED_INT32:
  case CU_AD_FORMAT_FLOAT:
    return 32;
  default: { // fractions: three of 8 bits, three of 16, twice
    const int number = format - CU_AD_FORMAT_UNORM_INT8X1;
    return number / 3 % 2 == 0 ? 8 : 16;
  }
  }
}

int kindOf(CUarray_format format) {
  switch (format) {
  case CU_AD_FORMAT_HALF:
  case CU_AD_FORMAT_FLOAT:
    return cudaChannelFormatKindFloat;
  case CU_AD_FORMAT_SIGNED_INT8:
  case CU_AD_FORMAT_SIGNED_INT16:
  case CU_AD_FORMAT_SIGNED_INT32:
    return cudaChannelFormatKindSigned;
  case CU_AD_FORMAT_UNSIGNED_INT8:
  case CU_AD_FORMAT_UNSIGNED_INT16:
  case CU_AD_FORMAT_UNSIGNED_INT32:
    return cudaChannelFormatKindUnsigned;
  default:
    return cudaChannelFormatKindUnsignedNormalized8X1 + (format - CU_AD_FORMAT_UNORM_INT8X1);
  }
}

} // namespace

CUresult readChannels(const cudaChannelFormatDesc &d, CUarray_format &format, unsigned &channels) {
  const int bits[] = {d.x, d.y, d.z, d.w};
  channels = 0;
  while (channels < 4 && bits[channels] != 0)
    ++channels;
  for (unsigned c = 0; c < 4; ++c) // all channels have the same width, and none is left out
    if (bits[c] != (c < channels ? d.x : 0))
      return kBadChannels;
  const int fraction = d.kind - cudaChannelFormatKindUnsignedNormalized8X1;
  if (fraction >= 0 && fraction < kFractionCount) {
    format = kFractions[fraction];
    return CUDA_SUCCESS;
  }
  const bool isCount = channels == 1 || channels == 2 || channels == 4;
  return isCount && channelFormat(d.x, d.kind, format) ? CUDA_SUCCESS : kBadChannels;
}

cudaChannelFormatDesc describeChannels(CUarray_format format, unsigned channels) {
  const auto bits = [&](unsigned c) { return c < channels ? bitsOf(format) : 0; };
  return {bits(0), bits(1), bits(2), bits(3), kindOf(format)};
}

size_t elementBytes(cudaArray_t array) {
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  if (cuArray3DGetDescriptor(&d, array) != CUDA_SUCCESS)
    return 0;
  return static_cast<size_t>(bitsOf(d.Format)) / 8 * d.NumChannels;
}

namespace {

CUresult describeArray(const cudaChannelFormatDesc *channels, cudaExtent extent, unsigned flags,
                       CUDA_ARRAY3D_DESCRIPTOR &d) {
  d = {};
  if (!channels)
    return CUDA_ERROR_INVALID_VALUE;
  d.Width = extent.width;
  d.Height = extent.height;
  d.Depth = extent.depth;
  d.Flags = flags; // the same bits in both APIs
  return readChannels(*channels, d.Format, d.NumChannels);
}

/// What the runtime API tells of an array. One dimension less is an extent of 0 in both APIs.
CUresult tellArray(cudaChannelFormatDesc *channels, cudaExtent *extent, unsigned *flags,
                   cudaArray_t array) {
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  if (const CUresult result = cuArray3DGetDescriptor(&d, array); result != CUDA_SUCCESS)
    return result;
  if (channels)
    *channels = describeChannels(d.Format, d.NumChannels);
  if (extent)
    *extent = {d.Width, d.Height, d.Depth};
  if (flags)
    *flags = d.Flags;
  return CUDA_SUCCESS;
}

} // namespace
} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                               int kind) {
  return {x, y, z, w, kind};
}
PTXRUN_RUNTIME_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *out, cudaArray_t array) {
  return perform(
      [&] { return out ? tellArray(out, nullptr, nullptr, array) : CUDA_ERROR_INVALID_VALUE; });
}

PTXRUN_RUNTIME_API cudaError_t cudaMalloc3DArray(cudaArray_t *array,
                                                 const cudaChannelFormatDesc *channels,
                                                 cudaExtent extent, unsigned flags) {
  return perform([&] {
    CUDA_ARRAY3D_DESCRIPTOR d;
    const CUresult result = describeArray(channels, extent, flags, d);
    return result == CUDA_SUCCESS ? cuArray3DCreate(array, &d) : result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaMallocArray(cudaArray_t *array,
                                               const cudaChannelFormatDesc *channels, size_t width,
                                               size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, channels, {width, height, 0}, flags);
}
PTXRUN_RUNTIME_API cudaError_t cudaFreeArray(cudaArray_t array) {
  return perform([&] { return array ? cuArrayDestroy(array) : CUDA_SUCCESS; });
}
PTXRUN_RUNTIME_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *channels, cudaExtent *extent,
                                                unsigned *flags, cudaArray_t array) {
  return perform([&] { return tellArray(channels, extent, flags, array); });
}
PTXRUN_RUNTIME_API cudaError_t cudaArrayGetPlane(cudaArray_t *plane, cudaArray_t array,
                                                 unsigned number) {
  return perform([&] { return cuArrayGetPlane(plane, array, number); });
}
PTXRUN_RUNTIME_API cudaError_t cudaArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                                              cudaArray_t array, int device) {
  return perform([&] { return cuArrayGetMemoryRequirements(out, array, device); });
}
PTXRUN_RUNTIME_API cudaError_t cudaArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *out,
                                                            cudaArray_t array) {
  return perform([&] { return cuArrayGetSparseProperties(out, array); });
}

PTXRUN_RUNTIME_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
                                                        const cudaChannelFormatDesc *channels,
                                                        cudaExtent extent, unsigned levels,
                                                        unsigned flags) {
  return perform([&] {
    CUDA_ARRAY3D_DESCRIPTOR d;
    const CUresult result = describeArray(channels, extent, flags, d);
    return result == CUDA_SUCCESS ? cuMipmappedArrayCreate(array, &d, levels) : result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level,
                                                          cudaMipmappedArray_t array,
                                                          unsigned number) {
  return perform([&] { return cuMipmappedArrayGetLevel(level, array, number); });
}
PTXRUN_RUNTIME_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return perform([&] { return array ? cuMipmappedArrayDestroy(array) : CUDA_SUCCESS; });
}
PTXRUN_RUNTIME_API cudaError_t cudaMipmappedArrayGetMemoryRequirements(
    CUDA_ARRAY_MEMORY_REQUIREMENTS *out, cudaMipmappedArray_t array, int device) {
  return perform([&] { return cuMipmappedArrayGetMemoryRequirements(out, array, device); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMipmappedArrayGetSparseProperties(
    CUDA_ARRAY_SPARSE_PROPERTIES *out, cudaMipmappedArray_t array) {
  return perform([&] { return cuMipmappedArrayGetSparseProperties(out, array); });
}
