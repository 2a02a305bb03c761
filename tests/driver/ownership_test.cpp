// What belongs to a context goes with it, and nothing else does.
#include <thread>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

class Ownership : public DriverTest {
 protected:
  /// Destroys the fixture's context and makes another one.
  void beginAnew() {
    ASSERT_CUDA(cuCtxDestroy(context_));
    ASSERT_CUDA(cuCtxCreate(&context_, nullptr, 0, 0));
  }
  size_t freeBytes() {
    size_t free = 0, total = 0;
    EXPECT_CUDA(cuMemGetInfo(&free, &total));
    return free;
  }
};

TEST_F(Ownership, MemoryOfDestroyedContextsIsFree) {
  constexpr size_t kBytes = size_t{1} << 30;
  size_t total = 0, free = 0;
  ASSERT_CUDA(cuMemGetInfo(&free, &total));
  const size_t bytes = std::min(kBytes, free / 3);
  for (int round = 0; round < 24; ++round) {
    CUdeviceptr memory = 0, managed = 0;
    void *host = nullptr;
    ASSERT_CUDA(cuMemAlloc(&memory, bytes)) << round;
    ASSERT_CUDA(cuMemAllocManaged(&managed, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    ASSERT_CUDA(cuMemHostAlloc(&host, 1 << 20, 0));
    ASSERT_CUDA(cuMemsetD8(memory, 1, 4096));
    beginAnew();
  }
  EXPECT_GE(freeBytes() + (size_t{64} << 20), free); // the machine's may have changed a little
}

TEST_F(Ownership, HandlesMeanNothingAfterTheirContext) {
  CUmodule module = load(kAdd);
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUarray array = nullptr;
  CUdeviceptr memory = 0;
  void *host = nullptr;
  std::vector<char> registered(4096);
  const CUDA_ARRAY3D_DESCRIPTOR shape{16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  ASSERT_CUDA(cuModuleGetFunction(&function, module, "add"));
  ASSERT_CUDA(cuStreamCreate(&stream, 0));
  ASSERT_CUDA(cuEventCreate(&event, 0));
  ASSERT_CUDA(cuEventRecord(event, stream));
  ASSERT_CUDA(cuArray3DCreate(&array, &shape));
  ASSERT_CUDA(cuMemAlloc(&memory, 4096));
  ASSERT_CUDA(cuMemHostAlloc(&host, 4096, 0));
  ASSERT_CUDA(cuMemHostRegister(registered.data(), registered.size(), 0));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC sampling = {};
  CUtexObject texture = 0;
  ASSERT_CUDA(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
  beginAnew();

  CUfunction found = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR said = {};
  EXPECT_RESULT(cuModuleGetFunction(&found, module, "add"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(launch(function, 1, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuArray3DGetDescriptor(&said, array), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuTexObjectDestroy(texture), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemHostUnregister(registered.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_CUDA(cuMemHostRegister(registered.data(), registered.size(), 0));
}

TEST_F(Ownership, OtherContextsKeepWhatIsTheirs) {
  CUfunction add = function(kAdd, "add");
  const CUdeviceptr a = upload<float>({1, 2}), b = upload<float>({3, 4});
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, 0));
  CUcontext other = nullptr;
  CUdeviceptr theirs = 0;
  ASSERT_CUDA(cuCtxCreate(&other, nullptr, 0, 0));
  ASSERT_CUDA(cuMemAlloc(&theirs, 4096));
  ASSERT_CUDA(cuCtxDestroy(other));
  EXPECT_CUDA(launch(add, 1, 2, nullptr, a, a, b, 2));
  EXPECT_CUDA(cuEventRecord(event, nullptr));
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_EQ(download<float>(a, 2), (std::vector<float>{4, 6}));
}

TEST_F(Ownership, DestructionWaitsForWhatRuns) {
  CUfunction churn = function(kSmall, "churn");
  const CUdeviceptr memory = upload<uint32_t>({1});
  for (int i = 0; i < 8; ++i)
    ASSERT_CUDA(launch(churn, 1, 1, nullptr, memory, 1 << 20));
  beginAnew(); // a kernel that still ran would write to memory that is gone
}

TEST_F(Ownership, AContextDestroyedElsewhereSaysSo) {
  CUcontext doomed = nullptr;
  ASSERT_CUDA(cuCtxCreate(&doomed, nullptr, 0, 0));
  std::thread([&] { EXPECT_CUDA(cuCtxDestroy(doomed)); }).join();
  CUdeviceptr memory = 0;
  EXPECT_RESULT(cuMemAlloc(&memory, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUstream stream = nullptr;
  EXPECT_RESULT(cuStreamCreate(&stream, 0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext popped = nullptr;
  EXPECT_CUDA(cuCtxPopCurrent(&popped));
  EXPECT_CUDA(cuMemAlloc(&memory, 4));
}

TEST_F(Ownership, ThePrimaryContextBeginsAnew) {
  CUcontext primary = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&primary, 0));
  ASSERT_CUDA(cuCtxPushCurrent(primary));
  const size_t free = freeBytes();
  CUdeviceptr memory = 0, pooled = 0;
  CUevent event = nullptr;
  CUmodule module = load(kVariables);
  ASSERT_CUDA(cuMemAlloc(&memory, 256 << 20));
  ASSERT_CUDA(cuMemAllocAsync(&pooled, 256 << 20, nullptr));
  ASSERT_CUDA(cuEventCreate(&event, 0));
  ASSERT_CUDA(cuDevicePrimaryCtxReset(0));
  EXPECT_GE(freeBytes() + (size_t{64} << 20), free);
  EXPECT_RESULT(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemFreeAsync(pooled, nullptr), CUDA_ERROR_INVALID_VALUE);

  ASSERT_CUDA(cuMemAlloc(&memory, 4096));
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(0)); // nobody retains it any more
  EXPECT_RESULT(cuMemAlloc(&memory, 4096), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT_RESULT(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAlloc(&memory, 4096));
  EXPECT_CUDA(cuCtxPopCurrent(&primary));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
}

} // namespace
} // namespace ptxrun::tests
