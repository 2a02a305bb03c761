// A CheckedModule as text, for dumps: each instruction with the form it was bound to and its typed operands.
#pragma once
#include <string>

#include "translate/check/checked_module.h"

namespace ptxrun::observe {

std::string checkedText(const check::Module &);

}  // namespace ptxrun::observe
