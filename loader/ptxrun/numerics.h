// `ptxrun isa --numerics`: how matrix instructions sum under each policy.
#pragma once
#include <vector>

#include "translate/isa/coverage.h"

namespace ptxrun::command {

/// One paragraph for each form of `all` that multiplies matrices (PTX ISA 9.7.14 to 9.7.16).
void printNumerics(const std::vector<isa::Coverage> &all);

} // namespace ptxrun::command
