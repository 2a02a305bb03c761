// How much memory a device has, and how much of it the machine could still give.
#pragma once
#include <cstddef>

namespace ptxrun::machine {

/// The size in bytes of each device: PTXRUN_MEMORY, or an equal share of half of what the process
/// may use. Read once.
size_t totalMemory();
/// Bytes that new allocations could use without swapping, by /proc/meminfo; read at each call.
size_t unusedHostMemory();
/// What a process that holds `used` bytes of a device could still get of it.
size_t availableMemory(size_t used);

} // namespace ptxrun::machine
