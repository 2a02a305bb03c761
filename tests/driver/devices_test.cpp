// Several devices: PTXRUN_DEVICES=3, which ctest sets for these.
#include <cstdlib>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {

namespace {

class Devices : public testing::Test {
 protected:
  void SetUp() override {
    const char *setting = getenv("PTXRUN_DEVICES");
    if (!setting || strcmp(setting, "3") != 0)
      GTEST_SKIP() << "PTXRUN_DEVICES=3";
    ASSERT_CUDA(cuInit(0));
    for (int device = 0; device < 3; ++device)
      ASSERT_CUDA(cuDevicePrimaryCtxRetain(&contexts_[device], device));
  }
  void TearDown() override {
    for (int device = 0; device < 3; ++device)
      if (contexts_[device])
        EXPECT_CUDA(cuDevicePrimaryCtxRelease(device));
  }
  void choose(int device) { ASSERT_CUDA(cuCtxSetCurrent(contexts_[device])); }
  CUcontext contexts_[3] = {};
};

} // namespace

TEST_F(Devices, HaveNumbersNamesAndAddresses) {
  int count = 0;
  ASSERT_CUDA(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 3);
  CUdevice device = -1;
  EXPECT_CUDA(cuDeviceGet(&device, 2));
  EXPECT_EQ(device, 2);
  EXPECT_RESULT(cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
  CUuuid first = {}, second = {};
  EXPECT_CUDA(cuDeviceGetUuid(&first, 0));
  EXPECT_CUDA(cuDeviceGetUuid(&second, 1));
  EXPECT_NE(memcmp(&first, &second, sizeof first), 0);
  char address[32] = "";
  EXPECT_CUDA(cuDeviceGetPCIBusId(address, sizeof address, 2));
  EXPECT_CUDA(cuDeviceGetByPCIBusId(&device, address));
  EXPECT_EQ(device, 2);
}

TEST_F(Devices, AreRememberedEachAsAccessingManagedMemory) {
  choose(0);
  CUdeviceptr memory = 0;
  ASSERT_CUDA(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  for (int device : {1, 2}) {
    const CUmemLocation place = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    EXPECT_CUDA(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, place));
  }
  const auto accessing = [&] {
    std::vector<int> devices(4);
    EXPECT_CUDA(cuMemRangeGetAttribute(devices.data(), 16, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                       memory, 4096));
    return devices;
  };
  EXPECT_EQ(accessing(), (std::vector<int>{1, 2, -2, -2}));
  EXPECT_CUDA(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_UNSET_ACCESSED_BY,
                          (CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, 1})));
  EXPECT_EQ(accessing(), (std::vector<int>{2, -2, -2, -2}));
  EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Devices, HaveContextsAndStreamsOfTheirOwn) {
  for (int device = 0; device < 3; ++device) {
    choose(device);
    CUdevice found = -1;
    EXPECT_CUDA(cuCtxGetDevice(&found));
    EXPECT_EQ(found, device);
    CUstream stream = nullptr;
    ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    EXPECT_CUDA(cuStreamGetDevice(stream, &found));
    EXPECT_EQ(found, device);
    EXPECT_CUDA(cuStreamDestroy(stream));
  }
  EXPECT_NE(contexts_[0], contexts_[1]);
}

TEST_F(Devices, ArePeers) {
  int can = -1;
  EXPECT_CUDA(cuDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_CUDA(cuDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_EQ(can, 0);
  int value = -1;
  EXPECT_CUDA(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 2));
  EXPECT_EQ(value, 1);
  EXPECT_RESULT(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 2, 2),
                CUDA_ERROR_INVALID_DEVICE);
  choose(0);
  EXPECT_RESULT(cuCtxDisablePeerAccess(contexts_[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_CUDA(cuCtxEnablePeerAccess(contexts_[1], 0));
  EXPECT_RESULT(cuCtxEnablePeerAccess(contexts_[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_CUDA(cuCtxDisablePeerAccess(contexts_[1]));
  EXPECT_RESULT(cuCtxEnablePeerAccess(contexts_[0], 0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Devices, HaveMemoryOfTheirOwn) {
  size_t free[3] = {}, total = 0;
  for (int device = 0; device < 3; ++device) {
    choose(device);
    ASSERT_CUDA(cuMemGetInfo(&free[device], &total));
    EXPECT_EQ(total, size_t{64} << 20);
  }
  choose(1);
  CUdeviceptr large = 0, more = 0;
  ASSERT_CUDA(cuMemAlloc(&large, size_t{60} << 20));
  EXPECT_RESULT(cuMemAlloc(&more, size_t{10} << 20), CUDA_ERROR_OUT_OF_MEMORY);
  int ordinal = -1;
  EXPECT_CUDA(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, large + 100));
  EXPECT_EQ(ordinal, 1);
  choose(2);
  size_t now = 0;
  EXPECT_CUDA(cuMemGetInfo(&now, nullptr));
  EXPECT_EQ(now, free[2]);
  ASSERT_CUDA(cuMemAlloc(&more, size_t{60} << 20));
  EXPECT_CUDA(cuMemcpyPeer(more, contexts_[2], large, contexts_[1], 1 << 20));
  EXPECT_CUDA(cuMemFree(more));
  EXPECT_CUDA(cuMemFree(large));
}

TEST_F(Devices, HavePoolsOfTheirOwn) {
  CUmemoryPool pools[2] = {};
  for (int device = 0; device < 2; ++device)
    ASSERT_CUDA(cuDeviceGetDefaultMemPool(&pools[device], device));
  EXPECT_NE(pools[0], pools[1]);
  choose(1);
  CUdeviceptr address = 0;
  ASSERT_CUDA(cuMemAllocAsync(&address, 1000, nullptr));
  uint64_t used[2] = {};
  for (int i = 0; i < 2; ++i)
    EXPECT_CUDA(cuMemPoolGetAttribute(pools[i], CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used[i]));
  EXPECT_EQ(used[0], 0u);
  EXPECT_EQ(used[1], 1000u);
  EXPECT_CUDA(cuMemFreeAsync(address, nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(Devices, HaveVariablesOfTheirOwnAndShareManagedOnes) {
  constexpr const char *kText = R"(.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 own = 5;
.visible .global .attribute(.managed) .align 4 .u32 common = 7;
.visible .entry bump()
{
  .reg .b32 %r<3>;
  ld.global.u32 %r1, [own];
  add.u32 %r1, %r1, 1;
  st.global.u32 [own], %r1;
  ld.global.u32 %r2, [common];
  add.u32 %r2, %r2, 1;
  st.global.u32 [common], %r2;
  ret;
}
)";
  choose(0);
  CUlibrary library = nullptr;
  ASSERT_CUDA(cuLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  ASSERT_CUDA(cuLibraryGetKernel(&kernel, library, "bump"));
  CUdeviceptr own[3] = {}, common[3] = {};
  for (int device = 0; device < 3; ++device) {
    choose(device);
    for (int i = 0; i <= device; ++i)
      ASSERT_CUDA(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr,
                                 nullptr, nullptr));
    ASSERT_CUDA(cuCtxSynchronize());
    ASSERT_CUDA(cuLibraryGetGlobal(&own[device], nullptr, library, "own"));
    ASSERT_CUDA(cuLibraryGetManaged(&common[device], nullptr, library, "common"));
    uint32_t value = 0;
    ASSERT_CUDA(cuMemcpyDtoH(&value, own[device], 4));
    EXPECT_EQ(value, 6u + static_cast<unsigned>(device));
    EXPECT_EQ(common[device], common[0]);
    int ordinal = -1;
    EXPECT_CUDA(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, own[device]));
    EXPECT_EQ(ordinal, device);
    EXPECT_CUDA(cuMemAdvise(common[0], 4, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                            {CU_MEM_LOCATION_TYPE_DEVICE, device}));
    CUfunction function = nullptr;
    ASSERT_CUDA(cuKernelGetFunction(&function, kernel));
    CUlibrary found = nullptr;
    EXPECT_CUDA(cuKernelGetLibrary(&found, reinterpret_cast<CUkernel>(function)));
    EXPECT_EQ(found, library);
  }
  EXPECT_NE(own[0], own[1]);
  EXPECT_EQ(*reinterpret_cast<uint32_t *>(common[0]), 13u);
  EXPECT_CUDA(cuLibraryUnload(library));
}

TEST_F(Devices, WaitForEventsOfOneAnother) {
  choose(0);
  CUfunction churn[2] = {};
  CUdeviceptr counters = 0;
  CUmodule modules[2] = {};
  CUstream streams[2] = {};
  CUevent event = nullptr;
  for (int device = 0; device < 2; ++device) {
    choose(device);
    ASSERT_CUDA(cuModuleLoadData(&modules[device], kSmall));
    ASSERT_CUDA(cuModuleGetFunction(&churn[device], modules[device], "store"));
    ASSERT_CUDA(cuStreamCreate(&streams[device], CU_STREAM_NON_BLOCKING));
  }
  choose(0);
  ASSERT_CUDA(cuMemAlloc(&counters, 4));
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  for (uint32_t round = 0; round < 50; ++round) {
    uint32_t first = 2 * round, second = first + 1;
    void *firstArguments[] = {&counters, &first}, *secondArguments[] = {&counters, &second};
    choose(0);
    ASSERT_CUDA(cuLaunchKernel(churn[0], 1, 1, 1, 1, 1, 1, 0, streams[0], firstArguments, nullptr));
    ASSERT_CUDA(cuEventRecord(event, streams[0]));
    choose(1);
    ASSERT_CUDA(cuStreamWaitEvent(streams[1], event, 0));
    ASSERT_CUDA(
        cuLaunchKernel(churn[1], 1, 1, 1, 1, 1, 1, 0, streams[1], secondArguments, nullptr));
    ASSERT_CUDA(cuStreamSynchronize(streams[1]));
    uint32_t value = 0;
    ASSERT_CUDA(cuMemcpyDtoH(&value, counters, 4));
    ASSERT_EQ(value, second);
  }
}

TEST_F(Devices, LoseWhatIsTheirsAtAResetAlone) {
  CUdeviceptr addresses[2] = {};
  for (int device = 0; device < 2; ++device) {
    choose(device);
    ASSERT_CUDA(cuMemAlloc(&addresses[device], 100));
  }
  EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
  EXPECT_CUDA(cuMemsetD8(addresses[1], 1, 100));
  EXPECT_CUDA(cuMemFree(addresses[1]));
}

} // namespace ptxrun::tests
