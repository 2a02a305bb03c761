// Cubemaps: from a direction to a face and a place on it (PTX ISA 9.7.10.3: tex.cube; the faces in
// CUDA's order: +x -x +y -y +z -z).
#pragma once
#include "rt/texture/vectors.h"

namespace ptxrun::rt {
namespace {

template <int N> struct CubePlace {
  Ints<N> face;
  Floats<N> s, t; ///< from 0 to 1
};

/// A vector in the axes of a face: s and t along it, m out of it.
template <int N> struct FaceVector {
  Floats<N> s, t, m;
};

template <int N>
SAMPLER_INLINE FaceVector<N> turnToFace(Ints<N> face, Floats<N> x, Floats<N> y, Floats<N> z) {
  const Ints<N> isX = face < 2, isY = (face == 2) | (face == 3), isMinus = (face & 1) == 1;
  const Floats<N> m = isX ? x : isY ? y : z;
  const Floats<N> s = isX ? (isMinus ? z : -z) : isY ? x : (isMinus ? -x : x);
  const Floats<N> t = isY ? (isMinus ? -z : z) : -y;
  return {s, t, isMinus ? -m : m};
}

/// The reverse of turnToFace.
template <int N> SAMPLER_INLINE void turnFromFace(Ints<N> face, FaceVector<N> v, Floats<N> out[3]) {
  const Ints<N> isX = face < 2, isY = (face == 2) | (face == 3), isMinus = (face & 1) == 1;
  const Floats<N> m = isMinus ? -v.m : v.m;
  out[0] = isX ? m : isY ? v.s : (isMinus ? -v.s : v.s);
  out[1] = isY ? m : -v.t;
  out[2] = isX ? (isMinus ? v.s : -v.s) : isY ? (isMinus ? -v.t : v.t) : m;
}

template <int N> SAMPLER_INLINE Ints<N> faceOf(Floats<N> x, Floats<N> y, Floats<N> z) {
  const Floats<N> ax = abs<N>(x), ay = abs<N>(y), az = abs<N>(z);
  const Ints<N> isZ = (az >= ax) & (az >= ay), isY = ay >= ax;
  const Floats<N> major = isZ ? z : isY ? y : x;
  const Ints<N> first = isZ ? Ints<N>(4) : isY ? Ints<N>(2) : Ints<N>(0);
  return first + (major < 0.0f ? Ints<N>(1) : Ints<N>(0));
}

template <int N> SAMPLER_INLINE CubePlace<N> projectOnCube(Floats<N> x, Floats<N> y, Floats<N> z) {
  const Ints<N> face = faceOf<N>(x, y, z);
  const FaceVector<N> v = turnToFace<N>(face, x, y, z);
  return {face, (v.s / v.m + 1.0f) * 0.5f, (v.t / v.m + 1.0f) * 0.5f};
}

/// A texel beyond the edge of a face as the one it meets on the next face; beyond a corner, where
/// three faces meet, one of the two.
template <int N>
SAMPLER_INLINE void crossEdge(Ints<N> &face, Ints<N> &i, Ints<N> &j, Ints<N> size) {
  const Ints<N> isOut = (i < 0) | (i >= size) | (j < 0) | (j >= size);
  if (!anyOf<N>(isOut))
    return;
  const Floats<N> n = toFloats<N>(size);
  const FaceVector<N> v = {(toFloats<N>(2 * i + 1) - n) / n, (toFloats<N>(2 * j + 1) - n) / n,
                           Floats<N>(1.0f)};
  Floats<N> direction[3];
  turnFromFace<N>(face, v, direction);
  const CubePlace<N> place = projectOnCube<N>(direction[0], direction[1], direction[2]);
  face = isOut ? place.face : face;
  i = isOut ? min<N>(max<N>(floorToInts<N>(place.s * n), Ints<N>(0)), size - 1) : i;
  j = isOut ? min<N>(max<N>(floorToInts<N>(place.t * n), Ints<N>(0)), size - 1) : j;
}

} // namespace
} // namespace ptxrun::rt
