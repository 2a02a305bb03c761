// `ptxrun isa --numerics`: what the numbers are that each form gives.
#pragma once
#include <vector>

#include "translate/isa/coverage.h"

namespace ptxrun::command {

/// Of each form of `all`: exact; approximate, with the manual's bound and what was measured
/// (measured.h); or summed as a policy says, for forms that multiply matrices.
void printNumerics(const std::vector<isa::Coverage> &all, bool isJson);

} // namespace ptxrun::command
