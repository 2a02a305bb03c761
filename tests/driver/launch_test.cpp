#include <chrono>
#include <sstream>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {

using Launch = DriverTest;

TEST_F(Launch, AddsVectors) {
  constexpr uint32_t kCount = 1000;
  std::vector<float> a(kCount), b(kCount), sum(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f * static_cast<float>(i);
    sum[i] = a[i] + b[i];
  }
  const CUdeviceptr deviceA = upload(a), deviceB = upload(b),
                    out = upload(std::vector<float>(kCount, -1));
  ASSERT_CUDA(launch(function(kAdd, "add"), 4, 256, nullptr, out, deviceA, deviceB, kCount));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(download<float>(out, kCount), sum);
}

TEST_F(Launch, TakesArgumentsFromABuffer) {
  struct {
    CUdeviceptr p;
    uint32_t v;
  } arguments{upload(std::vector<uint32_t>(1)), 77};
  size_t bytes = sizeof arguments;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments,
                   CU_LAUNCH_PARAM_END};
  CUfunction store = function(kSmall, "store");
  ASSERT_CUDA(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(download<uint32_t>(arguments.p, 1)[0], 77u);
  bytes = 8;
  EXPECT_RESULT(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
                CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launch, KeepsShapeAndParametersAsBeforeCuda4) {
  constexpr uint32_t kCount = 1000;
  const CUdeviceptr a = upload(std::vector<float>(kCount, 1)),
                    b = upload(std::vector<float>(kCount, 2)),
                    out = upload(std::vector<float>(kCount, -1));
  CUfunction add = function(kAdd, "add");
  ASSERT_CUDA(cuFuncSetBlockShape(add, 256, 1, 1));
  ASSERT_CUDA(cuFuncSetSharedSize(add, 0));
  CUdeviceptr addresses[] = {out, a, b};
  ASSERT_CUDA(cuParamSetv(add, 0, addresses, sizeof addresses));
  ASSERT_CUDA(cuParamSeti(add, 24, kCount));
  ASSERT_CUDA(cuParamSetSize(add, 28));
  ASSERT_CUDA(cuLaunchGrid(add, 4, 1));
  EXPECT_EQ(download<float>(out, kCount), std::vector<float>(kCount, 3));
  addresses[1] = out; // the rest is as it was
  ASSERT_CUDA(cuParamSetv(add, 8, &addresses[1], 8));
  ASSERT_CUDA(cuLaunchGridAsync(add, 4, 1, nullptr));
  EXPECT_EQ(download<float>(out, kCount), std::vector<float>(kCount, 5));
  EXPECT_RESULT(cuFuncSetBlockShape(add, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuParamSeti(add, 4096, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuParamSetSize(add, 5000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuLaunchGrid(add, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuLaunch(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Launch, PlacesParametersOfAllSizes) {
  struct {
    uint64_t a, b, c;
  } s{1, 2, 3};
  const uint8_t c = 200;
  const double d = 2.5;
  CUdeviceptr out = upload(std::vector<uint64_t>(3));
  ASSERT_CUDA(launch(function(kParameters, "params"), 1, 1, nullptr, out, c, s, d));
  const auto result = download<uint64_t>(out, 3);
  EXPECT_EQ(result[0], 200u);
  EXPECT_EQ(result[1], 2u);
  double stored = 0;
  memcpy(&stored, &result[2], 8);
  EXPECT_EQ(stored, 2.5);
}

TEST_F(Launch, CopiesArgumentsBeforeItReturns) {
  CUfunction churn = function(kSmall, "churn"), store = function(kSmall, "store");
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr busy = upload(std::vector<uint32_t>(1)), out = upload(std::vector<uint32_t>(1));
  ASSERT_CUDA(launch(churn, 1, 1, stream, busy, 5'000'000u));
  uint32_t value = 1;
  void *pointers[] = {&out, &value};
  ASSERT_CUDA(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, pointers, nullptr));
  value = 2;
  pointers[0] = nullptr;
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 1u);
}

TEST_F(Launch, VolatileAccessesAloneDoNotMakeALoopWait) {
  // A million rounds: milliseconds, unless every round lets others run.
  CUdeviceptr word = upload(std::vector<uint32_t>(1));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_CUDA(launch(function(kVolatile, "count"), 1, 1, nullptr, word, 1'000'000u));
  EXPECT_EQ(download<uint32_t>(word, 1)[0], 1'000'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(Launch, GivesDynamicSharedMemory) {
  std::vector<uint32_t> data(256), reversed(256);
  for (uint32_t i = 0; i < 256; ++i) {
    data[i] = i;
    reversed[i] = 255 - i;
  }
  CUdeviceptr address = upload(data);
  CUfunction reverse = function(kShared, "reverse");
  void *pointers[] = {&address};
  ASSERT_CUDA(cuLaunchKernel(reverse, 1, 1, 1, 256, 1, 1, 1024, nullptr, pointers, nullptr));
  EXPECT_EQ(download<uint32_t>(address, 256), reversed);
}

TEST_F(Launch, RefusesShapesThatDoNotFit) {
  CUfunction empty = function(kSmall, "empty"), reverse = function(kShared, "reverse");
  const auto shape = [&](unsigned gx, unsigned gy, unsigned bx, unsigned bz, unsigned shared) {
    return cuLaunchKernel(empty, gx, gy, 1, bx, 1, bz, shared, nullptr, nullptr, nullptr);
  };
  EXPECT_RESULT(shape(0, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(shape(1, 65536, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(shape(1, 1, 1025, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(shape(1, 1, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(shape(1, 1, 1, 1, 49 * 1024), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(shape(1, 65535, 1024, 1, 0));
  CUdeviceptr data = upload(std::vector<uint32_t>(512));
  EXPECT_RESULT(launch(reverse, 1, 512, nullptr, data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuLaunchKernel(reverse, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(Launch, ExTakesAttributes) {
  CUdeviceptr out = upload(std::vector<uint32_t>(1));
  uint32_t value = 9;
  void *pointers[] = {&out, &value};
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[0].value.cooperative = 1;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.attrs = attributes;
  config.numAttrs = 2;
  CUfunction store = function(kSmall, "store");
  ASSERT_CUDA(cuLaunchKernelEx(&config, store, pointers, nullptr));
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 9u);
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim.x = 3;
  attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
  EXPECT_RESULT(cuLaunchKernelEx(&config, store, pointers, nullptr),
                CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

using Failure = DriverTest;

TEST_F(Failure, OfABadAddressStaysUntilTheContextIsGone) {
  CUfunction store = function(kSmall, "store");
  const CUdeviceptr bad = 8;
  testing::internal::CaptureStderr();
  ASSERT_CUDA(launch(store, 1, 1, nullptr, bad, 1u));
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("kernel 'store'"), std::string::npos) << report;
  EXPECT_NE(report.find("0x8"), std::string::npos) << report;
  EXPECT_NE(report.find("ptx:11"), std::string::npos) << report;
  CUdeviceptr address = 0;
  EXPECT_RESULT(cuMemAlloc(&address, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_RESULT(launch(store, 1, 1, nullptr, bad, 1u), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_CUDA(cuCtxDestroy(context_));
  EXPECT_CUDA(cuCtxCreate(&context_, nullptr, 0, 0));
  EXPECT_CUDA(cuMemAlloc(&address, 16));
}

TEST_F(Failure, OfATrapIsALaunchFailure) {
  testing::internal::CaptureStderr();
  ASSERT_CUDA(launch(function(kSmall, "trapping"), 1, 32, nullptr));
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("trapping"), std::string::npos);
}

TEST_F(Failure, LeavesOtherContextsAlone) {
  testing::internal::CaptureStderr();
  ASSERT_CUDA(launch(function(kSmall, "trapping"), 1, 1, nullptr));
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  testing::internal::GetCapturedStderr();
  CUcontext other = nullptr;
  ASSERT_CUDA(cuCtxCreate(&other, nullptr, 0, 0));
  CUdeviceptr out = upload(std::vector<uint32_t>(1));
  ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, nullptr, out, 3u));
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 3u);
  EXPECT_CUDA(cuCtxDestroy(other));
}

TEST_F(Failure, SkipsWhatWasQueuedBehindIt) {
  CUdeviceptr out = upload(std::vector<uint32_t>(1));
  CUfunction store = function(kSmall, "store"), trapping = function(kSmall, "trapping");
  // Pinned, so that reading it needs no call.
  void *host = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(&host, 4, 0));
  memset(host, 0, 4);
  testing::internal::CaptureStderr();
  ASSERT_CUDA(launch(trapping, 1, 1, nullptr));
  launch(store, 1, 1, nullptr, reinterpret_cast<CUdeviceptr>(host), 5u);
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(*static_cast<uint32_t *>(host), 0u);
  (void)out;
}

TEST_F(Launch, OfWhatCannotBeExecutedIsReportedOnce) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func cudaNowhere();\n"
                     ".visible .entry k()\n{\n";
  for (int i = 0; i < 128; ++i)
    text += "call cudaNowhere;\n"; // of the device runtime: others are refused by the load
  CUfunction refused = function((text + "ret;\n}\n").c_str(), "k");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i)
    EXPECT_RESULT(launch(refused, 1, 1, nullptr), CUDA_ERROR_INVALID_PTX);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("ptx:7:1: error: "), std::string::npos) << report;
  EXPECT_NE(report.find("(and 127 more, in lines 8, 9, "), std::string::npos) << report;
  EXPECT_EQ(report.find("error:"), report.rfind("error:")) << report;
}

// Hundreds of values meet at the head of a loop, more than are selected together.
TEST_F(Launch, KeepsAsManyValuesAsAKernelHas) {
  constexpr uint32_t kValues = 700, kRounds = 5, kThreads = 48;
  std::ostringstream text;
  text << ".version 8.0\n.target sm_80\n.address_size 64\n"
          ".visible .entry k(.param .u64 out, .param .u32 rounds)\n{\n"
          ".reg .pred %more;\n.reg .b32 %t, %n, %r<"
       << kValues << ">;\n.reg .b64 %p;\n"
       << "mov.u32 %t, %tid.x;\nld.param.u32 %n, [rounds];\nld.param.u64 %p, [out];\n";
  for (uint32_t v = 0; v < kValues; ++v)
    text << "add.u32 %r" << v << ", %t, " << v << ";\n";
  text << "Round:\n";
  for (uint32_t v = 0; v < kValues; ++v) // of its neighbour: each needs a register of its own
    text << "mad.lo.u32 %r" << v << ", %r" << v << ", 3, %r" << (v + 1) % kValues << ";\n";
  text << "sub.u32 %n, %n, 1;\nsetp.ne.u32 %more, %n, 0;\n@%more bra Round;\n";
  for (uint32_t v = 1; v < kValues; ++v)
    text << "xor.b32 %r0, %r0, %r" << v << ";\n";
  text << "mad.wide.u32 %p, %t, 4, %p;\nst.global.u32 [%p], %r0;\nret;\n}\n";

  std::vector<uint32_t> expected(kThreads);
  for (uint32_t t = 0; t < kThreads; ++t) {
    std::vector<uint32_t> values(kValues);
    for (uint32_t v = 0; v < kValues; ++v)
      values[v] = t + v;
    for (uint32_t round = 0; round < kRounds; ++round)
      for (uint32_t v = 0; v < kValues; ++v)
        values[v] = values[v] * 3 + values[(v + 1) % kValues];
    for (const uint32_t value : values)
      expected[t] ^= value;
  }
  const CUdeviceptr out = upload(std::vector<uint32_t>(kThreads));
  ASSERT_CUDA(launch(function(text.str().c_str(), "k"), 1, kThreads, nullptr, out, kRounds));
  EXPECT_EQ(download<uint32_t>(out, kThreads), expected);
}

TEST_F(Launch, CooperativeOnesOfSeveralDevicesRunOnOne) {
  CUdeviceptr word = upload(std::vector<uint32_t>{0});
  uint32_t value = 9;
  void *arguments[] = {&word, &value};
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUDA_LAUNCH_PARAMS launches[2] = {};
  launches[0] = {function(kSmall, "store"), 1, 1, 1, 1, 1, 1, 0, stream, arguments};
  launches[1] = launches[0];
  ASSERT_CUDA(cuLaunchCooperativeKernelMultiDevice(launches, 1, 0));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download<uint32_t>(word, 1)[0], 9u);
  EXPECT_RESULT(cuLaunchCooperativeKernelMultiDevice(launches, 2, 0), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_RESULT(cuLaunchCooperativeKernelMultiDevice(launches, 0, 0), CUDA_ERROR_INVALID_VALUE);
  launches[0].hStream = nullptr;
  EXPECT_RESULT(cuLaunchCooperativeKernelMultiDevice(launches, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

} // namespace ptxrun::tests
