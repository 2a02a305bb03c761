// nvcc: -arch=compute_75
// The driver API beside the runtime: contexts, modules from PTX text with options and logs, linking of several texts, globals, launches of all
// kinds, attributes, occupancy, libraries.
#include "check.h"
#include <cstring>
#include <cuda.h>
#include <string>

#define DRIVER(call)                                                                                                                       \
  do {                                                                                                                                     \
    CUresult r_ = (call);                                                                                                                  \
    const char *name_ = "?";                                                                                                               \
    if (r_ != CUDA_SUCCESS) {                                                                                                              \
      cuGetErrorName(r_, &name_);                                                                                                          \
      printf("line %d: %s: %s\n", __LINE__, #call, name_);                                                                                 \
      exit(1);                                                                                                                             \
    }                                                                                                                                      \
  } while (0)

static const char *kScale = R"(
.version 6.4
.target sm_60
.address_size 64
.visible .const .align 4 .f32 factor = 0f40000000;
.visible .global .align 4 .u32 calls;
.extern .func (.param .b32 r) twist (.param .b32 a);
.visible .entry scale(.param .u64 .ptr .global .align 4 x, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p ret;
  mul.wide.u32 %d2, %r5, 4; add.s64 %d3, %d1, %d2;
  ld.global.f32 %f1, [%d3]; ld.const.f32 %f2, [factor]; mul.f32 %f3, %f1, %f2; mov.b32 %r6, %f3;
  { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %r6; call (r0), twist, (a0); ld.param.b32 %r7, [r0]; }
  st.global.b32 [%d3], %r7;
  atom.global.add.u32 %r6, [calls], 1;
  ret;
}
)";
static const char *kTwist = R"(
.version 6.4
.target sm_60
.address_size 64
.visible .func (.param .b32 r) twist (.param .b32 a)
{
  .reg .f32 %f<3>; ld.param.f32 %f1, [a]; neg.f32 %f2, %f1; st.param.f32 [r], %f2; ret;
}
)";

int main() {
  DRIVER(cuInit(0));
  CUdevice device;
  DRIVER(cuDeviceGet(&device, 0));
  char name[100];
  size_t bytes;
  DRIVER(cuDeviceGetName(name, sizeof name, device));
  DRIVER(cuDeviceTotalMem(&bytes, device));
  int major, minor;
  DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  DRIVER(cuDeviceComputeCapability(&major, &minor, device));
  CUuuid uuid;
  DRIVER(cuDeviceGetUuid(&uuid, device));
  EXPECT(major >= 5 && bytes > 1 << 20 && strlen(name) > 2);
  CUcontext context, now;
#if CUDA_VERSION >= 13000
  DRIVER(cuCtxCreate(&context, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, device));
#else
  DRIVER(cuCtxCreate(&context, CU_CTX_SCHED_BLOCKING_SYNC, device));
#endif
  DRIVER(cuCtxGetCurrent(&now));
  unsigned api, flags;
  DRIVER(cuCtxGetApiVersion(context, &api));
  DRIVER(cuCtxGetFlags(&flags));
  EXPECT(now == context && api >= 3010 && flags & CU_CTX_SCHED_BLOCKING_SYNC);

  char info[4096] = "", errors[4096] = "";
  float walltime = -1;
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_LOG_VERBOSE, CU_JIT_WALL_TIME, CU_JIT_TARGET_FROM_CUCONTEXT};
  void *values[] = {info, (void *)sizeof info, errors, (void *)sizeof errors, (void *)1, nullptr, nullptr};
  memcpy(&values[5], &walltime, 4);
  CUlinkState link;
  void *image;
  size_t imageBytes;
  DRIVER(cuLinkCreate(7, options, values, &link));
  DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)kScale, strlen(kScale) + 1, "scale.ptx", 0, nullptr, nullptr));
  DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)kTwist, strlen(kTwist) + 1, "twist.ptx", 0, nullptr, nullptr));
  DRIVER(cuLinkComplete(link, &image, &imageBytes));
  EXPECT(imageBytes > 0);
  CUmodule module;
  DRIVER(cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr));
  DRIVER(cuLinkDestroy(link));
  CUfunction scale;
  DRIVER(cuModuleGetFunction(&scale, module, "scale"));
  CUdeviceptr factor, calls, x;
  DRIVER(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  EXPECT(bytes == 4);
  DRIVER(cuModuleGetGlobal(&calls, &bytes, module, "calls"));
  EXPECT(cuModuleGetGlobal(&calls, nullptr, module, "nothing") == CUDA_ERROR_NOT_FOUND);
  EXPECT(cuModuleGetFunction(&scale, module, "nothing") == CUDA_ERROR_NOT_FOUND);
  DRIVER(cuModuleGetFunction(&scale, module, "scale"));
  DRIVER(cuModuleGetGlobal(&calls, nullptr, module, "calls"));
  float host[1000], three = 3;
  for (int i = 0; i < 1000; ++i)
    host[i] = i;
  DRIVER(cuMemAlloc(&x, sizeof host));
  DRIVER(cuMemcpyHtoD(x, host, sizeof host));
  unsigned n = 1000;
  void *parameters[] = {&x, &n};
  DRIVER(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr)); // times -2
  DRIVER(cuMemcpyHtoD(factor, &three, 4));
  struct {
    CUdeviceptr x;
    unsigned n;
  } packed = {x, 500};
  size_t packedBytes = 12;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packedBytes, CU_LAUNCH_PARAM_END};
  DRIVER(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra)); // times -3
  DRIVER(cuMemcpyDtoH(host, x, sizeof host));
  unsigned count;
  DRIVER(cuMemcpyDtoH(&count, calls, 4));
  EXPECT(host[499] == 6 * 499 && host[999] == -2 * 999 && count == 1500);
  int value;
  DRIVER(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
  EXPECT(value == 1024);
  DRIVER(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, scale));
  EXPECT(value == 60);
  int blocks, grid, best;
  DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
  DRIVER(cuOccupancyMaxPotentialBlockSize(&grid, &best, scale, nullptr, 0, 0));
  EXPECT(blocks > 0 && grid > 0 && best > 0 && best <= 1024);
  size_t offset, size;
  DRIVER(cuFuncGetParamInfo(scale, 1, &offset, &size));
  EXPECT(offset == 8 && size == 4);
  const char *symbol;
  DRIVER(cuFuncGetName(&symbol, scale));
  EXPECT(!strcmp(symbol, "scale"));
  CUmodule bad;
  errors[0] = 0;
  values[2] = errors, values[3] = (void *)sizeof errors;
  EXPECT(cuModuleLoadDataEx(&bad, ".version 7.0\n.target sm_70\n.address_size 64\n.entry f() { nonsense.u32 %r1; }", 7, options, values) == CUDA_ERROR_INVALID_PTX);
  EXPECT(strlen(errors) > 10);
  EXPECT(cuModuleLoadData(&bad, "hello") != CUDA_SUCCESS);
  EXPECT(cuModuleLoad(&bad, "/nowhere/file.ptx") == CUDA_ERROR_FILE_NOT_FOUND);
  DRIVER(cuModuleUnload(module));

  std::string both = std::string(kTwist) + std::string(kScale).substr(std::string(kScale).find(".visible"));
  size_t at = both.find(".extern");
  both.erase(at, both.find('\n', at) - at);
  CUlibrary library;
  CUkernel kernel;
  unsigned kernels;
  DRIVER(cuLibraryLoadData(&library, both.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  DRIVER(cuLibraryGetKernelCount(&kernels, library));
  DRIVER(cuLibraryGetKernel(&kernel, library, "scale"));
  EXPECT(kernels == 1);
  DRIVER(cuLaunchKernel((CUfunction)kernel, 8, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemcpyDtoH(host, x, sizeof host));
  EXPECT(host[10] == -120);
  DRIVER(cuLibraryUnload(library));
  DRIVER(cuMemFree(x));
  DRIVER(cuCtxPopCurrent(&now));
  DRIVER(cuCtxDestroy(context));
  const char *text;
  DRIVER(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT(strlen(text) > 5 && cuGetErrorString((CUresult)12345, &text) == CUDA_ERROR_INVALID_VALUE);
  float *d;
  CHECK(cudaMalloc(&d, 4)); // the runtime's own context
  return done();
}
