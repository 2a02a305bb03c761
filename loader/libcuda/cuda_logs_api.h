/* The driver API's types and functions of its own log. Plain C. */
#ifndef PTXRUN_LIBCUDA_CUDA_LOGS_API_H
#define PTXRUN_LIBCUDA_CUDA_LOGS_API_H
#include "loader/libcuda/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CUlogLevel PTXRUN_ANY_INT {
  CU_LOG_LEVEL_ERROR = 0,
  CU_LOG_LEVEL_WARNING = 1
} CUlogLevel;

typedef struct CUlogsCallbackEntry_st *CUlogsCallbackHandle;
typedef void (*CUlogsCallback)(void *data, CUlogLevel level, char *message, size_t length);
typedef unsigned int CUlogIterator;

CUresult cuLogsRegisterCallback(CUlogsCallback function, void *data, CUlogsCallbackHandle *handle);
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle);
CUresult cuLogsCurrent(CUlogIterator *end, unsigned int flags);
CUresult cuLogsDumpToFile(CUlogIterator *from, const char *path, unsigned int flags);
CUresult cuLogsDumpToMemory(CUlogIterator *from, char *buffer, size_t *bytes, unsigned int flags);

#ifdef __cplusplus
}
#endif
#endif
