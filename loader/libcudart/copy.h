// Descriptions of copies between the runtime API and the driver's.
#pragma once
#include "loader/libcudart/cudart_abi.h"

namespace ptxrun::runtime {

/// Whether it is one of the directions that there are.
inline bool isDirection(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}
/// CUDA_ERROR_INVALID_VALUE where an end is both array and memory, or neither.
CUresult toDriver(const cudaMemcpy3DParms &, CUDA_MEMCPY3D &);
cudaMemcpy3DParms fromDriver(const CUDA_MEMCPY3D &);
/// A range of bytes.
CUresult toDriver(void *to, const void *from, size_t bytes, cudaMemcpyKind, CUDA_MEMCPY3D &);
/// The place inside a variable behind a host shadow; an error if the range runs out of it.
CUresult symbolRange(const void *symbol, size_t bytes, size_t offset, void *&address);

} // namespace ptxrun::runtime
