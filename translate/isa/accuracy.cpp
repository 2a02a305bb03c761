#include "translate/isa/accuracy.h"

namespace ptxrun::isa {
namespace {

struct Bound {
  Handler handler;
  std::string_view type; ///< only forms whose notation has it; empty: all of the handler's
  std::string_view bound;
};
/// PTX ISA 9.7.3 and 9.7.4; tests/isa holds results against them.
constexpr Bound kBounds[] = {
    {Handler::lowerFloatDivApprox, "", "2 ulp"},
    {Handler::lowerRcpApprox, "", "1 ulp"},
    {Handler::lowerRcpApproxF64, "", "2^-19.9 relative"},
    {Handler::lowerSqrtApprox, "", "2^-23 relative"},
    {Handler::lowerRsqrtApproxFtzF64, "", "2^-19.9 relative"},
    {Handler::lowerRsqrtApprox, ".f64", "2^-51 relative"},
    {Handler::lowerRsqrtApprox, "", "2^-22.9 relative"},
    {Handler::lowerSinCosApprox, "", "2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi]"},
    {Handler::lowerLg2Approx, "", "2^-22 in (0.5, 2), else 2^-22 relative"},
    {Handler::lowerEx2Approx, "", "2 ulp"},
    {Handler::lowerTanhApprox, "", "2^-11 relative"},
    {Handler::lowerHalfTanh, "", "2^-10.987 (f16), 2^-8 (bf16)"},
    {Handler::lowerHalfEx2, ".btype", "2^-7 relative"},
    {Handler::lowerHalfEx2, "", "2^-9.9 relative"},
};

bool isIn(std::string_view section, std::string_view chapter) {
  return section.starts_with(chapter) && section.size() > chapter.size() &&
         section[chapter.size()] == '.';
}

} // namespace

Accuracy accuracyOf(const Form &form) {
  if (form.effect == Effect::todo || form.handler == Handler::none)
    return {Accuracy::Kind::unsupported, {}};
  for (const Bound &known : kBounds)
    if (form.handler == known.handler && form.notation.find(known.type) != form.notation.npos)
      return {Accuracy::Kind::approximate, known.bound};
  const bool multiplies = form.instruction == "mma" || form.instruction == "mma.sp" ||
                          form.instruction == "wmma.mma" ||
                          form.instruction.starts_with("wgmma.mma_async") ||
                          form.instruction.starts_with("tcgen05.mma");
  const bool isInteger = form.notation.find(".s32") != form.notation.npos;
  if (multiplies && !isInteger)
    return {Accuracy::Kind::approximate, "sums as --matrix says (ptxrun isa --numerics)"};
  if (isIn(form.section, "9.7.10") && (form.opcode == "tex" || form.opcode == "tld4"))
    return {Accuracy::Kind::approximate, "linear filters weigh with 8 bits of fraction"};
  return {};
}

} // namespace ptxrun::isa
