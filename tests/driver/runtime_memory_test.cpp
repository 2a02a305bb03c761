// The runtime API's memory, libraries and older names, without nvcc: what runtime_program.cu does
// not ask.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "loader/libcudart/cudart_abi.h"
#include "tests/driver/kernels.h"

extern "C" {
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMallocManaged(void **, size_t, unsigned);
cudaError_t cudaFree(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemset3D(cudaPitchedPtr, int, cudaExtent);
cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr, int, cudaExtent, cudaStream_t);
cudaError_t cudaMemAdvise(const void *, size_t, CUmem_advise, CUmemLocation);
cudaError_t cudaMemPrefetchBatchAsync(void **, size_t *, size_t, CUmemLocation *, size_t *, size_t,
                                      unsigned long long, cudaStream_t);
cudaError_t cudaMemRangeGetAttribute(void *, size_t, CUmem_range_attribute, const void *, size_t);
cudaError_t cudaMemRangeGetAttributes(void **, size_t *, CUmem_range_attribute *, size_t,
                                      const void *, size_t);
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *, CUmemLocation *, CUmemAllocationType);
cudaError_t cudaMemGetMemPool(cudaMemPool_t *, CUmemLocation *, CUmemAllocationType);
cudaError_t cudaMemSetMemPool(CUmemLocation *, CUmemAllocationType, cudaMemPool_t);
cudaError_t cudaMemcpyBatchAsync(void *const *, const void *const *, const size_t *, size_t,
                                 CUmemcpyAttributes *, size_t *, size_t, cudaStream_t);
cudaError_t cudaMemcpy3DBatchAsync(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long,
                                   cudaStream_t);
cudaError_t cudaLibraryLoadData(cudaLibrary_t *, const void *, CUjit_option *, void **, unsigned,
                                CUlibraryOption *, void **, unsigned);
cudaError_t cudaLibraryUnload(cudaLibrary_t);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *, cudaLibrary_t, const char *);
cudaError_t cudaLibraryGetKernelCount(unsigned *, cudaLibrary_t);
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *, unsigned, cudaLibrary_t);
cudaError_t cudaLibraryGetGlobal(void **, size_t *, cudaLibrary_t, const char *);
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t, CUfunction_attribute, int, int);
cudaError_t cudaLaunchCooperativeKernelMultiDevice(void *, unsigned, unsigned);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamCopyAttributes(cudaStream_t, cudaStream_t);
cudaError_t cudaThreadSetLimit(CUlimit, size_t);
cudaError_t cudaThreadGetLimit(size_t *, CUlimit);
cudaError_t cudaSetDoubleForDevice(double *);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *, void **, unsigned long long,
                                         CUdriverProcAddressQueryResult *);
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned *, const CUatomicOperation *, unsigned,
                                                int);
cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned *, const CUatomicOperation *, unsigned, int,
                                               int);
}

namespace ptxrun::tests {
namespace {

std::vector<uint8_t> download(const void *from, size_t bytes) {
  std::vector<uint8_t> values(bytes);
  EXPECT_EQ(cudaMemcpy(values.data(), from, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  return values;
}

class RuntimeMemory : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(&memory_, 256), cudaSuccess);
    ASSERT_EQ(cudaMemset(memory_, 0, 256), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&managed_, 4096, CU_MEM_ATTACH_GLOBAL), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
    EXPECT_EQ(cudaFree(managed_), cudaSuccess);
    cudaGetLastError();
  }
  void *memory_ = nullptr, *managed_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Boxes of 3 by 2 by 2 bytes in slices of 4 rows of 8.
TEST_F(RuntimeMemory, BoxesAreSet) {
  const cudaPitchedPtr box = {memory_, 8, 8, 4};
  ASSERT_EQ(cudaMemset3D(box, 7, {3, 2, 2}), cudaSuccess);
  auto bytes = download(memory_, 64);
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(bytes[i], i % 8 < 3 && i / 8 % 4 < 2 ? 7 : 0) << i;
  ASSERT_EQ(cudaMemset3DAsync_ptsz(box, 9, {8, 4, 2}, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(download(memory_, 64), std::vector<uint8_t>(64, 9));
  EXPECT_EQ(cudaMemset3D(box, 1, {0, 4, 2}), cudaSuccess);
  EXPECT_EQ(cudaMemset3D(box, 1, {8, 5, 2}), cudaErrorInvalidValue); // slices overlap
}

TEST_F(RuntimeMemory, AdviceIsAnswered) {
  int value = -9;
  const auto ask = [&](CUmem_range_attribute which) {
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, sizeof value, which, managed_, 4096), cudaSuccess);
    return value;
  };
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  ASSERT_EQ(cudaMemAdvise(managed_, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device), cudaSuccess);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
  size_t bytes = 4096, first = 0;
  CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
  ASSERT_EQ(cudaMemPrefetchBatchAsync(&managed_, &bytes, 1, &host, &first, 1, 0, stream_),
            cudaSuccess);
  int last = 0, mostly = 0;
  void *data[] = {&last, &mostly};
  size_t sizes[] = {sizeof last, sizeof mostly};
  CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                   CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
  ASSERT_EQ(cudaMemRangeGetAttributes(data, sizes, which, 2, managed_, 4096), cudaSuccess);
  EXPECT_EQ(last, -1);
  EXPECT_EQ(mostly, 1);
  EXPECT_EQ(cudaMemRangeGetAttribute(&value, 2, which[0], managed_, 4096), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemory, PoolsOfLocations) {
  CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  cudaMemPool_t common = nullptr, current = nullptr;
  ASSERT_EQ(cudaMemGetDefaultMemPool(&common, &device, CU_MEM_ALLOCATION_TYPE_PINNED), cudaSuccess);
  ASSERT_EQ(cudaMemGetMemPool(&current, &device, CU_MEM_ALLOCATION_TYPE_PINNED), cudaSuccess);
  EXPECT_EQ(common, current);
  EXPECT_EQ(cudaMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_PINNED, common), cudaSuccess);
}

TEST_F(RuntimeMemory, CopiesComeInBatches) {
  uint8_t words[] = {1, 2, 3, 4, 5, 6, 7, 8};
  void *to[] = {memory_, static_cast<uint8_t *>(memory_) + 16};
  const void *from[] = {words, words + 4};
  size_t bytes[] = {4, 4}, first = 0;
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  ASSERT_EQ(cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, stream_), cudaSuccess);
  CUDA_MEMCPY3D_BATCH_OP op = {};
  op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  op.src.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(memory_);
  op.dst.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(memory_) + 32;
  op.extent = {4, 1, 1};
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  ASSERT_EQ(cudaMemcpy3DBatchAsync(1, &op, 0, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  const auto result = download(memory_, 36);
  EXPECT_EQ(result[3], 4);
  EXPECT_EQ(result[16], 5);
  EXPECT_EQ(result[35], 4);
  EXPECT_EQ(cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, nullptr),
            cudaErrorInvalidValue); // the default stream has none
}

TEST(RuntimeLibraries, HaveKernelsAndVariables) {
  cudaLibrary_t library = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, kVariables, nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  unsigned count = 0;
  ASSERT_EQ(cudaLibraryGetKernelCount(&count, library), cudaSuccess);
  ASSERT_GE(count, 1u);
  std::vector<cudaKernel_t> kernels(count);
  ASSERT_EQ(cudaLibraryEnumerateKernels(kernels.data(), count, library), cudaSuccess);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "read"), cudaSuccess);
  EXPECT_NE(std::find(kernels.begin(), kernels.end(), kernel), kernels.end());
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "missing"), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaKernelSetAttributeForDevice(
                kernels[0], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, 0),
            cudaSuccess);
  void *scale = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cudaLibraryGetGlobal(&scale, &bytes, library, "scale"), cudaSuccess);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(RuntimeOldNames, MeanWhatTheNewOnesDo) {
  ASSERT_EQ(cudaThreadSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20), cudaSuccess);
  size_t value = 0;
  ASSERT_EQ(cudaThreadGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE), cudaSuccess);
  EXPECT_EQ(value, size_t{1} << 20);
  double number = 0.1;
  EXPECT_EQ(cudaSetDoubleForDevice(&number), cudaSuccess);
  EXPECT_EQ(number, 0.1);
  EXPECT_EQ(cudaLaunchCooperativeKernelMultiDevice(nullptr, 1, 0), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(RuntimeDevice, EntryPointsAndLinks) {
  void *plain = nullptr, *perThread = nullptr;
  CUdriverProcAddressQueryResult found = {};
  ASSERT_EQ(cudaGetDriverEntryPoint_ptsz("cuLaunchKernel", &perThread, 0, &found), cudaSuccess);
  ASSERT_EQ(cudaGetDriverEntryPoint_ptsz("cuLaunchKernel", &plain,
                                         CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found),
            cudaSuccess);
  EXPECT_NE(plain, perThread);
  const CUatomicOperation add = CU_ATOMIC_OPERATION_INTEGER_ADD;
  unsigned capability = 0;
  ASSERT_EQ(cudaDeviceGetHostAtomicCapabilities(&capability, &add, 1, 0), cudaSuccess);
  EXPECT_NE(capability, 0u);
  EXPECT_EQ(cudaDeviceGetP2PAtomicCapabilities(&capability, &add, 1, 0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaStreamCopyAttributes(nullptr, nullptr), cudaSuccess);
  cudaGetLastError();
}

/// Where CUDA 12's functions take other arguments than 13's of the same names.
TEST(Runtime12, HasItsOwnSignatures) {
  void *library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto find = [&](auto *&function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    ASSERT_NE(function, nullptr) << name;
  };
  cudaError_t (*prefetch)(const void *, size_t, int, cudaStream_t) = nullptr;
  cudaError_t (*prefetchTo)(const void *, size_t, CUmemLocation, unsigned, cudaStream_t) = nullptr;
  cudaError_t (*advise)(const void *, size_t, CUmem_advise, int) = nullptr;
  cudaError_t (*copy)(void **, void **, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t,
                      size_t *, cudaStream_t) = nullptr;
  find(prefetch, "cudaMemPrefetchAsync");
  find(prefetchTo, "cudaMemPrefetchAsync_v2");
  find(advise, "cudaMemAdvise");
  find(copy, "cudaMemcpyBatchAsync");
  void *memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL), cudaSuccess);
  int value = -9;
  const auto ask = [&](CUmem_range_attribute which) {
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, sizeof value, which, memory, 4096), cudaSuccess);
    return value;
  };
  ASSERT_EQ(prefetch(memory, 4096, -1, nullptr), cudaSuccess); // to the processor
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), -1);
  ASSERT_EQ(prefetchTo(memory, 4096, {CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, nullptr), cudaSuccess);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
  ASSERT_EQ(advise(memory, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, -1), cudaSuccess);
  EXPECT_EQ(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), -1);
  void *to[] = {memory, nullptr}, *from[] = {static_cast<char *>(memory) + 64, memory};
  size_t bytes[] = {16, 16}, first = 0, failed = 0;
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(copy(to, from, bytes, 2, &attributes, &first, 1, &failed, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(failed, 1u);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  dlclose(library);
}

} // namespace
} // namespace ptxrun::tests
