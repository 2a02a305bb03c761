// What holds for every function: initialisation, buffers, handles, functions that are not there.
// Results marked "H100" are those of NVIDIA's library there.
#include <chrono>
#include <climits>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/nvml/nvml_fixture.h"

namespace ptxrun::tests {

class NvmlProtocol : public NvmlTest {};

namespace {

/// A function by name, called with nothing but zeros: all arguments are integers and pointers.
nvmlReturn_t callWithZeros(const char *name) {
  using Function = nvmlReturn_t (*)(void *, void *, void *, void *, void *, void *);
  const auto function = reinterpret_cast<Function>(dlsym(nvmlLibrary(), name));
  EXPECT_NE(function, nullptr) << name;
  return function ? function(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) : NVML_SUCCESS;
}

constexpr const char *kDeviceFunctions[] = {
#define FUNCTION(name)
#define DEVICE_FUNCTION(name) #name,
#include "loader/libnvml/functions.def"
#undef FUNCTION
#undef DEVICE_FUNCTION
};
constexpr const char *kOtherFunctions[] = {
#define FUNCTION(name) #name,
#define DEVICE_FUNCTION(name)
#include "loader/libnvml/functions.def"
#undef FUNCTION
#undef DEVICE_FUNCTION
};

} // namespace

TEST(Nvml, NoFunctionAnswersBeforeInit) {
  for (const char *name : kDeviceFunctions)
    EXPECT_ANSWER(callWithZeros(name), NVML_ERROR_UNINITIALIZED) << name;
  for (const std::string name : kOtherFunctions)
    if (!name.starts_with("nvmlInit") && name != "nvmlErrorString")
      EXPECT_ANSWER(callWithZeros(name.c_str()), NVML_ERROR_UNINITIALIZED) << name;
}

TEST_F(NvmlProtocol, NoFunctionTakesNullForADevice) {
  for (const char *name : kDeviceFunctions)
    EXPECT_ANSWER(callWithZeros(name), NVML_ERROR_INVALID_ARGUMENT) << name;
}

/// Null in place of everything: refused, or not supported anyhow.
TEST_F(NvmlProtocol, NoFunctionWritesToNull) {
  for (const std::string name : kOtherFunctions) {
    if (name.starts_with("nvmlInit") || name == "nvmlErrorString" || name == "nvmlShutdown")
      continue;
    const nvmlReturn_t result = callWithZeros(name.c_str());
    EXPECT_TRUE(result == NVML_ERROR_INVALID_ARGUMENT || result == NVML_ERROR_NOT_SUPPORTED)
        << name << ": " << textOf(result);
  }
}

TEST(Nvml, AnswersUninitialisedBeforeInitAndAfterTheLastShutdown) {
  unsigned count = 0;
  int version = 0;
  char text[96];
  EXPECT_ANSWER(NVML(nvmlShutdown)(), NVML_ERROR_UNINITIALIZED);
  for (int round = 0; round < 2; ++round) {
    EXPECT_ANSWER(NVML(nvmlDeviceGetCount_v2)(&count), NVML_ERROR_UNINITIALIZED);
    EXPECT_ANSWER(NVML(nvmlDeviceGetName)(nullptr, text, 96), NVML_ERROR_UNINITIALIZED);
    EXPECT_ANSWER(NVML(nvmlSystemGetDriverVersion)(text, 80), NVML_ERROR_UNINITIALIZED);
    EXPECT_ANSWER(NVML(nvmlSystemGetCudaDriverVersion)(&version), NVML_ERROR_UNINITIALIZED); // H100
    const auto power = reinterpret_cast<nvmlReturn_t (*)(nvmlDevice_t, unsigned *)>(
        dlsym(nvmlLibrary(), "nvmlDeviceGetPowerUsage"));
    EXPECT_ANSWER(power(nullptr, &count), NVML_ERROR_UNINITIALIZED);
    EXPECT_NVML(NVML(nvmlInit)());
    EXPECT_NVML(NVML(nvmlInitWithFlags)(0));
    EXPECT_NVML(NVML(nvmlShutdown)());
    EXPECT_NVML(NVML(nvmlDeviceGetCount)(&count));
    EXPECT_EQ(count, 1u);
    EXPECT_NVML(NVML(nvmlShutdown)());
  }
}

TEST(Nvml, ShowsNoDeviceWhenInitialisedWithoutAny) {
  unsigned count = 9;
  nvmlDevice_t device = nullptr;
  EXPECT_NVML(NVML(nvmlInitWithFlags)(NVML_INIT_FLAG_NO_GPUS));
  EXPECT_NVML(NVML(nvmlInit_v2)()); // the first one decides (H100)
  EXPECT_NVML(NVML(nvmlDeviceGetCount_v2)(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ANSWER(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_NVML(NVML(nvmlShutdown)());
  EXPECT_NVML(NVML(nvmlShutdown)());
}

TEST(Nvml, ShowsDevicesThatTheDriverHides) {
  if (!getenv("CUDA_VISIBLE_DEVICES"))
    GTEST_SKIP() << "CUDA_VISIBLE_DEVICES is not set";
  int devices = 9;
  ASSERT_DRIVER(cuInit(0));
  ASSERT_DRIVER(cuDeviceGetCount(&devices));
  EXPECT_EQ(devices, 0);
  unsigned count = 0;
  EXPECT_NVML(NVML(nvmlInit_v2)());
  EXPECT_NVML(NVML(nvmlDeviceGetCount_v2)(&count));
  EXPECT_EQ(count, 1u);
  EXPECT_NVML(NVML(nvmlShutdown)());
}

TEST(Nvml, NamesEveryResult) {
  EXPECT_STREQ(NVML(nvmlErrorString)(NVML_SUCCESS), "Success");
  EXPECT_STREQ(NVML(nvmlErrorString)(NVML_ERROR_INSUFFICIENT_SIZE), "Insufficient Size");
  EXPECT_STREQ(NVML(nvmlErrorString)(static_cast<nvmlReturn_t>(31)), "Unknown Error");
  EXPECT_STREQ(NVML(nvmlErrorString)(static_cast<nvmlReturn_t>(-1)), "Unknown Error");
}

TEST(Nvml, CountsInitialisationsOfThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < 50; ++round) {
        nvmlDevice_t device = nullptr;
        nvmlMemory_t memory;
        nvmlUtilization_t utilisation;
        EXPECT_NVML(NVML(nvmlInit_v2)());
        EXPECT_NVML(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device));
        EXPECT_NVML(NVML(nvmlDeviceGetMemoryInfo)(device, &memory));
        EXPECT_NVML(NVML(nvmlDeviceGetUtilizationRates)(device, &utilisation));
        EXPECT_NVML(NVML(nvmlShutdown)());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_ANSWER(NVML(nvmlShutdown)(), NVML_ERROR_UNINITIALIZED);
}

TEST_F(NvmlProtocol, TextsNeedTheirRoom) {
  char text[96] = "";
  for (const unsigned length : {0u, 5u}) { // H100
    EXPECT_ANSWER(NVML(nvmlDeviceGetName)(device_, text, length), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_ANSWER(NVML(nvmlDeviceGetUUID)(device_, text, length), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_ANSWER(NVML(nvmlSystemGetDriverVersion)(text, length), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_ANSWER(NVML(nvmlSystemGetNVMLVersion)(text, length), NVML_ERROR_INSUFFICIENT_SIZE);
  }
  EXPECT_STREQ(text, "");
  EXPECT_ANSWER(NVML(nvmlDeviceGetName)(device_, nullptr, 96), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_NVML(NVML(nvmlDeviceGetUUID)(device_, text, 41)); // "GPU-" and 36 digits, and the zero
  EXPECT_ANSWER(NVML(nvmlDeviceGetUUID)(device_, text, 40), NVML_ERROR_INSUFFICIENT_SIZE);
}

TEST_F(NvmlProtocol, HandlesThatAreNoneAreRefused) {
  char text[96];
  unsigned value = 0;
  nvmlMemory_t memory;
  const auto power = reinterpret_cast<nvmlReturn_t (*)(nvmlDevice_t, unsigned *)>(
      dlsym(nvmlLibrary(), "nvmlDeviceGetPowerUsage"));
  for (const auto wrong : {nvmlDevice_t{}, reinterpret_cast<nvmlDevice_t>(4096),
                           reinterpret_cast<nvmlDevice_t>(text)}) {
    EXPECT_ANSWER(NVML(nvmlDeviceGetName)(wrong, text, 96), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_ANSWER(NVML(nvmlDeviceGetIndex)(wrong, &value), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_ANSWER(NVML(nvmlDeviceGetMemoryInfo)(wrong, &memory), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_ANSWER(power(wrong, &value), NVML_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_ANSWER(NVML(nvmlDeviceGetIndex)(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_ANSWER(NVML(nvmlDeviceGetMemoryInfo)(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(NvmlProtocol, WhatACpuCannotSayIsNotSupported) {
  for (const char *name :
       {"nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetFanSpeed",
        "nvmlDeviceGetMigMode", "nvmlDeviceGetEccMode", "nvmlDeviceGetNvLinkState",
        "nvmlDeviceGetSerial", "nvmlDeviceGetAttributes_v2", "nvmlDeviceSetComputeMode"}) {
    const auto function = reinterpret_cast<nvmlReturn_t (*)(nvmlDevice_t, void *, void *)>(
        dlsym(nvmlLibrary(), name));
    unsigned long long out[16] = {};
    ASSERT_NE(function, nullptr) << name;
    EXPECT_ANSWER(function(device_, &out[0], &out[8]), NVML_ERROR_NOT_SUPPORTED) << name;
  }
  nvmlFieldValue_t fields[2] = {};
  EXPECT_NVML(NVML(nvmlDeviceGetFieldValues)(device_, 2, fields));
  EXPECT_ANSWER(fields[1].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
}

TEST_F(NvmlProtocol, EventSetsWaitUntilTheTimeIsOver) {
  nvmlEventSet_t set = nullptr;
  nvmlEventData_t data;
  unsigned long long types = 9;
  ASSERT_NVML(NVML(nvmlEventSetCreate)(&set));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_ANSWER(NVML(nvmlEventSetWait_v2)(set, &data, 30), NVML_ERROR_TIMEOUT); // H100
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
  EXPECT_NVML(NVML(nvmlDeviceGetSupportedEventTypes)(device_, &types));
  EXPECT_EQ(types, 0u);
  EXPECT_NVML(NVML(nvmlDeviceRegisterEvents)(device_, 0, set));
  EXPECT_ANSWER(NVML(nvmlDeviceRegisterEvents)(device_, 8, set), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_ANSWER(NVML(nvmlEventSetWait)(set, nullptr, 0), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_NVML(NVML(nvmlEventSetFree)(set));
  EXPECT_ANSWER(NVML(nvmlEventSetFree)(set), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_ANSWER(NVML(nvmlEventSetWait)(set, &data, 0), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(NvmlProtocol, WhoWaitsForAnEventSetIsWokenWhenItIsFreed) {
  nvmlEventSet_t set = nullptr;
  ASSERT_NVML(NVML(nvmlEventSetCreate)(&set));
  std::thread waiter([set] {
    nvmlEventData_t data;
    EXPECT_ANSWER(NVML(nvmlEventSetWait_v2)(set, &data, UINT_MAX), NVML_ERROR_INVALID_ARGUMENT);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NVML(NVML(nvmlEventSetFree)(set));
  waiter.join();
}

} // namespace ptxrun::tests
