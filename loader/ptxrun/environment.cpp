#include "loader/ptxrun/environment.h"

#include <algorithm>
#include <cctype>

#include "loader/device/launch_settings.h"
#include "loader/ptxrun/command_line.h"

namespace ptxrun::command {

std::vector<Variable> environment() {
  std::vector<Variable> all = {
#define ENVIRONMENT(group, name, check, values, text) {Variable::group, name, values, text},
#include "loader/ptxrun/environment.def"
#undef ENVIRONMENT
  };
  const auto place = std::ranges::find(all, Variable::launch, &Variable::group);
  std::vector<Variable> settings;
  for (const device::LaunchSetting &setting : device::launchSettings()) {
    std::string meaning(setting.meaning);
    meaning[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(meaning[0])));
    settings.push_back({Variable::launch, device::variableOf(setting), setting.takes, meaning});
  }
  all.insert(place, settings.begin(), settings.end());
  return all;
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
  const std::vector<Variable> all = environment();
  const Variable *before = nullptr;
  for (const Variable &variable : all) {
    if (!before || before->group != variable.group)
      text += std::string(before ? "\n" : "") + std::string(titleOf(variable.group)) + ":\n";
    before = &variable;
    std::string head = "  " + variable.name + "=" + std::string(variable.values);
    constexpr size_t kColumn = 44;
    head += head.size() < kColumn ? std::string(kColumn - head.size(), ' ') : "  ";
    text += head + variable.text + "\n";
  }
  return text;
}

} // namespace ptxrun::command
