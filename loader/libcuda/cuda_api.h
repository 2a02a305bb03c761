/* The driver API's functions that are implemented, as programs call them: the unsuffixed names mean
 * the newest signature, as in CUDA 13.0's header. Plain C. Functions that are exported but not
 * listed here answer CUDA_ERROR_NOT_SUPPORTED. */
#ifndef PTXRUN_LIBCUDA_CUDA_API_H
#define PTXRUN_LIBCUDA_CUDA_API_H
#include "loader/libcuda/cuda_abi.h"
#include "loader/libcuda/cuda_batch_api.h"
#include "loader/libcuda/cuda_external_api.h"
#include "loader/libcuda/cuda_graph_api.h"
#include "loader/libcuda/cuda_graphics_api.h"
#include "loader/libcuda/cuda_resource_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start. */

CUresult cuInit(unsigned int flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetExportTable(const void **table, const CUuuid *id);

/* Results. */

CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuGetErrorString(CUresult error, const char **text);

/* Asking for functions. */

CUresult cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *status);
CUresult cuGetProcAddress(const char *name, void **address, int version, uint64_t flags);
CUresult cuGetProcAddress_v2_ptsz(const char *name, void **address, int version, uint64_t flags,
                                  CUdriverProcAddressQueryResult *status);

/* Devices. */

CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device);
CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id);
CUresult cuDeviceCanAccessPeer(int *canAccess, CUdevice device, CUdevice peer);
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute, CUdevice source,
                                 CUdevice destination);
CUresult cuDeviceGetExecAffinitySupport(int *isSupported, int, CUdevice device);
CUresult cuFlushGPUDirectRDMAWrites(int, int);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

/* The primary context. */

CUresult cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuDevicePrimaryCtxReset(CUdevice device);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags);
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *isActive);

/* Contexts. */

CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *, int affinityCount,
                        unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *parameters, unsigned int flags,
                        CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext handle);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext handle);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *handle);
CUresult cuCtxPopCurrent(CUcontext *context);
CUresult cuCtxSetCurrent(CUcontext handle);
CUresult cuCtxGetCurrent(CUcontext *handle);
CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext handle);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxGetFlags(unsigned int *flags);
CUresult cuCtxSetFlags(unsigned int flags);
CUresult cuCtxGetId(CUcontext handle, unsigned long long *id);
CUresult cuCtxSynchronize_v2(CUcontext handle);
CUresult cuCtxSynchronize(void);
CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxGetLimit(size_t *value, CUlimit limit);
CUresult cuCtxGetCacheConfig(CUfunc_cache *config);
CUresult cuCtxSetCacheConfig(CUfunc_cache config);
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config);
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version);
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUresult cuCtxResetPersistingL2Cache(void);
CUresult cuCtxAttach(CUcontext *handle, unsigned int flags);
CUresult cuCtxDetach(CUcontext handle);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);

/* Modules. */

CUresult cuModuleLoad(CUmodule *module, const char *path);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int optionCount,
                            CUjit_option *options, void **values);
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatBinary);
CUresult cuModuleUnload(CUmodule handle);
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name);
CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule handle);
CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int room, CUmodule handle);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle,
                              const char *name);

/* Libraries. */

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
                           void **values, unsigned int optionCount, CUlibraryOption *, void **,
                           unsigned int);
CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options,
                               void **values, unsigned int optionCount, CUlibraryOption *, void **,
                               unsigned int);
CUresult cuLibraryUnload(CUlibrary handle);
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary handle, const char *name);
CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary handle);
CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int room, CUlibrary handle);
CUresult cuLibraryGetModule(CUmodule *module, CUlibrary handle);
CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                            const char *name);
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                             const char *name);
CUresult cuLibraryGetUnifiedFunction(void **, CUlibrary, const char *);
CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel);
CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel);

/* The linker. */

CUresult cuLinkCreate_v2(unsigned int optionCount, CUjit_option *options, void **values,
                         CUlinkState *state);
CUresult cuLinkCreate(unsigned int optionCount, CUjit_option *options, void **values,
                      CUlinkState *state);
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType, void *data, size_t bytes, const char *,
                          unsigned int, CUjit_option *, void **);
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned int optionCount, CUjit_option *options,
                       void **values);
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType, const char *path, unsigned int,
                          CUjit_option *, void **);
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                       unsigned int optionCount, CUjit_option *options, void **values);
CUresult cuLinkComplete(CUlinkState state, void **data, size_t *bytes);
CUresult cuLinkDestroy(CUlinkState state);

/* Functions and kernels. */

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function);
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config);
CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig);
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes);
CUresult cuFuncGetName(const char **name, CUfunction function);
CUresult cuFuncGetModule(CUmodule *module, CUfunction handle);
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle);
CUresult cuFuncLoad(CUfunction handle);
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device);
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device);
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device);
CUresult cuKernelGetName(const char **name, CUkernel kernel);
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes);

/* Launches. */

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                        unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                        unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                        void **kernelParams, void **extra);
CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int gridX, unsigned int gridY,
                             unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                             unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                             void **kernelParams, void **extra);
CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launches, unsigned int count,
                                              unsigned int flags);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                                   unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                   unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                                   void **kernelParams);
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int gridX, unsigned int gridY,
                                        unsigned int gridZ, unsigned int blockX,
                                        unsigned int blockY, unsigned int blockZ,
                                        unsigned int sharedBytes, CUstream stream,
                                        void **kernelParams);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **kernelParams,
                          void **extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function,
                               void **kernelParams, void **extra);

/* Occupancy. */

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                              int blockSize, size_t dynamicBytes,
                                                              unsigned int flags);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int blockSize, size_t dynamicBytes);
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize dynamicBytesFor,
                                                   size_t dynamicBytes, int limit,
                                                   unsigned int flags);
CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction function,
                                          CUoccupancyB2DSize dynamicBytesFor, size_t dynamicBytes,
                                          int limit);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicBytes, CUfunction handle,
                                                 int blocks, int blockSize);
CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction handle,
                                            const CUlaunchConfig *config);
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                      const CUlaunchConfig *config);

/* Device memory. */

CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes);
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned int elementBytes);
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice, CUstream streamHandle);
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t bytes, CUdevice,
                                 CUstream streamHandle);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                               unsigned int flags, CUstream stream);
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes, CUmemLocation location,
                                    unsigned int flags, CUstream stream);
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice);
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        CUmemLocation location);
CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute, CUdeviceptr,
                                size_t bytes);
CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *,
                                 size_t count, CUdeviceptr, size_t bytes);
CUresult cuStreamAttachMemAsync(CUstream streamHandle, CUdeviceptr address, size_t bytes,
                                unsigned int flags);
CUresult cuStreamAttachMemAsync_ptsz(CUstream streamHandle, CUdeviceptr address, size_t bytes,
                                     unsigned int flags);

/* Host memory. */

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags);
CUresult cuMemAllocHost_v2(void **address, size_t bytes);
CUresult cuMemFreeHost(void *address);
CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags);
CUresult cuMemHostRegister(void *address, size_t bytes, unsigned int flags);
CUresult cuMemHostUnregister(void *address);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *address, unsigned int flags);
CUresult cuMemHostGetFlags(unsigned int *flags, void *address);

/* Stream-ordered allocation. */

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *address, size_t bytes, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
                                      CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream streamHandle);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream streamHandle);
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties);
CUresult cuMemPoolDestroy(CUmemoryPool handle);
CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t);
CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value);
CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value);
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *access, size_t count);
CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *location);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);
CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *, CUmemAllocationType);
CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *, CUmemAllocationType);
CUresult cuMemSetMemPool(CUmemLocation *, CUmemAllocationType, CUmemoryPool pool);

/* Pointers. */

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer);
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr pointer);
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr pointer);

/* Copies. */

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext,
                      size_t bytes);
CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext toContext, CUdeviceptr from,
                           CUcontext fromContext, size_t bytes);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext toContext, CUdeviceptr from,
                           CUcontext fromContext, size_t bytes, CUstream stream);
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext toContext, CUdeviceptr from,
                                CUcontext fromContext, size_t bytes, CUstream stream);

/* Copies in two and three dimensions. */

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *description);
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *description);
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *description);
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *description);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *description, CUstream stream);
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *description, CUstream stream);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *description);
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *description);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *description, CUstream stream);
CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *description, CUstream stream);
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *description);
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *description);
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *description, CUstream stream);
CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER *description, CUstream stream);

/* Fills. */

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
CUresult cuMemsetD16_v2_ptds(CUdeviceptr to, unsigned short value, size_t count);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count);
CUresult cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned int value, size_t count);
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height);
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                              size_t height);
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height);
CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                               size_t height);
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int value, size_t width,
                          size_t height);
CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr to, size_t pitch, unsigned int value, size_t width,
                               size_t height);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream);
CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t count, CUstream stream);
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream);
CUresult cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, size_t count, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream);
CUresult cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned int value, size_t count, CUstream stream);
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream);
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                size_t height, CUstream stream);
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream);
CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                                 size_t height, CUstream stream);
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width,
                            size_t height, CUstream stream);
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr to, size_t pitch, unsigned int value, size_t width,
                                 size_t height, CUstream stream);

/* Launches as before CUDA 4. */

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z);
CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes);
CUresult cuParamSetSize(CUfunction function, unsigned int bytes);
CUresult cuParamSeti(CUfunction function, int offset, unsigned int value);
CUresult cuParamSetf(CUfunction function, int offset, float value);
CUresult cuParamSetv(CUfunction function, int offset, void *values, unsigned int bytes);
CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref texture);
CUresult cuLaunch(CUfunction function);
CUresult cuLaunchGrid(CUfunction function, int width, int height);
CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream);

/* Arrays. */

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *description);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *description, CUarray array);
CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *description);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *description, CUarray array);
CUresult cuArrayDestroy(CUarray array);
CUresult cuArrayGetPlane(CUarray *plane, CUarray array, unsigned int number);
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUarray array,
                                      CUdevice device);
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUarray array);
CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *description,
                                unsigned int levels);
CUresult cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray array, unsigned int number);
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array);
CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                               CUmipmappedArray array, CUdevice device);
CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                             CUmipmappedArray array);
CUresult cuMemcpyAtoA_v2(CUarray to, size_t toOffset, CUarray from, size_t fromOffset,
                         size_t bytes);
CUresult cuMemcpyAtoA_v2_ptds(CUarray to, size_t toOffset, CUarray from, size_t fromOffset,
                              size_t bytes);
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t fromOffset, size_t bytes);
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr to, CUarray from, size_t fromOffset, size_t bytes);
CUresult cuMemcpyDtoA_v2(CUarray to, size_t toOffset, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoA_v2_ptds(CUarray to, size_t toOffset, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t fromOffset, size_t bytes);
CUresult cuMemcpyAtoH_v2_ptds(void *to, CUarray from, size_t fromOffset, size_t bytes);
CUresult cuMemcpyHtoA_v2(CUarray to, size_t toOffset, const void *from, size_t bytes);
CUresult cuMemcpyHtoA_v2_ptds(CUarray to, size_t toOffset, const void *from, size_t bytes);
CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t fromOffset, size_t bytes,
                              CUstream stream);
CUresult cuMemcpyAtoHAsync_v2_ptsz(void *to, CUarray from, size_t fromOffset, size_t bytes,
                                   CUstream stream);
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t toOffset, const void *from, size_t bytes,
                              CUstream stream);
CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray to, size_t toOffset, const void *from, size_t bytes,
                                   CUstream stream);

/* Texture and surface objects. */

CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *sampling, const CUDA_RESOURCE_VIEW_DESC *view);
CUresult cuTexObjectDestroy(CUtexObject texture);
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject texture);
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *sampling, CUtexObject texture);
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject texture);
CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource);
CUresult cuSurfObjectDestroy(CUsurfObject surface);
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject surface);
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format,
                                            unsigned int channels, CUdevice device);

/* Texture and surface references. */

CUresult cuModuleGetTexRef(CUtexref *texture, CUmodule module, const char *name);
CUresult cuModuleGetSurfRef(CUsurfref *surface, CUmodule module, const char *name);
CUresult cuTexRefCreate(CUtexref *texture);
CUresult cuTexRefDestroy(CUtexref texture);
CUresult cuTexRefSetArray(CUtexref texture, CUarray array, unsigned int flags);
CUresult cuTexRefSetMipmappedArray(CUtexref texture, CUmipmappedArray array, unsigned int flags);
CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref texture, CUdeviceptr address, size_t bytes);
CUresult cuTexRefSetAddress2D_v2(CUtexref texture, const CUDA_ARRAY_DESCRIPTOR *description,
                                 CUdeviceptr address, size_t pitch);
CUresult cuTexRefSetAddress2D_v3(CUtexref texture, const CUDA_ARRAY_DESCRIPTOR *description,
                                 CUdeviceptr address, size_t pitch);
CUresult cuTexRefSetFormat(CUtexref texture, CUarray_format format, int channels);
CUresult cuTexRefSetAddressMode(CUtexref texture, int dimension, CUaddress_mode mode);
CUresult cuTexRefSetFilterMode(CUtexref texture, CUfilter_mode mode);
CUresult cuTexRefSetMipmapFilterMode(CUtexref texture, CUfilter_mode mode);
CUresult cuTexRefSetMipmapLevelBias(CUtexref texture, float bias);
CUresult cuTexRefSetMipmapLevelClamp(CUtexref texture, float least, float most);
CUresult cuTexRefSetMaxAnisotropy(CUtexref texture, unsigned int most);
CUresult cuTexRefSetBorderColor(CUtexref texture, float *color);
CUresult cuTexRefSetFlags(CUtexref texture, unsigned int flags);
CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref texture);
CUresult cuTexRefGetArray(CUarray *array, CUtexref texture);
CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *array, CUtexref texture);
CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref texture, int dimension);
CUresult cuTexRefGetFilterMode(CUfilter_mode *mode, CUtexref texture);
CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref texture);
CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *mode, CUtexref texture);
CUresult cuTexRefGetMipmapLevelBias(float *bias, CUtexref texture);
CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref texture);
CUresult cuTexRefGetMaxAnisotropy(int *most, CUtexref texture);
CUresult cuTexRefGetBorderColor(float *color, CUtexref texture);
CUresult cuTexRefGetFlags(unsigned int *flags, CUtexref texture);
CUresult cuSurfRefSetArray(CUsurfref surface, CUarray array, unsigned int flags);
CUresult cuSurfRefGetArray(CUarray *array, CUsurfref surface);

/* Virtual memory management. */

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags option);
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *properties, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *descriptions,
                        size_t count);
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr address);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                CUmemGenericAllocationHandle handle);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address);
CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                        CUmemAllocationHandleType type);

/* Between processes. */

CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool pool,
                                          CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags);
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address);
CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool,
                                CUmemPoolPtrExportData *data);

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags);
CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags);
CUresult cuIpcCloseMemHandle(CUdeviceptr address);
CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent eventHandle);
CUresult cuIpcOpenEventHandle(CUevent *eventHandle, CUipcEventHandle handle);

/* Streams. */

CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
CUresult cuStreamDestroy_v2(CUstream handle);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamQuery(CUstream handle);
CUresult cuStreamQuery_ptsz(CUstream handle);
CUresult cuStreamSynchronize(CUstream handle);
CUresult cuStreamSynchronize_ptsz(CUstream handle);
CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned int flags);
CUresult cuStreamWaitEvent_ptsz(CUstream handle, CUevent eventHandle, unsigned int flags);
CUresult cuCtxWaitEvent(CUcontext handle, CUevent eventHandle);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data);
CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *data);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void *data,
                             unsigned int flags);
CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback function, void *data,
                                  unsigned int flags);
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                 unsigned int flags);
CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                      unsigned int flags);
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                 unsigned int flags);
CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                      unsigned int flags);
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                unsigned int flags);
CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, uint32_t value,
                                     unsigned int flags);
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                unsigned int flags);
CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, uint64_t value,
                                     unsigned int flags);
CUresult cuStreamGetPriority(CUstream handle, int *priority);
CUresult cuStreamGetPriority_ptsz(CUstream handle, int *priority);
CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags);
CUresult cuStreamGetFlags_ptsz(CUstream handle, unsigned int *flags);
CUresult cuStreamGetId(CUstream handle, unsigned long long *id);
CUresult cuStreamGetId_ptsz(CUstream handle, unsigned long long *id);
CUresult cuStreamGetCtx(CUstream handle, CUcontext *contextHandle);
CUresult cuStreamGetCtx_ptsz(CUstream handle, CUcontext *contextHandle);
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *context, void **greenContext);
CUresult cuStreamGetCtx_v2_ptsz(CUstream handle, CUcontext *context, void **greenContext);
CUresult cuStreamGetDevice(CUstream handle, CUdevice *device);
CUresult cuStreamGetDevice_ptsz(CUstream handle, CUdevice *device);
CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                              const CUstreamAttrValue *value);
CUresult cuStreamSetAttribute_ptsz(CUstream handle, CUstreamAttrID attribute,
                                   const CUstreamAttrValue *value);
CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *value);
CUresult cuStreamGetAttribute_ptsz(CUstream handle, CUstreamAttrID attribute,
                                   CUstreamAttrValue *value);
CUresult cuStreamCopyAttributes(CUstream to, CUstream from);
CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from);
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams *operations, unsigned int flags);
CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count,
                                    CUstreamBatchMemOpParams *operations, unsigned int flags);

/* Events. */

CUresult cuEventCreate(CUevent *handle, unsigned int flags);
CUresult cuEventDestroy_v2(CUevent handle);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventRecord(CUevent handle, CUstream streamHandle);
CUresult cuEventRecord_ptsz(CUevent handle, CUstream streamHandle);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags);
CUresult cuEventQuery(CUevent handle);
CUresult cuEventSynchronize(CUevent handle);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end);
CUresult cuCtxRecordEvent(CUcontext handle, CUevent eventHandle);

/* Tensor-maps. */

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                void *address, const uint64_t *globalDim,
                                const uint64_t *globalStrides, const uint32_t *boxDim,
                                const uint32_t *elementStrides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill);
CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                 void *address, const uint64_t *globalDim,
                                 const uint64_t *globalStrides, const int *pixelBoxLowerCorner,
                                 const int *pixelBoxUpperCorner, uint32_t channelsPerPixel,
                                 uint32_t pixelsPerColumn, const uint32_t *elementStrides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                     void *address, const uint64_t *globalDim,
                                     const uint64_t *globalStrides, int pixelBoxLowerCornerWidth,
                                     int pixelBoxUpperCornerWidth, uint32_t channelsPerPixel,
                                     uint32_t pixelsPerColumn, const uint32_t *elementStrides,
                                     CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill);
CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address);

#ifdef __cplusplus
}
#endif

/* Inside the library every name stands for itself. */
#ifndef PTXRUN_LIBCUDA_PLAIN_NAMES
#define cuCtxCreate cuCtxCreate_v4
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuDeviceGetUuid cuDeviceGetUuid_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuEventElapsedTime cuEventElapsedTime_v2
#define cuGetProcAddress cuGetProcAddress_v2
#define cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
#define cuLinkAddData cuLinkAddData_v2
#define cuLinkAddFile cuLinkAddFile_v2
#define cuLinkCreate cuLinkCreate_v2
#define cuMemAdvise cuMemAdvise_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemFree cuMemFree_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemPrefetchAsync cuMemPrefetchAsync_v2
#define cuMemcpy2D cuMemcpy2D_v2
#define cuMemcpy2DAsync cuMemcpy2DAsync_v2
#define cuMemcpy2DUnaligned cuMemcpy2DUnaligned_v2
#define cuArrayCreate cuArrayCreate_v2
#define cuArrayGetDescriptor cuArrayGetDescriptor_v2
#define cuArray3DCreate cuArray3DCreate_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuMemcpyAtoA cuMemcpyAtoA_v2
#define cuMemcpyAtoD cuMemcpyAtoD_v2
#define cuMemcpyDtoA cuMemcpyDtoA_v2
#define cuMemcpyAtoH cuMemcpyAtoH_v2
#define cuMemcpyHtoA cuMemcpyHtoA_v2
#define cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2
#define cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2
#define cuTexRefSetAddress cuTexRefSetAddress_v2
#define cuTexRefGetAddress cuTexRefGetAddress_v2
#define cuTexRefSetAddress2D cuTexRefSetAddress2D_v3
#define cuMemcpy3D cuMemcpy3D_v2
#define cuMemcpy3DAsync cuMemcpy3DAsync_v2
#define cuMemcpyDtoD cuMemcpyDtoD_v2
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemsetD16 cuMemsetD16_v2
#define cuMemsetD2D16 cuMemsetD2D16_v2
#define cuMemsetD2D32 cuMemsetD2D32_v2
#define cuMemsetD2D8 cuMemsetD2D8_v2
#define cuMemsetD32 cuMemsetD32_v2
#define cuMemsetD8 cuMemsetD8_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v3
#define cuStreamBatchMemOp cuStreamBatchMemOp_v2
#define cuStreamWaitValue32 cuStreamWaitValue32_v2
#define cuStreamWaitValue64 cuStreamWaitValue64_v2
#define cuStreamWriteValue32 cuStreamWriteValue32_v2
#define cuStreamWriteValue64 cuStreamWriteValue64_v2
#endif
#endif
