// What the command throws, and the exit codes that `ptxrun --help` documents. Exceptions stay
// inside this folder.
#pragma once
#include <stdexcept>
#include <string>

namespace ptxrun::command {

enum ExitCode {
  kSuccess = 0,
  kFailure = 1,      ///< module rejected, launch failed, results differ from what was expected
  kUsage = 2,        ///< wrong command line, launch description or input file
  kTimeout = 3,      ///< --timeout passed
  kInterrupted = 130 ///< Ctrl-C, as shells count it
};

/// A mistake of the user's: ends the command with kUsage and this message.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The work itself failed: ends the command with `code`. The message may be empty (all was said
/// already).
struct Failed : std::runtime_error {
  explicit Failed(std::string message, ExitCode exitCode = kFailure)
      : std::runtime_error(std::move(message)), code(exitCode) {}
  ExitCode code;
};

} // namespace ptxrun::command
