#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {

using Memory = DriverTest;

TEST_F(Memory, AllocatesAlignedAndFrees) {
  for (size_t bytes : {size_t{1}, size_t{1000}, size_t{100000}, size_t{8} << 20}) {
    CUdeviceptr address = 0, base = 0;
    size_t size = 0;
    ASSERT_CUDA(cuMemAlloc(&address, bytes));
    EXPECT_EQ(address % 256, 0u);
    EXPECT_CUDA(cuMemGetAddressRange(&base, &size, address + bytes - 1));
    EXPECT_EQ(base, address);
    EXPECT_EQ(size, bytes);
    EXPECT_CUDA(cuMemFree(address));
    EXPECT_RESULT(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  }
  CUdeviceptr address = 0;
  EXPECT_CUDA(cuMemFree(0));
  EXPECT_RESULT(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemAlloc(&address, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
}

/// Run a second time with the setting.
TEST_F(Memory, IsAsMuchAsTheSettingSays) {
  const char *setting = getenv("PTXRUN_MEMORY");
  if (!setting || strcmp(setting, "96M") != 0)
    GTEST_SKIP() << "PTXRUN_MEMORY=96M";
  size_t free = 0, total = 0;
  ASSERT_CUDA(cuMemGetInfo(&free, &total));
  EXPECT_EQ(total, size_t{96} << 20);
  EXPECT_LE(free, total);
  CUdeviceptr first = 0, second = 0;
  ASSERT_CUDA(cuMemAlloc(&first, size_t{80} << 20));
  EXPECT_RESULT(cuMemAlloc(&second, size_t{20} << 20), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_CUDA(cuMemFree(first));
  EXPECT_CUDA(cuMemAlloc(&second, size_t{20} << 20));
}

TEST_F(Memory, IsFreedWithoutACurrentContext) {
  CUdeviceptr address = 0;
  ASSERT_CUDA(cuMemAlloc(&address, 1000));
  CUcontext context = nullptr;
  ASSERT_CUDA(cuCtxPopCurrent(&context));
  EXPECT_CUDA(cuMemFree(address));
  EXPECT_RESULT(cuMemFree(address), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxPushCurrent(context));
}

TEST_F(Memory, CountsWhatIsInUse) {
  size_t freeBefore = 0, freeAfter = 0, total = 0;
  EXPECT_CUDA(cuMemGetInfo(&freeBefore, &total));
  EXPECT_LE(freeBefore, total);
  CUdeviceptr address = 0;
  ASSERT_CUDA(cuMemAlloc(&address, total / 2));
  EXPECT_CUDA(cuMemGetInfo(&freeAfter, &total));
  EXPECT_LE(freeAfter, total - total / 2);
  EXPECT_CUDA(cuMemFree(address));
}

TEST_F(Memory, CopiesInAllDirections) {
  std::vector<int> values(300);
  for (int i = 0; i < 300; ++i)
    values[static_cast<size_t>(i)] = i * i;
  CUdeviceptr a = upload(values), b = upload(std::vector<int>(300));
  EXPECT_CUDA(cuMemcpyDtoD(b, a, 1200));
  EXPECT_EQ(download<int>(b, 300), values);
  std::vector<int> host(300);
  EXPECT_CUDA(cuMemcpy(reinterpret_cast<CUdeviceptr>(host.data()), b, 1200));
  EXPECT_EQ(host, values);
  EXPECT_CUDA(cuMemcpyPeer(a, context_, b + 400, context_, 800));
  EXPECT_EQ(download<int>(a, 1)[0], 10000);
}

TEST_F(Memory, RefusesCopiesBeyondAnAllocation) {
  CUdeviceptr address = upload(std::vector<char>(100));
  char host[200] = {};
  EXPECT_RESULT(cuMemcpyHtoD(address, host, 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemcpyDtoH(host, address + 50, 51), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemcpyDtoH(host, 64, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemsetD8(address, 0, 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoH(host, address, 0));
}

TEST_F(Memory, FillsElementsOfEverySize) {
  CUdeviceptr address = upload(std::vector<uint32_t>(8));
  EXPECT_CUDA(cuMemsetD32(address, 0x01020304, 8));
  EXPECT_CUDA(cuMemsetD16(address + 4, 0xabcd, 2));
  EXPECT_CUDA(cuMemsetD8(address + 8, 0x55, 3));
  EXPECT_EQ(download<uint32_t>(address, 4),
            (std::vector<uint32_t>{0x01020304, 0xabcdabcd, 0x01555555, 0x01020304}));
  EXPECT_RESULT(cuMemsetD32(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, FillsAndCopiesRectangles) {
  size_t pitch = 0;
  CUdeviceptr address = 0;
  ASSERT_CUDA(cuMemAllocPitch(&address, &pitch, 10, 4, 4));
  EXPECT_GE(pitch, 10u);
  EXPECT_EQ(pitch % 256, 0u);
  EXPECT_CUDA(cuMemsetD8(address, 1, pitch * 4));
  EXPECT_CUDA(cuMemsetD2D8(address + pitch, pitch, 2, 3, 2));
  CUDA_MEMCPY2D copy = {};
  uint8_t host[4][5];
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = address;
  copy.srcPitch = pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.dstPitch = 5;
  copy.WidthInBytes = 5;
  copy.Height = 4;
  EXPECT_CUDA(cuMemcpy2D(&copy));
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x)
      EXPECT_EQ(host[y][x], (y == 1 || y == 2) && x < 3 ? 2 : 1) << y << "," << x;
}

TEST_F(Memory, CopiesBoxes) {
  constexpr size_t kWidth = 4, kHeight = 3, kDepth = 2;
  std::vector<uint8_t> source(kWidth * kHeight * kDepth);
  for (size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<uint8_t>(i);
  CUdeviceptr address = upload(source);
  uint8_t host[2 * 2 * 2];
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = address;
  copy.srcPitch = kWidth;
  copy.srcHeight = kHeight;
  copy.srcXInBytes = 1;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.dstPitch = 2;
  copy.dstHeight = 2;
  copy.WidthInBytes = 2;
  copy.Height = 2;
  copy.Depth = 2;
  EXPECT_CUDA(cuMemcpy3D(&copy));
  const uint8_t expected[] = {5, 6, 9, 10, 17, 18, 21, 22};
  EXPECT_EQ(memcmp(host, expected, sizeof host), 0);
}

TEST_F(Memory, HostMemoryIsSeenByKernelsAtItsAddress) {
  void *host = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr device = 0;
  ASSERT_CUDA(cuMemHostGetDevicePointer(&device, host, 0));
  EXPECT_EQ(device, reinterpret_cast<CUdeviceptr>(host));
  ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, nullptr, device, 321u));
  ASSERT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(*static_cast<uint32_t *>(host), 321u);
  unsigned flags = 0;
  EXPECT_CUDA(cuMemHostGetFlags(&flags, host));
  EXPECT_EQ(flags & CU_MEMHOSTALLOC_DEVICEMAP, unsigned{CU_MEMHOSTALLOC_DEVICEMAP});
  EXPECT_CUDA(cuMemFreeHost(host));
  EXPECT_RESULT(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, RegistersHostMemoryOnce) {
  std::vector<char> host(8192);
  CUdeviceptr device = 0;
  EXPECT_RESULT(cuMemHostGetDevicePointer(&device, host.data(), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostRegister(host.data(), host.size(), 0));
  EXPECT_RESULT(cuMemHostRegister(host.data() + 100, 10, 0),
                CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_CUDA(cuMemHostGetDevicePointer(&device, host.data() + 5, 0));
  EXPECT_EQ(device, reinterpret_cast<CUdeviceptr>(host.data() + 5));
  EXPECT_CUDA(cuMemHostUnregister(host.data()));
  EXPECT_RESULT(cuMemHostUnregister(host.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(Memory, PointersKnowWhatTheyAre) {
  CUdeviceptr device = upload(std::vector<char>(1000)), managed = 0;
  ASSERT_CUDA(cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL));
  unsigned type = 0;
  EXPECT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 999));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  unsigned isManaged = 7;
  CUdeviceptr start = 0;
  CUcontext context = nullptr;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                      CU_POINTER_ATTRIBUTE_CONTEXT};
  void *data[] = {&isManaged, &start, &context};
  EXPECT_CUDA(cuPointerGetAttributes(3, attributes, data, managed + 50));
  EXPECT_EQ(isManaged, 1u);
  EXPECT_EQ(start, managed);
  EXPECT_EQ(context, context_);
}

TEST_F(Memory, VariablesOfModulesAreKnown) {
  CUmodule module = load(R"(.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 own[3];
.visible .global .attribute(.managed) .align 4 .u32 common[5];
.visible .global .align 4 .u32 other;
)");
  CUdeviceptr own = 0, common = 0;
  ASSERT_CUDA(cuModuleGetGlobal(&own, nullptr, module, "own"));
  ASSERT_CUDA(cuModuleGetGlobal(&common, nullptr, module, "common"));
  for (const bool isManaged : {false, true}) {
    unsigned managed = 7, type = 7;
    int ordinal = -1;
    CUcontext context = nullptr;
    size_t bytes = 0;
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_CONTEXT,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *data[] = {&managed, &type, &ordinal, &context, &bytes};
    EXPECT_CUDA(cuPointerGetAttributes(5, attributes, data, (isManaged ? common : own) + 8));
    EXPECT_EQ(managed, unsigned{isManaged});
    EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
    EXPECT_EQ(ordinal, 0);
    EXPECT_EQ(context, context_);
    if (isManaged)
      EXPECT_EQ(bytes, 20u);
  }
  EXPECT_CUDA(cuMemAdvise(common, 20, CU_MEM_ADVISE_SET_READ_MOSTLY, {}));
  EXPECT_CUDA(cuMemPrefetchAsync(common, 20, {CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, nullptr));
  EXPECT_RESULT(cuMemFree(common), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD8(common, 0, 24)); // a little further: still the module's
  EXPECT_CUDA(cuModuleUnload(module));
  unsigned type = 0;
  EXPECT_RESULT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, common),
                CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, UnknownPointersHaveNoAttributesButAreNoError) {
  int onStack = 0, ordinal = 7;
  unsigned type = 7;
  const auto pointer = reinterpret_cast<CUdeviceptr>(&onStack);
  EXPECT_RESULT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer),
                CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void *data[] = {&type, &ordinal};
  EXPECT_CUDA(cuPointerGetAttributes(2, attributes, data, pointer));
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, -2);
}

TEST_F(Memory, RangesTellWhatWasAdvised) {
  constexpr size_t kBytes = 1 << 16;
  constexpr int kNone = -2, kCpu = -1;
  CUdeviceptr memory = 0, device = 0;
  ASSERT_CUDA(cuMemAllocManaged(&memory, kBytes, CU_MEM_ATTACH_GLOBAL));
  const auto ask = [&](CUmem_range_attribute attribute, size_t bytes) {
    int answer = -100;
    EXPECT_CUDA(cuMemRangeGetAttribute(&answer, sizeof answer, attribute, memory, bytes));
    return answer;
  };
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, kBytes), kNone);
  const CUmemLocation gpu{CU_MEM_LOCATION_TYPE_DEVICE, 0}, host{CU_MEM_LOCATION_TYPE_HOST, 0};
  EXPECT_CUDA(cuMemAdvise(memory, kBytes / 2, CU_MEM_ADVISE_SET_READ_MOSTLY, gpu));
  EXPECT_CUDA(cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
  EXPECT_CUDA(cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_ACCESSED_BY, gpu));
  EXPECT_CUDA(cuMemPrefetchAsync_v2(memory, kBytes / 2, gpu, 0, nullptr));
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, kBytes / 2), 1);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, kBytes), 0);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, kBytes), kCpu);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, kBytes / 2), 0);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, kBytes), kNone);
  int devices[2] = {9, 9}, type = 0;
  void *answers[] = {devices, &type};
  size_t sizes[] = {sizeof devices, sizeof type};
  CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE};
  EXPECT_CUDA(cuMemRangeGetAttributes(answers, sizes, attributes, 2, memory + 4096, 4096));
  EXPECT_EQ(devices[0], 0);
  EXPECT_EQ(devices[1], kNone);
  EXPECT_EQ(type, CU_MEM_LOCATION_TYPE_DEVICE);
  ASSERT_CUDA(cuMemAlloc(&device, 64));
  EXPECT_RESULT(cuMemRangeGetAttribute(&type, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, device, 64),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemRangeGetAttribute(&type, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 64),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Memory, PoolsHandOutAgainWhatAStreamWillHaveFreed) {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.maxSize = 3 << 20;
  CUmemoryPool pool = nullptr;
  ASSERT_CUDA(cuMemPoolCreate(&pool, &properties));
  CUstream stream = nullptr, other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CUdeviceptr flag = upload(std::vector<uint32_t>(1));
  ASSERT_CUDA(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
  CUdeviceptr first = 0, again = 0, elsewhere = 0;
  ASSERT_CUDA(cuMemAllocFromPoolAsync(&first, 1 << 20, pool, stream));
  ASSERT_CUDA(cuMemFreeAsync(first, stream)); // the stream does not get to it yet
  EXPECT_RESULT(cuMemFreeAsync(first, stream), CUDA_ERROR_INVALID_VALUE);
  for (int i = 0; i < 10; ++i) {
    ASSERT_CUDA(cuMemAllocFromPoolAsync(&again, 1 << 20, pool, stream));
    EXPECT_EQ(again, first);
    ASSERT_CUDA(cuMemFreeAsync(again, stream));
  }
  ASSERT_CUDA(cuMemAllocFromPoolAsync(&elsewhere, 1 << 20, pool, other)); // no order between them
  EXPECT_NE(elsewhere, first);
  ASSERT_CUDA(cuStreamWriteValue32(other, flag, 1, 0));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  const auto attribute = [&](CUmemPool_attribute which) {
    uint64_t value = 0;
    EXPECT_CUDA(cuMemPoolGetAttribute(pool, which, &value));
    return value;
  };
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1u << 20);
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 2u << 20);
  EXPECT_RESULT(cuMemAllocFromPoolAsync(&again, 4 << 20, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_CUDA(cuMemFree(elsewhere)); // counts as well
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(Memory, PoolsAllocateInStreamOrder) {
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, 0));
  CUmemoryPool pool = nullptr;
  ASSERT_CUDA(cuDeviceGetDefaultMemPool(&pool, 0));
  uint64_t before = 0, during = 0, after = 0;
  EXPECT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &before));
  CUdeviceptr address = 0;
  ASSERT_CUDA(cuMemAllocAsync(&address, 4096, stream));
  ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, stream, address, 5u));
  EXPECT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &during));
  EXPECT_EQ(during, before + 4096);
  EXPECT_CUDA(cuMemFreeAsync(address, stream));
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &after));
  EXPECT_EQ(after, before);
}

TEST_F(Memory, PoolsOfTheHostAndOfManagedMemory) {
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, 0));
  for (const CUmemAllocationType type :
       {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_ALLOCATION_TYPE_MANAGED}) {
    const bool isManaged = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
    properties.maxSize = 1 << 21;
    CUmemoryPool made = nullptr, ofPlace = nullptr, ofDevice = nullptr;
    ASSERT_CUDA(cuMemPoolCreate(&made, &properties));
    EXPECT_CUDA(cuMemGetDefaultMemPool(&ofPlace, &properties.location, type));
    EXPECT_CUDA(cuDeviceGetDefaultMemPool(&ofDevice, 0));
    EXPECT_NE(ofPlace, ofDevice);
    EXPECT_CUDA(cuMemSetMemPool(&properties.location, type, made));
    EXPECT_CUDA(cuMemGetMemPool(&ofDevice, &properties.location, type));
    EXPECT_EQ(ofDevice, made);
    EXPECT_CUDA(cuMemSetMemPool(&properties.location, type, ofPlace));
    for (CUmemoryPool pool : {made, ofPlace}) {
      CUdeviceptr address = 0;
      ASSERT_CUDA(cuMemAllocFromPoolAsync(&address, 4096, pool, stream));
      ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, stream, address, 5u));
      ASSERT_CUDA(cuStreamSynchronize(stream));
      EXPECT_EQ(*reinterpret_cast<unsigned *>(address), 5u);
      unsigned memory = 0, managed = 2;
      EXPECT_CUDA(cuPointerGetAttribute(&memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
      EXPECT_EQ(memory, unsigned(isManaged ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST));
      EXPECT_CUDA(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
      EXPECT_EQ(managed, unsigned(isManaged));
      EXPECT_CUDA(cuMemFreeAsync(address, stream));
    }
    CUdeviceptr large = 0;
    EXPECT_RESULT(cuMemAllocFromPoolAsync(&large, (1 << 21) + 1, made, stream),
                  CUDA_ERROR_OUT_OF_MEMORY);
    ASSERT_CUDA(cuStreamSynchronize(stream));
    EXPECT_CUDA(cuMemPoolDestroy(made));
  }
}

} // namespace ptxrun::tests
