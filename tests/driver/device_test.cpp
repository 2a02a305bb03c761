#include <algorithm>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {

TEST(Device, IsOneAndNamesTheProcessor) {
  ASSERT_CUDA(cuInit(0));
  int count = 0;
  EXPECT_CUDA(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 1);
  CUdevice device = -1;
  EXPECT_CUDA(cuDeviceGet(&device, 0));
  EXPECT_RESULT(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  char name[256];
  EXPECT_CUDA(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_EQ(std::string(name).substr(0, 11), "ptxrun CPU ");
  char shortName[7];
  EXPECT_CUDA(cuDeviceGetName(shortName, sizeof shortName, 0));
  EXPECT_STREQ(shortName, "ptxrun");
}

TEST(Device, AnswersEveryAttributeOfTheEnumeration) {
  ASSERT_CUDA(cuInit(0));
  for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; ++attribute) {
    int value = -12345;
    EXPECT_CUDA(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0))
        << attribute;
    EXPECT_NE(value, -12345) << attribute;
  }
  int value = 0;
  EXPECT_RESULT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(Device, ShowsComputeCapabilityAndLimits) {
  ASSERT_CUDA(cuInit(0));
  int major = 0, minor = 0, value = 0;
  EXPECT_CUDA(cuDeviceComputeCapability(&major, &minor, 0));
  EXPECT_EQ(major * 10 + minor, 90);
  EXPECT_CUDA(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  EXPECT_EQ(value, 32);
  EXPECT_CUDA(
      cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
  EXPECT_EQ(value, 227 * 1024);
  size_t bytes = 0;
  EXPECT_CUDA(cuDeviceTotalMem(&bytes, 0));
  EXPECT_GT(bytes, size_t{1} << 28);
}

TEST(Driver, ReportsItsVersion) {
  int version = 0;
  EXPECT_CUDA(cuDriverGetVersion(&version));
  EXPECT_GE(version, 13000);
}

TEST(Driver, HasNoExportTables) {
  const void *table = &table;
  const CUuuid id{};
  EXPECT_RESULT(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(table, nullptr);
}

/// What NVIDIA's runtime inside a program asks first: the program is told how it is started.
TEST(Driver, TellsProgramsWithTheStaticRuntimeWhatStartsThem) {
  const void *table = nullptr;
  const CUuuid id{{'\x6b', '\xd5', '\xfb', '\x6c', '\x5b', '\xf4', '\xe7', '\x4a', '\x89', '\x87',
                   '\xd9', '\x39', '\x12', '\xfd', '\x9d', '\xf9'}};
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i)
    EXPECT_RESULT(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("Start it by: ptxrun exec /"), std::string::npos) << told;
  EXPECT_NE(told.find("driver_test has NVIDIA's CUDA runtime inside"), std::string::npos) << told;
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1);
}

TEST(Driver, NamesEveryResult) {
  const char *text = nullptr;
  EXPECT_CUDA(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_CUDA(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_RESULT(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

namespace {
void *find(const char *name, int version, unsigned long long flags = 0) {
  void *address = nullptr;
  CUdriverProcAddressQueryResult status{};
  const CUresult result = cuGetProcAddress(name, &address, version, flags, &status);
  EXPECT_EQ(result == CUDA_SUCCESS, address != nullptr);
  return address;
}
} // namespace

TEST(GetProcAddress, TakesTheGreatestVersionAtOrBelow) {
  EXPECT_EQ(find("cuMemAlloc", 3020), reinterpret_cast<void *>(&cuMemAlloc_v2));
  EXPECT_EQ(find("cuMemAlloc", 13000), reinterpret_cast<void *>(&cuMemAlloc_v2));
  EXPECT_EQ(find("cuCtxGetDevice", 2000), reinterpret_cast<void *>(&cuCtxGetDevice));
  EXPECT_EQ(find("cuCtxGetDevice", 12080), reinterpret_cast<void *>(&cuCtxGetDevice));
  EXPECT_EQ(find("cuCtxGetDevice", 13000), reinterpret_cast<void *>(&cuCtxGetDevice_v2));
  EXPECT_EQ(find("cuCtxCreate", 11040), reinterpret_cast<void *>(&cuCtxCreate_v3));
}

TEST(GetProcAddress, TakesPerThreadVariantsOnRequest) {
  EXPECT_EQ(find("cuLaunchKernel", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
            reinterpret_cast<void *>(&cuLaunchKernel_ptsz));
  EXPECT_EQ(find("cuMemcpyHtoD", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
            reinterpret_cast<void *>(&cuMemcpyHtoD_v2_ptds));
  EXPECT_EQ(find("cuMemFree", 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
            reinterpret_cast<void *>(&cuMemFree_v2));
}

TEST(GetProcAddress, TellsUnknownNamesFromOldVersions) {
  void *address = &address;
  CUdriverProcAddressQueryResult status{};
  EXPECT_CUDA(cuGetProcAddress("cuNoSuchThing", &address, 13000, 0, &status));
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  address = &address;
  EXPECT_CUDA(cuGetProcAddress("cuLaunchKernelEx", &address, 11000, 0, &status));
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  address = &address;
  EXPECT_CUDA(cuGetProcAddress("cuNoSuchThing", &address, 13000, 0, nullptr));
  EXPECT_EQ(address, nullptr);
}

/// Bindings that append "_v2" to every name call these two with the arguments of their first
/// versions: in place of the context lies anything.
TEST(Device, SecondVersionsTakeWhatIsNoContextForTheCurrentOne) {
  ASSERT_CUDA(cuInit(0));
  CUcontext context = nullptr, nothing = reinterpret_cast<CUcontext>(&context);
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_CUDA(cuCtxPushCurrent(context));
  CUdevice device = -1;
  EXPECT_CUDA(cuCtxGetDevice_v2(&device, nothing));
  EXPECT_EQ(device, 0);
  EXPECT_CUDA(cuCtxSynchronize_v2(nothing));
  EXPECT_CUDA(cuCtxPopCurrent(&context));
  EXPECT_RESULT(cuCtxGetDevice_v2(&device, nothing), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxGetDevice_v2(&device, context));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
}

/// What graphics_test.cpp tests, in a program without OpenGL.
TEST(Device, OpenGlHasToBeLoaded) {
  ASSERT_CUDA(cuInit(0));
  CUcontext context = nullptr;
  ASSERT_CUDA(cuCtxCreate(&context, nullptr, 0, 0));
  CUgraphicsResource resource = nullptr;
  unsigned count = 0;
  testing::internal::CaptureStderr();
  EXPECT_RESULT(cuGraphicsGLRegisterBuffer(&resource, 1, 0), CUDA_ERROR_OPERATING_SYSTEM);
  EXPECT_RESULT(cuGLGetDevices(&count, nullptr, 0, CU_GL_DEVICE_LIST_ALL),
                CUDA_ERROR_OPERATING_SYSTEM);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ptxrun: no OpenGL interoperability: this process has not loaded OpenGL (1.5 or "
            "later)\n");
  EXPECT_CUDA(cuCtxDestroy(context));
}

} // namespace ptxrun::tests
