// The words of the command line, and what each ends with.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/doctor.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/hints.h"
#include "loader/ptxrun/suggest.h"

namespace ptxrun::command {

namespace {

constexpr const char *kFooter = R"(Exit codes:
    0  done, and results as expected
    1  a module was rejected, a launch failed, or results differ
    2  wrong command line, launch description or input file
    3  --timeout passed
  130  interrupted (Ctrl-C)

Variables of the environment, PTXRUN_CPU and others: ptxrun help environment)";

int usage(const CLI::App &app, const CLI::ParseError &error) {
  int code = app.exit(error);
  return code == 0 ? kSuccess : kUsage;
}

/// A first word that is no command, or one behind `capture` that is none of its, is most likely one
/// with a typo.
void refuseUnknownCommand(const CLI::App &app, int count, char **arguments) {
  const CLI::App *inside = &app;
  for (int k = 1; k < count && arguments[k][0] != '-'; ++k) {
    const std::vector<const CLI::App *> commands =
        inside->get_subcommands([](const CLI::App *) { return true; });
    if (commands.empty())
      return; // what follows are its arguments
    const auto named = std::ranges::find_if(
        commands, [&](const CLI::App *one) { return one->get_name() == arguments[k]; });
    if (named != commands.end()) {
      inside = *named;
      continue;
    }
    std::vector<std::string> names;
    std::string all;
    for (const CLI::App *command : commands) {
      names.push_back(command->get_name());
      all += " " + command->get_name();
    }
    const std::string near = nearestName(arguments[k], names);
    const std::string whose = inside == &app ? "" : inside->get_name() + " ";
    throw UsageError("there is no command '" + whose + arguments[k] + "'" +
                     (near.empty() ? "" : "; did you mean '" + whose + near + "'?") +
                     "\ncommands:" + all);
  }
}

/// Words that the chosen command does not take.
std::string describeExtras(const CLI::App &app) {
  const CLI::App *command = &app;
  while (!command->get_subcommands().empty())
    command = command->get_subcommands().front();
  std::vector<std::string> words = command->remaining();
  // A wrong option comes with its value; CLI11 hands both out, and not always in their order.
  const auto option = std::ranges::find_if(
      words, [](const std::string &word) { return word.size() > 1 && word[0] == '-'; });
  if (option != words.end())
    return unknownOption(*command, *option);
  std::string all;
  for (const std::string &word : words)
    all += " '" + word + "'";
  return command->get_name() + " does not take" + all + "; ptxrun " + command->get_name() +
         " --help says what it takes";
}

/// In `ptxrun record -o run.rec -- ./program --its --options` the program begins where the first
/// `--` stands; CLI11 finds it without.
std::vector<std::string> withoutSeparator(int count, char **arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  if (!words.empty() && (words[0] == "record" || words[0] == "exec"))
    if (const auto dashes = std::ranges::find(words, "--"); dashes != words.end())
      words.erase(dashes);
  if (!words.empty() && words[0] == "debug") // else CLI11 takes what follows for the port
    std::ranges::replace(words, "--dap", "--dap=stdio");
  std::ranges::reverse(words); // as CLI11 takes them
  return words;
}

} // namespace

int runCommandLine(int count, char **arguments) {
  CLI::App app{
      "Runs CUDA kernels (NVIDIA PTX) on the CPU: translated to native SIMD code, on all cores.",
      "ptxrun"};
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all sub-commands");
  app.footer(kFooter);
  addRun(app);
  addInspect(app);
  addVerify(app);
  addIsa(app);
  addExec(app);
  addRecord(app);
  addReplay(app);
  addCapture(app);
  addExplore(app);
  addDebug(app);
  addDoctor(app);
  addVersion(app);
  addHelp(app);
  addCompletion(app);
  try {
    refuseUnknownCommand(app, count, arguments);
    app.parse(withoutSeparator(count, arguments));
    return kSuccess;
  } catch (const CLI::ExtrasError &) {
    std::fprintf(stderr, "ptxrun: %s\n", describeExtras(app).c_str());
    return kUsage;
  } catch (const CLI::ParseError &error) {
    return usage(app, error);
  } catch (const UsageError &error) {
    std::fflush(stdout);
    std::fprintf(stderr, "ptxrun: %s\n", error.what());
    return kUsage;
  } catch (const Failed &failure) {
    std::fflush(stdout);
    if (*failure.what())
      std::fprintf(stderr, "%s\n", failure.what());
    return failure.code;
  } catch (const std::exception &error) {
    std::fflush(stdout);
    std::fprintf(stderr, "ptxrun: %s\n", error.what());
    return kFailure;
  }
}

} // namespace ptxrun::command
