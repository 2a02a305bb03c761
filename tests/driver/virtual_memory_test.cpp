// Virtual memory management: addresses, memory, mappings, access.
#include <unistd.h>

#include "loader/libcuda/cuda_multicast_api.h"
#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {

namespace {

class VirtualMemory : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    ASSERT_CUDA(
        cuMemGetAllocationGranularity(&unit_, &properties_, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ASSERT_GT(unit_, 0u);
  }
  CUdeviceptr reserve(size_t units) {
    CUdeviceptr address = 0;
    EXPECT_CUDA(cuMemAddressReserve(&address, units * unit_, 0, 0, 0));
    return address;
  }
  CUmemGenericAllocationHandle create(size_t units) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_CUDA(cuMemCreate(&handle, units * unit_, &properties_, 0));
    return handle;
  }
  CUresult grant(CUdeviceptr address, size_t units, CUmemAccess_flags flags) {
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return cuMemSetAccess(address, units * unit_, &access, 1);
  }
  CUmemAllocationProp properties_ = {};
  size_t unit_ = 0;
};
constexpr auto kReadWrite = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

} // namespace

TEST_F(VirtualMemory, IsUsedByKernelsAndCopies) {
  int isSupported = 0;
  ASSERT_CUDA(cuDeviceGetAttribute(&isSupported,
                                   CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  EXPECT_EQ(isSupported, 1);
  CUdeviceptr address = reserve(1);
  CUmemGenericAllocationHandle memory = create(1);
  ASSERT_CUDA(cuMemMap(address, unit_, 0, memory, 0));
  ASSERT_CUDA(grant(address, 1, kReadWrite));
  ASSERT_CUDA(cuMemRelease(memory)); // the mapping keeps it
  CUfunction store = function(kSmall, "store");
  ASSERT_CUDA(launch(store, 1, 1, nullptr, address + unit_ - 4, 77u));
  EXPECT_EQ(download<uint32_t>(address + unit_ - 4, 1)[0], 77u);
  EXPECT_EQ(download<uint32_t>(address, 1)[0], 0u);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  ASSERT_CUDA(cuMemGetAddressRange(&base, &bytes, address + 8));
  EXPECT_EQ(base, address);
  EXPECT_EQ(bytes, unit_);
  unsigned type = 0;
  ASSERT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_RESULT(cuMemFree(address), CUDA_ERROR_INVALID_VALUE); // not allocated, but mapped
  ASSERT_CUDA(cuMemUnmap(address, unit_));
  EXPECT_RESULT(cuMemsetD8(address, 0, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAddressFree(address, unit_));
}

TEST_F(VirtualMemory, GrowsInPlace) {
  CUdeviceptr address = reserve(4);
  CUmemGenericAllocationHandle first = create(1), second = create(2);
  ASSERT_CUDA(cuMemMap(address, unit_, 0, first, 0));
  ASSERT_CUDA(grant(address, 1, kReadWrite));
  ASSERT_CUDA(cuMemsetD32(address, 5, unit_ / 4));
  ASSERT_CUDA(cuMemMap(address + unit_, 2 * unit_, 0, second, 0));
  ASSERT_CUDA(grant(address, 3, kReadWrite)); // over both
  ASSERT_CUDA(cuMemsetD32(address + unit_ - 4, 6, 2));
  EXPECT_EQ(download<uint32_t>(address + unit_ - 8, 3), (std::vector<uint32_t>{5, 6, 6}));
  ASSERT_CUDA(cuMemUnmap(address, 3 * unit_));
  ASSERT_CUDA(cuMemRelease(first));
  ASSERT_CUDA(cuMemRelease(second));
  EXPECT_CUDA(cuMemAddressFree(address, 4 * unit_));
}

TEST_F(VirtualMemory, ShowsOneMemoryAtTwoAddresses) {
  CUdeviceptr a = reserve(1), b = reserve(1);
  CUmemGenericAllocationHandle memory = create(2);
  ASSERT_CUDA(cuMemMap(a, unit_, unit_, memory, 0));
  ASSERT_CUDA(cuMemMap(b, unit_, unit_, memory, 0));
  ASSERT_CUDA(grant(a, 1, kReadWrite));
  ASSERT_CUDA(grant(b, 1, CU_MEM_ACCESS_FLAGS_PROT_READ));
  ASSERT_CUDA(cuMemsetD32(a + 64, 9, 1));
  EXPECT_EQ(download<uint32_t>(b + 64, 1)[0], 9u);
  unsigned long long flags = 0;
  const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  ASSERT_CUDA(cuMemGetAccess(&flags, &device, b));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
  CUmemGenericAllocationHandle again = 0;
  ASSERT_CUDA(cuMemRetainAllocationHandle(&again, reinterpret_cast<void *>(a + 100)));
  EXPECT_EQ(again, memory);
  EXPECT_CUDA(cuMemRelease(memory));
  CUmemAllocationProp answered = {};
  EXPECT_CUDA(cuMemGetAllocationPropertiesFromHandle(&answered, memory)); // held once more
  EXPECT_EQ(answered.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_CUDA(cuMemRelease(memory));
  EXPECT_RESULT(cuMemRelease(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemUnmap(a, unit_));
  EXPECT_CUDA(cuMemUnmap(b, unit_));
}

TEST_F(VirtualMemory, ReadOnlyMemoryStopsKernelsThatWrite) {
  CUdeviceptr address = reserve(1);
  CUmemGenericAllocationHandle memory = create(1);
  ASSERT_CUDA(cuMemMap(address, unit_, 0, memory, 0));
  ASSERT_CUDA(grant(address, 1, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_EQ(download<uint32_t>(address, 1)[0], 0u);
  ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, nullptr, address, 1u));
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(VirtualMemory, IsExportedAsAFile) {
  properties_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle memory = create(1), imported = 0;
  CUdeviceptr a = reserve(1), b = reserve(1);
  int file = -1;
  ASSERT_CUDA(
      cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  ASSERT_CUDA(cuMemImportFromShareableHandle(&imported,
                                             reinterpret_cast<void *>(static_cast<intptr_t>(file)),
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(file);
  ASSERT_CUDA(cuMemMap(a, unit_, 0, memory, 0));
  ASSERT_CUDA(cuMemMap(b, unit_, 0, imported, 0));
  ASSERT_CUDA(grant(a, 1, kReadWrite));
  ASSERT_CUDA(grant(b, 1, kReadWrite));
  ASSERT_CUDA(cuMemsetD32(a, 123, 1));
  EXPECT_EQ(download<uint32_t>(b, 1)[0], 123u);
  EXPECT_RESULT(cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_FABRIC, 0),
                CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_RESULT(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(intptr_t{-1}),
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                CUDA_ERROR_INVALID_VALUE);
  properties_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  EXPECT_RESULT(
      cuMemExportToShareableHandle(&file, create(1), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, ChecksWhatItIsGiven) {
  CUdeviceptr address = 0;
  EXPECT_RESULT(cuMemAddressReserve(&address, unit_ + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemAddressReserve(&address, unit_, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle memory = 0;
  EXPECT_RESULT(cuMemCreate(&memory, unit_ / 2, &properties_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemCreate(&memory, unit_ << 30, &properties_, 0), CUDA_ERROR_OUT_OF_MEMORY);
  memory = create(1);
  address = reserve(2);
  EXPECT_RESULT(cuMemMap(address + 2 * unit_, unit_, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemMap(address, 2 * unit_, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemMap(address, unit_, 0, memory + 8, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuMemMap(address, unit_, 0, memory, 0));
  EXPECT_RESULT(cuMemMap(address, unit_, 0, memory, 0), CUDA_ERROR_INVALID_VALUE); // occupied
  EXPECT_RESULT(grant(address, 2, kReadWrite), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemsetD8(address, 0, 4), CUDA_ERROR_INVALID_VALUE); // nobody may touch it yet
  EXPECT_RESULT(cuMemAddressFree(address, 2 * unit_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemUnmap(address, 2 * unit_), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuMemUnmap(address, unit_));
  EXPECT_CUDA(cuMemAddressFree(address, 2 * unit_));
  const CUdeviceptr wanted = address;
  ASSERT_CUDA(cuMemAddressReserve(&address, unit_, 4 * unit_, 0, 0));
  EXPECT_EQ(address % (4 * unit_), 0u);
  ASSERT_CUDA(cuMemAddressReserve(&address, unit_, 0, wanted, 0));
  EXPECT_EQ(address % unit_, 0u);
}

TEST_F(VirtualMemory, IsReachedThroughMulticastObjects) {
  int isSupported = 0;
  ASSERT_CUDA(cuDeviceGetAttribute(&isSupported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
  EXPECT_EQ(isSupported, 1);
  CUmulticastObjectProp team = {};
  team.numDevices = 1;
  team.size = 3 * unit_;
  size_t granularity = 0;
  ASSERT_CUDA(cuMulticastGetGranularity(&granularity, &team, CU_MULTICAST_GRANULARITY_RECOMMENDED));
  EXPECT_EQ(granularity, unit_);
  CUmemGenericAllocationHandle multicast = 0, memory = create(2);
  ASSERT_CUDA(cuMulticastCreate(&multicast, &team));
  EXPECT_RESULT(cuMulticastBindMem(multicast, 0, memory, 0, unit_, 0), CUDA_ERROR_INVALID_DEVICE);
  ASSERT_CUDA(cuMulticastAddDevice(multicast, 0));
  EXPECT_RESULT(cuMulticastAddDevice(multicast, 0), CUDA_ERROR_INVALID_DEVICE);

  const CUdeviceptr own = reserve(2), common = reserve(3);
  ASSERT_CUDA(cuMemMap(own, 2 * unit_, 0, memory, 0));
  ASSERT_CUDA(grant(own, 2, kReadWrite));
  ASSERT_CUDA(cuMemMap(common, 3 * unit_, 0, multicast, 0));
  ASSERT_CUDA(grant(common, 3, kReadWrite));
  ASSERT_CUDA(cuMulticastBindMem(multicast, unit_, memory, unit_, unit_, 0));
  EXPECT_RESULT(cuMulticastBindMem(multicast, unit_, memory, 0, unit_, 0),
                CUDA_ERROR_INVALID_VALUE); // taken
  ASSERT_CUDA(cuMulticastBindAddr(multicast, 2 * unit_, own, unit_, 0));

  constexpr const char *kReduces = R"(
.version 8.1
.target sm_90
.address_size 64
.visible .entry reduces(.param .u64 p)
{
  .reg .u64 %p;
  .reg .b32 %v;
  ld.param.u64 %p, [p];
  multimem.red.relaxed.gpu.global.add.u32 [%p], 5;
  multimem.ld_reduce.relaxed.gpu.global.add.u32 %v, [%p];
  add.u32 %v, %v, 100;
  multimem.st.relaxed.gpu.global.u32 [%p+4], %v;
  ret;
}
)";
  CUfunction reduces = function(kReduces, "reduces");
  for (CUdeviceptr place : {common + unit_, common + 2 * unit_})
    ASSERT_CUDA(launch(reduces, 1, 32, nullptr, place));
  ASSERT_CUDA(cuCtxSynchronize());
  for (CUdeviceptr place : {own + unit_, own}) { // the bound memory has it
    EXPECT_EQ(download<uint32_t>(place, 2)[0], 160u);
    EXPECT_EQ(download<uint32_t>(place, 2)[1], 260u);
  }
  ASSERT_CUDA(cuMulticastUnbind(multicast, 0, unit_, unit_));
  ASSERT_CUDA(cuMulticastBindMem(multicast, 0, memory, unit_, unit_, 0));
  EXPECT_EQ(download<uint32_t>(common, 1)[0], 160u);
  EXPECT_RESULT(cuMulticastUnbind(multicast, 0, unit_, unit_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMulticastBindMem(multicast, unit_, memory, 0, unit_ / 2, 0),
                CUDA_ERROR_INVALID_VALUE);
  team.numDevices = 17; // more than there can be (devices_test.cpp has teams)
  CUmemGenericAllocationHandle another = 0;
  EXPECT_RESULT(cuMulticastCreate(&another, &team), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemUnmap(common, 3 * unit_));
  EXPECT_CUDA(cuMemUnmap(own, 2 * unit_));
  EXPECT_CUDA(cuMemRelease(multicast));
  EXPECT_RESULT(cuMemRelease(multicast), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRelease(memory));
}

TEST_F(VirtualMemory, CountsAsTaken) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_CUDA(cuMemGetInfo(&before, &total));
  CUmemGenericAllocationHandle memory = create(8);
  ASSERT_CUDA(cuMemGetInfo(&after, &total));
  EXPECT_LE(after, before - 8 * unit_ + (64 << 20)); // others use the machine, too
  EXPECT_CUDA(cuMemRelease(memory));
}

} // namespace ptxrun::tests
