// Functions of the runtime API that programs call seldom, each with arguments that make sense, and what it answers.
#include "check.h"
#include <cstring>
#include <cuda_profiler_api.h>
#include <unistd.h>

__global__ void bump(int *p, int by) { p[threadIdx.x] += by; }
__global__ void __launch_bounds__(128, 2) bounded(int *p) { p[threadIdx.x] = 1; }
__device__ __managed__ int managed[32];

int main() {
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
  CHECK(cudaSetDevice(0));
  CHECK(cudaInitDevice(0, 0, 0));
  CHECK(cudaProfilerStart());
  int *d, host[32] = {};
  CHECK(cudaMalloc(&d, 128));
  CHECK(cudaMemset(d, 0, 128));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaFuncSetCacheConfig(bump, cudaFuncCachePreferShared));
  CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  int blocks = 0, grid = 0, block = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, bounded, 128, 1024, cudaOccupancyDisableCachingOverride));
  EXPECT(blocks > 0);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0));
  EXPECT(blocks == 0); // more threads than its bounds allow
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
  EXPECT(block == 128 && grid > 0);
  CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, bump, [](int threads) { return threads * 64; }));
  EXPECT(block >= 32 && block <= 1024);
  size_t dynamic = 0;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, bump, 1, 128));
  EXPECT(dynamic >= 49152);
  cudaFuncAttributes a;
  CHECK(cudaFuncGetAttributes(&a, bounded));
  EXPECT(a.maxThreadsPerBlock == 128);
  bounded<<<1, 256>>>(d);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue || cudaPeekAtLastError() == cudaSuccess);
  int three = 3;
  void *arguments[] = {&d, &three};
  cudaLaunchConfig_t c = {};
  c.gridDim = 1, c.blockDim = 32, c.stream = s;
  CHECK(cudaLaunchKernelExC(&c, (const void *)bump, arguments));
  CHECK(cudaLaunchKernel((const void *)bump, dim3(1), dim3(32), arguments, 0, s));
  int *e;
  CHECK(cudaMalloc(&e, 128));
  CHECK(cudaMemcpyPeerAsync(e, 0, d, 0, 128, s));
  CHECK(cudaMemcpyPeer(e, 0, d, 0, 128));
  CHECK(cudaMemcpyAsync(host, e, 128, cudaMemcpyDefault, s));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(host[31] == 6);
  CHECK(cudaStreamAttachMemAsync(s, managed));
  CHECK(cudaStreamAttachMemAsync(s, &managed, 0, cudaMemAttachGlobal));
  bump<<<1, 32, 0, s>>>(managed, 5);
  CHECK(cudaStreamSynchronize(s));
  EXPECT(managed[9] == 5);
  int value = -1;
  EXPECT(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice && cudaDeviceDisablePeerAccess(0) != cudaSuccess);
  cudaGetLastError();

  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned, p.location.type = cudaMemLocationTypeDevice, p.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  cudaMemPool_t pool, other, before;
  CHECK(cudaMemPoolCreate(&pool, &p));
  cudaMemAccessDesc access = {};
  access.location = p.location, access.flags = cudaMemAccessFlagsProtReadWrite;
  CHECK(cudaMemPoolSetAccess(pool, &access, 1));
  cudaMemAccessFlags flags;
  CHECK(cudaMemPoolGetAccess(&flags, pool, &p.location));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  int fd = -1, *shared, *seen;
  CHECK(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  CHECK(cudaMemPoolImportFromShareableHandle(&other, (void *)(size_t)fd, cudaMemHandleTypePosixFileDescriptor, 0));
  CHECK(cudaMallocFromPoolAsync(&shared, 4096, pool, s));
  CHECK(cudaMemsetAsync(shared, 1, 4096, s));
  CHECK(cudaStreamSynchronize(s));
  cudaMemPoolPtrExportData data;
  CHECK(cudaMemPoolExportPointer(&data, shared));
  CHECK(cudaMemPoolImportPointer((void **)&seen, other, &data));
  CHECK(cudaMemcpy(host, seen, 4, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 0x01010101);
  CHECK(cudaFreeAsync(seen, s));
  CHECK(cudaFreeAsync(shared, s));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaDeviceGetMemPool(&before, 0));
  CHECK(cudaDeviceSetMemPool(0, pool));
  CHECK(cudaMallocAsync(&shared, 100, s));
  CHECK(cudaFreeAsync(shared, s));
  CHECK(cudaDeviceSetMemPool(0, before));
  CHECK(cudaMemPoolDestroy(other));
  CHECK(cudaMemPoolDestroy(pool));
  close(fd);

  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams make = {};
  make.poolProps.allocType = cudaMemAllocationTypePinned, make.poolProps.location.type = cudaMemLocationTypeDevice, make.bytesize = 1000;
  cudaGraphNode_t alloc, set, free, copy;
  CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &make));
  cudaMemsetParams fill = {};
  fill.dst = make.dptr, fill.value = 7, fill.elementSize = 1, fill.width = 128, fill.height = 1;
  CHECK(cudaGraphAddMemsetNode(&set, graph, &alloc, 1, &fill));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, d, make.dptr, 128, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphAddMemFreeNode(&free, graph, &copy, 1, make.dptr));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i)
    CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaMemcpy(host, d, 128, cudaMemcpyDeviceToHost));
  EXPECT(host[31] == 0x07070707);
  unsigned long long high = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
  EXPECT(high >= 1000);
  CHECK(cudaDeviceGraphMemTrim(0));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));

  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  bump<<<1, 32, 0, s>>>(d, 1);
  cudaStreamCaptureStatus status;
  cudaGraph_t capturing;
  const cudaGraphNode_t *last;
  size_t count;
  unsigned long long id;
#if CUDART_VERSION >= 13000
  const cudaGraphEdgeData *edges;
  CHECK(cudaStreamGetCaptureInfo(s, &status, &id, &capturing, &last, &edges, &count));
#else
  CHECK(cudaStreamGetCaptureInfo_v2(s, &status, &id, &capturing, &last, &count));
#endif
  EXPECT(status == cudaStreamCaptureStatusActive && count == 1);
  cudaGraphNode_t empty, nodes[2];
  CHECK(cudaGraphAddEmptyNode(&empty, capturing, last, 1));
#if CUDART_VERSION >= 13000
  CHECK(cudaStreamUpdateCaptureDependencies(s, &empty, nullptr, 1, cudaStreamSetCaptureDependencies));
#else
  CHECK(cudaStreamUpdateCaptureDependencies(s, &empty, 1, cudaStreamSetCaptureDependencies));
#endif
  bump<<<1, 32, 0, s>>>(d, 1);
  CHECK(cudaStreamEndCapture(s, &graph));
  count = 2;
  CHECK(cudaGraphGetRootNodes(graph, nodes, &count));
  EXPECT(count == 1);
  CHECK(cudaProfilerStop());
  const char *text = cudaGetErrorString(cudaErrorInvalidDevicePointer);
  EXPECT(text && strlen(text) > 5 && !strcmp(cudaGetErrorString((cudaError_t)98765), "unrecognized error code"));
  return done();
}
