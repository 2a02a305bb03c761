/* The driver API's types and functions of memory that other APIs made. Plain C. Part of
 * cuda_api.h. */
#ifndef PTXRUN_LIBCUDA_CUDA_EXTERNAL_API_H
#define PTXRUN_LIBCUDA_CUDA_EXTERNAL_API_H
#include "loader/libcuda/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUextMemory_st *CUexternalMemory;

typedef enum CUexternalMemoryHandleType PTXRUN_ANY_INT {
  CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD = 1,
  CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32 = 2,
  CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD = 9
} CUexternalMemoryHandleType;

#define CUDA_EXTERNAL_MEMORY_DEDICATED 0x1

typedef struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
  CUexternalMemoryHandleType type;
  union {
    int fd;
    struct {
      void *handle;
      const void *name;
    } win32;
    const void *nvSciBufObject;
  } handle;
  unsigned long long size;
  unsigned int flags;
  unsigned int reserved[16];
} CUDA_EXTERNAL_MEMORY_HANDLE_DESC;

typedef struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
  unsigned long long offset, size;
  unsigned int flags;
  unsigned int reserved[16];
} CUDA_EXTERNAL_MEMORY_BUFFER_DESC;

CUresult cuImportExternalMemory(CUexternalMemory *memory,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *description);
CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *address, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *description);
CUresult cuDestroyExternalMemory(CUexternalMemory memory);

#ifdef __cplusplus
}
#endif
#endif
