// What nvcc's host code registers before main: fat binaries, the kernels behind host stubs, the
// variables behind shadows.
#pragma once
#include "loader/libcudart/cudart_abi.h"

namespace ptxrun::runtime {

/// The kernel behind a host stub; its fat binary is loaded at the first question.
/// cudaErrorInvalidDeviceFunction if there is none. A handle from cudaGetKernel is answered as it
/// is. Handles are valid until the program unregisters the fat binary, also over a reset.
cudaError_t findKernel(const void *hostStub, CUkernel &kernel);
/// The host stub of a kernel of the program's fat binaries, as the current device has it; null for
/// any other.
const void *stubOf(CUfunction function);
/// The device memory behind a host shadow of a __device__, __constant__ or __managed__ variable.
cudaError_t findVariable(const void *hostShadow, CUdeviceptr &address, size_t &bytes);

} // namespace ptxrun::runtime
