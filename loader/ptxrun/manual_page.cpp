// ptxrun(1), from the definitions of the command line and the table of the environment.
#include <CLI/CLI.hpp>

#include "loader/ptxrun/command_line.h"
#include "loader/ptxrun/environment.h"

namespace ptxrun::command {
namespace {

/// Text that man shows as it stands: backslashes and dashes are letters, a line begins with no
/// macro.
std::string escaped(std::string_view text) {
  std::string out;
  bool isLineStart = true;
  for (const char c : text) {
    if (isLineStart && (c == '.' || c == '\''))
      out += "\\&";
    isLineStart = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string joined(const std::vector<std::string> &words, const char *between) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

std::string optionEntry(const OptionText &option) {
  std::string head = "\\fB" + escaped(joined(option.names, ", ")) + "\\fR";
  if (option.names.empty())
    head = "\\fI" + escaped(option.value) + "\\fR";
  else if (!option.choices.empty())
    head += " " + escaped(joined(option.choices, "|"));
  else if (!option.value.empty())
    head += " \\fI" + escaped(option.value) + "\\fR";
  return ".TP\n" + head + "\n" + escaped(option.description) + "\n";
}

std::string synopsis(const CommandText &command) {
  std::string text = ".B ptxrun" + (command.path.empty() ? "" : " " + escaped(command.path)) + "\n";
  if (!command.options.empty())
    text += "[\\fIOPTIONS\\fR]\n";
  for (const OptionText &argument : command.arguments)
    text += "\\fI" + escaped(argument.value) + "\\fR\n";
  if (!command.commands.empty())
    text += "\\fICOMMAND\\fR ...\n";
  return text;
}

/// A text whose lines stay as they are.
std::string verbatim(const std::string &text) {
  return text.empty() ? "" : ".PP\n.nf\n" + escaped(text) + "\n.fi\n";
}

} // namespace

std::string manualPage(const CLI::App &app) {
  const std::vector<CommandText> commands = describe(app);
  std::string page = ".TH PTXRUN 1 \"\" \"ptxrun " PTXRUN_VERSION "\" \"User Commands\"\n"
                     ".ad l\n" // long lists of values are one word
                     ".SH NAME\nptxrun \\- run CUDA kernels on the CPU\n.SH SYNOPSIS\n" +
                     synopsis(commands.front()) + ".SH DESCRIPTION\n" +
                     escaped(commands.front().description) + "\n.SH COMMANDS\n";
  for (const CommandText &command : commands) {
    if (command.path.empty())
      continue;
    page += ".SS \"ptxrun " + escaped(command.path) + "\"\n" + synopsis(command) + ".PP\n" +
            escaped(command.description) + "\n";
    for (const OptionText &argument : command.arguments)
      page += optionEntry(argument);
    for (const OptionText &option : command.options)
      page += optionEntry(option);
    page += verbatim(command.footer);
  }
  page += ".SH EXIT STATUS\n" + verbatim(commands.front().footer) + ".SH ENVIRONMENT\n";
  const Variable *before = nullptr;
  for (const Variable &variable : environment()) {
    if (!before || before->group != variable.group)
      page += ".SS " + std::string(titleOf(variable.group)) + "\n";
    before = &variable;
    page += ".TP\n\\fB" + escaped(variable.name) + "\\fR=\\fI" + escaped(variable.values) +
            "\\fR\n" + escaped(variable.text) + "\n";
  }
  return page;
}

} // namespace ptxrun::command
