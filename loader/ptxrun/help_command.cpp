// ptxrun help, completion: what the command knows of itself.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "loader/ptxrun/command_line.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/suggest.h"

namespace ptxrun::command {
namespace {

std::string passesText() {
  std::string text = "The vectoriser's passes, in order. PTXRUN_PASSES=-NAME,... leaves out those "
                     "that are marked\n"
                     "(-all,+NAME all but some), --dump=DIR writes what each left behind; the "
                     "results stay the same.\n\n";
  const std::string needed = "    ", optional = "  - ";
  const auto add = [&](const std::string &mark, const std::string &name, const std::string &what) {
    text += mark + name + std::string(18 - name.size(), ' ') + what + "\n";
  };
#define SIMT_PASS(id, name, kind, requires_, preserves, gives, what) add(kind, name, what);
#define SIMT_PART(id, name, what) add(optional, name, what);
#include "translate/simt/passes.def"
#undef SIMT_PART
#undef SIMT_PASS
  return text;
}

/// The help of a command by its path, "capture info"; empty if there is none.
std::string helpOf(const CLI::App &app, const std::vector<std::string> &words) {
  const CLI::App *found = &app;
  for (const std::string &word : words) {
    const auto named = found->get_subcommands(
        [&](const CLI::App *command) { return command->get_name() == word; });
    if (named.empty())
      return {};
    found = named.front();
  }
  return found->help("ptxrun");
}

void help(const CLI::App &app, const std::vector<std::string> &words) {
  std::string text;
  if (words.size() == 1 && words[0] == "environment")
    text = environmentText();
  else if (words.size() == 1 && words[0] == "passes")
    text = passesText();
  else if (words.size() == 1 && words[0] == "man")
    text = manualPage(app);
  else
    text = helpOf(app, words);
  if (text.empty()) {
    std::vector<std::string> names = {"environment", "passes", "man"};
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
      names.push_back(command->get_name());
    const std::string near = nearestName(words[0], names);
    throw UsageError("there is no help on '" + words[0] + "'" +
                     (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  std::fputs(text.c_str(), stdout);
}

} // namespace

void addHelp(CLI::App &app) {
  auto *command = app.add_subcommand(
      "help",
      "Help on a command, on the environment, on the vectoriser's passes, or the manual page");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("TOPIC", *words, "environment, passes, man, or a command");
  command->callback([&app, words] { help(app, *words); });
}

void addCompletion(CLI::App &app) {
  auto *command = app.add_subcommand("completion", "Print the completion for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("bash: source <(ptxrun completion bash)\nzsh:  ptxrun completion zsh > "
                  "FOLDER/_ptxrun, with FOLDER in $fpath\n"
                  "fish: ptxrun completion fish > ~/.config/fish/completions/ptxrun.fish");
  command->callback([&app, shell] { std::fputs(completion(app, *shell).c_str(), stdout); });
}

} // namespace ptxrun::command
