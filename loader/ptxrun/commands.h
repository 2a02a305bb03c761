// One function per sub-command; each adds its options to the command line and sets what runs when
// it is chosen.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ptxrun::command {

void addRun(CLI::App &);
void addInspect(CLI::App &);
void addVerify(CLI::App &);
void addIsa(CLI::App &);
void addExec(CLI::App &);
void addRecord(CLI::App &);
void addReplay(CLI::App &);
void addCapture(CLI::App &);
void addExplore(CLI::App &);
void addDebug(CLI::App &);
void addVersion(CLI::App &);
void addHelp(CLI::App &);
void addCompletion(CLI::App &);

/// All of them. The exit code (errors.h); what was wrong has been printed.
int runCommandLine(int count, char **arguments);

/// Replaces this process by a CUDA program that finds our libraries. Throws UsageError where that fails.
[[noreturn]] void startProgram(const std::vector<std::string> &words);

} // namespace ptxrun::command
