// What a thread of ours does first.
#pragma once

namespace ptxrun::rt {

/// Signals of the program are for its own threads: blocks all but the synchronous ones and the
/// watchdog's. The floating-point environment becomes the default one, whoever started the thread.
void becomeOwnThread();

} // namespace ptxrun::rt
