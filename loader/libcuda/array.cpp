#include "loader/libcuda/array.h"

#include <algorithm>
#include <bit>

#include "loader/device/memory.h"

namespace ptxrun::driver {

namespace {

using rt::ChannelType;

/// Rows begin at multiples of this.
constexpr uint64_t kRowAlignment = 16, kLevelAlignment = 256;
/// The greatest extents of CUDA's devices of compute capability 9.0.
constexpr size_t kMostWidth = 131072, kMostHeight = 65536, kMost3D = 16384, kMost3DDepth = 32768;
constexpr size_t kMostLayered = 32768, kMostLayers = 2048;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

bool has(const CUDA_ARRAY3D_DESCRIPTOR &d, unsigned flag) { return (d.Flags & flag) != 0; }

bool isValid(const CUDA_ARRAY3D_DESCRIPTOR &d) {
  const bool isLayered = has(d, CUDA_ARRAY3D_LAYERED), isCube = has(d, CUDA_ARRAY3D_CUBEMAP);
  if (d.Width == 0)
    return false;
  // Gathering is for two-dimensional images.
  if (has(d, CUDA_ARRAY3D_TEXTURE_GATHER) && (isLayered || isCube || d.Depth != 0))
    return false;
  if (isCube)
    return d.Width == d.Height && d.Width <= kMostLayered && d.Depth != 0 && d.Depth % 6 == 0 &&
           (isLayered ? d.Depth <= kMostLayers : d.Depth == 6);
  if (isLayered)
    return d.Width <= kMostLayered && d.Height <= kMostLayered && d.Depth != 0 &&
           d.Depth <= kMostLayers;
  if (d.Depth != 0)
    return d.Height != 0 && d.Width <= kMost3D && d.Height <= kMost3D && d.Depth <= kMost3DDepth;
  return d.Width <= kMostWidth && d.Height <= kMostHeight;
}

void placeLevels(const CUDA_ARRAY3D_DESCRIPTOR &d, rt::Image &image) {
  uint64_t next = 0;
  const bool isVolume = image.shape == rt::ImageShape::d3;
  for (unsigned i = 0; i < image.levels; ++i) {
    rt::ImageLevel &level = image.level[i];
    const auto halved = [&](size_t extent) {
      return static_cast<uint32_t>(std::max<size_t>(extent >> i, 1));
    };
    level.width = halved(d.Width);
    level.height = halved(d.Height);
    level.depth = isVolume ? halved(d.Depth) : 1;
    level.offset = next;
    level.pitch = roundUp(uint64_t{level.width} * image.texelBytes(), kRowAlignment);
    level.slice = level.pitch * level.height;
    next += roundUp(level.slice * (isVolume ? level.depth : image.layers), kLevelAlignment);
  }
  image.bytes = next;
}

/// A format of integers or fractions: type and, where the name says so, channels.
TexelFormat formatOf(CUarray_format format) {
  constexpr ChannelType kIntegers[] = {ChannelType::u8, ChannelType::u16, ChannelType::u32};
  constexpr ChannelType kSigned[] = {ChannelType::s8, ChannelType::s16, ChannelType::s32};
  constexpr ChannelType kFractions[] = {ChannelType::u8, ChannelType::u16, ChannelType::s8,
                                        ChannelType::s16};
  const int number = format;
  if (number >= CU_AD_FORMAT_UNSIGNED_INT8 && number <= CU_AD_FORMAT_UNSIGNED_INT32)
    return {kIntegers[number - CU_AD_FORMAT_UNSIGNED_INT8], 0, false};
  if (number >= CU_AD_FORMAT_SIGNED_INT8 && number <= CU_AD_FORMAT_SIGNED_INT32)
    return {kSigned[number - CU_AD_FORMAT_SIGNED_INT8], 0, false};
  const int fraction = number - CU_AD_FORMAT_UNORM_INT8X1;
  return {kFractions[fraction / 3], 1u << fraction % 3, true};
}

bool isBlockOrVideo(int format) {
  return (format >= CU_AD_FORMAT_BC1_UNORM && format < CU_AD_FORMAT_UNORM_INT8X1) ||
         format > 0xcb || format == 0x50;
}

} // namespace

CUresult readFormat(CUarray_format format, unsigned channels, TexelFormat &out) {
  const int number = format;
  const bool isFraction =
      number >= CU_AD_FORMAT_UNORM_INT8X1 && number <= CU_AD_FORMAT_SNORM_INT16X4;
  if (number == CU_AD_FORMAT_HALF)
    out = {ChannelType::f16, 0, false};
  else if (number == CU_AD_FORMAT_FLOAT)
    out = {ChannelType::f32, 0, false};
  else if (isFraction || (number >= 1 && number <= 3) || (number >= 8 && number <= 10))
    out = formatOf(format);
  else
    return isBlockOrVideo(number) ? notSupported("a compressed or video array format")
                                  : CUDA_ERROR_INVALID_VALUE;
  if (out.channels == 0)
    out.channels = channels;
  const bool isCount = channels == 1 || channels == 2 || channels == 4;
  return isCount && out.channels == channels ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult readViewFormat(CUresourceViewFormat format, TexelFormat &out) {
  constexpr ChannelType kTypes[] = {ChannelType::u8,  ChannelType::s8,  ChannelType::u16,
                                    ChannelType::s16, ChannelType::u32, ChannelType::s32,
                                    ChannelType::f16, ChannelType::f32};
  if (format == CU_RES_VIEW_FORMAT_NONE)
    return CUDA_SUCCESS;
  const int number = format - CU_RES_VIEW_FORMAT_UINT_1X8;
  if (number < 0 || number / 3 >= static_cast<int>(std::size(kTypes)))
    return notSupported("a compressed view format");
  out = {kTypes[number / 3], 1u << number % 3, false};
  return CUDA_SUCCESS;
}

ArrayMemory::ArrayMemory(size_t bytes)
    : base_(static_cast<char *>(device::allocateMemory(bytes))) {}
ArrayMemory::~ArrayMemory() {
  if (base_)
    device::freeMemory(base_);
}

MipmappedArray::MipmappedArray(std::shared_ptr<ArrayMemory> memory,
                               const CUDA_ARRAY3D_DESCRIPTOR &description, const rt::Image &image,
                               bool isFraction)
    : Object(kKind), description(description), image(image), isFraction(isFraction),
      memory_(std::move(memory)) {
  for (unsigned i = 0; i < image.levels; ++i) {
    rt::Image one = image;
    one.levels = 1;
    one.base = image.base + image.level[i].offset;
    one.level[0] = image.level[i];
    one.level[0].offset = 0;
    one.bytes = image.bytes - image.level[i].offset;
    CUDA_ARRAY3D_DESCRIPTOR d = description;
    d.Width = one.level[0].width;
    d.Height = d.Height ? one.level[0].height : 0;
    d.Depth = one.shape == rt::ImageShape::d3 ? one.level[0].depth : d.Depth;
    levels.push_back(std::make_shared<Array>(memory_, d, one, isFraction, true));
  }
}

CUresult layOut(const CUDA_ARRAY3D_DESCRIPTOR &d, unsigned levels, rt::Image &image,
                TexelFormat &format) {
  if (has(d, CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
    return notSupported("a sparse or deferred CUDA array");
  PTXRUN_TRY(readFormat(d.Format, d.NumChannels, format));
  if (!isValid(d))
    return CUDA_ERROR_INVALID_VALUE;
  image = {};
  image.isLayered = has(d, CUDA_ARRAY3D_LAYERED);
  image.isCube = has(d, CUDA_ARRAY3D_CUBEMAP);
  const bool isVolume = d.Depth != 0 && !image.isLayered && !image.isCube;
  image.shape = isVolume        ? rt::ImageShape::d3
                : d.Height == 0 ? rt::ImageShape::d1
                                : rt::ImageShape::d2;
  image.type = format.type;
  image.channels = static_cast<uint8_t>(format.channels);
  image.layers = image.isLayered || image.isCube ? static_cast<uint32_t>(d.Depth) : 1;
  const size_t longest = std::max({d.Width, d.Height, isVolume ? d.Depth : 0});
  image.levels = std::clamp<unsigned>(levels, 1, static_cast<unsigned>(std::bit_width(longest)));
  placeLevels(d, image);
  return CUDA_SUCCESS;
}

} // namespace ptxrun::driver
