// tex and tld4 over N lanes (PTX ISA 9.7.10.3, 9.7.10.4).
//
//     level of the mipmap, by lane  ->  layer and face  ->  two texels along each axis
//                                   ->  their weighted sum  ->  the sum of two levels
#pragma once
#include <algorithm>

#include "rt/texture/axis.h"
#include "rt/texture/cube.h"
#include "rt/texture/kernels.h"
#include "rt/texture/texel.h"

namespace ptxrun::rt {
namespace {

using abi::TextureAction;
using abi::TextureGeometry;
using abi::TextureOperation;

template <int N>
SAMPLER_INLINE Ints<N> loadRow(const SampleCall &call, uint32_t row, uint32_t lane) {
  Ints<N> words;
  memcpy(&words, call.in + row * call.lanes + lane, 4 * N);
  return words;
}
template <int N>
SAMPLER_INLINE Floats<N> loadFloats(const SampleCall &call, uint32_t row, uint32_t lane) {
  return asFloats<N>(loadRow<N>(call, row, lane));
}

/// Nothing but the base level can be read: no level is named, and the sampler's range begins there.
SAMPLER_INLINE bool staysAtBase(const TextureOperation &op, const Image &image, const Sampler &s) {
  return image.levels == 1 || (op.level == abi::TextureLevel::base && !(s.minLevel > 0.0f));
}

/// What one chunk of lanes asks for.
template <int N, class Offset> struct Lanes {
  const SampleCall &call;
  uint32_t lane;
  const Texture &t = *call.texture;
  const Sampler &s = *call.sampler;
  TextureOperation op = call.operation;
  bool isNormalized = s.isNormalized && !s.forcesUnnormalized;
  bool isLinear = s.isLinear && !op.hasIntegerCoordinates && !t.isInteger();
  bool hasBorder = false;
  float scale = scaleOf(t);
  Floats<N> coordinate[3] = {};
  Ints<N> texel[3] = {}; ///< integer coordinates
  Ints<N> offset[3] = {};
  Floats<N> compare = {};
  Ints<N> layer = {}, face = {}, sample = {};
};

/// The level a lane looks at: its size and where it lies.
template <int N, class Offset> struct LevelPlace {
  Ints<N> size[3];
  Offset offset, pitch, slice;
};

template <int N, class Offset> SAMPLER_INLINE Offset extendTo(Ints<N> x) {
  return __builtin_convertvector(x, Offset);
}

template <int N, class Offset>
SAMPLER_INLINE LevelPlace<N, Offset> placeOf(const Image &image, uint32_t number) {
  const ImageLevel &l = image.level[number];
  LevelPlace<N, Offset> p;
  p.size[0] = Ints<N>(int32_t(l.width));
  p.size[1] = Ints<N>(int32_t(l.height));
  p.size[2] = Ints<N>(int32_t(l.depth));
  using Scalar = decltype(Offset{}[0] + 0);
  p.offset = Offset(Scalar(l.offset));
  p.pitch = Offset(Scalar(l.pitch));
  p.slice = Offset(Scalar(l.slice));
  return p;
}

template <int N, class Offset> LevelPlace<N, Offset> placesOf(const Image &image, Ints<N> numbers) {
  LevelPlace<N, Offset> p;
  for (int l = 0; l < N; ++l) {
    const ImageLevel &level = image.level[numbers[l]];
    using Scalar = decltype(Offset{}[0] + 0);
    p.size[0][l] = int32_t(level.width);
    p.size[1][l] = int32_t(level.height);
    p.size[2][l] = int32_t(level.depth);
    p.offset[l] = Scalar(level.offset);
    p.pitch[l] = Scalar(level.pitch);
    p.slice[l] = Scalar(level.slice);
  }
  return p;
}

/// What a fetch gives at texels, whether they are inside or not; in the domain of the format.
template <int N, class Offset>
SAMPLER_INLINE void fetch(const Lanes<N, Offset> &r, Offset offsets, Ints<N> inside,
                          Texel<N> &out) {
  AnyFormat::read<N>(r.t, offsets, out);
  if (r.hasBorder)
    for (uint32_t c = 0; c < r.t.image.channels; ++c) {
      // Integers have an integer border.
      const float color = r.t.image.shape == ImageShape::linear ? 0.0f : r.s.border[c];
      const Floats<N> border =
          r.t.isInteger() ? asFloats<N>(Ints<N>(int32_t(std::clamp(color, -0x1p30f, 0x1p30f))))
                          : Floats<N>(color * r.scale);
      out.channel[c] = inside ? out.channel[c] : border;
    }
  if (r.op.hasCompare) // depth textures: 1 where the reference is not beyond the texel
    for (uint32_t c = 0; c < r.t.image.channels; ++c)
      out.channel[c] = r.compare * r.scale <= out.channel[c] ? Floats<N>(r.scale) : Floats<N>(0.0f);
}

/// The two texels along each of `dimensions` axes.
template <int N, int dimensions, class Offset>
SAMPLER_INLINE void resolve(const Lanes<N, Offset> &r, const LevelPlace<N, Offset> &level,
                            bool isLinear, Axis<N> *axes) {
  for (int d = 0; d < dimensions; ++d) {
    const AddressMode mode =
        r.t.image.shape == ImageShape::linear ? AddressMode::border : r.s.address[d];
    if (r.op.hasIntegerCoordinates)
      resolveTexel<N>(r.texel[d] + r.offset[d], level.size[d], mode, r.isNormalized, axes[d]);
    else
      resolveAxis<N>(r.coordinate[d], level.size[d], r.offset[d], mode, r.isNormalized, isLinear,
                     axes[d]);
  }
}

/// Where a corner's texels lie; bit d of `corner`: the second texel along axis d.
template <int N, int dimensions, class Offset>
SAMPLER_INLINE Offset offsetOf(const Lanes<N, Offset> &r, const LevelPlace<N, Offset> &level,
                               const Axis<N> *axes, int corner, Ints<N> &inside) {
  Ints<N> x = axes[0].index[corner & 1], y = Ints<N>(0), layer = r.layer;
  inside = axes[0].inside[corner & 1];
  if constexpr (dimensions >= 2) {
    y = axes[1].index[corner >> 1 & 1];
    inside &= axes[1].inside[corner >> 1 & 1];
    if (r.t.image.isCube && r.s.isSeamless) {
      Ints<N> face = r.face, i = axes[0].first + (corner & 1),
              j = axes[1].first + (corner >> 1 & 1);
      crossEdge<N>(face, i, j, level.size[0]);
      x = i, y = j, layer += face - r.face;
    }
  }
  if constexpr (dimensions == 3) {
    layer = axes[2].index[corner >> 2];
    inside &= axes[2].inside[corner >> 2];
  }
  const uint32_t texel = r.t.image.texelBytes();
  Offset place = level.offset;
  if (r.t.image.samples > 1)
    x = x * int32_t(r.t.image.samples) + r.sample;
  place += extendTo<N, Offset>(x) * int32_t(texel);
  if constexpr (dimensions >= 2)
    place += extendTo<N, Offset>(y) * level.pitch;
  if (dimensions == 3 || r.t.image.isLayered || r.t.image.isCube)
    place += extendTo<N, Offset>(layer) * level.slice;
  return place;
}

/// One level: the texel, or the weighted sum of 2, 4 or 8 (the guide's formulas).
template <int N, int dimensions, class Offset>
void sampleLevel(const Lanes<N, Offset> &r, const LevelPlace<N, Offset> &level, Texel<N> &out) {
  Axis<N> axes[dimensions];
  Ints<N> inside;
  resolve<N, dimensions, Offset>(r, level, r.isLinear, axes);
  if (!r.isLinear) {
    const Offset place = offsetOf<N, dimensions, Offset>(r, level, axes, 0, inside);
    fetch<N, Offset>(r, place, inside, out);
    return;
  }
  Texel<N> sum = {};
  for (int corner = 0; corner < 1 << dimensions; ++corner) {
    Floats<N> weight = Floats<N>(1.0f);
    for (int d = 0; d < dimensions; ++d)
      weight *= corner >> d & 1 ? axes[d].weight : 1.0f - axes[d].weight;
    Texel<N> texel;
    const Offset place = offsetOf<N, dimensions, Offset>(r, level, axes, corner, inside);
    fetch<N, Offset>(r, place, inside, texel);
    for (uint32_t c = 0; c < r.t.image.channels; ++c)
      sum.channel[c] += weight * texel.channel[c];
  }
  out = sum;
}

/// tld4: one component of the four texels, counter-clockwise from the lower left.
template <int N, class Offset>
void gatherLevel(const Lanes<N, Offset> &r, const LevelPlace<N, Offset> &level, Texel<N> &out) {
  Axis<N> axes[2];
  resolve<N, 2, Offset>(r, level, true, axes);
  constexpr int kCorners[4] = {2, 3, 1, 0};
  for (int k = 0; k < 4; ++k) {
    Ints<N> inside;
    Texel<N> texel;
    const Offset place = offsetOf<N, 2, Offset>(r, level, axes, kCorners[k], inside);
    fetch<N, Offset>(r, place, inside, texel);
    out.channel[k] = texel.channel[r.op.component];
  }
}

} // namespace
} // namespace ptxrun::rt
