// One coordinate: which two texels it lies between, and how near to the second (CUDA C++
// Programming Guide, texture fetching).
#pragma once
#include "rt/texture/texture.h"
#include "rt/texture/vectors.h"

namespace ptxrun::rt {
namespace {

template <int N> struct Axis {
  Ints<N> index[2];  ///< inside the image, whatever the coordinate; [1] only where filtered
  Ints<N> inside[2]; ///< masks: the texel is one of the image's and not the border's
  Ints<N> first;     ///< index[0] as it was before it was brought inside
  Floats<N> weight;  ///< of index[1]: multiples of 1/256 from 0 to 255/256
};

/// i modulo n for |i| and n below 2^23.
template <int N> SAMPLER_INLINE Ints<N> modulo(Ints<N> i, Ints<N> n) {
  const Ints<N> quotient =
      __builtin_convertvector(floor<N>(toFloats<N>(i) / toFloats<N>(n)), Ints<N>);
  return i - quotient * n;
}

template <int N>
SAMPLER_INLINE void addressTexel(Ints<N> i, Ints<N> size, AddressMode mode, Ints<N> &index,
                                 Ints<N> &inside) {
  inside = Ints<N>(-1);
  const Ints<N> last = size - 1;
  switch (mode) {
  case AddressMode::border:
    inside = (i >= 0) & (i <= last);
    [[fallthrough]];
  case AddressMode::clamp:
    index = min<N>(max<N>(i, Ints<N>(0)), last);
    return;
  case AddressMode::wrap:
    index = modulo<N>(i, size);
    break;
  case AddressMode::mirror:
    i = modulo<N>(i, 2 * size);
    index = i > last ? 2 * size - 1 - i : i;
    break;
  }
  index = min<N>(max<N>(index, Ints<N>(0)), last);
}

/// A coordinate from 0 to 1 with what wraps or mirrors done: again from 0 to 1.
template <int N> SAMPLER_INLINE Floats<N> foldNormalized(Floats<N> x, AddressMode mode) {
  if (mode == AddressMode::wrap)
    return x - floor<N>(x);
  if (mode == AddressMode::mirror) {
    const Floats<N> whole = floor<N>(x), part = x - whole;
    const Ints<N> isOdd = whole - 2.0f * floor<N>(whole * 0.5f) != 0.0f;
    return isOdd ? 1.0f - part : part;
  }
  return x;
}

/// Modes that repeat the image are for normalised coordinates only; others clamp instead.
SAMPLER_INLINE AddressMode modeFor(AddressMode mode, bool isNormalized) {
  const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
  return repeats && !isNormalized ? AddressMode::clamp : mode;
}

/// x: in texels, or from 0 to 1. offset: in texels.
template <int N>
SAMPLER_INLINE void resolveAxis(Floats<N> x, Ints<N> size, Ints<N> offset, AddressMode mode,
                                bool isNormalized, bool isLinear, Axis<N> &axis) {
  mode = modeFor(mode, isNormalized);
  if (isNormalized)
    x = foldNormalized<N>(x, mode) * toFloats<N>(size);
  if (!isLinear) {
    axis.first = floorToInts<N>(x) + offset;
    addressTexel<N>(axis.first, size, mode, axis.index[0], axis.inside[0]);
    return;
  }
  const Ints<N> fixed = toFixed<N>(x) - 128;
  axis.first = (fixed >> 8) + offset;
  axis.weight = toFloats<N>(fixed & 255) * (1.0f / 256);
  addressTexel<N>(axis.first, size, mode, axis.index[0], axis.inside[0]);
  addressTexel<N>(axis.first + 1, size, mode, axis.index[1], axis.inside[1]);
}

/// An integer coordinate names a texel.
template <int N>
SAMPLER_INLINE void resolveTexel(Ints<N> i, Ints<N> size, AddressMode mode, bool isNormalized,
                                 Axis<N> &axis) {
  mode = modeFor(mode, isNormalized);
  // modulo() takes no more. Nobody can tell how often the image was repeated by then.
  if (mode == AddressMode::wrap || mode == AddressMode::mirror)
    i = min<N>(max<N>(i, Ints<N>(-(1 << 22))), Ints<N>(1 << 22));
  axis.first = i;
  addressTexel<N>(i, size, mode, axis.index[0], axis.inside[0]);
}

} // namespace
} // namespace ptxrun::rt
