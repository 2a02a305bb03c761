// Functions that a module uses and that are nowhere.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ptxrun::device {

class Module;

/// A function that the module calls or takes the address of, and that neither it nor the runtime
/// defines. The name lives as long as the module.
struct UndefinedFunction {
  std::string_view name;
  uint32_t usedAt = 0; ///< line of the PTX
};
/// The first in the text, if there is one.
std::optional<UndefinedFunction> findUndefined(const Module &);

} // namespace ptxrun::device
