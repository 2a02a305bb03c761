// The calling thread's last error.
#pragma once
#include "loader/libcudart/cudart_abi.h"

namespace ptxrun::runtime {

/// Remembers an error for cudaGetLastError and returns it. Results of driver and runtime share
/// their numbers.
cudaError_t finish(CUresult);
cudaError_t finish(cudaError_t);

} // namespace ptxrun::runtime
