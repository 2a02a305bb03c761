#include "loader/ptxrun/command_line.h"

#include <CLI/CLI.hpp>

namespace ptxrun::command {
namespace {

/// The members of a set in braces, as CLI::IsMember describes itself: "UINT:{1,8,16,32}".
std::vector<std::string> choicesOf(const std::string &type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == type.npos || close == type.npos)
    return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

OptionText optionText(const CLI::Option &option) {
  OptionText text;
  for (const std::string &name : option.get_snames())
    text.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    text.names.push_back("--" + name);
  text.description = option.get_description();
  if (option.get_items_expected_max() > 0)
    text.choices = choicesOf(option.get_type_name());
  if (text.names.empty()) {
    text.value = option.get_name(true);
  } else if (option.get_items_expected_max() > 0) {
    text.value = option.get_type_name().substr(0, option.get_type_name().find(':'));
  }
  return text;
}

void describe(const CLI::App &app, const std::string &path, std::vector<CommandText> &list) {
  CommandText text{path, app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option *option :
       app.get_options([](const CLI::Option *o) { return !o->get_group().empty(); })) {
    OptionText one = optionText(*option);
    (one.names.empty() ? text.arguments : text.options).push_back(std::move(one));
  }
  const auto commands =
      app.get_subcommands([](const CLI::App *a) { return !a->get_group().empty(); });
  for (const CLI::App *command : commands)
    text.commands.push_back(command->get_name());
  list.push_back(std::move(text));
  for (const CLI::App *command : commands)
    describe(*command, path + (path.empty() ? "" : " ") + command->get_name(), list);
}

} // namespace

std::vector<CommandText> describe(const CLI::App &app) {
  std::vector<CommandText> list;
  describe(app, "", list);
  return list;
}

} // namespace ptxrun::command
