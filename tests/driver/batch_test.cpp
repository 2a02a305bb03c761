// Copies, prefetches and discards in batches.
#include <time.h>

#include <limits>
#include <numeric>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

class Batch : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }
  std::vector<uint32_t> counting(size_t count) {
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 1u);
    return values;
  }
  static CUmemcpyAttributes ordered(CUmemcpySrcAccessOrder order) {
    CUmemcpyAttributes attributes = {};
    attributes.srcAccessOrder = order;
    return attributes;
  }
  CUstream stream_ = nullptr;
};

void sleepAndWrite(void *word) {
  timespec moment{0, 20'000'000};
  nanosleep(&moment, nullptr);
  *static_cast<uint32_t *>(word) = 77;
}

TEST_F(Batch, CopiesRangesInTheStreamsOrder) {
  CUdeviceptr a = upload(counting(64)), b = upload(std::vector<uint32_t>(64));
  std::vector<uint32_t> host(8, 5);
  CUdeviceptr to[] = {b, b + 128}, from[] = {a + 64, reinterpret_cast<CUdeviceptr>(host.data())};
  size_t bytes[] = {64, 32}, first = 0;
  CUmemcpyAttributes attributes = ordered(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  ASSERT_CUDA(cuMemsetD32Async(a + 64, 1000, 1, stream_));
  ASSERT_CUDA(cuMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, stream_));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  const auto result = download<uint32_t>(b, 40);
  EXPECT_EQ(result[0], 1000u); // what the stream wrote before
  EXPECT_EQ(result[1], 18u);
  EXPECT_EQ(result[15], 32u);
  EXPECT_EQ(result[16], 0u);
  EXPECT_EQ(result[32], 5u);
  EXPECT_EQ(result[39], 5u);
}

TEST_F(Batch, SourcesAreReadWhenTheyWereSaidToBe) {
  CUdeviceptr b = upload(std::vector<uint32_t>(4));
  uint32_t early = 1, late = 2;
  ASSERT_CUDA(cuLaunchHostFunc(stream_, sleepAndWrite, &late));
  CUdeviceptr to[] = {b, b + 4};
  CUdeviceptr from[] = {reinterpret_cast<CUdeviceptr>(&early),
                        reinterpret_cast<CUdeviceptr>(&late)};
  size_t bytes[] = {4, 4}, firsts[] = {0, 1};
  CUmemcpyAttributes attributes[] = {ordered(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL),
                                     ordered(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)};
  ASSERT_CUDA(cuMemcpyBatchAsync(to, from, bytes, 2, attributes, firsts, 2, stream_));
  early = 99; // the call has read it
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(download<uint32_t>(b, 2), (std::vector<uint32_t>{1, 77}));
}

TEST_F(Batch, ChecksItsArguments) {
  CUdeviceptr a = upload(counting(64)), bad = 64;
  CUdeviceptr to[] = {a, a + 128}, from[] = {a + 32, a + 160};
  size_t bytes[] = {16, 16}, first = 0, one = 1, twice[] = {0, 0}, failed = 0;
  CUmemcpyAttributes stream = ordered(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  CUmemcpyAttributes none = ordered(CU_MEMCPY_SRC_ACCESS_ORDER_INVALID);
  CUmemcpyAttributes both[] = {stream, stream};
  const auto copy = [&](size_t count, CUmemcpyAttributes *attributes, size_t *firsts, size_t parts,
                        CUstream handle) {
    return cuMemcpyBatchAsync(to, from, bytes, count, attributes, firsts, parts, handle);
  };
  EXPECT_CUDA(copy(2, &stream, &first, 1, stream_));
  EXPECT_CUDA(copy(2, &stream, &first, 1, CU_STREAM_PER_THREAD));
  EXPECT_RESULT(copy(2, &stream, &first, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(copy(0, &stream, &first, 1, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(copy(2, &stream, &one, 1, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(copy(2, both, twice, 2, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(copy(2, &stream, &first, 0, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(copy(2, &none, &first, 1, stream_), CUDA_ERROR_INVALID_VALUE);
  from[1] = bad;
  EXPECT_RESULT(copy(2, &stream, &first, 1, stream_), CUDA_ERROR_INVALID_VALUE);
#undef cuMemcpyBatchAsync // as of CUDA 12.8, which says which one is wrong
  EXPECT_RESULT(cuMemcpyBatchAsync(to, from, bytes, 2, &stream, &first, 1, &failed, stream_),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed, 1u);
  from[1] = a + 160;
  EXPECT_CUDA(cuMemcpyBatchAsync(to, from, bytes, 2, &stream, &first, 1, &failed, stream_));
  EXPECT_EQ(failed, kNone);
}

/// A plane of an array out of the middle of packed memory, and back.
TEST_F(Batch, CopiesBoxesOfMemoryAndArrays) {
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  d.Width = 4;
  d.Height = 3;
  d.Depth = 2;
  d.Format = CU_AD_FORMAT_UNSIGNED_INT32;
  d.NumChannels = 1;
  CUarray array = nullptr;
  ASSERT_CUDA(cuArray3DCreate(&array, &d));
  CUdeviceptr a = upload(counting(40)), b = upload(std::vector<uint32_t>(6));
  CUDA_MEMCPY3D_BATCH_OP in = {};
  in.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  in.src.op.ptr.ptr = a;
  in.src.op.ptr.rowLength = 5; // elements
  in.src.op.ptr.layerHeight = 4;
  in.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  in.dst.op.array.array = array;
  in.extent = {4, 3, 2};
  in.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  ASSERT_CUDA(cuMemcpy3DBatchAsync(1, &in, 0, stream_));
  CUDA_MEMCPY3D_BATCH_OP out = {};
  out.src = in.dst;
  out.src.op.array.offset = {1, 1, 1};
  out.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  out.dst.op.ptr.ptr = b;
  out.extent = {3, 2, 1};
  out.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  ASSERT_CUDA(cuMemcpy3DBatchAsync(1, &out, 0, stream_));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  // Layer 1 begins at 20, its row 1 at 25.
  EXPECT_EQ(download<uint32_t>(b, 6), (std::vector<uint32_t>{27, 28, 29, 32, 33, 34}));
  in.src.op.ptr.rowLength = 3; // shorter than what is copied
  EXPECT_RESULT(cuMemcpy3DBatchAsync(1, &in, 0, stream_), CUDA_ERROR_INVALID_VALUE);
  in.src.op.ptr.rowLength = 0;
  EXPECT_RESULT(cuMemcpy3DBatchAsync(1, &in, 1, stream_), CUDA_ERROR_INVALID_VALUE);
  in.extent.depth = 0;
  EXPECT_RESULT(cuMemcpy3DBatchAsync(1, &in, 0, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(Batch, PrefetchesAndDiscardsManagedMemory) {
  constexpr size_t kBytes = 1 << 20;
  CUdeviceptr a = 0, b = 0, device = upload(counting(4));
  ASSERT_CUDA(cuMemAllocManaged(&a, kBytes, CU_MEM_ATTACH_GLOBAL));
  ASSERT_CUDA(cuMemAllocManaged(&b, kBytes, CU_MEM_ATTACH_GLOBAL));
  CUdeviceptr both[] = {a, b};
  size_t bytes[] = {kBytes, kBytes}, firsts[] = {0, 1};
  CUmemLocation places[] = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, {CU_MEM_LOCATION_TYPE_HOST, 0}};
  ASSERT_CUDA(cuMemPrefetchBatchAsync(both, bytes, 2, places, firsts, 2, 0, stream_));
  int last = 0;
  const auto lastOf = [&](CUdeviceptr address) {
    EXPECT_CUDA(cuMemRangeGetAttribute(
        &last, sizeof last, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, kBytes));
    return last;
  };
  EXPECT_EQ(lastOf(a), 0);
  EXPECT_EQ(lastOf(b), -1); // the processor
  EXPECT_CUDA(cuMemDiscardBatchAsync(both, bytes, 2, 0, stream_));
  ASSERT_CUDA(cuMemDiscardAndPrefetchBatchAsync(both, bytes, 2, places, firsts, 1, 0, stream_));
  EXPECT_EQ(lastOf(b), 0);
  EXPECT_RESULT(cuMemDiscardBatchAsync(&device, bytes, 1, 0, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemDiscardBatchAsync(both, bytes, 2, 1, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuMemDiscardBatchAsync(both, bytes, 2, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  places[0].id = 5;
  EXPECT_RESULT(cuMemPrefetchBatchAsync(both, bytes, 2, places, firsts, 2, 0, stream_),
                CUDA_ERROR_INVALID_DEVICE);
}

} // namespace
} // namespace ptxrun::tests
