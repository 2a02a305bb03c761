// NVRTC opened at run time: compiled, name expressions lowered, options, log of errors, PTX and "cubin" both loaded and launched, headers given
// as text.
#include "check.h"
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <string>

typedef struct Program_ *Program;
#define FUNCTION(result, name, ...) static result (*name)(__VA_ARGS__)
FUNCTION(int, nvrtcVersion, int *, int *);
FUNCTION(int, nvrtcCreateProgram, Program *, const char *, const char *, int, const char *const *, const char *const *);
FUNCTION(int, nvrtcCompileProgram, Program, int, const char *const *);
FUNCTION(int, nvrtcAddNameExpression, Program, const char *);
FUNCTION(int, nvrtcGetLoweredName, Program, const char *, const char **);
FUNCTION(int, nvrtcGetPTXSize, Program, size_t *);
FUNCTION(int, nvrtcGetPTX, Program, char *);
FUNCTION(int, nvrtcGetCUBINSize, Program, size_t *);
FUNCTION(int, nvrtcGetCUBIN, Program, char *);
FUNCTION(int, nvrtcGetProgramLogSize, Program, size_t *);
FUNCTION(int, nvrtcGetProgramLog, Program, char *);
FUNCTION(int, nvrtcDestroyProgram, Program *);
static const char *kSource = R"(
#include "twice.h"
__constant__ float offset;
template <class T, int N> __global__ void axpy(T a, const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = twice(a * x[i]) + y[i] + N + offset;
}
extern "C" __global__ void plain(float *y) { y[threadIdx.x] = blockDim.x * 1.0f + ARGUMENT; }
)";

int main() {
  void *library = dlopen("libnvrtc.so.13", RTLD_NOW);
  if (!library)
    library = dlopen("libnvrtc.so.12", RTLD_NOW);
  int major = 0, minor = 0;
#define LOAD(name) *(void **)&name = library ? dlsym(library, #name) : nullptr
  LOAD(nvrtcVersion), LOAD(nvrtcCreateProgram), LOAD(nvrtcCompileProgram), LOAD(nvrtcAddNameExpression), LOAD(nvrtcGetLoweredName), LOAD(nvrtcGetPTXSize), LOAD(nvrtcGetPTX);
  LOAD(nvrtcGetCUBINSize), LOAD(nvrtcGetCUBIN), LOAD(nvrtcGetProgramLogSize), LOAD(nvrtcGetProgramLog), LOAD(nvrtcDestroyProgram);
  if (!library || !nvrtcVersion || nvrtcVersion(&major, &minor) != 0 || major == 0) {
    printf("skipped: no NVRTC\n");
    return 77;
  }
  const char *header = "template <class T> __device__ T twice(T x) { return x + x; }\n", *headerName = "twice.h";
  Program program;
  EXPECT(nvrtcCreateProgram(&program, kSource, "source.cu", 1, &header, &headerName) == 0);
  EXPECT(nvrtcAddNameExpression(program, "axpy<float, 3>") == 0 && nvrtcAddNameExpression(program, "&offset") == 0);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  std::string architecture = "--gpu-architecture=sm_" + std::to_string(p.major * 10 + p.minor);
  const char *options[] = {architecture.c_str(), "-DARGUMENT=0.5f", "--std=c++17", "-lineinfo"};
  int result = nvrtcCompileProgram(program, 4, options);
  if (result) {
    size_t bytes = 0;
    nvrtcGetProgramLogSize(program, &bytes);
    std::string log(bytes, 0);
    nvrtcGetProgramLog(program, &log[0]);
    printf("%s\n", log.c_str());
    if (log.empty() || result == 7)
      return 77;
  }
  EXPECT(result == 0);
  const char *kernelName, *offsetName;
  EXPECT(nvrtcGetLoweredName(program, "axpy<float, 3>", &kernelName) == 0 && nvrtcGetLoweredName(program, "&offset", &offsetName) == 0);
  std::string image;
  size_t bytes = 0;
  CHECK(cudaFree(nullptr));
  float *x, *y;
  CHECK(cudaMallocManaged(&x, 400));
  CHECK(cudaMallocManaged(&y, 400));
  for (int kind = 0; kind < 2; ++kind) {
    EXPECT((kind ? nvrtcGetCUBINSize(program, &bytes) : nvrtcGetPTXSize(program, &bytes)) == 0 && bytes > 100);
    image.resize(bytes);
    EXPECT((kind ? nvrtcGetCUBIN(program, &image[0]) : nvrtcGetPTX(program, &image[0])) == 0);
    CUmodule module;
    CUfunction axpy, plain;
    CUdeviceptr offset;
    size_t size;
    EXPECT(cuModuleLoadData(&module, image.data()) == CUDA_SUCCESS);
    EXPECT(cuModuleGetFunction(&axpy, module, kernelName) == CUDA_SUCCESS && cuModuleGetFunction(&plain, module, "plain") == CUDA_SUCCESS);
    EXPECT(cuModuleGetGlobal(&offset, &size, module, offsetName) == CUDA_SUCCESS && size == 4);
    float four = 4, a = 1.5f;
    int n = 100;
    EXPECT(cuMemcpyHtoD(offset, &four, 4) == CUDA_SUCCESS);
    for (int i = 0; i < n; ++i)
      x[i] = i, y[i] = -i;
    void *arguments[] = {&a, &x, &y, &n};
    EXPECT(cuLaunchKernel(axpy, 4, 1, 1, 32, 1, 1, 0, 0, arguments, 0) == CUDA_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    EXPECT(y[99] == 99 * 2 + 7 && y[0] == 7);
    void *one[] = {&y};
    EXPECT(cuLaunchKernel(plain, 1, 1, 1, 64, 1, 1, 0, 0, one, 0) == CUDA_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    EXPECT(y[63] == 64.5f);
  }
  EXPECT(nvrtcDestroyProgram(&program) == 0);
  EXPECT(nvrtcCreateProgram(&program, "__global__ void f() { undeclared(); }", 0, 0, 0, 0) == 0);
  EXPECT(nvrtcCompileProgram(program, 0, nullptr) == 6);
  EXPECT(nvrtcGetProgramLogSize(program, &bytes) == 0 && bytes > 10);
  std::string log(bytes, 0);
  nvrtcGetProgramLog(program, &log[0]);
  EXPECT(log.find("undeclared") != std::string::npos);
  return done();
}
