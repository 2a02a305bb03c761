// The address of a PTX function as a value. No LLVM here: the loader writes it into initialised
// variables.
#pragma once
#include <algorithm>
#include <cstdint>

#include "translate/check/checked_module.h"

namespace ptxrun::lower {

/// Function addresses are numbers, the same in every kernel of a module (a kernel may read a table
/// that another one filled): kFunctionAddressBase + 16 * (position in Module::functions). No memory
/// is ever mapped there. An indirect call is lowered to a switch over the functions it can reach.
inline constexpr uint64_t kFunctionAddressBase = 0x10000;

inline uint64_t functionAddress(const check::Module &module, const check::Function &function) {
  const auto place = std::find(module.functions.begin(), module.functions.end(), &function);
  return kFunctionAddressBase + 16 * static_cast<uint64_t>(place - module.functions.begin());
}

} // namespace ptxrun::lower
