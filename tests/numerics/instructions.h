// The floating-point instructions of the table, every modifier in every combination.
#pragma once
#include <string>
#include <vector>

#include "tests/numerics/array_run.h"
#include "translate/isa/table.h"

namespace ptxrun::numerics {

/// `.version` and `.target` under which all of them are accepted.
inline constexpr const char *kNewestHeader = ".version 9.2\n.target sm_103a\n";

struct Listed {
  Instruction instruction;
  const isa::Form *form = nullptr;
  std::vector<isa::Token> modifiers;
  std::vector<isa::Type> sources, results;

  bool has(isa::Token token) const;
};

/// Instructions of 9.7.3 to 9.7.7 and cvt with a floating-point operand that kNewestHeader's target
/// has. Of the Boolean operators that comparisons take, only .and.
std::vector<Listed> floatInstructions();

} // namespace ptxrun::numerics
