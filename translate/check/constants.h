// Constant expressions (PTX ISA 4.5): evaluation, and conversion to the type of their use.
#pragma once
#include <optional>
#include <string>

#include "translate/isa/types.h"
#include "translate/syntax/ast.h"

namespace ptxrun::check {

/// Value of a constant expression.
struct Constant {
  enum class Kind : uint8_t { integer, float64, float32 };
  Kind kind = Kind::integer;
  bool isUnsigned = false;
  uint64_t bits = 0; ///< the integer, the double, or (0f literals) the float in the low half
};

/// Evaluates an expression without symbols; nothing and `why` where it has no value (4.5.5, 4.5.6).
std::optional<Constant> evaluate(syntax::ast::Expression, std::string &why);

/// An integer as the operand's type holds it: truncated to the width, sign-extended for signed
/// types, zero-extended for others; 0 or 1 for pred; unchanged for Type::none and types wider than
/// 64 bits.
int64_t toWidth(int64_t value, isa::Type);
/// A floating constant as bits of a type: rounded to nearest even for f16, bf16 and f32 and (by
/// width) for .b16 .b32.
uint64_t toFloatBits(const Constant &, isa::Type);

} // namespace ptxrun::check
