// Ctrl-C: the first one asks the running launch to stop, the second one ends the process.
#pragma once
#include <atomic>

namespace ptxrun::command {

/// Installs the handler (once) and returns the flag it sets.
const std::atomic<bool> *watchInterrupts();

} // namespace ptxrun::command
