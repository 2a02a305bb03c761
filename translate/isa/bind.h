// Which argument is which operand. Internal to the isa library.
#pragma once
#include <span>
#include <vector>

#include "translate/isa/match.h"
#include "translate/isa/pattern.h"

namespace ptxrun::isa {

/// What fits() answers for one operand under one assignment, asked beforehand for the arguments
/// that are nearly all there are: plain registers, constants, addresses in a register, vectors of
/// registers of one type. One bit per Type.
struct QuickOperand {
  uint64_t registers = 0; ///< a register of that type fits
  uint64_t addresses = 0; ///< [register of that type] fits
  uint64_t elements = 0;  ///< a vector of arity[0] to arity[1] registers of that type fits
  Type type = Type::none;
  uint8_t arity[2] = {0, 0};
  bool takesIntegers = false; ///< any integer constant fits
};
std::vector<QuickOperand> quickOperands(const OperandContext &);

/// Binds arguments to the pattern's operands, left to right; an optional operand is tried first as
/// written, then as left out.
bool bindOperands(const OperandContext &, std::span<const QuickOperand>, std::span<const Argument>,
                  BoundOperand *bound);

} // namespace ptxrun::isa
