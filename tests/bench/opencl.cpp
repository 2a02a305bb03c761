#include "tests/bench/opencl.h"

#include <cstdio>
#include <cstdlib>

#ifdef PTXRUN_HAS_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <fstream>
#include <sstream>

namespace ptxrun::bench {
namespace {

void require(cl_int status, const char *what) {
  if (status == CL_SUCCESS)
    return;
  std::fprintf(stderr, "bench: OpenCL: %s: error %d\n", what, status);
  std::exit(1);
}

struct Runtime {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  bool isReady = false;
};

bool findDevice(Runtime &runtime) {
  cl_platform_id platforms[8];
  cl_uint count = 0;
  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS)
    return false;
  for (cl_uint k = 0; k < count; ++k)
    if (clGetDeviceIDs(platforms[k], CL_DEVICE_TYPE_CPU, 1, &runtime.device, nullptr) == CL_SUCCESS)
      return true;
  return false;
}

Runtime start() {
  Runtime runtime;
  if (!findDevice(runtime)) {
    std::printf("(no OpenCL CPU device: install pocl-opencl-icd to compare with PoCL)\n");
    return runtime;
  }
  cl_int status;
  runtime.context = clCreateContext(nullptr, 1, &runtime.device, nullptr, nullptr, &status);
  require(status, "context");
  runtime.queue = clCreateCommandQueue(runtime.context, runtime.device, 0, &status);
  require(status, "queue");
  std::ifstream file(PTXRUN_BENCH_FOLDER "/kernels.cl");
  std::ostringstream text;
  text << file.rdbuf();
  std::string source = text.str();
  const char *pointer = source.c_str();
  runtime.program = clCreateProgramWithSource(runtime.context, 1, &pointer, nullptr, &status);
  require(status, "program");
  if (clBuildProgram(runtime.program, 1, &runtime.device, "", nullptr, nullptr) != CL_SUCCESS) {
    static char log[1 << 16];
    clGetProgramBuildInfo(runtime.program, runtime.device, CL_PROGRAM_BUILD_LOG, sizeof log, log,
                          nullptr);
    std::fprintf(stderr, "%s\n", log);
    return runtime;
  }
  runtime.isReady = true;
  return runtime;
}

Runtime &runtime() {
  static Runtime one = start();
  return one;
}

struct Prepared {
  cl_kernel kernel;
  std::vector<cl_mem> buffers;
  size_t global[2], local[2];
};

Prepared prepare(const ClLaunch &launch) {
  Prepared prepared{};
  cl_int status;
  prepared.kernel = clCreateKernel(runtime().program, launch.kernel.c_str(), &status);
  require(status, launch.kernel.c_str());
  for (cl_uint k = 0; k < launch.arguments.size(); ++k) {
    const ClArgument &argument = launch.arguments[k];
    if (!argument.buffer.data) {
      require(clSetKernelArg(prepared.kernel, k, argument.scalar.size(), argument.scalar.data()),
              "argument");
      continue;
    }
    cl_mem memory = clCreateBuffer(runtime().context, CL_MEM_USE_HOST_PTR, argument.buffer.bytes,
                                   argument.buffer.data, &status);
    require(status, "buffer");
    prepared.buffers.push_back(memory);
    require(clSetKernelArg(prepared.kernel, k, sizeof memory, &memory), "argument");
  }
  for (int d = 0; d < 2; ++d)
    prepared.local[d] = launch.block[d], prepared.global[d] = launch.grid[d] * launch.block[d];
  return prepared;
}

} // namespace

bool openClIsAvailable() { return runtime().isReady; }

std::function<void()> openClRun(std::vector<ClLaunch> launches) {
  if (!openClIsAvailable())
    return {};
  auto prepared = std::make_shared<std::vector<Prepared>>();
  for (const ClLaunch &launch : launches)
    prepared->push_back(prepare(launch));
  return [prepared] {
    for (const Prepared &one : *prepared)
      require(clEnqueueNDRangeKernel(runtime().queue, one.kernel, 2, nullptr, one.global, one.local,
                                     0, nullptr, nullptr),
              "launch");
    require(clFinish(runtime().queue), "finish");
  };
}

} // namespace ptxrun::bench

#else

namespace ptxrun::bench {

bool openClIsAvailable() {
  std::printf("(built without OpenCL: install ocl-icd-opencl-dev and pocl-opencl-icd to compare "
              "with PoCL)\n");
  return false;
}
std::function<void()> openClRun(std::vector<ClLaunch>) { return {}; }

} // namespace ptxrun::bench

#endif
