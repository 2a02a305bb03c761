// A program that compiles two parts by NVRTC and links them by nvJitLink, for the machine code of a
// GPU, as PTX and as LTO-IR, and runs the result. Linked to NVIDIA's libraries, by RPATH.
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(int result, const char *what) {
  if (result == 0)
    return;
  std::printf("%s answered %d\n", what, result);
  std::exit(1);
}
#define CHECK(call) check(static_cast<int>(call), #call)

constexpr const char *kKernel =
    "extern __device__ int twice(int);\n"
    "extern \"C\" __global__ void k(int *out) { out[threadIdx.x] = twice(threadIdx.x) + 1; }";
constexpr const char *kFunction = "__device__ int twice(int x) { return 2 * x; }";

enum class Kind { cubin, ptx, ltoIr };

std::string compile(const char *source, Kind kind) {
  nvrtcProgram program;
  CHECK(nvrtcCreateProgram(&program, source, "part.cu", 0, nullptr, nullptr));
  const char *options[] = {"-arch=sm_80", "-rdc=true", "-dlto"};
  CHECK(nvrtcCompileProgram(program, kind == Kind::ltoIr ? 3 : 2, options));
  size_t bytes = 0;
  CHECK((kind == Kind::cubin ? nvrtcGetCUBINSize
         : kind == Kind::ptx ? nvrtcGetPTXSize
                             : nvrtcGetLTOIRSize)(program, &bytes));
  std::string code(bytes, '\0');
  CHECK((kind == Kind::cubin ? nvrtcGetCUBIN
         : kind == Kind::ptx ? nvrtcGetPTX
                             : nvrtcGetLTOIR)(program, code.data()));
  CHECK(nvrtcDestroyProgram(&program));
  return code;
}

std::vector<char> link(Kind kind) {
  nvJitLinkHandle linker;
  std::vector<const char *> options{"-arch=sm_80"};
  if (kind == Kind::ltoIr)
    options.push_back("-lto");
  CHECK(nvJitLinkCreate(&linker, static_cast<uint32_t>(options.size()), options.data()));
  for (const char *source : {kKernel, kFunction}) {
    const std::string code = compile(source, kind);
    const auto input = kind == Kind::cubin ? NVJITLINK_INPUT_CUBIN
                       : kind == Kind::ptx ? NVJITLINK_INPUT_PTX
                                           : NVJITLINK_INPUT_LTOIR;
    CHECK(nvJitLinkAddData(linker, input, code.data(), code.size(), "part"));
  }
  CHECK(nvJitLinkComplete(linker));
  size_t bytes = 0;
  CHECK(nvJitLinkGetLinkedCubinSize(linker, &bytes));
  std::vector<char> image(bytes);
  CHECK(nvJitLinkGetLinkedCubin(linker, image.data()));
  CHECK(nvJitLinkDestroy(&linker));
  return image;
}

void run(const std::vector<char> &image) {
  constexpr int kThreads = 64;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr out;
  int values[kThreads];
  CHECK(cuModuleLoadData(&module, image.data()));
  CHECK(cuModuleGetFunction(&kernel, module, "k"));
  CHECK(cuMemAlloc(&out, sizeof values));
  void *arguments[] = {&out};
  CHECK(cuLaunchKernel(kernel, 1, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(values, out, sizeof values));
  for (int i = 0; i < kThreads; ++i)
    check(values[i] != 2 * i + 1, "the kernel");
  CHECK(cuMemFree(out));
  CHECK(cuModuleUnload(module));
}

} // namespace

int main() {
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  for (const Kind kind : {Kind::cubin, Kind::ptx, Kind::ltoIr})
    run(link(kind));
  std::puts("compiled, linked and run as machine code, PTX and LTO-IR");
}
