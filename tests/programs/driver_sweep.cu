// Functions of the driver API that programs call seldom, each with arguments that make sense, and what it answers.
#include "check.h"
#include <cstring>
#include <cuda.h>
#include <cudaProfiler.h>

#define DRIVER(call)                                                                                                                       \
  do {                                                                                                                                     \
    CUresult r_ = (call);                                                                                                                  \
    if (r_ != CUDA_SUCCESS && ++failures)                                                                                                  \
      printf("line %d: %s: %d\n", __LINE__, #call, (int)r_);                                                                               \
  } while (0)
static const char *kText = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry put(.param .u64 p, .param .u32 v) .maxntid 64 {\n"
                           ".reg .b64 %d<4>; .reg .b32 %r<3>; ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x;\n"
                           "mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r1; ret; }\n";

int main() {
  DRIVER(cuInit(0));
  CUdevice device;
  DRIVER(cuDeviceGet(&device, 0));
  unsigned flags = 0;
  int active = -1;
  DRIVER(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_SPIN));
  CUcontext context, popped;
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 1 && (flags & CU_CTX_SCHED_SPIN));
  DRIVER(cuCtxPushCurrent(context));
  CUmoduleLoadingMode mode;
  DRIVER(cuModuleGetLoadingMode(&mode));
  EXPECT(mode == CU_MODULE_EAGER_LOADING || mode == CU_MODULE_LAZY_LOADING);
  DRIVER(cuProfilerStart());
  CUlibrary library;
  DRIVER(cuLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel;
  DRIVER(cuLibraryGetKernel(&kernel, library, "put"));
  int value = 0;
  DRIVER(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, device));
  EXPECT(value == 64);
  DRIVER(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel, device));
  DRIVER(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, device));
  EXPECT(value == 60000);
  DRIVER(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, device));
  CUfunction function;
  DRIVER(cuKernelGetFunction(&function, kernel));
  int blocks = 0;
  DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, 64, 0, 0));
  EXPECT(blocks > 0);
  CUdeviceptr a, b;
  size_t pitch;
  unsigned host[64], rows[6][8];
  DRIVER(cuMemAlloc(&a, 256));
  DRIVER(cuMemAllocPitch(&b, &pitch, 32, 6, 4));
  unsigned v = 9;
  void *arguments[] = {&a, &v};
  CUlaunchConfig c = {};
  c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimY = c.blockDimZ = 1, c.blockDimX = 64;
  DRIVER(cuLaunchKernelEx(&c, function, arguments, nullptr));
  DRIVER(cuLaunchCooperativeKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments));
  DRIVER(cuMemcpy((CUdeviceptr)host, a, 256));
  EXPECT(host[63] == 9);
  host[5] = 77;
  DRIVER(cuMemcpyAsync(a, (CUdeviceptr)host, 256, nullptr));
  CUDA_MEMCPY2D box = {};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE, box.srcDevice = a, box.srcPitch = 32, box.dstMemoryType = CU_MEMORYTYPE_DEVICE, box.dstDevice = b;
  box.dstPitch = pitch, box.WidthInBytes = 30, box.Height = 6;
  DRIVER(cuMemcpy2DUnaligned(&box));
  box = {};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE, box.srcDevice = b, box.srcPitch = pitch, box.dstMemoryType = CU_MEMORYTYPE_HOST, box.dstHost = rows;
  box.dstPitch = 32, box.WidthInBytes = 28, box.Height = 6;
  DRIVER(cuMemcpy2D(&box));
  EXPECT(rows[0][5] == 77 && rows[5][6] == 9);
  CUdeviceptr managed;
  CUstream s;
  DRIVER(cuMemAllocManaged(&managed, 256, CU_MEM_ATTACH_HOST));
  DRIVER(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, 0));
  DRIVER(cuStreamAttachMemAsync(s, managed, 0, CU_MEM_ATTACH_SINGLE));
  DRIVER(cuStreamSynchronize(s));
  DRIVER(cuMemsetD2D8(b, pitch, 3, 8, 2));
  DRIVER(cuMemsetD16Async(a, 0x1234, 10, s));
  DRIVER(cuMemsetD32Async(a + 64, 0xdeadbeef, 3, s));
  DRIVER(cuMemcpyDtoHAsync(host, a, 256, s));
  DRIVER(cuStreamSynchronize(s));
  EXPECT(host[4] == 0x12341234 && host[16] == 0xdeadbeef);
  DRIVER(cuStreamWriteValue32(s, a, 55, 0));
  DRIVER(cuStreamWaitValue32(s, a, 50, CU_STREAM_WAIT_VALUE_GEQ));
  DRIVER(cuStreamSynchronize(s));

  CUDA_ARRAY3D_DESCRIPTOR d = {}, back;
  d.Width = 16, d.Height = 4, d.Format = CU_AD_FORMAT_UNSIGNED_INT32, d.NumChannels = 1, d.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  CUarray array, level;
  DRIVER(cuArray3DCreate(&array, &d));
  DRIVER(cuArray3DGetDescriptor(&back, array));
  EXPECT(back.Width == 16 && back.Flags == d.Flags);
  CUmipmappedArray mips;
  DRIVER(cuMipmappedArrayCreate(&mips, &d, 3));
  DRIVER(cuMipmappedArrayGetLevel(&level, mips, 2));
  DRIVER(cuArray3DGetDescriptor(&back, level));
  EXPECT(back.Width == 4 && back.Height == 1);
  CUDA_RESOURCE_DESC r = {};
  r.resType = CU_RESOURCE_TYPE_ARRAY, r.res.array.hArray = array;
  CUsurfObject surface;
  DRIVER(cuSurfObjectCreate(&surface, &r));
  DRIVER(cuSurfObjectDestroy(surface));
  CUtexObject texture;
  CUDA_TEXTURE_DESC t = {};
  t.flags = CU_TRSF_READ_AS_INTEGER;
  DRIVER(cuTexObjectCreate(&texture, &r, &t, nullptr));
  DRIVER(cuTexObjectGetTextureDesc(&t, texture));
  EXPECT(t.flags & CU_TRSF_READ_AS_INTEGER);
  DRIVER(cuTexObjectDestroy(texture));
  DRIVER(cuMemcpyHtoA(array, 16, host, 64));
  DRIVER(cuMemcpyAtoH(rows, array, 16, 64));
  EXPECT(!memcmp(rows, host, 64));

  CUmemoryPool pool;
  DRIVER(cuDeviceGetDefaultMemPool(&pool, device));
  cuuint64_t keep = 1 << 20;
  DRIVER(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  CUdeviceptr pooled;
  DRIVER(cuMemAllocAsync(&pooled, 1000, s));
  DRIVER(cuMemFreeAsync(pooled, s));
  CUgraph graph;
  CUgraphExec exec;
  DRIVER(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  DRIVER(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, s, arguments, nullptr));
  DRIVER(cuStreamEndCapture(s, &graph));
  DRIVER(cuGraphInstantiateWithFlags(&exec, graph, 0));
  DRIVER(cuGraphUpload(exec, s));
  DRIVER(cuGraphLaunch(exec, s));
  DRIVER(cuStreamSynchronize(s));
  DRIVER(cuMemcpyDtoH(host, a, 256));
  EXPECT(host[16] == 9);
  DRIVER(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  size_t limit;
  DRIVER(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  EXPECT(limit == 4096);
  DRIVER(cuProfilerStop());
  DRIVER(cuCtxPopCurrent(&popped));
  EXPECT(popped == context && cuMemFree(1) != CUDA_SUCCESS);
  DRIVER(cuLibraryUnload(library));
  DRIVER(cuDevicePrimaryCtxRelease(device));
  return done();
}
