#include "loader/libcuda/gl_texture.h"

#include <algorithm>
#include <bit>

namespace ptxrun::driver {

namespace {

constexpr unsigned kTexture2d = 0x0DE1, kTextureRectangle = 0x84F5, kTextureCube = 0x8513,
                   kTexture3d = 0x806F, kTexture2dArray = 0x8C1A;
constexpr unsigned kFirstFace = 0x8515;
constexpr unsigned kWidth = 0x1000, kHeight = 0x1001, kInternalFormat = 0x1003, kDepth = 0x8071;
constexpr unsigned kPackBuffer = 0x88EB, kPackBufferBinding = 0x88ED;
constexpr unsigned kUnpackBuffer = 0x88EC, kUnpackBufferBinding = 0x88EF;

constexpr unsigned kRed = 0x1903, kRg = 0x8227, kRgba = 0x1908, kLuminance = 0x1909,
                   kAlpha = 0x1906, kLuminanceAlpha = 0x190A;
constexpr unsigned kRedInteger = 0x8D94, kRgInteger = 0x8228, kRgbaInteger = 0x8D99;
constexpr unsigned kByte = 0x1400, kUnsignedByte = 0x1401, kShort = 0x1402, kUnsignedShort = 0x1403,
                   kInt = 0x1404, kUnsignedInt = 0x1405, kFloat = 0x1406, kHalfFloat = 0x140B;

struct Target {
  unsigned target, binding;
};
constexpr Target kTargets[] = {{kTexture2d, 0x8069},
                               {kTextureRectangle, 0x84F6},
                               {kTextureCube, 0x8514},
                               {kTexture3d, 0x806A},
                               {kTexture2dArray, 0x8C1D}};

struct Format {
  int internal;
  CUarray_format format;
  unsigned channels, transferFormat, transferType;
};
constexpr Format kFormats[] = {
#define FORMAT(internal, format, channels, transferFormat, transferType)                           \
  {internal, CU_AD_FORMAT_##format, channels, transferFormat, transferType},
#include "loader/libcuda/gl_formats.def"
#undef FORMAT
};

/// How pixels lie in memory: {name, without gaps}, for packing and unpacking.
struct PixelStore {
  unsigned name;
  int plain;
};
constexpr PixelStore kPixelStore[] = {
    {0x0D00, 0}, {0x0D02, 0}, {0x0D03, 0}, {0x0D04, 0}, {0x0D05, 1}, {0x806B, 0}, {0x806C, 0},
    {0x0CF0, 0}, {0x0CF2, 0}, {0x0CF3, 0}, {0x0CF4, 0}, {0x0CF5, 1}, {0x806D, 0}, {0x806E, 0}};

const Target *findTarget(unsigned target) {
  const auto *found = std::ranges::find(kTargets, target, &Target::target);
  return found == std::end(kTargets) ? nullptr : found;
}

bool isVolume(unsigned target) { return target == kTexture3d || target == kTexture2dArray; }

} // namespace

bool GlTextureShape::operator==(const GlTextureShape &other) const {
  const auto &a = description, &b = other.description;
  return a.Width == b.Width && a.Height == b.Height && a.Depth == b.Depth && a.Format == b.Format &&
         a.NumChannels == b.NumChannels && levels == other.levels;
}

bool isGlTextureTarget(unsigned target) { return findTarget(target) != nullptr; }

GlTexture::GlTexture(const GlFunctions &gl, unsigned texture, unsigned target)
    : gl_(gl), target_(target) {
  gl_.glGetIntegerv(findTarget(target)->binding, &texture_);
  gl_.glBindTexture(target_, texture);
  gl_.glGetIntegerv(kPackBufferBinding, &packBuffer_);
  gl_.glGetIntegerv(kUnpackBufferBinding, &unpackBuffer_);
  if (packBuffer_)
    gl_.glBindBuffer(kPackBuffer, 0);
  if (unpackBuffer_)
    gl_.glBindBuffer(kUnpackBuffer, 0);
  for (const PixelStore &state : kPixelStore)
    save(state.name, state.plain);
}

GlTexture::~GlTexture() {
  for (const Saved &saved : pixelStore_)
    gl_.glPixelStorei(saved.name, saved.value);
  if (packBuffer_)
    gl_.glBindBuffer(kPackBuffer, static_cast<unsigned>(packBuffer_));
  if (unpackBuffer_)
    gl_.glBindBuffer(kUnpackBuffer, static_cast<unsigned>(unpackBuffer_));
  gl_.glBindTexture(target_, static_cast<unsigned>(texture_));
}

void GlTexture::save(unsigned name, int replacement) {
  int value = replacement;
  gl_.glGetIntegerv(name, &value);
  if (value == replacement)
    return;
  pixelStore_.push_back({name, value});
  gl_.glPixelStorei(name, replacement);
}

unsigned GlTexture::faces() const { return target_ == kTextureCube ? 6 : 1; }

unsigned GlTexture::imageTarget(unsigned face) const {
  return target_ == kTextureCube ? kFirstFace + face : target_;
}

int GlTexture::levelParameter(unsigned level, unsigned name) const {
  int value = 0;
  gl_.glGetTexLevelParameteriv(imageTarget(0), static_cast<int>(level), name, &value);
  return value;
}

/// Levels that have an image, from the first on. A level beyond what the size allows is not asked
/// for: it would be an error of the program's.
unsigned GlTexture::countLevels(unsigned longest) const {
  const auto most =
      target_ == kTextureRectangle ? 1u : static_cast<unsigned>(std::bit_width(longest));
  unsigned levels = 1;
  while (levels < most && levelParameter(levels, kWidth) > 0)
    ++levels;
  return levels;
}

bool GlTexture::readShape(GlTextureShape &shape) const {
  const int internal = levelParameter(0, kInternalFormat);
  const auto *format = std::ranges::find(kFormats, internal, &Format::internal);
  const int width = levelParameter(0, kWidth), height = levelParameter(0, kHeight);
  const int depth = isVolume(target_) ? levelParameter(0, kDepth) : 0;
  if (format == std::end(kFormats) || width <= 0 || height <= 0)
    return false;
  CUDA_ARRAY3D_DESCRIPTOR &d = shape.description;
  d.Width = static_cast<size_t>(width);
  d.Height = static_cast<size_t>(height);
  d.Depth = target_ == kTextureCube ? 6 : static_cast<size_t>(depth);
  d.Format = format->format;
  d.NumChannels = format->channels;
  d.Flags = target_ == kTextureCube      ? CUDA_ARRAY3D_CUBEMAP
            : target_ == kTexture2dArray ? CUDA_ARRAY3D_LAYERED
                                         : 0;
  shape.levels = countLevels(
      static_cast<unsigned>(std::max({width, height, target_ == kTexture3d ? depth : 0})));
  shape.transferFormat = format->transferFormat;
  shape.transferType = format->transferType;
  return true;
}

void GlTexture::read(const GlTextureShape &shape, unsigned level, unsigned face, void *to) const {
  gl_.glGetTexImage(imageTarget(face), static_cast<int>(level), shape.transferFormat,
                    shape.transferType, to);
}

void GlTexture::write(const GlTextureShape &shape, unsigned level, unsigned face,
                      const void *from) const {
  const int number = static_cast<int>(level);
  const int width = levelParameter(level, kWidth), height = levelParameter(level, kHeight);
  if (isVolume(target_))
    gl_.glTexSubImage3D(target_, number, 0, 0, 0, width, height, levelParameter(level, kDepth),
                        shape.transferFormat, shape.transferType, from);
  else
    gl_.glTexSubImage2D(imageTarget(face), number, 0, 0, width, height, shape.transferFormat,
                        shape.transferType, from);
}

} // namespace ptxrun::driver
