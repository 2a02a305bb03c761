// How much memory the device has, and how much of it the machine could still give.
#pragma once
#include <cstddef>

namespace ptxrun::machine {

/// The device's size in bytes: PTXRUN_MEMORY, or half of what the process may use. Read once.
size_t totalMemory();
/// Bytes that new allocations could use without swapping, by /proc/meminfo; read at each call.
size_t unusedHostMemory();
/// What a process that holds `used` bytes of the device could still get.
size_t availableMemory(size_t used);

} // namespace ptxrun::machine
