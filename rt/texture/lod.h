// Which level of a mipmap each lane looks at (PTX ISA 9.7.10.2; CUDA C++ Programming Guide,
// texture descriptors: the bias is added, then the range applied). A fetch that names no level is
// of level 0 without the bias, but within the range, as GPUs do it.
#pragma once
#include "rt/texture/sample.h"

namespace ptxrun::rt {
namespace {

/// Two levels and the weight of the second, a multiple of 1/256.
template <int N> struct LevelChoice {
  Ints<N> first, second;
  Floats<N> weight;
};

/// Of a cube, the derivatives of the place on the face from those of the direction.
template <int N> SAMPLER_INLINE void turnGradient(FaceVector<N> at, Ints<N> face, Floats<N> d[3]) {
  const FaceVector<N> v = turnToFace<N>(face, d[0], d[1], d[2]);
  const Floats<N> mm = at.m * at.m;
  d[0] = 0.5f * (v.s * at.m - at.s * v.m) / mm;
  d[1] = 0.5f * (v.t * at.m - at.t * v.m) / mm;
}

/// log2 of the longer of the two gradients, in texels of the base level.
template <int N, class Offset>
Floats<N> gradientLevel(const Lanes<N, Offset> &r, int dimensions, const Floats<N> *direction) {
  const bool isCube =
      r.op.geometry == TextureGeometry::cube || r.op.geometry == TextureGeometry::acube;
  const ImageLevel &base = r.t.image.level[0];
  const float size[3] = {float(base.width), float(base.height), float(base.depth)};
  Floats<N> longest = Floats<N>(0.0f);
  for (uint32_t row : {abi::kRowDx, abi::kRowDy}) {
    Floats<N> d[3];
    for (int k = 0; k < (isCube ? 3 : dimensions); ++k)
      d[k] = loadFloats<N>(r.call, row + k, r.lane);
    if (isCube)
      turnGradient<N>(turnToFace<N>(r.face, direction[0], direction[1], direction[2]), r.face, d);
    Floats<N> square = Floats<N>(0.0f);
    for (int k = 0; k < dimensions; ++k) {
      const Floats<N> inTexels = r.isNormalized ? d[k] * size[k] : d[k];
      square += inTexels * inTexels;
    }
    longest = square > longest ? square : longest;
  }
  return log2<N>(longest) * 0.5f;
}

template <int N, class Offset>
LevelChoice<N> chooseLevel(const Lanes<N, Offset> &r, int dimensions, const Floats<N> *direction) {
  Floats<N> lod;
  if (r.op.level == abi::TextureLevel::base)
    lod = Floats<N>(0.0f);
  else if (r.op.level == abi::TextureLevel::gradient)
    lod = gradientLevel<N, Offset>(r, dimensions, direction);
  else if (r.op.hasIntegerCoordinates)
    lod = toFloats<N>(loadRow<N>(r.call, abi::kRowLevel, r.lane));
  else
    lod = loadFloats<N>(r.call, abi::kRowLevel, r.lane);
  if (r.op.level != abi::TextureLevel::base)
    lod += r.s.bias;
  lod = lod > r.s.minLevel ? lod : Floats<N>(r.s.minLevel);
  lod = lod < r.s.maxLevel ? lod : Floats<N>(r.s.maxLevel);
  const Ints<N> last = Ints<N>(int32_t(r.t.image.levels) - 1), zero = Ints<N>(0);
  LevelChoice<N> choice;
  choice.weight = Floats<N>(0.0f);
  if (!r.s.isMipLinear || r.t.isInteger()) {
    choice.first = choice.second = min<N>(max<N>(floorToInts<N>(lod + 0.5f), zero), last);
    return choice;
  }
  // Between levels GPUs cut the weight, where that between texels is rounded.
  const Ints<N> fixed = min<N>(max<N>(floorToInts<N>(lod * 256.0f), zero), last * 256);
  choice.first = fixed >> 8;
  choice.second = min<N>(choice.first + 1, last);
  choice.weight = toFloats<N>(fixed & 255) * (1.0f / 256);
  return choice;
}

} // namespace
} // namespace ptxrun::rt
