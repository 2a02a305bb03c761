// What the scenarios of recorded_program share.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/driver/cuda_header.h"

namespace recorded {

using Scenarios = std::map<std::string, std::function<void()>>;
/// recorded_images.cpp, recorded_clusters.cpp.
Scenarios imageScenarios();
Scenarios clusterScenarios();

/// The file that was given, and what is loaded of it.
inline std::string modulePath;
inline CUmodule module;

inline void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  const char *name = "?";
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", what, name);
  std::exit(3);
}
#define CHECK(call) check(call, #call)

inline CUfunction kernel(const char *name) {
  CUfunction found;
  CHECK(cuModuleGetFunction(&found, module, name));
  return found;
}

template <class... Arguments>
void launch(const char *name, unsigned grid, unsigned block, CUstream stream,
            Arguments... arguments) {
  void *pointers[] = {&arguments...};
  CHECK(cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, 0, stream, pointers, nullptr));
}

template <class T> CUdeviceptr device(size_t count, const std::vector<T> &contents = {}) {
  CUdeviceptr address;
  CHECK(cuMemAlloc(&address, count * sizeof(T)));
  if (contents.empty())
    CHECK(cuMemsetD8(address, 0, count * sizeof(T)));
  else
    CHECK(cuMemcpyHtoD(address, contents.data(), count * sizeof(T)));
  return address;
}

template <class T> void print(const char *what, CUdeviceptr address, size_t count) {
  std::vector<T> values(count);
  CHECK(cuMemcpyDtoH(values.data(), address, count * sizeof(T)));
  std::printf("%s", what);
  for (const T value : values)
    std::printf(" %.9g", static_cast<double>(value));
  std::printf("\n");
}

inline std::vector<float> numbers(size_t count) {
  std::vector<float> all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = 1.0f / static_cast<float>(i + 1);
  return all;
}

} // namespace recorded
