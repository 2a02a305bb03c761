// ptxrun version
#include <CLI/CLI.hpp>
#include <cstdio>

#include "loader/ptxrun/commands.h"

namespace ptxrun::command {

void addVersion(CLI::App &app) {
  auto *command = app.add_subcommand("version", "Print the version");
  command->callback([] { std::printf("ptxrun %s (PTX ISA up to 9.2)\n", PTXRUN_VERSION); });
}

} // namespace ptxrun::command
