// What is wrong with the environment: variables with values that they do not take
// (environment.def), and names that nobody reads.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun::command {

/// A variable that says something other than its user thinks.
struct WrongSetting {
  std::string text;   ///< what is wrong
  std::string advice; ///< what to do
};
/// Looks at all variables of an environment, "NAME=value" each, that begin with PTXRUN.
std::vector<WrongSetting> wrongSettings(std::span<const std::string> environment);

} // namespace ptxrun::command
