// The driver's log. Sizes, orders and errors are those of an H100's driver; the messages are ours.
#include <cstdio>

#include "loader/libcuda/cuda_logs_api.h"
#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

constexpr char kPtxOfNobody[] = ".version 7.0\n.target sm_70\n.address_size 64\nnonsense\n";

class Logs : public DriverTest {
 protected:
  /// Something that the driver has a sentence about.
  void fail() {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_RESULT(cuMemCreate(&handle, 2 << 20, &properties, 0), CUDA_ERROR_NOT_SUPPORTED);
  }
};

void collect(void *all, CUlogLevel level, char *message, size_t length) {
  EXPECT_EQ(level, CU_LOG_LEVEL_ERROR);
  EXPECT_EQ(strlen(message), length);
  static_cast<std::vector<std::string> *>(all)->push_back(message);
}

TEST_F(Logs, CallbacksHearOfErrors) {
  std::vector<std::string> heard;
  CUlogsCallbackHandle callback = nullptr;
  ASSERT_CUDA(cuLogsRegisterCallback(collect, &heard, &callback));
  EXPECT_RESULT(cuLogsRegisterCallback(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  fail();
  ASSERT_FALSE(heard.empty());
  EXPECT_NE(heard.back().find("not supported"), std::string::npos);
  const size_t count = heard.size();
  EXPECT_CUDA(cuLogsUnregisterCallback(callback));
  EXPECT_RESULT(cuLogsUnregisterCallback(callback), CUDA_ERROR_INVALID_VALUE);
  fail();
  EXPECT_EQ(heard.size(), count);
}

TEST_F(Logs, ErrorsOfKernelsAndModulesAreInIt) {
  CUlogIterator from = 0;
  ASSERT_CUDA(cuLogsCurrent(&from, 0));
  CUmodule module = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_NE(cuModuleLoadData(&module, kPtxOfNobody), CUDA_SUCCESS);
  ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, nullptr, CUdeviceptr{64}, 1u));
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  testing::internal::GetCapturedStderr();
  char text[4096];
  size_t bytes = sizeof text;
  ASSERT_CUDA(cuLogsDumpToMemory(&from, text, &bytes, 0));
  EXPECT_NE(std::string(text).find("store"), std::string::npos) << text;
}

TEST_F(Logs, IsDumpedFromAnyPlaceOn) {
  CUlogIterator from = 0, unmoved = 0;
  ASSERT_CUDA(cuLogsCurrent(&from, 0));
  unmoved = from;
  EXPECT_RESULT(cuLogsCurrent(&from, 1), CUDA_ERROR_INVALID_VALUE);
  char text[4096];
  size_t bytes = sizeof text;
  ASSERT_CUDA(cuLogsDumpToMemory(&from, text, &bytes, 0)); // nothing yet
  EXPECT_EQ(bytes, 0u);
  EXPECT_STREQ(text, "");
  fail();
  fail();
  bytes = sizeof text;
  ASSERT_CUDA(cuLogsDumpToMemory(&from, text, &bytes, 0));
  EXPECT_EQ(from, unmoved + 2); // on to what comes next
  EXPECT_EQ(bytes, strlen(text));
  EXPECT_NE(std::string(text).find("][CUDA][E] "), std::string::npos);
  EXPECT_EQ(text[bytes - 1], '\n');
  const size_t all = bytes;
  from = unmoved;
  bytes = all; // no room for the null
  ASSERT_CUDA(cuLogsDumpToMemory(&from, text, &bytes, 0));
  EXPECT_EQ(std::string(text).find("The provided buffer is not large enough"), 0u);
  bytes = 20;
  EXPECT_RESULT(cuLogsDumpToMemory(&unmoved, text, &bytes, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(bytes, 0u);
}

TEST_F(Logs, IsDumpedToAFile) {
  CUlogIterator from = 0;
  ASSERT_CUDA(cuLogsCurrent(&from, 0));
  fail();
  const std::string path = testing::TempDir() + "ptxrun_log";
  ASSERT_CUDA(cuLogsDumpToFile(&from, path.c_str(), 0));
  char line[512] = "";
  FILE *file = fopen(path.c_str(), "r");
  ASSERT_NE(file, nullptr);
  EXPECT_NE(fgets(line, sizeof line, file), nullptr);
  EXPECT_NE(std::string(line).find("not supported"), std::string::npos);
  EXPECT_EQ(fgets(line, sizeof line, file), nullptr);
  fclose(file);
  remove(path.c_str());
  EXPECT_RESULT(cuLogsDumpToFile(nullptr, "/no/such/folder/log", 0), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace ptxrun::tests
