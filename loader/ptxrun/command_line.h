// The command line as data, read from CLI11's definitions: what the manual page and the shells'
// completions are made from.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ptxrun::command {

struct OptionText {
  std::vector<std::string> names;   ///< with their dashes; empty for a positional argument
  std::string value;                ///< how the value is called; empty for flags
  std::vector<std::string> choices; ///< the values it takes, where they are few
  std::string description;
};

struct CommandText {
  std::string path; ///< words behind `ptxrun`: "run", "capture info"; empty for the command itself
  std::string description, footer;
  std::vector<OptionText> options, arguments;
  std::vector<std::string> commands; ///< sub-commands
};

/// The application, then its sub-commands and theirs, in the order of their definitions. Hidden
/// ones (without a group) are left out.
std::vector<CommandText> describe(const CLI::App &);

/// ptxrun(1) in man's macros.
std::string manualPage(const CLI::App &);
/// A completion for `bash`, `zsh` or `fish`; empty for other shells.
std::string completion(const CLI::App &, const std::string &shell);

/// `ptxrun help environment`: environment.def as a text.
std::string environmentText();

} // namespace ptxrun::command
