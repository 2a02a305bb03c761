// Buffers in memory that other APIs made (cuExternalMemoryGetMappedBuffer).
#pragma once
#include "loader/libcuda/cuda_abi.h"

namespace ptxrun::driver {

/// Gives such a buffer back (cuMemFree); CUDA_ERROR_INVALID_VALUE for any other address.
CUresult releaseExternalBuffer(CUdeviceptr);

} // namespace ptxrun::driver
