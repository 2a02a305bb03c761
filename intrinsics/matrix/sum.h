// How one dot product of a matrix instruction is summed: data, chosen by policy and instruction.
//
// A fused step takes `length` products and the accumulator. Products are exact; a factor's exponent
// is never below its format's least, so a subnormal one has a significand below 1. All terms are
// aligned to the largest exponent among them (and leastExponent), cut off towards zero behind
// `fraction` bits, added exactly and rounded once.
#pragma once
#include "intrinsics/matrix/element.h"

namespace ptxrun::matrix {

/// One matrix instruction as far as its arithmetic is concerned.
struct Operation {
  /// The shape of the PTX instruction; with .sp, k counts A's zeros too. For m8n8k4 it decides.
  uint16_t m = 16, n = 8, k = 16;
  Unit unit = Unit::mma;
  Element a = Element::f16, b = Element::f16, c = Element::f32, d = Element::f32;
  bool isSparse = false;
  bool isSaturating = false; ///< .satfinite
  /// Block-scaled kinds (.block_scale): `scale` is ue8m0 or ue4m3, `scaleBlock` how many k share
  /// one scale (with .sp, of the uncompressed k).
  bool isScaled = false;
  Element scale = Element::ue8m0;
  uint8_t scaleBlock = 32;
};

/// What a fused step, and the whole, is rounded to.
enum class Rounding : uint8_t {
  nearestSingle, ///< f32, to nearest even
  zeroSingle,    ///< f32, toward zero; magnitudes from 2^128 are infinite
  zeroShort,     ///< f32 with 13 fraction bits, toward zero
  nearestHalf,   ///< f16, to nearest even
};

/// Where steps give f32 and the result is f16: how it becomes one.
enum class Narrowing : uint8_t { none, nearest, zero };

struct Sum {
  enum class Method : uint8_t {
    chain,        ///< d = c; d = fma(a, b, d) in f32, ascending k; rounded to the result once
    chainThenAdd, ///< d = c + the chain that starts from +0 (m8n8k4 where it is software)
    pairsThenAdd, ///< ((c + (a0 * b0 + a1 * b1)) + (a2 * b2 + a3 * b3)), the inner ones one product
                  ///< rounded and one fma (m8n8k4 to f16 where it is software)
    fused,        ///< fused steps over ascending k, from c
    quads,        ///< fused steps from +0: first over the k = 0, 1 (mod 4), then over the others;
                  ///< c is added by an IEEE addition in the result's type
    groups,       ///< block-scaled 4-bit kinds: a fused step over the exact sums of groups of 16
  };
  Method method = Method::chain;
  Rounding rounding = Rounding::nearestSingle; ///< of each step; of a chain: of the whole
  bool hasExactProducts = true; ///< every product is an f32: f16 and narrower, not bf16 and tf32
  Narrowing narrowing = Narrowing::none;
  bool isMadeFinite = false; ///< an infinite result becomes the largest number, NaN +0
  uint8_t length = 1;        ///< products in a step
  uint8_t fraction = 24;
  uint8_t reserved = 0;         ///< in place of padding, whose bytes are anything
  int16_t leastExponent = -133; ///< no step aligns to less
  int16_t leastA = -126, leastB = -126, leastC = -126,
          leastScale = -127; ///< least exponents of the terms' factors
};

/// The sum of an instruction with float operands. Types that no hardware of the policy has are
/// summed as by the next later one that has them.
Sum sumOf(Policy, const Operation &);

} // namespace ptxrun::matrix
