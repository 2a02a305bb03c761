// Addresses in shared memory as the program calls them, for reports. No LLVM here.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "translate/check/checked_module.h"

namespace ptxrun::lower {

/// The `.shared` variables that the kernel reaches, and their offsets in its CTA's window. Lays
/// them out anew.
std::vector<std::pair<const check::Variable *, uint32_t>>
sharedVariables(const check::Module &, const check::Function &kernel);

/// "name" or "name+8": the `.shared` variable of the kernel that lies at `offset` in its CTA's
/// window; empty where there is none. Lays the variables out anew: for failures, not for hot paths.
std::string sharedVariableAt(const check::Module &, const check::Function &kernel, uint64_t offset);

} // namespace ptxrun::lower
