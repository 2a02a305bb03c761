// Which functions a kernel may run, from its text.
#pragma once
#include <vector>

#include "translate/check/checked_module.h"

namespace ptxrun::device {

/// The kernel, and every function that it, or such a function, names among its operands.
std::vector<const check::Function *> reachedFrom(const check::Function &kernel);

} // namespace ptxrun::device
