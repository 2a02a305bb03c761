// Memory that other APIs made. Descriptions are the driver's but for what 12 does not reserve at
// their ends.
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API cudaError_t cudaImportExternalMemory(
    CUexternalMemory *memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *description) {
  return perform([&] { return cuImportExternalMemory(memory, description); });
}
PTXRUN_RUNTIME_API cudaError_t cudaExternalMemoryGetMappedBuffer(
    void **pointer, CUexternalMemory memory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *description) {
  return perform([&] {
    CUdeviceptr address = 0;
    if (!pointer)
      return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuExternalMemoryGetMappedBuffer(&address, memory, description);
    if (result == CUDA_SUCCESS)
      *pointer = reinterpret_cast<void *>(address);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaDestroyExternalMemory(CUexternalMemory memory) {
  return perform([&] { return cuDestroyExternalMemory(memory); });
}
