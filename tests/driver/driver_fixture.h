// A context of its own for each test, so that a sticky error ends with the test that made it.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "loader/libcuda/cuda_api.h"
#include "tests/driver/kernels.h"

namespace ptxrun::tests {

inline std::string nameOf(CUresult result) {
  const char *name = nullptr;
  return cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : std::to_string(result);
}

#define EXPECT_CUDA(expression) EXPECT_EQ(nameOf(expression), "CUDA_SUCCESS")
#define ASSERT_CUDA(expression) ASSERT_EQ(nameOf(expression), "CUDA_SUCCESS")
#define EXPECT_RESULT(expression, result) EXPECT_EQ(nameOf(expression), nameOf(result))

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_CUDA(cuInit(0));
    ASSERT_CUDA(cuCtxCreate(&context_, nullptr, 0, 0));
  }
  void TearDown() override {
    if (context_)
      cuCtxDestroy(context_);
  }

  CUmodule load(const char *ptx) {
    CUmodule module = nullptr;
    EXPECT_CUDA(cuModuleLoadData(&module, ptx));
    return module;
  }
  CUfunction function(const char *ptx, const char *name) {
    CUfunction function = nullptr;
    EXPECT_CUDA(cuModuleGetFunction(&function, load(ptx), name));
    return function;
  }
  template <class T> CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr address = 0;
    EXPECT_CUDA(cuMemAlloc(&address, values.size() * sizeof(T)));
    EXPECT_CUDA(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(T)));
    return address;
  }
  template <class T> std::vector<T> download(CUdeviceptr address, size_t count) {
    std::vector<T> values(count);
    EXPECT_CUDA(cuMemcpyDtoH(values.data(), address, count * sizeof(T)));
    return values;
  }
  template <class... Arguments>
  CUresult launch(CUfunction function, unsigned grid, unsigned block, CUstream stream,
                  Arguments... arguments) {
    void *pointers[] = {&arguments..., nullptr};
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, pointers, nullptr);
  }

  CUcontext context_ = nullptr;
};

} // namespace ptxrun::tests
