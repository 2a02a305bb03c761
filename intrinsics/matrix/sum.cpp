#include "intrinsics/matrix/sum.h"

namespace ptxrun::matrix {

namespace {

using Method = Sum::Method;

/// A row of the table of measured steps.
struct Step {
  uint8_t length, fraction;
  int16_t leastOfSingle, leastOfHalf;
};

// Steps for factors of 16 bits; tf32 takes half as many products.
constexpr Step stepOfHalves(Policy policy) {
  switch (policy) {
  case Policy::sm70:
    return {4, 23, -131, -19};
  case Policy::sm75:
    return {8, 24, -132, -20};
  case Policy::sm80:
  case Policy::sm89:
    return {8, 24, -132, -20};
  default:
    return {16, 25, -133, -21};
  }
}

Sum fused(const Operation &operation, Step step) {
  Sum sum;
  const bool isHalf = operation.d == Element::f16 && operation.c == Element::f16;
  sum.method = Method::fused;
  sum.length = step.length;
  sum.fraction = step.fraction;
  sum.rounding = isHalf ? Rounding::nearestHalf : Rounding::zeroSingle;
  if (operation.d == Element::f16 && !isHalf)
    sum.narrowing = Narrowing::nearest;
  sum.leastExponent = isHalf ? step.leastOfHalf : step.leastOfSingle;
  sum.leastA = int16_t(leastExponent(operation.a));
  sum.leastB = int16_t(leastExponent(operation.b));
  sum.leastScale = int16_t(leastExponent(operation.scale));
  sum.leastC = int16_t(leastExponent(isHalf ? Element::f16 : Element::f32));
  return sum;
}

/// 8-bit floats where they have a step of their own that keeps 13 bits: Ada's mma, Hopper's wgmma.
Sum shortFused(const Operation &operation, uint8_t length) {
  // The largest exponent is always a term's: there is no least one.
  Sum sum = fused(operation, {length, 13, -1000, -1000});
  if (sum.rounding == Rounding::zeroSingle)
    sum.rounding = Rounding::zeroShort;
  return sum;
}

/// mma with 8-bit floats on sm_90 and sm_100 is software over f16.
Sum quads(const Operation &operation, Policy policy) {
  Sum sum = fused(operation, stepOfHalves(policy));
  sum.method = Method::quads;
  sum.leastA = sum.leastB = int16_t(leastExponent(Element::f16));
  return sum;
}

Sum narrowSum(Policy policy, const Operation &operation) {
  const Step native = {32, 25, -133, -21};
  switch (operation.unit) {
  case Unit::wgmma:
    return shortFused(operation, 32);
  case Unit::tcgen05:
    return fused(operation, native);
  default:
    if (!isFp8(operation.a) || !isFp8(operation.b) || policy == Policy::sm120)
      return fused(operation, native);
    return policy >= Policy::sm90 ? quads(operation, policy) : shortFused(operation, 16);
  }
}

/// m8n8k4: the tensor cores of sm_70 and sm_75 have it; later it is software.
Sum smallSum(Policy policy, const Operation &operation) {
  if (policy <= Policy::sm75)
    return fused(operation, {4, stepOfHalves(policy).fraction, stepOfHalves(policy).leastOfSingle,
                             stepOfHalves(policy).leastOfHalf});
  Sum sum;
  sum.method = operation.d == Element::f16 ? Method::pairsThenAdd : Method::chainThenAdd;
  sum.rounding = operation.d == Element::f16 ? Rounding::nearestHalf : Rounding::nearestSingle;
  return sum;
}

/// Block scales: 4-bit kinds, the ones with 64 products, sum groups exactly; the others add the
/// scales' exponents to each product's.
Sum scaledSum(const Operation &operation) {
  const unsigned products = operation.k / (operation.isSparse ? 2 : 1);
  if (products < 64)
    return fused(operation, {32, 25, -133, -133});
  Sum sum = fused(operation, {64, 35, -139, -139});
  sum.method = Method::groups;
  return sum;
}

/// The policy with the types: no hardware before sm_80 has bf16 and tf32, none before sm_89 fp8.
Policy policyWith(Policy policy, const Operation &operation) {
  const Policy first = isNarrow(operation.a)         ? Policy::sm89
                       : operation.a == Element::f16 ? Policy::sm70
                                                     : Policy::sm80;
  return policy < first ? first : policy;
}

} // namespace

namespace {

Sum sumByPolicy(Policy policy, const Operation &operation) {
  if (policy == Policy::fast) {
    Sum sum;
    sum.rounding = operation.d == Element::f16 ? Rounding::nearestHalf : Rounding::nearestSingle;
    return sum;
  }
  if (operation.isScaled)
    return scaledSum(operation);
  policy = policyWith(policy, operation);
  if (isNarrow(operation.a))
    return narrowSum(policy, operation);
  if (operation.m == 8 && operation.n == 8 && operation.k == 4)
    return smallSum(policy, operation);
  Step step = stepOfHalves(policy);
  if (operation.a == Element::tf32)
    step.length = operation.unit == Unit::wmma ? 4 : uint8_t(step.length / 2);
  return fused(operation, step);
}

} // namespace

Sum sumOf(Policy policy, const Operation &operation) {
  Sum sum = sumByPolicy(policy, operation);
  // From sm_80 on there is no float .satfinite: ptxas leaves it out, and cuts f16 results toward
  // zero.
  sum.isMadeFinite = operation.isSaturating && policy <= Policy::sm75;
  if (operation.isSaturating && !sum.isMadeFinite && sum.narrowing != Narrowing::none)
    sum.narrowing = Narrowing::zero;
  sum.hasExactProducts = operation.a != Element::bf16 && operation.a != Element::tf32;
  return sum;
}

} // namespace ptxrun::matrix
