/* The driver API's types and functions of copies, prefetches and discards in batches. Part of
 * cuda_api.h. Plain C. */
#ifndef PTXRUN_LIBCUDA_CUDA_BATCH_API_H
#define PTXRUN_LIBCUDA_CUDA_BATCH_API_H
#include "loader/libcuda/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies in batches. */

typedef enum CUmemcpySrcAccessOrder PTXRUN_ANY_INT {
  CU_MEMCPY_SRC_ACCESS_ORDER_INVALID = 0,
  CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
  CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2,
  CU_MEMCPY_SRC_ACCESS_ORDER_ANY = 3
} CUmemcpySrcAccessOrder;

typedef enum CUmemcpyFlags PTXRUN_ANY_INT {
  CU_MEMCPY_FLAG_DEFAULT = 0,
  CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 1
} CUmemcpyFlags;

typedef struct CUmemcpyAttributes {
  CUmemcpySrcAccessOrder srcAccessOrder;
  CUmemLocation srcLocHint, dstLocHint;
  unsigned int flags;
} CUmemcpyAttributes;

typedef enum CUmemcpy3DOperandType PTXRUN_ANY_INT {
  CU_MEMCPY_OPERAND_TYPE_POINTER = 1,
  CU_MEMCPY_OPERAND_TYPE_ARRAY = 2
} CUmemcpy3DOperandType;

typedef struct CUoffset3D {
  size_t x, y, z;
} CUoffset3D;

typedef struct CUextent3D {
  size_t width, height, depth;
} CUextent3D;

typedef struct CUmemcpy3DOperand {
  CUmemcpy3DOperandType type;
  union {
    struct {
      CUdeviceptr ptr;
      size_t rowLength, layerHeight;
      CUmemLocation locHint;
    } ptr;
    struct {
      CUarray array;
      CUoffset3D offset;
    } array;
  } op;
} CUmemcpy3DOperand;

typedef struct CUDA_MEMCPY3D_BATCH_OP {
  CUmemcpy3DOperand src, dst;
  CUextent3D extent;
  CUmemcpySrcAccessOrder srcAccessOrder;
  unsigned int flags;
} CUDA_MEMCPY3D_BATCH_OP;

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *firsts,
                               size_t attributeCount, CUstream stream);
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                                    CUmemcpyAttributes *attributes, size_t *firsts,
                                    size_t attributeCount, CUstream stream);
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                            CUmemcpyAttributes *attributes, size_t *firsts, size_t attributeCount,
                            size_t *failed, CUstream stream);
CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                                 CUmemcpyAttributes *attributes, size_t *firsts,
                                 size_t attributeCount, size_t *failed, CUstream stream);
CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
                                 unsigned long long flags, CUstream stream);
CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
                                      unsigned long long flags, CUstream stream);
CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
                              unsigned long long flags, CUstream stream);
CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
                                   unsigned long long flags, CUstream stream);

/* Managed memory in batches. */

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *addresses, size_t *bytes, size_t count,
                                 CUmemLocation *locations, size_t *firsts, size_t locationCount,
                                 unsigned long long flags, CUstream stream);
CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *addresses, size_t *bytes, size_t count,
                                      CUmemLocation *locations, size_t *firsts,
                                      size_t locationCount, unsigned long long flags,
                                      CUstream stream);
CUresult cuMemDiscardBatchAsync(CUdeviceptr *addresses, size_t *bytes, size_t count,
                                unsigned long long flags, CUstream stream);
CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *addresses, size_t *bytes, size_t count,
                                     unsigned long long flags, CUstream stream);
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *addresses, size_t *bytes, size_t count,
                                           CUmemLocation *locations, size_t *firsts,
                                           size_t locationCount, unsigned long long flags,
                                           CUstream stream);
CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *addresses, size_t *bytes, size_t count,
                                                CUmemLocation *locations, size_t *firsts,
                                                size_t locationCount, unsigned long long flags,
                                                CUstream stream);

#ifdef __cplusplus
}
#endif

#ifndef PTXRUN_LIBCUDA_PLAIN_NAMES
#define cuMemcpyBatchAsync cuMemcpyBatchAsync_v2
#define cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_v2
#endif
#endif
