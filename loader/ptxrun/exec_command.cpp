// ptxrun exec: starts a CUDA program so that it finds our libraries instead of a GPU's driver. The
// audit library sees to it (loader/audit); the library path is for programs that search it
// themselves, the path for those that call nvcc or ptxas (loader/toolkit).
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/hints.h"
#include "loader/ptxrun/installation.h"

namespace ptxrun::command {

namespace {

namespace fs = std::filesystem;

void prepend(const char *variable, const std::string &value) {
  const char *before = getenv(variable);
  const std::string joined = before && *before ? value + ":" + before : value;
  setenv(variable, joined.c_str(), 1);
}

} // namespace

void startProgram(const std::vector<std::string> &words) {
  const fs::path folder = libraryFolder();
  prepend("LD_LIBRARY_PATH", folder.string());
  prepend("LD_AUDIT", (folder / kAudit).string());
  const fs::path programs = programFolder();
  prepend("PATH", programs.string());
  for (const char *variable : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"})
    setenv(variable, (programs / "ptxas").c_str(), 0);
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw UsageError("cannot start " + (words[0].find('/') == std::string::npos
                                          ? words[0] + ": " + strerror(errno)
                                          : whyNotOpened(words[0], errno)));
}

void addExec(CLI::App &app) {
  auto *command = app.add_subcommand(
      "exec", "Start a CUDA program (built by nvcc, Python, ...) on the CPU instead of a GPU");
  command->footer(
      "ptxrun exec ./program --its --options\n\n"
      "The program's exit code is the command's. PTXRUN_SM=9.0 sets the compute capability shown,\n"
      "PTXRUN_VERBOSE=1 says what is not supported.");
  command->prefix_command();
  auto trace = std::make_shared<std::string>();
  command->add_option(
      "--trace", *trace,
      "Write what happens when to this file (PTXRUN_TRACE), for Perfetto or chrome://tracing");
  auto summary = std::make_shared<std::string>();
  command->add_flag(
      "--summary", *summary,
      "Say at the end what took how long: kernels, transfers, compilation, memory; on "
      "standard error, or --summary=FILE (PTXRUN_SUMMARY)");
  command->callback([command, trace, summary] {
    if (!summary->empty())
      setenv("PTXRUN_SUMMARY", *summary == "true" ? "1" : fs::absolute(*summary).c_str(), 1);
    if (!trace->empty())
      setenv("PTXRUN_TRACE", fs::absolute(*trace).c_str(), 1);
    const std::vector<std::string> words = command->remaining();
    if (words.empty())
      throw UsageError("exec needs a program to start");
    if (words[0].starts_with('-'))
      throw UsageError(unknownOption(*command, words[0]));
    startProgram(words);
  });
}

} // namespace ptxrun::command
