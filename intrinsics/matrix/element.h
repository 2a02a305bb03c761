// The element types of matrices (PTX ISA 9.7.14.2), numerics policies, and who asks.
#pragma once
#include <cstdint>

namespace ptxrun::matrix {

/// ue8m0 and ue4m3 are types of block scales.
enum class Element : uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e3m2,
  e2m3,
  e2m1,
  ue8m0,
  ue4m3,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32,
};

/// Whose arithmetic: f32 fma in ascending k, or what an architecture's tensor cores do. The policy
/// "exact" is resolved to the module's target before it comes here (policyOfTarget).
enum class Policy : uint8_t { fast, sm70, sm75, sm80, sm89, sm90, sm100, sm120 };

/// The instruction that multiplies: the same types are summed differently in different ones.
enum class Unit : uint8_t { mma, wmma, wgmma, tcgen05 };

/// The policy that has the arithmetic of a target; `sm` as in sm_90: 90. Targets between two of
/// them have the earlier one's.
constexpr Policy policyOfTarget(unsigned sm) {
  return sm >= 120   ? Policy::sm120
         : sm >= 100 ? Policy::sm100
         : sm >= 90  ? Policy::sm90
         : sm >= 89  ? Policy::sm89
         : sm >= 80  ? Policy::sm80
         : sm >= 75  ? Policy::sm75
                     : Policy::sm70;
}

/// Bits of one element where elements are packed; a tf32 lies in 32.
constexpr unsigned bitsOf(Element element) {
  switch (element) {
  case Element::f64:
    return 64;
  case Element::tf32:
  case Element::f32:
  case Element::s32:
    return 32;
  case Element::f16:
  case Element::bf16:
    return 16;
  case Element::e3m2:
  case Element::e2m3:
    return 6;
  case Element::e2m1:
  case Element::s4:
  case Element::u4:
    return 4;
  case Element::b1:
    return 1;
  default:
    return 8;
  }
}

constexpr bool isInteger(Element element) {
  return element >= Element::s8 && element <= Element::s32;
}
constexpr bool isSigned(Element element) {
  return element == Element::s8 || element == Element::s4 || element == Element::s32;
}
constexpr bool isFp8(Element element) {
  return element == Element::e4m3 || element == Element::e5m2;
}
/// The formats of 8, 6 and 4 bits.
constexpr bool isNarrow(Element element) {
  return element >= Element::e4m3 && element <= Element::e2m1;
}

/// The exponent of a float format's smallest normal number, and of its subnormal ones.
constexpr int leastExponent(Element element) {
  switch (element) {
  case Element::f16:
  case Element::e5m2:
    return -14;
  case Element::e4m3:
  case Element::ue4m3:
    return -6;
  case Element::e3m2:
    return -2;
  case Element::e2m3:
  case Element::e2m1:
    return 0;
  case Element::ue8m0:
    return -127;
  case Element::f64:
    return -1022;
  default:
    return -126;
  }
}

} // namespace ptxrun::matrix
