// What nvcc's host code registers before main: fat binaries, the kernels behind host stubs, the
// variables behind shadows.
#pragma once
#include "loader/libcudart/cudart_abi.h"

namespace ptxrun::runtime {

/// The kernel behind a host stub; its fat binary is loaded at the first question.
/// cudaErrorInvalidDeviceFunction if there is none. A handle from cudaGetKernel is answered as it
/// is.
cudaError_t findKernel(const void *hostStub, CUkernel &kernel);
/// A handle for the stub's kernel that is valid as long as the program, as host code by nvcc keeps
/// it from the first launch on, also over a reset; nothing but kernelOf() knows it.
CUkernel lastingHandle(const void *hostStub, CUkernel kernel);
/// The kernel behind such a handle, loaded again if need be; any other is answered as it is.
cudaError_t kernelOf(CUkernel lasting, CUkernel &kernel);
/// The host stub of a kernel of the program's fat binaries, as the current device has it; null for
/// any other.
const void *stubOf(CUfunction function);
/// The device memory behind a host shadow of a __device__, __constant__ or __managed__ variable.
cudaError_t findVariable(const void *hostShadow, CUdeviceptr &address, size_t &bytes);

/// The primary context has begun anew: kernels and variables are loaded again when they are next
/// asked for, variables with their first values; managed ones at once, as the program reads their
/// addresses itself.
void loadAfresh();

} // namespace ptxrun::runtime
