/* The driver API's types and functions of multicast objects. Apart from cuda_api.h. Plain C. */
#ifndef PTXRUN_LIBCUDA_CUDA_MULTICAST_API_H
#define PTXRUN_LIBCUDA_CUDA_MULTICAST_API_H
#include "loader/libcuda/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CUmulticastGranularity_flags PTXRUN_ANY_INT {
  CU_MULTICAST_GRANULARITY_MINIMUM = 0,
  CU_MULTICAST_GRANULARITY_RECOMMENDED = 1
} CUmulticastGranularity_flags;

typedef struct CUmulticastObjectProp_st {
  unsigned int numDevices;
  size_t size; /* per device */
  unsigned long long handleTypes;
  unsigned long long flags;
} CUmulticastObjectProp;

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle,
                           const CUmulticastObjectProp *properties);
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device);
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
                            CUmemGenericAllocationHandle memory, size_t memoryOffset, size_t bytes,
                            unsigned long long flags);
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset,
                             CUdeviceptr address, size_t bytes, unsigned long long flags);
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
                           size_t bytes);
CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *properties,
                                   CUmulticastGranularity_flags option);

#ifdef __cplusplus
}
#endif
#endif
