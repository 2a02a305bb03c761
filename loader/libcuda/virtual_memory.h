// What virtual memory management has taken of the device's memory.
#pragma once
#include <cstddef>

#include "loader/libcuda/cuda_abi.h"

namespace ptxrun::driver {

/// Bytes that cuMemCreate made on a device and that are still held, by handles or mappings.
size_t createdPhysicalBytes(CUdevice);

} // namespace ptxrun::driver
