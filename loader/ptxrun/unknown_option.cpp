// What is said of an option that a command does not have.
#include <CLI/CLI.hpp>

#include "loader/ptxrun/hints.h"

namespace ptxrun::command {

std::string unknownOption(const CLI::App &command, const std::string &word) {
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option *one : command.get_options())
    for (const std::string &name : one->get_lnames())
      names.push_back("--" + name);
  const std::string near = nearestWord(option, names, std::max<size_t>(2, option.size() / 3));
  return command.get_name() + " has no option '" + option + "'" +
         (near.empty() ? "" : "; did you mean '" + near + "'?") + "\nptxrun " +
         (command.get_name() == "ptxrun" ? "" : command.get_name() + " ") +
         "--help says which there are";
}

} // namespace ptxrun::command
