// The library loaded as programs load it; functions are looked up by name.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "loader/libcuda/cuda_api.h"
#include "loader/libnvml/nvml_api.h"

namespace ptxrun::tests {

inline void *nvmlLibrary() {
  static void *library = dlopen(NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return library;
}

/// A function of the library by its declaration: NVML(nvmlDeviceGetCount)(&count).
#define NVML(name) reinterpret_cast<decltype(&::name)>(dlsym(nvmlLibrary(), #name))

inline std::string textOf(nvmlReturn_t result) { return NVML(nvmlErrorString)(result); }

#define EXPECT_NVML(expression) EXPECT_EQ(textOf(expression), textOf(NVML_SUCCESS))
#define ASSERT_NVML(expression) ASSERT_EQ(textOf(expression), textOf(NVML_SUCCESS))
#define EXPECT_ANSWER(expression, result) EXPECT_EQ(textOf(expression), textOf(result))
#define ASSERT_DRIVER(expression) ASSERT_EQ(expression, CUDA_SUCCESS)

/// A test in which the library is initialised, and its device.
class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(nvmlLibrary(), nullptr) << dlerror();
    ASSERT_NVML(NVML(nvmlInit_v2)());
    ASSERT_NVML(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device_));
  }
  void TearDown() override { EXPECT_NVML(NVML(nvmlShutdown)()); }

  nvmlDevice_t device_ = nullptr;
};

} // namespace ptxrun::tests
