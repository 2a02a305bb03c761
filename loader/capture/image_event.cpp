#include "loader/capture/image_event.h"

#include <bit>

namespace ptxrun::capture {

namespace {

/// Truth values as bits, the first is the lowest.
void putFlags(Encoder &out, std::initializer_list<bool> flags) {
  uint64_t bits = 0, at = 0;
  for (const bool flag : flags)
    bits |= uint64_t{flag} << at++;
  out.number(bits);
}
void readFlags(Decoder &in, std::initializer_list<bool *> flags) {
  uint64_t bits = in.number();
  for (bool *flag : flags) {
    *flag = bits & 1;
    bits >>= 1;
  }
}

/// A number that is at most `most`, as a type of few values.
template <class T> T small(Decoder &in, uint64_t most) {
  const uint64_t value = in.number();
  if (value > most)
    throw BadRecording("an image is of a kind that this ptxrun does not know");
  return static_cast<T>(value);
}
template <class T> T oneOf(Decoder &in, T last) {
  return small<T>(in, static_cast<uint64_t>(last));
}

void put(Encoder &out, float value) { out.number(std::bit_cast<uint32_t>(value)); }
void read(Decoder &in, float &value) { value = std::bit_cast<float>(in.number32()); }

void put(Encoder &out, const rt::ImageLevel &level) {
  for (const uint64_t value : {level.offset, uint64_t{level.width}, uint64_t{level.height},
                               uint64_t{level.depth}, level.pitch, level.slice})
    out.number(value);
}
void read(Decoder &in, rt::ImageLevel &level) {
  level.offset = in.number();
  level.width = in.number32();
  level.height = in.number32();
  level.depth = in.number32();
  level.pitch = in.number();
  level.slice = in.number();
}

/// Whether the last texel of the level ends within the image.
bool fits(const rt::Image &image, const rt::ImageLevel &level) {
  const uint64_t slices = image.shape == rt::ImageShape::d3 ? level.depth : image.layers;
  if (level.width == 0 || level.height == 0 || level.depth == 0 || slices == 0)
    return false;
  const uint64_t row = uint64_t{level.width} * image.texelBytes() * image.samples;
  uint64_t rows, depth, end;
  return !__builtin_mul_overflow(level.pitch, level.height - 1, &rows) &&
         !__builtin_mul_overflow(level.slice, slices - 1, &depth) &&
         !__builtin_add_overflow(level.offset, row, &end) &&
         !__builtin_add_overflow(end, rows, &end) && !__builtin_add_overflow(end, depth, &end) &&
         end <= image.bytes;
}

void put(Encoder &out, const rt::Image &image) {
  out.number(reinterpret_cast<uint64_t>(image.base));
  out.number(image.bytes);
  out.number(static_cast<uint64_t>(image.shape));
  putFlags(out, {image.isLayered, image.isCube, image.isPitched});
  out.number(static_cast<uint64_t>(image.type));
  for (const uint32_t value : {uint32_t{image.channels}, uint32_t{image.samples}, image.layers})
    out.number(value);
  out.number(image.levels);
  for (uint32_t i = 0; i < image.levels; ++i)
    put(out, image.level[i]);
}
void read(Decoder &in, rt::Image &image) {
  image.base = reinterpret_cast<char *>(in.number());
  image.bytes = in.number();
  image.shape = oneOf(in, rt::ImageShape::d3);
  readFlags(in, {&image.isLayered, &image.isCube, &image.isPitched});
  image.type = oneOf(in, rt::ChannelType::f32);
  image.channels = small<uint8_t>(in, 4);
  image.samples = small<uint8_t>(in, 16);
  image.layers = in.number32();
  image.levels = small<uint32_t>(in, rt::kMaxLevels);
  for (uint32_t i = 0; i < image.levels; ++i)
    read(in, image.level[i]);
}

void put(Encoder &out, const rt::Sampler &sampler) {
  for (const rt::AddressMode mode : sampler.address)
    out.number(static_cast<uint64_t>(mode));
  putFlags(out, {sampler.isLinear, sampler.isMipLinear, sampler.isNormalized,
                 sampler.forcesUnnormalized, sampler.isSeamless});
  for (const float value : {sampler.bias, sampler.minLevel, sampler.maxLevel})
    put(out, value);
  for (const float value : sampler.border)
    put(out, value);
}
void read(Decoder &in, rt::Sampler &sampler) {
  for (rt::AddressMode &mode : sampler.address)
    mode = oneOf(in, rt::AddressMode::border);
  readFlags(in, {&sampler.isLinear, &sampler.isMipLinear, &sampler.isNormalized,
                 &sampler.forcesUnnormalized, &sampler.isSeamless});
  for (float *value : {&sampler.bias, &sampler.minLevel, &sampler.maxLevel})
    read(in, *value);
  for (float &value : sampler.border)
    read(in, value);
}

void check(const rt::Image &image) {
  bool isGood = std::has_single_bit(image.channels) && std::has_single_bit(image.samples) &&
                image.levels > 0 && (!image.isCube || image.layers >= 6);
  for (uint32_t i = 0; isGood && i < image.levels; ++i)
    isGood = fits(image, image.level[i]);
  if (!isGood)
    throw BadRecording("an image does not lie in its memory");
}

} // namespace

std::string encode(const ImageEvent &event) {
  Encoder out;
  out.number(event.handle);
  out.number(static_cast<uint64_t>(event.kind));
  putFlags(out, {event.isBound, event.texture.read.isNormalizedFloat, event.texture.read.isSrgb});
  put(out, event.texture.sampler);
  if (hasImage(event))
    put(out, event.texture.image);
  return out.bytes();
}

void decode(std::string_view bytes, ImageEvent &event) {
  Decoder in(bytes);
  event.handle = in.number();
  event.kind = oneOf(in, abi::ImageKind::surface);
  readFlags(in,
            {&event.isBound, &event.texture.read.isNormalizedFloat, &event.texture.read.isSrgb});
  read(in, event.texture.sampler);
  event.texture.image = {};
  if (!hasImage(event))
    return;
  read(in, event.texture.image);
  check(event.texture.image);
}

} // namespace ptxrun::capture
