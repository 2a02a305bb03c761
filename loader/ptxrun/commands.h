// One function per sub-command; each adds its options to the command line and sets what runs when
// it is chosen.
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace ptxrun::command {

void addRun(CLI::App &);
void addInspect(CLI::App &);
void addVerify(CLI::App &);
void addIsa(CLI::App &);
void addExec(CLI::App &);
void addVersion(CLI::App &);

} // namespace ptxrun::command
