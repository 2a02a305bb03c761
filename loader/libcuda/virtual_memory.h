// What virtual memory management has taken of the device's memory.
#pragma once
#include <cstddef>

namespace ptxrun::driver {

/// Bytes that cuMemCreate made and that are still held, by handles or mappings.
size_t createdPhysicalBytes();

} // namespace ptxrun::driver
