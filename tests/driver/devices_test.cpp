// Several devices: PTXRUN_DEVICES=3, which ctest sets for these.
#include <cstdlib>

#include "loader/libcuda/cuda_multicast_api.h"
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

/// The kernel's handle is good afterwards; what it has of the other device is untouched.
TEST_F(Devices, LoseTheValuesOfVariablesAtAReset) {
  constexpr const char *kText = R"(.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 own = 5;
.visible .global .align 8 .u64 place = own;
.visible .entry bump()
{
  .reg .b32 %r;
  .reg .b64 %p;
  ld.global.u64 %p, [place];
  ld.global.u32 %r, [%p];
  add.u32 %r, %r, 1;
  st.global.u32 [%p], %r;
  ret;
}
)";
  choose(0);
  CUlibrary library = nullptr;
  ASSERT_CUDA(cuLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  ASSERT_CUDA(cuLibraryGetKernel(&kernel, library, "bump"));
  const auto bumped = [&](int device) {
    choose(device);
    EXPECT_CUDA(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr,
                               nullptr, nullptr));
    EXPECT_CUDA(cuCtxSynchronize());
    CUdeviceptr own = 0;
    uint32_t value = 0;
    EXPECT_CUDA(cuLibraryGetGlobal(&own, nullptr, library, "own"));
    EXPECT_CUDA(cuMemcpyDtoH(&value, own, 4));
    return value;
  };
  for (const unsigned value : {6u, 7u})
    for (const int device : {0, 1})
      EXPECT_EQ(bumped(device), value);
  const auto sharedBytes = [&](int device) {
    int bytes = 0;
    EXPECT_CUDA(cuKernelGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     kernel, device));
    return bytes;
  };
  // Of the device that is named; device 1 is current.
  EXPECT_CUDA(
      cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel, 0));
  EXPECT_EQ(sharedBytes(0), 60000);
  EXPECT_EQ(sharedBytes(1), 48 << 10);
  EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
  EXPECT_EQ(bumped(1), 8u);
  EXPECT_EQ(bumped(0), 6u);
  EXPECT_EQ(sharedBytes(0), 48 << 10);
  EXPECT_CUDA(cuDevicePrimaryCtxReset(1));
  EXPECT_EQ(bumped(1), 6u);
  EXPECT_EQ(bumped(0), 7u);
  EXPECT_CUDA(cuLibraryUnload(library));
}

/// A team of two: what multimem loads, stores and reduces, on each device's own memory.
TEST_F(Devices, AreReachedAtOnceThroughMulticastObjects) {
  constexpr const char *kText = R"(.version 8.6
.target sm_100a
.address_size 64
.visible .entry reduces(.param .u64 p)
{
  .reg .u64 %p, %b;
  .reg .b32 %v, %w, %s;
  .reg .f32 %f<4>;
  .reg .f64 %d;
  .shared .align 16 .b8 row[16];
  ld.param.u64 %p, [p];
  multimem.ld_reduce.relaxed.gpu.global.add.u32 %v, [%p];
  multimem.st.relaxed.gpu.global.u32 [%p+64], %v;
  multimem.red.relaxed.gpu.global.add.u32 [%p+4], 5;
  multimem.ld_reduce.weak.global.max.s32 %v, [%p+8];
  multimem.st.weak.global.u32 [%p+68], %v;
  multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%p+16];
  multimem.st.relaxed.gpu.global.v4.f32 [%p+80], {%f0, %f1, %f2, %f3};
  multimem.red.release.sys.global.add.v2.f32 [%p+32], {%f0, %f1};
  multimem.ld_reduce.relaxed.gpu.global.add.acc::f32.f16x2 %w, [%p+40];
  multimem.st.relaxed.gpu.global.f16x2 [%p+72], %w;
  multimem.ld_reduce.relaxed.gpu.global.add.f64 %d, [%p+48];
  multimem.st.relaxed.gpu.global.f64 [%p+56], %d;
  mov.u32 %s, row;
  st.shared.v4.f32 [%s], {%f0, %f1, %f2, %f3};
  fence.proxy.async;
  multimem.cp.async.bulk.global.shared::cta.bulk_group [%p+96], [%s], 16;
  multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p+112], [%s], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
.visible .entry bytes(.param .u64 p)
{
  .reg .u64 %p;
  .reg .b32 %v;
  ld.param.u64 %p, [p];
  multimem.ld_reduce.relaxed.gpu.global.add.e4m3x4 %v, [%p];
  multimem.st.relaxed.gpu.global.e4m3x4 [%p], %v;
  ret;
}
)";
  choose(0);
  constexpr size_t kUnit = 2 << 20;
  const std::string text = std::string(kText).replace(9, 3, "9.1"); // bulk copies by multimem
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, text.c_str()));
  CUfunction reduces = nullptr, bytes = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&reduces, module, "reduces"));
  ASSERT_CUDA(cuModuleGetFunction(&bytes, module, "bytes"));

  CUmulticastObjectProp team = {};
  team.size = kUnit;
  CUmemGenericAllocationHandle multicast = 0, memory[2] = {};
  team.numDevices = 4; // there are three
  EXPECT_RESULT(cuMulticastCreate(&multicast, &team), CUDA_ERROR_INVALID_VALUE);
  team.numDevices = 2;
  team.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR; // it serves this process, too
  ASSERT_CUDA(cuMulticastCreate(&multicast, &team));
  int shared = -1;
  EXPECT_RESULT(
      cuMemExportToShareableHandle(&shared, multicast, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      CUDA_ERROR_NOT_SUPPORTED);
  CUdeviceptr own[2] = {}, common = 0;
  CUmemAccessDesc access = {};
  access.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (int device = 0; device < 2; ++device) {
    CUmemAllocationProp property = {};
    property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    property.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    ASSERT_CUDA(cuMemCreate(&memory[device], kUnit, &property, 0));
    ASSERT_CUDA(cuMemAddressReserve(&own[device], kUnit, 0, 0, 0));
    ASSERT_CUDA(cuMemMap(own[device], kUnit, 0, memory[device], 0));
    ASSERT_CUDA(cuMemSetAccess(own[device], kUnit, &access, 1));
  }
  ASSERT_CUDA(cuMulticastAddDevice(multicast, 0));
  EXPECT_RESULT(cuMulticastBindMem(multicast, 0, memory[0], 0, kUnit, 0), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_RESULT(cuMulticastAddDevice(multicast, 0), CUDA_ERROR_INVALID_DEVICE);
  ASSERT_CUDA(cuMulticastAddDevice(multicast, 1));
  EXPECT_RESULT(cuMulticastAddDevice(multicast, 2), CUDA_ERROR_INVALID_DEVICE);
  ASSERT_CUDA(cuMemAddressReserve(&common, kUnit, 0, 0, 0));
  ASSERT_CUDA(cuMemMap(common, kUnit, 0, multicast, 0));
  ASSERT_CUDA(cuMulticastBindMem(multicast, 0, memory[0], 0, kUnit, 0));
  ASSERT_CUDA(cuMulticastBindAddr(multicast, 0, own[1], kUnit, 0)); // device 1's, by its address
  ASSERT_CUDA(cuMemSetAccess(common, kUnit, &access, 1));

  struct Words {
    uint32_t sum, count;
    int32_t greatest;
    uint32_t unused;
    float row[4], pair[2];
    uint16_t halves[2];
    uint32_t alsoUnused;
    double number, numbers;
    uint32_t sums;
    int32_t greatests;
    uint16_t halfSums[2];
    uint32_t stillUnused;
    float rows[4], copied[4];
    uint32_t added[4];
  };
  static_assert(offsetof(Words, number) == 48 && offsetof(Words, rows) == 80 &&
                offsetof(Words, added) == 112);
  // 1 and 2^-11 of f16: each sum of two is exact in f32, and rounds to even.
  const Words first{10, 100, -7, 0, {1, 2, 3, 4}, {10, 20}, {0x3c00, 0x3c01}, 0, 0.5, 0,
                    0,  0,   {}, 0, {},           {},       {1, 1, 1, 1}};
  const Words second{
      32, 200, -9, 0,  {0.5f, -2, 8, 1}, {30, 40}, {0x1000, 0x3c00}, 0, 0.25, 0, 0, 0,
      {}, 0,   {}, {}, {2, 2, 2, 2}};
  ASSERT_CUDA(cuMemcpyHtoD(own[0], &first, sizeof first));
  ASSERT_CUDA(cuMemcpyHtoD(own[1], &second, sizeof second));
  void *arguments[] = {&common};
  ASSERT_CUDA(cuLaunchKernel(reduces, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  ASSERT_CUDA(cuCtxSynchronize());
  for (int device = 0; device < 2; ++device) {
    const Words &before = device ? second : first;
    Words after;
    ASSERT_CUDA(cuMemcpyDtoH(&after, own[device], sizeof after));
    EXPECT_EQ(after.sum, before.sum);
    EXPECT_EQ(after.sums, 42u);
    EXPECT_EQ(after.count, before.count + 5);
    EXPECT_EQ(after.greatests, -7);
    const float rows[] = {1.5f, 0, 11, 5};
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(after.rows[i], rows[i]);
      EXPECT_EQ(after.copied[i], rows[i]);
      uint32_t bits;
      memcpy(&bits, &rows[i], 4);
      EXPECT_EQ(after.added[i], before.added[i] + bits);
    }
    EXPECT_EQ(after.pair[0], before.pair[0] + 1.5f);
    EXPECT_EQ(after.pair[1], before.pair[1]);
    EXPECT_EQ(after.halfSums[0], 0x3c00); // 1 + 2^-11: half of the last place, to even
    EXPECT_EQ(after.halfSums[1], 0x4000); // 2 + 2^-10: likewise
    EXPECT_EQ(after.numbers, 0.75);
  }
  EXPECT_CUDA(cuMulticastUnbind(multicast, 1, 0, kUnit));
  EXPECT_RESULT(cuMulticastUnbind(multicast, 1, 0, kUnit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMulticastUnbind(multicast, 2, 0, kUnit), CUDA_ERROR_INVALID_DEVICE);
  ASSERT_CUDA(cuMulticastBindMem(multicast, 0, memory[1], 0, kUnit, 0));
  ASSERT_CUDA(cuLaunchKernel(bytes, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED); // says that it is not there yet
  EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
  choose(0);
  EXPECT_CUDA(cuMemUnmap(common, kUnit));
  for (int device = 0; device < 2; ++device) {
    EXPECT_CUDA(cuMemUnmap(own[device], kUnit));
    EXPECT_CUDA(cuMemRelease(memory[device]));
  }
  EXPECT_CUDA(cuMemRelease(multicast));
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
