// What a summary must count, from four threads, and calls of the driver until the very end: by
// functions registered with atexit and by destructors of static objects. Ends as its word says:
// return, exit (from another function), terminate (a handler of exceptions that calls exit),
// closed (without standard error).
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "loader/libcuda/cuda_api.h"
#include "tests/driver/kernels.h"

namespace {

constexpr size_t kBytes = 1 << 20;
constexpr int kThreads = 4, kLaunches = 500;

void check(CUresult result) {
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "result %d\n", result);
    std::_Exit(9);
  }
}

CUcontext context = nullptr;
CUdeviceptr buffer = 0;
CUfunction store = nullptr;

void launchOnce() {
  unsigned value = 3;
  void *arguments[] = {&buffer, &value};
  check(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, arguments, nullptr));
  check(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

void launchMany() {
  check(cuCtxSetCurrent(context));
  for (int i = 0; i < kLaunches; ++i)
    launchOnce();
}

/// Destroyed after main, and after what atexit calls.
struct Last {
  ~Last() {
    launchOnce();
    check(cuMemFree(buffer));
  }
} last;

void work() {
  check(cuInit(0));
  check(cuCtxCreate(&context, nullptr, 0, 0));
  CUmodule module = nullptr;
  check(cuModuleLoadData(&module, ptxrun::tests::kSmall));
  check(cuModuleGetFunction(&store, module, "store"));
  check(cuMemAlloc(&buffer, kBytes));
  const std::vector<char> host(kBytes);
  std::vector<char> back(kBytes);
  for (int i = 0; i < 3; ++i)
    check(cuMemcpyHtoD(buffer, host.data(), kBytes));
  check(cuMemcpyDtoH(back.data(), buffer, kBytes / 2));
  check(cuMemcpyDtoD(buffer, buffer + kBytes / 2, 256));
  check(cuMemsetD8(buffer, 1, kBytes));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back(launchMany);
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace

int main(int, char **words) {
  const std::string end = words[1];
  std::atexit(launchOnce);
  std::set_terminate([] { std::exit(5); });
  work();
  if (end == "exit")
    std::exit(4);
  if (end == "closed")
    std::fclose(stderr);
  if (end == "terminate")
    throw std::runtime_error("nobody catches this");
  return end == "closed" ? 6 : 3;
}
