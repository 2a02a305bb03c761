// Texels of N lanes out of memory. Values that can be filtered come as floats: those of integers
// that are to become fractions unscaled (a texel of 8 bits and its weight of 16 make an exact
// product), so that what filtering gives is divided once by scaleOf().
#pragma once
#include "rt/texture/texture.h"
#include "rt/texture/vectors.h"

namespace ptxrun::rt {

/// The linear value of each sRGB byte, rounded to nearest (sampler_tables.cpp).
extern const float kLinearOfSrgb[256];

namespace {

template <int N> struct Texel {
  Floats<N> channel[4];
};

/// What a channel is to be divided by in the end.
SAMPLER_INLINE float scaleOf(const Texture &t) {
  if (!t.read.isNormalizedFloat || t.read.isSrgb)
    return 1;
  switch (t.image.type) {
  case ChannelType::u8:
    return 255;
  case ChannelType::u16:
    return 65535;
  case ChannelType::s8:
    return 127;
  case ChannelType::s16:
    return 32767;
  default:
    return 1;
  }
}

template <class T, int N, class Offset>
SAMPLER_INLINE Ints<N> gather(const char *base, Offset offsets, uint64_t plus = 0) {
  Ints<N> words;
  for (int l = 0; l < N; ++l) {
    T value;
    memcpy(&value, base + offsets[l] + plus, sizeof value);
    words[l] = static_cast<int32_t>(value);
  }
  return words;
}

/// Any format. The others below are those that programs use most, for flat.h; what they give is the
/// same.
struct AnyFormat {
  template <int N, class Offset> static void read(const Texture &t, Offset offsets, Texel<N> &out) {
    const uint32_t bytes = bytesOf(t.image.type);
    for (uint32_t c = 0; c < t.image.channels; ++c)
      out.channel[c] = convert<N>(t, c, raw<N>(t, offsets, uint64_t{c} * bytes));
  }

 private:
  template <int N, class Offset>
  static Ints<N> raw(const Texture &t, Offset offsets, uint64_t plus) {
    const char *base = t.image.base;
    switch (t.image.type) {
    case ChannelType::u8:
      return gather<uint8_t, N>(base, offsets, plus);
    case ChannelType::s8:
      return gather<int8_t, N>(base, offsets, plus);
    case ChannelType::u16:
    case ChannelType::f16:
      return gather<uint16_t, N>(base, offsets, plus);
    case ChannelType::s16:
      return gather<int16_t, N>(base, offsets, plus);
    default:
      return gather<int32_t, N>(base, offsets, plus);
    }
  }
  template <int N> static Floats<N> convert(const Texture &t, uint32_t channel, Ints<N> raw) {
    if (t.image.type == ChannelType::f16)
      return fromHalves<N>(raw);
    if (t.image.type == ChannelType::f32 || !t.read.isNormalizedFloat)
      return asFloats<N>(raw);
    if (t.read.isSrgb) {
      Floats<N> value;
      for (int l = 0; l < N; ++l)
        value[l] = channel == 3 ? static_cast<float>(raw[l]) / 255.0f : kLinearOfSrgb[raw[l]];
      return value;
    }
    // The most negative integer means -1 as well.
    if (isSigned(t.image.type))
      raw = max<N>(raw, Ints<N>(-static_cast<int32_t>(scaleOf(t))));
    return toFloats<N>(raw);
  }
};

template <int channels> struct FloatFormat {
  static constexpr int kChannels = channels, kBytes = 4 * channels;
  static constexpr float kScale = 1;
  static constexpr bool kIsFiltered = true;
  template <int N, class Offset>
  SAMPLER_INLINE static void read(const Texture &t, Offset offsets, Texel<N> &out) {
    for (int c = 0; c < channels; ++c)
      out.channel[c] = asFloats<N>(gather<int32_t, N>(t.image.base, offsets, 4 * c));
  }
};

/// Bytes without a sign, to be fractions.
template <int channels> struct ByteFormat {
  static constexpr int kChannels = channels, kBytes = channels;
  static constexpr float kScale = 255;
  static constexpr bool kIsFiltered = true;
  template <int N, class Offset>
  SAMPLER_INLINE static void read(const Texture &t, Offset offsets, Texel<N> &out) {
    if constexpr (channels == 1) {
      out.channel[0] = toFloats<N>(gather<uint8_t, N>(t.image.base, offsets));
    } else {
      const Ints<N> words = gather<int32_t, N>(t.image.base, offsets);
      for (int c = 0; c < channels; ++c)
        out.channel[c] = toFloats<N>(words >> (8 * c) & 255);
    }
  }
};

/// Four bytes without a sign, as integers.
struct ByteElements {
  static constexpr int kChannels = 4, kBytes = 4;
  static constexpr float kScale = 1;
  static constexpr bool kIsFiltered = false;
  template <int N, class Offset>
  SAMPLER_INLINE static void read(const Texture &t, Offset offsets, Texel<N> &out) {
    const Ints<N> words = gather<int32_t, N>(t.image.base, offsets);
    for (int c = 0; c < 4; ++c)
      out.channel[c] = asFloats<N>(words >> (8 * c) & 255);
  }
};

/// Four integers of 32 bits.
struct WordElements : FloatFormat<4> {
  static constexpr bool kIsFiltered = false;
};

} // namespace
} // namespace ptxrun::rt
