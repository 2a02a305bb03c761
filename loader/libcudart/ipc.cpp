// Memory and events between processes: the handles are the driver's.
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API cudaError_t cudaIpcGetMemHandle(CUipcMemHandle *handle, void *pointer) {
  return perform([&] { return cuIpcGetMemHandle(handle, toDevice(pointer)); });
}
PTXRUN_RUNTIME_API cudaError_t cudaIpcOpenMemHandle(void **pointer, CUipcMemHandle handle,
                                                    unsigned flags) {
  return perform([&] {
    CUdeviceptr address = 0;
    const CUresult result =
        pointer ? cuIpcOpenMemHandle(&address, handle, flags) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
      *pointer = reinterpret_cast<void *>(address);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaIpcCloseMemHandle(void *pointer) {
  return perform([&] { return cuIpcCloseMemHandle(toDevice(pointer)); });
}
PTXRUN_RUNTIME_API cudaError_t cudaIpcGetEventHandle(CUipcEventHandle *handle, cudaEvent_t event) {
  return perform([&] { return cuIpcGetEventHandle(handle, event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, CUipcEventHandle handle) {
  return perform([&] { return cuIpcOpenEventHandle(event, handle); });
}

// Pools that processes share.

PTXRUN_RUNTIME_API cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
                                                                  CUmemAllocationHandleType type,
                                                                  unsigned flags) {
  return perform([&] { return cuMemPoolExportToShareableHandle(handle, pool, type, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool,
                                                                    void *handle,
                                                                    CUmemAllocationHandleType type,
                                                                    unsigned flags) {
  return perform([&] { return cuMemPoolImportFromShareableHandle(pool, handle, type, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolExportPointer(CUmemPoolPtrExportData *data,
                                                        void *pointer) {
  return perform([&] { return cuMemPoolExportPointer(data, toDevice(pointer)); });
}
PTXRUN_RUNTIME_API cudaError_t cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool,
                                                        CUmemPoolPtrExportData *data) {
  return perform([&] {
    CUdeviceptr address = 0;
    const CUresult result =
        pointer ? cuMemPoolImportPointer(&address, pool, data) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
      *pointer = reinterpret_cast<void *>(address);
    return result;
  });
}
