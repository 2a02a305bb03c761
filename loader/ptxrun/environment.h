// The variables of the environment that we read (environment.def, and the settings of launches).
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun::command {

struct Variable {
  enum Group { code, launch, record, program, tests, other } group;
  std::string name;
  std::string_view values;
  std::string text;
};
std::vector<Variable> environment(); ///< in the order in which they are shown
std::string_view titleOf(Variable::Group);

} // namespace ptxrun::command
