// The driver's log.
#include "loader/libcuda/cuda_logs_api.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API cudaError_t cudaLogsRegisterCallback(CUlogsCallback function, void *data,
                                                        CUlogsCallbackHandle *handle) {
  return finish(cuLogsRegisterCallback(function, data, handle));
}
PTXRUN_RUNTIME_API cudaError_t cudaLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return finish(cuLogsUnregisterCallback(handle));
}
PTXRUN_RUNTIME_API cudaError_t cudaLogsCurrent(CUlogIterator *end, unsigned flags) {
  return finish(cuLogsCurrent(end, flags));
}
PTXRUN_RUNTIME_API cudaError_t cudaLogsDumpToFile(CUlogIterator *from, const char *path,
                                                  unsigned flags) {
  return finish(cuLogsDumpToFile(from, path, flags));
}
PTXRUN_RUNTIME_API cudaError_t cudaLogsDumpToMemory(CUlogIterator *from, char *buffer,
                                                    size_t *bytes, unsigned flags) {
  return finish(cuLogsDumpToMemory(from, buffer, bytes, flags));
}
