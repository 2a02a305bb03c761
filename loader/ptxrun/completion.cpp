// Completions for the shells, from the definitions of the command line.
#include <CLI/CLI.hpp>

#include "loader/ptxrun/command_line.h"

namespace ptxrun::command {
namespace {

std::string words(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &word : list)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

/// For a shell's single quotes.
std::string singleQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

/// The shell function that finds in $place which sub-command the words so far name.
std::string findPath(const std::vector<CommandText> &commands, const char *indent) {
  std::string text = std::string(indent) + "case \"$place ${words[i]}\" in\n";
  for (const CommandText &command : commands)
    for (const std::string &name : command.commands)
      text += std::string(indent) + "  '" + command.path + " " + name + "') place='" +
              command.path + (command.path.empty() ? "" : " ") + name + "' ;;\n";
  return text + std::string(indent) + "esac\n";
}

std::string bash(const std::vector<CommandText> &commands) {
  std::string text = "# bash completion of ptxrun\n_ptxrun() {\n"
                     "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
                     "place='' i words=(\"${COMP_WORDS[@]}\")\n"
                     "  for ((i = 1; i < COMP_CWORD; ++i)); do\n" +
                     findPath(commands, "    ") +
                     "  done\n  local choices=''\n  case \"$place:$before\" in\n";
  for (const CommandText &command : commands)
    for (const OptionText &option : command.options)
      for (const std::string &name : option.names)
        if (!option.choices.empty())
          text += "    '" + command.path + ":" + name + "') choices='" + words(option.choices) +
                  "' ;;\n";
        else if (!option.value.empty())
          text += "    '" + command.path + ":" + name +
                  "') COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n";
  // Options where a dash begins the word, else sub-commands and what an argument may be.
  std::string options, others;
  for (const CommandText &command : commands) {
    std::vector<std::string> names, first = command.commands;
    for (const OptionText &option : command.options)
      names.insert(names.end(), option.names.begin(), option.names.end());
    for (const OptionText &argument : command.arguments)
      first.insert(first.end(), argument.choices.begin(), argument.choices.end());
    options += "      '" + command.path + "') choices='" + words(names) + "' ;;\n";
    if (!first.empty())
      others += "      '" + command.path + "') choices='" + words(first) + "' ;;\n";
  }
  return text + "  esac\n  if [[ -z $choices && $word == -* ]]; then\n    case \"$place\" in\n" +
         options + "    esac\n  elif [[ -z $choices ]]; then\n    case \"$place\" in\n" + others +
         "    esac\n  fi\n  COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
         "  [[ ${#COMPREPLY[@]} -gt 0 || $word == -* ]] || COMPREPLY=($(compgen -f -- "
         "\"$word\"))\n}\n"
         "complete -o filenames -F _ptxrun ptxrun\n";
}

std::string zsh(const std::vector<CommandText> &commands) {
  std::string text = "#compdef ptxrun\n_ptxrun() {\n  local place='' i\n  local -a choices\n"
                     "  for ((i = 2; i < CURRENT; ++i)); do\n" +
                     findPath(commands, "    ") +
                     "  done\n  case \"$place:${words[CURRENT-1]}\" in\n";
  for (const CommandText &command : commands)
    for (const OptionText &option : command.options)
      for (const std::string &name : option.names)
        if (!option.choices.empty())
          text += "    '" + command.path + ":" + name + "') compadd " + words(option.choices) +
                  "; return ;;\n";
        else if (!option.value.empty())
          text += "    '" + command.path + ":" + name + "') _files; return ;;\n";
  text += "  esac\n  case \"$place\" in\n";
  auto entry = [](std::string name, const std::string &description) {
    return " " + singleQuoted(name + ":" + description);
  };
  for (const CommandText &command : commands) {
    text += "    '" + command.path + "') choices=(";
    for (const CommandText &other : commands)
      for (const std::string &name : command.commands)
        if (other.path == command.path + (command.path.empty() ? "" : " ") + name)
          text += entry(name, other.description);
    for (const OptionText &argument : command.arguments)
      for (const std::string &choice : argument.choices)
        text += entry(choice, argument.description);
    for (const OptionText &option : command.options)
      for (const std::string &name : option.names)
        text += entry(name, option.description);
    text += " ) ;;\n";
  }
  return text + "  esac\n  _describe 'ptxrun' choices\n  [[ ${words[CURRENT]} == -* ]] || "
                "_files\n}\n_ptxrun \"$@\"\n";
}

std::string fish(const std::vector<CommandText> &commands) {
  std::string text = "# fish completion of ptxrun\n";
  for (const CommandText &command : commands) {
    // The words of the path were seen, and none of the sub-commands behind it.
    std::string condition =
        command.path.empty()
            ? ""
            : "__fish_seen_subcommand_from " + command.path.substr(command.path.rfind(' ') + 1);
    std::string open = condition;
    if (!command.commands.empty())
      open += (open.empty() ? "not " : "; and not ") +
              ("__fish_seen_subcommand_from " + words(command.commands));
    for (const CommandText &other : commands)
      for (const std::string &name : command.commands)
        if (other.path == command.path + (command.path.empty() ? "" : " ") + name)
          text += "complete -c ptxrun -n " + singleQuoted(open) + " -a " + name + " -d " +
                  singleQuoted(other.description) + "\n";
    for (const OptionText &argument : command.arguments)
      if (!argument.choices.empty())
        text += "complete -c ptxrun -n " + singleQuoted(open) + " -f -a " +
                singleQuoted(words(argument.choices)) + "\n";
    for (const OptionText &option : command.options) {
      text += "complete -c ptxrun" + (open.empty() ? "" : " -n " + singleQuoted(open));
      for (const std::string &name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        text += " -x -a " + singleQuoted(words(option.choices));
      else if (!option.value.empty())
        text += " -r";
      text += " -d " + singleQuoted(option.description) + "\n";
    }
  }
  return text;
}

} // namespace

std::string completion(const CLI::App &app, const std::string &shell) {
  const std::vector<CommandText> commands = describe(app);
  return shell == "bash"   ? bash(commands)
         : shell == "zsh"  ? zsh(commands)
         : shell == "fish" ? fish(commands)
                           : "";
}

} // namespace ptxrun::command
