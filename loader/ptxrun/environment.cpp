#include "loader/ptxrun/environment.h"

#include "loader/ptxrun/command_line.h"

namespace ptxrun::command {

std::span<const Variable> environment() {
  static constexpr Variable table[] = {
#define ENVIRONMENT(group, name, check, values, text) {Variable::group, name, values, text},
#include "loader/ptxrun/environment.def"
#undef ENVIRONMENT
  };
  return table;
}

std::string_view titleOf(Variable::Group group) {
  switch (group) {
  case Variable::code:
    return "Code";
  case Variable::launch:
    return "Launches";
  case Variable::record:
    return "Recordings";
  case Variable::program:
    return "What programs find";
  case Variable::tests:
    return "Of tests";
  case Variable::other:
    return "Not ours, and obeyed";
  }
  return {};
}

std::string environmentText() {
  std::string text;
  const Variable *before = nullptr;
  for (const Variable &variable : environment()) {
    if (!before || before->group != variable.group)
      text += std::string(before ? "\n" : "") + std::string(titleOf(variable.group)) + ":\n";
    before = &variable;
    std::string head = "  " + std::string(variable.name) + "=" + std::string(variable.values);
    constexpr size_t kColumn = 44;
    head += head.size() < kColumn ? std::string(kColumn - head.size(), ' ') : "  ";
    text += head + std::string(variable.text) + "\n";
  }
  return text;
}

} // namespace ptxrun::command
