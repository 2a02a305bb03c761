// The fetches that programs make most, without what they do not need: one level of an image, or of
// one of its layers, at floating-point coordinates; elements of linear memory by index. The same
// bits as the general way (sample.h), from the same parts.
#pragma once
#include "rt/texture/sample.h"

namespace ptxrun::rt {
namespace {

/// How many dimensions sampleFlat has for it; 0: it does not do it. The image is below 2 GiB and
/// its format one of those with a name.
SAMPLER_INLINE int flatDimensions(const SampleCall &call) {
  const TextureOperation &op = call.operation;
  const Image &image = call.texture->image;
  if (op.action != TextureAction::sample || op.hasIntegerCoordinates || op.hasOffsets ||
      op.hasCompare || image.samples != 1 || image.shape == ImageShape::linear ||
      !staysAtBase(op, image, *call.sampler))
    return 0;
  for (AddressMode mode : call.sampler->address)
    if (mode == AddressMode::border)
      return 0;
  switch (op.geometry) {
  case TextureGeometry::d1:
  case TextureGeometry::a1:
    return 1;
  case TextureGeometry::d2:
  case TextureGeometry::a2:
    return 2;
  case TextureGeometry::d3:
    return 3;
  default:
    return 0;
  }
}

/// tex1Dfetch: sampleElements does it.
SAMPLER_INLINE bool isElementFetch(const SampleCall &call) {
  const TextureOperation &op = call.operation;
  return op.action == TextureAction::sample && call.texture->image.shape == ImageShape::linear &&
         op.hasIntegerCoordinates && !op.hasOffsets && !op.hasCompare;
}

template <int N, class Format>
SAMPLER_INLINE void storeFlat(const SampleCall &call, uint32_t lane, Texel<N> &v) {
  for (int c = 0; c < 4; ++c) {
    if (c >= Format::kChannels)
      v.channel[c] = Floats<N>(c == 3 ? 1.0f : 0.0f);
    else if (Format::kScale != 1)
      v.channel[c] = v.channel[c] / Format::kScale;
    memcpy(call.out + c * call.lanes + lane, &v.channel[c], 4 * N);
  }
}

/// Where the layer that each lane names begins.
template <int N> SAMPLER_INLINE Ints<N> layerOffset(const SampleCall &call, uint32_t lane) {
  const Image &image = call.texture->image;
  const ImageLevel &level = image.level[0];
  const Ints<N> first = Ints<N>(int32_t(level.offset));
  if (call.operation.geometry != TextureGeometry::a1 &&
      call.operation.geometry != TextureGeometry::a2)
    return first;
  const Ints<N> layer = loadRow<N>(call, abi::kRowLayer, lane),
                last = Ints<N>(int32_t(image.layers) - 1);
  return first + (((layer < 0) | (layer > last)) ? last : layer) * int32_t(level.slice);
}

template <int N, int dimensions, class Format, bool isLinear>
void sampleFlat(const SampleCall &call, uint32_t lane) {
  const Texture &t = *call.texture;
  const Sampler &s = *call.sampler;
  const ImageLevel &level = t.image.level[0];
  const bool isNormalized = s.isNormalized && !s.forcesUnnormalized;
  const uint32_t sizes[3] = {level.width, level.height, level.depth};
  const int32_t steps[3] = {Format::kBytes, int32_t(level.pitch), int32_t(level.slice)};
  const Ints<N> first = layerOffset<N>(call, lane);
  Ints<N> place[dimensions][2];
  Floats<N> weight[dimensions][2];
  for (int d = 0; d < dimensions; ++d) {
    Axis<N> axis;
    resolveAxis<N>(loadFloats<N>(call, abi::kRowX + d, lane), Ints<N>(int32_t(sizes[d])),
                   Ints<N>(0), s.address[d], isNormalized, isLinear, axis);
    for (int k = 0; k < (isLinear ? 2 : 1); ++k)
      place[d][k] = axis.index[k] * steps[d];
    if (isLinear) {
      weight[d][0] = 1.0f - axis.weight;
      weight[d][1] = axis.weight;
    }
  }
  Texel<N> sum = {};
  for (int corner = 0; corner < (isLinear ? 1 << dimensions : 1); ++corner) {
    Ints<N> at = first;
    Floats<N> w = Floats<N>(1.0f);
    for (int d = 0; d < dimensions; ++d) {
      at += place[d][corner >> d & 1];
      if (isLinear)
        w *= weight[d][corner >> d & 1];
    }
    if constexpr (isLinear) {
      Texel<N> texel;
      Format::template read<N>(t, at, texel);
      for (int c = 0; c < Format::kChannels; ++c)
        sum.channel[c] += w * texel.channel[c];
    } else {
      Format::template read<N>(t, at, sum);
    }
  }
  storeFlat<N, Format>(call, lane, sum);
}

template <int N, class Format> void sampleElements(const SampleCall &call, uint32_t lane) {
  const Image &image = call.texture->image;
  const Ints<N> index = loadRow<N>(call, abi::kRowX, lane);
  const Ints<N> isInside = (index >= 0) & (index < int32_t(image.level[0].width));
  Texel<N> texel;
  Format::template read<N>(*call.texture, (index & isInside) * Format::kBytes, texel);
  for (int c = 0; c < Format::kChannels; ++c)
    texel.channel[c] = isInside ? texel.channel[c] : Floats<N>(0.0f);
  storeFlat<N, Format>(call, lane, texel);
}

} // namespace
} // namespace ptxrun::rt
