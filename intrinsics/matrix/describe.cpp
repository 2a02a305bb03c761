#include "intrinsics/matrix/describe.h"

namespace ptxrun::matrix {

namespace {

std::string roundingText(const Sum &sum) {
  switch (sum.rounding) {
  case Rounding::nearestSingle:
    return "f32 to nearest";
  case Rounding::zeroSingle:
    return "f32 toward zero";
  case Rounding::zeroShort:
    return "f32 with 13 fraction bits toward zero";
  case Rounding::nearestHalf:
    return "f16 to nearest";
  }
  return "";
}

} // namespace

std::string describe(const Sum &sum) {
  const std::string step = std::to_string(sum.length) + " products aligned to " +
                           std::to_string(sum.fraction) + " fraction bits, " + roundingText(sum);
  const std::string end = sum.narrowing == Narrowing::nearest ? ", then f16 to nearest"
                          : sum.narrowing == Narrowing::zero  ? ", then f16 toward zero"
                                                              : "";
  switch (sum.method) {
  case Sum::Method::chain:
    return sum.rounding == Rounding::nearestHalf
               ? "f32 fma, ascending k, from c; f16 to nearest at the end"
               : "f32 fma, ascending k, from c";
  case Sum::Method::chainThenAdd:
    return "f32 fma, ascending k, from +0; then c is added in f32";
  case Sum::Method::pairsThenAdd:
    return "two products at a time by f32 mul and fma, added to c in f32; f16 to nearest at the "
           "end";
  case Sum::Method::fused:
    return "fused steps: " + step + end;
  case Sum::Method::quads:
    return "as f16, from +0, k = 0, 1 (mod 4), then k = 2, 3; fused steps: " + step +
           "; then c is added to nearest";
  case Sum::Method::groups:
    return "exact sums of 16 products times their scales; fused steps: " + step;
  }
  return "";
}

} // namespace ptxrun::matrix
