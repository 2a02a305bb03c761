// Arithmetic over N lanes at once, as clang's vectors: the sampler is written once and instantiated
// at N = 1 and N = 8, on every CPU level. Only operations that give the same bits everywhere: no
// fused multiply-add (-ffp-contract=off), no estimates. Everything here has internal linkage, since
// code for one level must not be called on another.
#pragma once
#include <cstdint>
#include <cstring>

namespace ptxrun::rt {
namespace {

#define SAMPLER_INLINE [[gnu::always_inline]] inline

template <int N> using Floats = float __attribute__((ext_vector_type(N)));
template <int N> using Ints = int32_t __attribute__((ext_vector_type(N))); ///< masks are 0 and -1
template <int N> using Longs = int64_t __attribute__((ext_vector_type(N)));

template <int N> SAMPLER_INLINE Floats<N> asFloats(Ints<N> x) {
  return __builtin_bit_cast(Floats<N>, x);
}
template <int N> SAMPLER_INLINE Ints<N> asInts(Floats<N> x) {
  return __builtin_bit_cast(Ints<N>, x);
}
template <int N> SAMPLER_INLINE Floats<N> toFloats(Ints<N> x) {
  return __builtin_convertvector(x, Floats<N>);
}
template <int N> SAMPLER_INLINE Longs<N> toLongs(Ints<N> x) {
  return __builtin_convertvector(x, Longs<N>);
}
template <int N> SAMPLER_INLINE Floats<N> floor(Floats<N> x) {
  return __builtin_elementwise_floor(x);
}
/// floor(x) as an integer; what is beyond 2^30 ends there, NaN at -2^30.
template <int N> SAMPLER_INLINE Ints<N> floorToInts(Floats<N> x) {
  Floats<N> f = floor<N>(x);
  f = f > -0x1p30f ? f : Floats<N>(-0x1p30f); // in this order: NaN compares false
  f = f < 0x1p30f ? f : Floats<N>(0x1p30f);
  return __builtin_convertvector(f, Ints<N>);
}
/// x in units of 1/256, to nearest, halves up (CUDA C++ Programming Guide, texture fetching: 1.8
/// fixed point).
template <int N> SAMPLER_INLINE Ints<N> toFixed(Floats<N> x) {
  return floorToInts<N>(x * 256.0f + 0.5f);
}
template <int N> SAMPLER_INLINE Ints<N> min(Ints<N> a, Ints<N> b) { return a < b ? a : b; }
template <int N> SAMPLER_INLINE Ints<N> max(Ints<N> a, Ints<N> b) { return a > b ? a : b; }
template <int N> SAMPLER_INLINE Floats<N> abs(Floats<N> x) { return __builtin_elementwise_abs(x); }
template <int N> SAMPLER_INLINE bool anyOf(Ints<N> mask) { return __builtin_reduce_or(mask) < 0; }

/// log2 of positive numbers within 1e-6; about -126 of zero and subnormal ones.
template <int N> SAMPLER_INLINE Floats<N> log2(Floats<N> x) {
  x = x > 0x1p-126f ? x : Floats<N>(0x1p-126f);
  Ints<N> bits = asInts<N>(x);
  Ints<N> exponent = (bits - 0x3f3504f3) >> 23; // mantissas from sqrt(1/2) to sqrt(2)
  Floats<N> m = asFloats<N>(bits - (exponent << 23));
  Floats<N> z = (m - 1.0f) / (m + 1.0f), zz = z * z;
  Floats<N> series = zz * (1.0f / 9) + 1.0f / 7;
  series = series * zz + 1.0f / 5;
  series = series * zz + 1.0f / 3;
  series = series * zz + 1.0f;
  return toFloats<N>(exponent) + z * series * 2.885390081777927f; // 2 / ln 2
}

/// f16 to f32, exact.
template <int N> SAMPLER_INLINE Floats<N> fromHalves(Ints<N> h) {
  Ints<N> magnitude = h & 0x7fff, sign = (h & 0x8000) << 16;
  Ints<N> normal = (magnitude << 13) + (112 << 23);
  Ints<N> special = (magnitude << 13) + (224 << 23); // infinities and NaNs
  Floats<N> small = toFloats<N>(magnitude) * 0x1p-24f;
  Ints<N> bits = magnitude < 0x400 ? asInts<N>(small) : magnitude < 0x7c00 ? normal : special;
  return asFloats<N>(bits | sign);
}

} // namespace
} // namespace ptxrun::rt
