// Where kernels' code lies, so that a fault there is known to be the kernel's. Readable from a
// signal handler.
#pragma once
#include <cstdint>

namespace ptxrun::rt {

/// Announces code of a kernel: faults with a pc in [begin, end) during a launch fail the launch
/// instead of the process, and launches can be interrupted there. Safe to call from several
/// threads; ranges do not overlap.
void registerCode(const void *begin, const void *end);
/// Takes the range that starts at `begin` back. No launch may be running in it.
void unregisterCode(const void *begin);
/// Async-signal-safe.
bool isKernelCode(uint64_t pc);

} // namespace ptxrun::rt
