// The driver API with several contexts: current ones by thread, pushed and popped, modules and variables of each, memory that both see, errors that stay
// in theirs, primary contexts beside them.
#include "check.h"
#include <cuda.h>
#include <string>
#include <thread>

#define DRIVER(call)                                                                               \
  do {                                                                                             \
    CUresult result_ = (call);                                                                     \
    const char *name_ = "?";                                                                       \
    if (result_ != CUDA_SUCCESS)                                                                   \
      cuGetErrorName(result_, &name_), printf("%d: %s: %s\n", __LINE__, #call, name_), exit(1);    \
  } while (0)

static const char *kText = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .entry bump(.param .u64 out, .param .u32 by)
{
  .reg .u32 %r<4>;
  .reg .u64 %d<3>;
  ld.param.u32 %r1, [by];
  ld.param.u64 %d1, [out];
  atom.global.add.u32 %r2, [counter], %r1;
  cvta.to.global.u64 %d2, %d1;
  add.u32 %r3, %r2, %r1;
  st.global.u32 [%d2], %r3;
  ret;
}
.visible .entry wild()
{
  .reg .u64 %d;
  mov.u64 %d, 24;
  st.global.u32 [%d], 1;
  ret;
}
)";
struct Made {
  CUcontext context;
  CUmodule module;
  CUfunction bump, wild;
  CUdeviceptr memory;
};
static unsigned bump(const Made &m, unsigned by) {
  void *arguments[] = {(void *)&m.memory, &by};
  DRIVER(cuLaunchKernel(m.bump, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr));
  unsigned v = 0;
  DRIVER(cuMemcpyDtoH(&v, m.memory, 4));
  return v;
}
static CUcontext current() {
  CUcontext c;
  DRIVER(cuCtxGetCurrent(&c));
  return c;
}

int main() {
  DRIVER(cuInit(0));
  CUdevice device;
  DRIVER(cuDeviceGet(&device, 0));
  CUcontext none;
  DRIVER(cuCtxGetCurrent(&none));
  EXPECT(none == nullptr);
  EXPECT(cuMemAlloc(new CUdeviceptr, 4) == CUDA_ERROR_INVALID_CONTEXT);
  Made made[2];
  for (Made &m : made) {
    DRIVER(cuCtxCreate(&m.context, nullptr, CU_CTX_SCHED_AUTO, device));
    EXPECT(current() == m.context);
    DRIVER(cuModuleLoadData(&m.module, kText));
    DRIVER(cuModuleGetFunction(&m.bump, m.module, "bump"));
    DRIVER(cuModuleGetFunction(&m.wild, m.module, "wild"));
    EXPECT(cuModuleGetFunction(&m.wild, m.module, "nothing") == CUDA_ERROR_NOT_FOUND);
    DRIVER(cuMemAlloc(&m.memory, 64));
  }
  EXPECT(bump(made[1], 10) == 15);
  CUcontext popped;
  DRIVER(cuCtxPopCurrent(&popped));
  EXPECT(popped == made[1].context && current() == made[0].context);
  EXPECT(bump(made[0], 3) == 8);
  DRIVER(cuCtxPushCurrent(made[1].context));
  EXPECT(bump(made[1], 1) == 16);
  CUdeviceptr variable;
  size_t bytes;
  DRIVER(cuModuleGetGlobal(&variable, &bytes, made[1].module, "counter"));
  EXPECT(bytes == 4);
  DRIVER(cuMemsetD32(variable, 100, 1));
  EXPECT(bump(made[1], 1) == 101);
  CUcontext owner = nullptr;
  DRIVER(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, made[0].memory));
  EXPECT(owner == made[0].context);
  // one context's memory is seen from the other, by a copy between them
  DRIVER(cuMemcpyPeer(made[0].memory + 8, made[0].context, made[1].memory, made[1].context, 4));
  unsigned v = 0;
  DRIVER(cuMemcpyDtoH(&v, made[0].memory + 8, 4));
  EXPECT(v == 101);
  // threads have stacks of their own
  std::thread([&] {
    EXPECT(current() == nullptr);
    DRIVER(cuCtxSetCurrent(made[0].context));
    EXPECT(bump(made[0], 2) == 10);
    unsigned version = 0;
    DRIVER(cuCtxGetApiVersion(made[0].context, &version));
    EXPECT(version >= 3000);
  }).join();
  EXPECT(current() == made[1].context);
  // an error stays in its context
  DRIVER(cuLaunchKernel(made[1].wild, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, nullptr));
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuMemAlloc(&variable, 4) == CUDA_ERROR_ILLEGAL_ADDRESS);
  DRIVER(cuCtxSetCurrent(made[0].context));
  EXPECT(bump(made[0], 5) == 15);
  cuCtxDestroy(made[1].context);
  EXPECT(bump(made[0], 5) == 20);
  // the primary context, which the runtime uses
  CUcontext primary;
  unsigned flags;
  int active = -1;
  DRIVER(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 0);
  DRIVER(cuDevicePrimaryCtxRetain(&primary, device));
  DRIVER(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT(active == 1 && primary != made[0].context);
  DRIVER(cuCtxSetCurrent(primary));
  void *p;
  CHECK(cudaMalloc(&p, 16));
  DRIVER(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)p));
  EXPECT(owner == primary && current() == primary);
  // the runtime works in whatever context is current
  DRIVER(cuCtxSetCurrent(made[0].context));
  CHECK(cudaMalloc(&p, 16));
  DRIVER(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)p));
  EXPECT(owner == made[0].context);
  CUmodule again;
  EXPECT(cuModuleLoadData(&again, ".version 7.0\n.target sm_70\n.address_size 64\n.entry x() { nonsense; }") == CUDA_ERROR_INVALID_PTX);
  char log[1000] = "";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)sizeof log};
  EXPECT(cuModuleLoadDataEx(&again, ".version 7.0\n.target sm_70\n.address_size 64\n.entry x() { nonsense; }", 2, names, values) == CUDA_ERROR_INVALID_PTX);
  EXPECT(std::string(log).find("nonsense") != std::string::npos);
  DRIVER(cuModuleUnload(made[0].module));
  EXPECT(cuModuleUnload(made[0].module) == CUDA_ERROR_INVALID_HANDLE);
  DRIVER(cuCtxDestroy(made[0].context));
  DRIVER(cuDevicePrimaryCtxRelease(device));
  return done();
}
