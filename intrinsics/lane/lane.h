// What the sources of the lane library share.
//
// The lane library is the mathematics of one CUDA thread that LLVM IR has no instruction for. It is
// compiled twice: to LLVM bitcode, which lowering links into a kernel and inlines (so that simt
// widens it like any other arithmetic), and natively, for its tests. Rules that both rest on:
//  - A function is pure, branch-free where it can be (selects widen, branches cost masks), and
//  calls nothing but LLVM
//    intrinsics: no libm, no tables in memory.
//  - Only IEEE operations rounded to nearest, fused multiply-adds where written, and integers: the
//  same bits on every CPU
//    level and at every W. MXCSR is never touched; directed rounding is computed (rounding.h).
//  - half and bfloat are passed as uint16_t: their bits.
#pragma once
#include <stdint.h>

#define LANE extern "C" __attribute__((visibility("default")))

namespace ptxrun::lane {

#define LANE_INLINE static inline __attribute__((always_inline))

LANE_INLINE uint32_t bitsOf(float x) { return __builtin_bit_cast(uint32_t, x); }
LANE_INLINE uint64_t bitsOf(double x) { return __builtin_bit_cast(uint64_t, x); }
LANE_INLINE float floatOf(uint32_t x) { return __builtin_bit_cast(float, x); }
LANE_INLINE double doubleOf(uint64_t x) { return __builtin_bit_cast(double, x); }

LANE_INLINE float fma(float a, float b, float c) { return __builtin_elementwise_fma(a, b, c); }
LANE_INLINE double fma(double a, double b, double c) { return __builtin_elementwise_fma(a, b, c); }
LANE_INLINE float squareRoot(float x) { return __builtin_elementwise_sqrt(x); }
LANE_INLINE double squareRoot(double x) { return __builtin_elementwise_sqrt(x); }
LANE_INLINE float abs(float x) { return __builtin_elementwise_abs(x); }
LANE_INLINE double abs(double x) { return __builtin_elementwise_abs(x); }
LANE_INLINE float copySign(float x, float sign) { return __builtin_elementwise_copysign(x, sign); }
LANE_INLINE double copySign(double x, double sign) {
  return __builtin_elementwise_copysign(x, sign);
}

/// `condition ? yes : no` with both sides computed: a select, never a branch. For the same reason
/// the sources join conditions by & and |.
template <class T> LANE_INLINE T pick(bool condition, T yes, T no) { return condition ? yes : no; }

inline constexpr float kInfinity = __builtin_inff();
inline constexpr double kInfinity64 = __builtin_inf();
inline constexpr float kSmallestNormal = 0x1p-126f;

/// The NaN that single-precision arithmetic of NVIDIA's GPUs gives.
LANE_INLINE float canonicalNaN() { return floatOf(0x7fffffffu); }

LANE_INLINE bool isNaN(float x) { return x != x; }
LANE_INLINE bool isNaN(double x) { return x != x; }

/// Rounding of a result; `odd` keeps what any later, coarser rounding needs: inexact results get an
/// odd last bit.
enum class Mode { nearestEven, nearestAway, zero, down, up, odd };

LANE_INLINE bool isFinite(float x) { return abs(x) < kInfinity; }
LANE_INLINE bool isFinite(double x) { return abs(x) < kInfinity64; }

/// An exact sum as its rounded value and its error (Knuth's TwoSum): value + error == a + b unless
/// value overflows.
template <class Float> struct SumOf {
  Float value, error;
};
using Sum = SumOf<double>;
template <class Float> LANE_INLINE SumOf<Float> twoSum(Float a, Float b) {
  const Float value = a + b;
  const Float bPart = value - a;
  const Float error = (a - (value - bPart)) + (b - bPart);
  return {value, error};
}
LANE_INLINE Sum exactSum(double a, double b) { return twoSum<double>(a, b); }

} // namespace ptxrun::lane
