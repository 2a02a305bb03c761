// The fetches that programs make most, without what they do not need: one level of a plain image of
// two dimensions at floating-point coordinates, and elements of linear memory by index. The same
// bits as the general way (sample.h), from the same parts.
#pragma once
#include "rt/texture/sample.h"

namespace ptxrun::rt {
namespace {

/// Whether sampleFlat does it; the image is below 2 GiB and its format one of those with a name.
SAMPLER_INLINE bool isFlat(const SampleCall &call) {
  const TextureOperation &op = call.operation;
  const Image &image = call.texture->image;
  return op.action == TextureAction::sample && op.geometry == TextureGeometry::d2 &&
         (op.level == abi::TextureLevel::base || image.levels == 1) && !op.hasIntegerCoordinates &&
         !op.hasOffsets && !op.hasCompare && image.samples == 1 &&
         call.sampler->address[0] != AddressMode::border &&
         call.sampler->address[1] != AddressMode::border;
}

template <int N>
SAMPLER_INLINE void storeFlat(const SampleCall &call, uint32_t lane, uint32_t channels, float scale,
                              Texel<N> &v) {
  for (uint32_t c = 0; c < 4; ++c) {
    if (c >= channels)
      v.channel[c] = Floats<N>(c == 3 ? 1.0f : 0.0f);
    else if (scale != 1)
      v.channel[c] = v.channel[c] / scale;
    memcpy(call.out + c * call.lanes + lane, &v.channel[c], 4 * N);
  }
}

template <int N, class Format, bool isLinear>
void sampleFlat(const SampleCall &call, uint32_t lane) {
  const Texture &t = *call.texture;
  const Sampler &s = *call.sampler;
  const ImageLevel &level = t.image.level[0];
  const bool isNormalized = s.isNormalized && !s.forcesUnnormalized;
  const Ints<N> none = Ints<N>(0);
  Axis<N> x, y;
  resolveAxis<N>(loadFloats<N>(call, abi::kRowX, lane), Ints<N>(int32_t(level.width)), none,
                 s.address[0], isNormalized, isLinear, x);
  resolveAxis<N>(loadFloats<N>(call, abi::kRowX + 1, lane), Ints<N>(int32_t(level.height)), none,
                 s.address[1], isNormalized, isLinear, y);
  const int32_t pitch = int32_t(level.pitch), first = int32_t(level.offset);
  constexpr int32_t kTexel = Format::kBytes;
  Texel<N> sum = {};
  if constexpr (!isLinear) {
    Format::template read<N>(t, first + y.index[0] * pitch + x.index[0] * kTexel, sum);
  } else {
    const Ints<N> row[2] = {first + y.index[0] * pitch, first + y.index[1] * pitch};
    const Ints<N> column[2] = {x.index[0] * kTexel, x.index[1] * kTexel};
    const Floats<N> across[2] = {1.0f - x.weight, x.weight}, down[2] = {1.0f - y.weight, y.weight};
    for (int corner = 0; corner < 4; ++corner) {
      Texel<N> texel;
      Format::template read<N>(t, row[corner >> 1] + column[corner & 1], texel);
      const Floats<N> weight = across[corner & 1] * down[corner >> 1];
      for (int c = 0; c < Format::kChannels; ++c)
        sum.channel[c] += weight * texel.channel[c];
    }
  }
  storeFlat<N>(call, lane, Format::kChannels, Format::kScale, sum);
}

} // namespace
} // namespace ptxrun::rt
