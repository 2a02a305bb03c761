// Memory that another API made: here a file without a name.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

constexpr size_t kBytes = 64 << 10;

class ExternalMemory : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    file_ = memfd_create("another API's memory", 0);
    ASSERT_EQ(ftruncate(file_, kBytes), 0);
    words_ = static_cast<uint32_t *>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    ASSERT_NE(words_, MAP_FAILED);
  }
  void TearDown() override {
    munmap(words_, kBytes);
    DriverTest::TearDown();
  }
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC describe(size_t bytes) const {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {};
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = file_;
    d.size = bytes;
    return d;
  }
  int file_ = -1;
  uint32_t *words_ = nullptr; ///< as the other API sees it
};

TEST_F(ExternalMemory, IsSharedWithItsMaker) {
  CUexternalMemory memory = nullptr;
  auto d = describe(kBytes);
  ASSERT_CUDA(cuImportExternalMemory(&memory, &d));
  EXPECT_EQ(fcntl(file_, F_GETFD), -1); // the driver's now
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC b = {};
  b.offset = 256; // no whole page
  b.size = 1024;
  CUdeviceptr buffer = 0;
  ASSERT_CUDA(cuExternalMemoryGetMappedBuffer(&buffer, memory, &b));
  words_[64] = 11;
  EXPECT_EQ(download<uint32_t>(buffer, 1)[0], 11u);
  ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, nullptr, buffer + 4, 12u));
  ASSERT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(words_[65], 12u);
  EXPECT_CUDA(cuDestroyExternalMemory(memory)); // the buffer stays
  EXPECT_RESULT(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(download<uint32_t>(buffer + 4, 1)[0], 12u);
  EXPECT_RESULT(cuMemFree(buffer + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFree(buffer));
  EXPECT_RESULT(cuMemFree(buffer), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExternalMemory, ChecksWhatItIsGiven) {
  CUexternalMemory memory = nullptr;
  auto d = describe(2 * kBytes); // more than there is
  EXPECT_RESULT(cuImportExternalMemory(&memory, &d), CUDA_ERROR_INVALID_VALUE);
  d = describe(kBytes);
  d.handle.fd = -1;
  EXPECT_RESULT(cuImportExternalMemory(&memory, &d), CUDA_ERROR_INVALID_HANDLE);
  d = describe(kBytes);
  d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
  EXPECT_RESULT(cuImportExternalMemory(&memory, &d), CUDA_ERROR_NOT_SUPPORTED);
  d = describe(kBytes);
  ASSERT_CUDA(cuImportExternalMemory(&memory, &d));
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC b = {};
  CUdeviceptr buffer = 0;
  b.offset = kBytes - 16;
  b.size = 32;
  EXPECT_RESULT(cuExternalMemoryGetMappedBuffer(&buffer, memory, &b), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuExternalMemoryGetMappedBuffer(&buffer, nullptr, &b), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuDestroyExternalMemory(memory));
}

} // namespace
} // namespace ptxrun::tests
