// The options of `ptxrun run`, which other commands that launch kernels have too.
#pragma once
#include <CLI/CLI.hpp>

#include <memory>

#include "loader/ptxrun/plan.h"

namespace ptxrun::command {

struct RunArguments {
  std::string file, kernel;
  std::string grid = "1", block = "1", cluster, shared = "0", tiers = "optimised";
  std::vector<std::string> arguments, buffers;
  bool isCooperative = false, isWithoutCache = false;
  RunOptions options;
};

/// Adds them to a command.
std::shared_ptr<RunArguments> addRunOptions(CLI::App &command);
/// From now on a trace goes to the file; nothing where it has no name. Throws UsageError.
void startTrace(const std::string &file);
/// Runs what they ask for. Throws UsageError, Failed.
void runAsAsked(RunArguments &);

} // namespace ptxrun::command
