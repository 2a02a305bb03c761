/* A plain C program for the driver API: saxpy through streams and events, checked on the host. */
#include "cuda_header.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const kPtx =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {\n"
    "  .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;\n"
    "  ld.param.u32 %r1, [n]; ld.param.f32 %f1, [a];\n"
    "  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1; @%p1 ret;\n"
    "  mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
    "  ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5];\n"
    "  fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%rd5], %f4; ret;\n}\n";

static void check(CUresult result, const char *what) {
  const char *name = "?";
  if (result == CUDA_SUCCESS)
    return;
  cuGetErrorName(result, &name);
  fprintf(stderr, "%s: %s\n", what, name);
  exit(1);
}
#define CHECK(call) check(call, #call)

int main(void) {
  enum { N = 100000 };
  unsigned int n = N;
  float a = 2.0f, milliseconds = 0, *host;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction saxpy;
  CUstream stream;
  CUevent start, end;
  CUdeviceptr x, y;
  void *arguments[] = {&n, &a, &x, &y};
  char name[128];

  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDeviceGetName(name, sizeof name, device));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, kPtx));
  CHECK(cuModuleGetFunction(&saxpy, module, "saxpy"));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  CHECK(cuMemAllocHost((void **)&host, N * sizeof(float)));
  for (int i = 0; i < N; ++i)
    host[i] = (float)i;
  CHECK(cuMemAlloc(&x, N * sizeof(float)));
  CHECK(cuMemAlloc(&y, N * sizeof(float)));
  CHECK(cuMemcpyHtoDAsync(x, host, N * sizeof(float), stream));
  CHECK(cuMemsetD32Async(y, 0x3f800000, N, stream)); /* 1.0f */
  CHECK(cuEventRecord(start, stream));
  CHECK(cuLaunchKernel(saxpy, (N + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
  CHECK(cuEventRecord(end, stream));
  CHECK(cuMemcpyDtoHAsync(host, y, N * sizeof(float), stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuEventElapsedTime(&milliseconds, start, end));
  for (int i = 0; i < N; ++i)
    if (host[i] != 2.0f * (float)i + 1.0f) {
      fprintf(stderr, "y[%d] is %g\n", i, host[i]);
      return 1;
    }
  CHECK(cuMemFreeHost(host));
  CHECK(cuMemFree(x));
  CHECK(cuMemFree(y));
  CHECK(cuStreamDestroy(stream));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  printf("%s: saxpy of %d elements is right (%.3f ms)\n", name, N, milliseconds);
  return 0;
}
