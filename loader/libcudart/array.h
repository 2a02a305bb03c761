// Arrays and formats between the runtime API and the driver's.
#pragma once
#include "loader/libcudart/cudart_abi.h"

namespace ptxrun::runtime {

/// CUDA_ERROR_INVALID_VALUE... as cudaErrorInvalidChannelDescriptor where nothing is so described.
CUresult readChannels(const cudaChannelFormatDesc &, CUarray_format &, unsigned &channels);
cudaChannelFormatDesc describeChannels(CUarray_format, unsigned channels);
/// Bytes of one element of an array, 0 for no array.
size_t elementBytes(cudaArray_t);

} // namespace ptxrun::runtime
