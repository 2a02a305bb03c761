// The runtime API for hosts without NVIDIA's toolkit, as far as the programs of this folder use it,
// on our own declarations of its types. clang compiles the host's part of a program with it
// (host_part.py); the names are CUDA's.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __grid_constant__
#define __cluster_dims__(...)
#define __align__(n) alignas(n)
#define CUDART_CB
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#include <cstdlib>

#include <algorithm>
#include <cmath>
#include <cstring>

#define dim3 dim3_of_the_interface
#define CUtensorMap CUtensorMap_st // part of mangled names
#include "loader/libcudart/cudart_graph_abi.h"
#undef dim3

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
#define VECTOR(type, name, bytes)                                                                  \
  struct alignas(sizeof(type) * 2) name##2 {                                                       \
    type x, y;                                                                                     \
  };                                                                                               \
  struct name##3 {                                                                                 \
    type x, y, z;                                                                                  \
  };                                                                                               \
  struct alignas(bytes) name##4 {                                                                  \
    type x, y, z, w;                                                                               \
  };                                                                                               \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                 \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                      \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTOR(char, char, 4)
VECTOR(unsigned char, uchar, 4)
VECTOR(short, short, 8)
VECTOR(int, int, 16)
VECTOR(float, float, 16)
VECTOR(double, double, 16)
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
using std::max;
using std::min;

// Types that are the driver API's under other names.
using cuuint64_t = uint64_t;
using cuuint32_t = unsigned;
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
using cudaGraphConditionalHandle = unsigned long long; // part of mangled names
using cudaLaunchAttribute_ = CUlaunchAttribute;
using cudaIpcMemHandle_t = CUipcMemHandle;
using cudaIpcEventHandle_t = CUipcEventHandle;
using cudaMemLocation = CUmemLocation;
using cudaMemAccessDesc = CUmemAccessDesc;
using cudaMemAccessFlags = CUmemAccess_flags;
using cudaMemPoolProps = CUmemPoolProps;
using cudaMemPoolPtrExportData = CUmemPoolPtrExportData;
using cudaGraphEdgeData = CUgraphEdgeData;
using cudaGraphNodeType = CUgraphNodeType;
using cudaGraphExecUpdateResultInfo = CUgraphExecUpdateResultInfo;
using cudaStreamCaptureStatus = CUstreamCaptureStatus;
using cudaStreamCaptureMode = CUstreamCaptureMode;
using cudaDeviceAttr = CUdevice_attribute;
using cudaLimit = CUlimit;
using cudaFuncCache = CUfunc_cache;
using cudaDriverEntryPointQueryResult = CUdriverProcAddressQueryResult;
using cudaHostNodeParams = CUDA_HOST_NODE_PARAMS;
struct cudaMemAllocNodeParams {
  cudaMemPoolProps poolProps;
  const cudaMemAccessDesc *accessDescs;
  size_t accessDescCount, bytesize;
  void *dptr;
};
struct cudaMemsetParams {
  void *dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaAccessPolicyWindow {
  void *base_ptr;
  size_t num_bytes;
  float hitRatio;
  int hitProp, missProp;
};
union cudaLaunchAttributeValue {
  char pad[64];
  cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative, programmaticStreamSerializationAllowed, priority;
  int clusterSchedulingPolicyPreference;
  struct {
    unsigned x, y, z;
  } clusterDim;
};
using cudaStreamAttrValue = cudaLaunchAttributeValue;
struct cudaLaunchAttribute {
  CUlaunchAttributeID id;
  char pad[8 - sizeof(CUlaunchAttributeID)];
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute *attrs = nullptr;
  unsigned numAttrs = 0;
};
struct cudaKernelNode {
  void *func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
#define cudaLaunchConfig_t cudaLaunchConfig
#define cudaKernelNodeParams cudaKernelNode

#define SAME(cuda, cu) constexpr auto cuda = cu;
#define VALUES(...) enum : int { __VA_ARGS__ };
#define cudaStreamPerThread reinterpret_cast<cudaStream_t>(2)
SAME(cudaMemLocationTypeDevice, CU_MEM_LOCATION_TYPE_DEVICE)
SAME(cudaMemLocationTypeHost, CU_MEM_LOCATION_TYPE_HOST)
SAME(cudaMemAllocationTypePinned, CU_MEM_ALLOCATION_TYPE_PINNED)
SAME(cudaMemHandleTypePosixFileDescriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
SAME(cudaMemAccessFlagsProtReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
SAME(cudaStreamCaptureStatusActive, CU_STREAM_CAPTURE_STATUS_ACTIVE)
SAME(cudaStreamCaptureModeGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL)
SAME(cudaStreamCaptureModeThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
SAME(cudaStreamCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED)
SAME(cudaLaunchAttributeAccessPolicyWindow, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
SAME(cudaLaunchAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
SAME(cudaLaunchAttributeClusterSchedulingPolicyPreference,
     CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
SAME(cudaLaunchAttributeProgrammaticStreamSerialization,
     CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
SAME(cudaLaunchAttributePriority, CU_LAUNCH_ATTRIBUTE_PRIORITY)
SAME(cudaStreamAttributeAccessPolicyWindow, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
SAME(cudaGraphNodeTypeGraph, CU_GRAPH_NODE_TYPE_GRAPH)
SAME(cudaGraphNodeTypeConditional, CU_GRAPH_NODE_TYPE_CONDITIONAL)
SAME(cudaGraphExecUpdateSuccess, CU_GRAPH_EXEC_UPDATE_SUCCESS)
SAME(cudaGraphDependencyTypeProgrammatic, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
SAME(cudaGraphCondTypeWhile, CU_GRAPH_COND_TYPE_WHILE)
SAME(cudaLimitStackSize, CU_LIMIT_STACK_SIZE)
SAME(cudaLimitPrintfFifoSize, CU_LIMIT_PRINTF_FIFO_SIZE)
SAME(cudaLimitMallocHeapSize, CU_LIMIT_MALLOC_HEAP_SIZE)
SAME(cudaDriverEntryPointSuccess, CU_GET_PROC_ADDRESS_SUCCESS)
SAME(cudaFuncCachePreferShared, CU_FUNC_CACHE_PREFER_SHARED)
SAME(cudaFuncCachePreferL1, CU_FUNC_CACHE_PREFER_L1)
constexpr auto cudaDevAttrClockRate = cudaDeviceAttr(13),
               cudaDevAttrMultiProcessorCount = cudaDeviceAttr(16),
               cudaDevAttrKernelExecTimeout = cudaDeviceAttr(17),
               cudaDevAttrComputeMode = cudaDeviceAttr(20),
               cudaDevAttrMemoryClockRate = cudaDeviceAttr(36),
               cudaDevAttrCooperativeLaunch = cudaDeviceAttr(95);
VALUES(cudaDevAttrMax = 149, cudaLimitPersistingL2CacheSize = 6, cudaStreamDefault = 0,
       cudaStreamNonBlocking = 1)
VALUES(cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
       cudaEventInterprocess = 4)
VALUES(cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
       cudaHostAllocWriteCombined = 4)
VALUES(cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2,
       cudaMemAttachGlobal = 1)
VALUES(cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4,
       cudaArrayTextureGather = 8)
VALUES(cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder)
VALUES(cudaFilterModePoint, cudaFilterModeLinear)
VALUES(cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting)
VALUES(cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
       cudaFuncAttributePreferredSharedMemoryCarveout = 9)
VALUES(cudaFuncAttributeNonPortableClusterSizeAllowed = 14, cudaSharedmemCarveoutMaxShared = 100)
VALUES(cudaClusterSchedulingPolicySpread = 1, cudaGraphCondAssignDefault = 1,
       cudaGraphInstantiateFlagAutoFreeOnLaunch = 1, cudaGraphInstantiateFlagDeviceLaunch = 4)
VALUES(cudaStreamSetCaptureDependencies = 1, cudaDevP2PAttrAccessSupported = 2,
       cudaIpcMemLazyEnablePeerAccess = 1)
VALUES(cudaDeviceScheduleBlockingSync = 4, cudaDeviceMapHost = 8, cudaOccupancyDefault = 0,
       cudaOccupancyDisableCachingOverride = 1)
VALUES(cudaEnableDefault = 0, cudaGraphMemAttrUsedMemHigh = 1, cudaMemPoolAttrReleaseThreshold = 4,
       cudaMemPoolAttrUsedMemCurrent = 7)
#undef SAME
#undef VALUES

extern "C" {
#define FUNCTION(name, ...) cudaError_t name(__VA_ARGS__);
FUNCTION(cudaGetDeviceCount, int *)
FUNCTION(cudaSetDevice, int)
FUNCTION(cudaGetDevice, int *)
FUNCTION(cudaSetDeviceFlags, unsigned)
FUNCTION(cudaGetDeviceFlags, unsigned *)
FUNCTION(cudaInitDevice, int, unsigned, unsigned)
FUNCTION(cudaGetDeviceProperties, cudaDeviceProp *, int)
FUNCTION(cudaChooseDevice, int *, const cudaDeviceProp *)
FUNCTION(cudaDeviceGetAttribute, int *, cudaDeviceAttr, int)
FUNCTION(cudaDeviceGetPCIBusId, char *, int, int)
FUNCTION(cudaDeviceGetByPCIBusId, int *, const char *)
FUNCTION(cudaDeviceGetStreamPriorityRange, int *, int *)
FUNCTION(cudaDeviceGetCacheConfig, cudaFuncCache *)
FUNCTION(cudaDeviceSetCacheConfig, cudaFuncCache)
FUNCTION(cudaDeviceGetLimit, size_t *, cudaLimit)
FUNCTION(cudaDeviceSetLimit, cudaLimit, size_t)
FUNCTION(cudaDeviceCanAccessPeer, int *, int, int)
FUNCTION(cudaDeviceSynchronize)
FUNCTION(cudaDeviceReset)
FUNCTION(cudaDriverGetVersion, int *)
FUNCTION(cudaRuntimeGetVersion, int *)
FUNCTION(cudaGetLastError)
FUNCTION(cudaPeekAtLastError)
const char *cudaGetErrorName(cudaError_t);
const char *cudaGetErrorString(cudaError_t);
FUNCTION(cudaMemGetInfo, size_t *, size_t *)
FUNCTION(cudaMalloc, void **, size_t)
FUNCTION(cudaMallocManaged, void **, size_t, unsigned)
FUNCTION(cudaMallocHost, void **, size_t)
FUNCTION(cudaHostAlloc, void **, size_t, unsigned)
FUNCTION(cudaHostRegister, void *, size_t, unsigned)
FUNCTION(cudaHostUnregister, void *)
FUNCTION(cudaMallocPitch, void **, size_t *, size_t, size_t)
FUNCTION(cudaMalloc3D, cudaPitchedPtr *, cudaExtent)
FUNCTION(cudaFree, void *)
FUNCTION(cudaFreeHost, void *)
FUNCTION(cudaMallocAsync, void **, size_t, cudaStream_t)
FUNCTION(cudaFreeAsync, void *, cudaStream_t)
FUNCTION(cudaMemcpy, void *, const void *, size_t, cudaMemcpyKind)
FUNCTION(cudaMemcpyAsync, void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = nullptr)
FUNCTION(cudaMemcpy2D, void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind)
FUNCTION(cudaMemcpy3D, const cudaMemcpy3DParms *)
FUNCTION(cudaMemset, void *, int, size_t)
FUNCTION(cudaMemsetAsync, void *, int, size_t, cudaStream_t = nullptr)
FUNCTION(cudaMemcpyToSymbol, const void *, const void *, size_t, size_t = 0,
         cudaMemcpyKind = cudaMemcpyHostToDevice)
FUNCTION(cudaMemcpyFromSymbol, void *, const void *, size_t, size_t = 0,
         cudaMemcpyKind = cudaMemcpyDeviceToHost)
FUNCTION(cudaIpcGetMemHandle, cudaIpcMemHandle_t *, void *)
FUNCTION(cudaIpcGetEventHandle, cudaIpcEventHandle_t *, cudaEvent_t)
FUNCTION(cudaIpcOpenMemHandle, void **, cudaIpcMemHandle_t, unsigned)
FUNCTION(cudaIpcOpenEventHandle, cudaEvent_t *, cudaIpcEventHandle_t)
FUNCTION(cudaIpcCloseMemHandle, void *)
FUNCTION(cudaStreamCreate, cudaStream_t *)
FUNCTION(cudaStreamCreateWithFlags, cudaStream_t *, unsigned)
FUNCTION(cudaStreamCreateWithPriority, cudaStream_t *, unsigned, int)
FUNCTION(cudaStreamDestroy, cudaStream_t)
FUNCTION(cudaStreamSynchronize, cudaStream_t)
FUNCTION(cudaStreamQuery, cudaStream_t)
FUNCTION(cudaStreamWaitEvent, cudaStream_t, cudaEvent_t, unsigned = 0)
FUNCTION(cudaStreamGetPriority, cudaStream_t, int *)
FUNCTION(cudaStreamGetFlags, cudaStream_t, unsigned *)
FUNCTION(cudaStreamGetId, cudaStream_t, unsigned long long *)
FUNCTION(cudaStreamAddCallback, cudaStream_t, cudaStreamCallback_t, void *, unsigned)
FUNCTION(cudaLaunchHostFunc, cudaStream_t, cudaHostFn_t, void *)
FUNCTION(cudaStreamSetAttribute, cudaStream_t, CUlaunchAttributeID, const cudaStreamAttrValue *)
FUNCTION(cudaCtxResetPersistingL2Cache)
FUNCTION(cudaEventCreate, cudaEvent_t *)
FUNCTION(cudaEventCreateWithFlags, cudaEvent_t *, unsigned)
FUNCTION(cudaEventRecord, cudaEvent_t, cudaStream_t = nullptr)
FUNCTION(cudaEventSynchronize, cudaEvent_t)
FUNCTION(cudaEventQuery, cudaEvent_t)
FUNCTION(cudaEventElapsedTime, float *, cudaEvent_t, cudaEvent_t)
FUNCTION(cudaEventDestroy, cudaEvent_t)
FUNCTION(cudaFuncGetAttributes, cudaFuncAttributes *, const void *)
FUNCTION(cudaFuncSetAttribute, const void *, int, int)
FUNCTION(cudaLaunchKernel, const void *, dim3, dim3, void **, size_t, cudaStream_t)
FUNCTION(cudaLaunchCooperativeKernel, const void *, dim3, dim3, void **, size_t, cudaStream_t)
FUNCTION(cudaLaunchKernelExC, const cudaLaunchConfig *, const void *, void **)
FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *, const void *, int, size_t)
FUNCTION(cudaOccupancyMaxPotentialClusterSize, int *, const void *, const cudaLaunchConfig *)
FUNCTION(cudaOccupancyMaxActiveClusters, int *, const void *, const cudaLaunchConfig *)
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, int);
FUNCTION(cudaMallocArray, cudaArray_t *, const cudaChannelFormatDesc *, size_t, size_t, unsigned)
FUNCTION(cudaMalloc3DArray, cudaArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned = 0)
FUNCTION(cudaMallocMipmappedArray, cudaMipmappedArray_t *, const cudaChannelFormatDesc *,
         cudaExtent, unsigned, unsigned = 0)
FUNCTION(cudaGetMipmappedArrayLevel, cudaArray_t *, cudaMipmappedArray_t, unsigned)
FUNCTION(cudaArrayGetInfo, cudaChannelFormatDesc *, cudaExtent *, unsigned *, cudaArray_t)
FUNCTION(cudaFreeArray, cudaArray_t)
FUNCTION(cudaCreateTextureObject, cudaTextureObject_t *, const cudaResourceDesc *,
         const cudaTextureDesc *, const void *)
FUNCTION(cudaDestroyTextureObject, cudaTextureObject_t)
FUNCTION(cudaCreateSurfaceObject, cudaSurfaceObject_t *, const cudaResourceDesc *)
FUNCTION(cudaDestroySurfaceObject, cudaSurfaceObject_t)
FUNCTION(cudaGetDriverEntryPointByVersion, const char *, void **, unsigned, unsigned long long,
         cudaDriverEntryPointQueryResult *)
FUNCTION(cudaStreamBeginCapture, cudaStream_t, cudaStreamCaptureMode)
FUNCTION(cudaStreamBeginCaptureToGraph, cudaStream_t, cudaGraph_t, const cudaGraphNode_t *,
         const cudaGraphEdgeData *, size_t, cudaStreamCaptureMode)
FUNCTION(cudaStreamEndCapture, cudaStream_t, cudaGraph_t *)
FUNCTION(cudaStreamIsCapturing, cudaStream_t, cudaStreamCaptureStatus *)
FUNCTION(cudaGraphCreate, cudaGraph_t *, unsigned)
FUNCTION(cudaGraphDestroy, cudaGraph_t)
FUNCTION(cudaGraphClone, cudaGraph_t *, cudaGraph_t)
FUNCTION(cudaGraphGetNodes, cudaGraph_t, cudaGraphNode_t *, size_t *)
FUNCTION(cudaGraphGetEdges, cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t *, cudaGraphEdgeData *,
         size_t *)
FUNCTION(cudaGraphNodeGetType, cudaGraphNode_t, cudaGraphNodeType *)
FUNCTION(cudaGraphNodeFindInClone, cudaGraphNode_t *, cudaGraphNode_t, cudaGraph_t)
FUNCTION(cudaGraphAddKernelNode, cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
         const cudaKernelNode *)
FUNCTION(cudaGraphKernelNodeSetParams, cudaGraphNode_t, const cudaKernelNode *)
FUNCTION(cudaGraphExecKernelNodeSetParams, cudaGraphExec_t, cudaGraphNode_t, const cudaKernelNode *)
FUNCTION(cudaGraphAddMemsetNode, cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
         const cudaMemsetParams *)
FUNCTION(cudaGraphAddMemcpyNode1D, cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
         void *, const void *, size_t, cudaMemcpyKind)
FUNCTION(cudaGraphAddHostNode, cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
         const cudaHostNodeParams *)
FUNCTION(cudaGraphAddChildGraphNode, cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *,
         size_t, cudaGraph_t)
FUNCTION(cudaGraphAddNode, cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *,
         const cudaGraphEdgeData *, size_t, cudaGraphNodeParams *)
FUNCTION(cudaGraphConditionalHandleCreate, cudaGraphConditionalHandle *, cudaGraph_t, unsigned,
         unsigned)
FUNCTION(cudaGraphInstantiate, cudaGraphExec_t *, cudaGraph_t, unsigned long long)
FUNCTION(cudaGraphInstantiateWithFlags, cudaGraphExec_t *, cudaGraph_t, unsigned long long)
FUNCTION(cudaGraphExecUpdate, cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *)
FUNCTION(cudaGraphExecDestroy, cudaGraphExec_t)
FUNCTION(cudaGraphExecGetFlags, cudaGraphExec_t, unsigned long long *)
FUNCTION(cudaGraphUpload, cudaGraphExec_t, cudaStream_t)
FUNCTION(cudaGraphLaunch, cudaGraphExec_t, cudaStream_t)
FUNCTION(cudaGraphDebugDotPrint, cudaGraph_t, const char *, unsigned)
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = nullptr);
#undef FUNCTION
}

// What C++ adds.
template <class T> cudaError_t cudaMalloc(T **p, size_t n) {
  return cudaMalloc(reinterpret_cast<void **>(p), n);
}
template <class T> cudaError_t cudaMallocManaged(T **p, size_t n, unsigned flags = 1) {
  return cudaMallocManaged(reinterpret_cast<void **>(p), n, flags);
}
template <class T> cudaError_t cudaMallocHost(T **p, size_t n) {
  return cudaMallocHost(reinterpret_cast<void **>(p), n);
}
template <class T> cudaError_t cudaHostAlloc(T **p, size_t n, unsigned f) {
  return cudaHostAlloc((void **)p, n, f);
}
template <class T> cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t w, size_t h) {
  return cudaMallocPitch((void **)p, pitch, w, h);
}
template <class T> cudaError_t cudaMallocAsync(T **p, size_t n, cudaStream_t s) {
  return cudaMallocAsync((void **)p, n, s);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t n, size_t at = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol((const void *)&symbol, from, n, at, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t n, size_t at = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(to, (const void *)&symbol, n, at, kind);
}
template <class F> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, F *f) {
  return cudaFuncGetAttributes(a, (const void *)f);
}
template <class F> cudaError_t cudaFuncSetAttribute(F *f, int a, int v) {
  return cudaFuncSetAttribute((const void *)f, a, v);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, F *f, int threads, size_t bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, (const void *)f, threads, bytes);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, F *f, const cudaLaunchConfig *c) {
  return cudaOccupancyMaxPotentialClusterSize(n, (const void *)f, c);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveClusters(int *n, F *f, const cudaLaunchConfig *c) {
  return cudaOccupancyMaxActiveClusters(n, (const void *)f, c);
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig *c, void (*f)(P...), A... given) {
  return [&](P... values) {
    void *pointers[] = {&values...};
    return cudaLaunchKernelExC(c, (const void *)f, pointers);
  }(given...);
}
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<float>() {
  return {32, 0, 0, 0, cudaChannelFormatKindFloat};
}
template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<int>() {
  return {32, 0, 0, 0, cudaChannelFormatKindSigned};
}
template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<uchar4>() {
  return {8, 8, 8, 8, cudaChannelFormatKindUnsigned};
}
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t w, size_t h) {
  return {p, pitch, w, h};
}
