// The variables of the environment that we read (environment.def).
#pragma once
#include <span>
#include <string_view>

namespace ptxrun::command {

struct Variable {
  enum Group { code, launch, record, program, tests, other } group;
  std::string_view name, values, text;
};
std::span<const Variable> environment(); ///< in the order of the table
std::string_view titleOf(Variable::Group);

} // namespace ptxrun::command
