// Device resources and green contexts; what the device says of its links; core dump settings.
#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

class Resources : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_CUDA(cuDevicePrimaryCtxRetain(&primary_, 0));
    ASSERT_CUDA(cuCtxPushCurrent(primary_));
    ASSERT_CUDA(cuDeviceGetDevResource(0, &whole_, CU_DEV_RESOURCE_TYPE_SM));
  }
  void TearDown() override {
    CUcontext popped = nullptr;
    EXPECT_CUDA(cuCtxPopCurrent(&popped));
    EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
    DriverTest::TearDown();
  }
  /// A green context of one group of the device.
  CUgreenCtx createGreen() {
    unsigned count = 1;
    CUdevResourceDesc description = nullptr;
    CUgreenCtx green = nullptr;
    EXPECT_CUDA(cuDevSmResourceSplitByCount(&group_, &count, &whole_, nullptr, 0, 1));
    EXPECT_CUDA(cuDevResourceGenerateDesc(&description, &group_, 1));
    EXPECT_CUDA(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
  }
  CUcontext primary_ = nullptr;
  CUdevResource whole_ = {}, group_ = {};
};

TEST_F(Resources, AreTheMultiprocessorsThatTheDeviceShows) {
  int count = 0;
  ASSERT_CUDA(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_EQ(whole_.sm.smCount, unsigned(count));
  EXPECT_GE(count, 16); // room for a cluster of any size: persistent kernels count so
  EXPECT_RESULT(cuDeviceGetDevResource(0, &group_, CU_DEV_RESOURCE_TYPE_INVALID),
                CUDA_ERROR_INVALID_RESOURCE_TYPE);
  EXPECT_RESULT(cuDeviceGetDevResource(1, &group_, CU_DEV_RESOURCE_TYPE_SM),
                CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Resources, AreSplitIntoEqualGroups) {
  unsigned most = 0;
  ASSERT_CUDA(cuDevSmResourceSplitByCount(nullptr, &most, &whole_, nullptr, 0, 1));
  ASSERT_GE(most, 1u);
  std::vector<CUdevResource> groups(most + 5);
  unsigned count = most + 5;
  CUdevResource rest = {};
  ASSERT_CUDA(cuDevSmResourceSplitByCount(groups.data(), &count, &whole_, &rest, 0, 1));
  EXPECT_EQ(count, most);
  EXPECT_EQ(groups[0].sm.smCount, groups[count - 1].sm.smCount);
  EXPECT_EQ(groups[0].sm.smCount * count + rest.sm.smCount, whole_.sm.smCount);
  EXPECT_EQ(rest.type == CU_DEV_RESOURCE_TYPE_INVALID, rest.sm.smCount == 0);
  const auto split = [&](const CUdevResource &from, unsigned room, unsigned flags, unsigned least) {
    return cuDevSmResourceSplitByCount(groups.data(), &room, &from, nullptr, flags, least);
  };
  // As an H100's driver answers.
  EXPECT_RESULT(split(whole_, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(split(whole_, 1, 3, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(split(whole_, 1, 0, whole_.sm.smCount + 1),
                CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  EXPECT_RESULT(split(groups[0], 1, 0, 1), CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  EXPECT_CUDA(split(whole_, 1, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 1));
}

TEST_F(Resources, GreenContextsRunKernels) {
  CUgreenCtx green = createGreen(), asked = nullptr;
  CUcontext context = nullptr, ofStream = nullptr;
  ASSERT_CUDA(cuCtxFromGreenCtx(&context, green));
  CUstream stream = nullptr;
  EXPECT_RESULT(cuGreenCtxStreamCreate(&stream, green, 0, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  ASSERT_CUDA(cuStreamGetGreenCtx(stream, &asked));
  EXPECT_EQ(asked, green);
  ASSERT_CUDA(cuStreamGetGreenCtx(nullptr, &asked));
  EXPECT_EQ(asked, nullptr);
  ASSERT_CUDA(cuStreamGetCtx(stream, &ofStream));
  EXPECT_EQ(ofStream, context);
  void *greenOfStream = nullptr;
  ASSERT_CUDA(cuStreamGetCtx_v2(stream, &ofStream, &greenOfStream));
  EXPECT_EQ(ofStream, primary_);
  EXPECT_EQ(greenOfStream, green);
  CUdeviceptr word = upload(std::vector<uint32_t>{0});
  ASSERT_CUDA(launch(function(kSmall, "store"), 1, 1, stream, word, 5u));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(download<uint32_t>(word, 1)[0], 5u);
  CUevent event = nullptr; // the primary context's
  ASSERT_CUDA(cuEventCreate(&event, 0));
  EXPECT_CUDA(cuEventRecord(event, stream));
  EXPECT_CUDA(cuGreenCtxRecordEvent(green, event));
  EXPECT_CUDA(cuGreenCtxWaitEvent(green, event));
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_RESULT(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuGreenCtxDestroy(green));
  EXPECT_RESULT(cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Resources, GreenContextsSayWhatTheyHave) {
  CUgreenCtx green = createGreen();
  CUcontext context = nullptr;
  ASSERT_CUDA(cuCtxFromGreenCtx(&context, green));
  CUdevResource own = {};
  ASSERT_CUDA(cuGreenCtxGetDevResource(green, &own, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(own.sm.smCount, group_.sm.smCount);
  ASSERT_CUDA(cuCtxGetDevResource(context, &own, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(own.sm.smCount, group_.sm.smCount);
  ASSERT_CUDA(cuCtxGetDevResource(primary_, &own, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(own.sm.smCount, whole_.sm.smCount);
  unsigned long long id = 0, contextId = 1;
  ASSERT_CUDA(cuGreenCtxGetId(green, &id));
  ASSERT_CUDA(cuCtxGetId(context, &contextId));
  EXPECT_EQ(id, contextId);
  CUexecAffinityParam affinity = {};
  ASSERT_CUDA(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  EXPECT_EQ(affinity.param.smCount.val, whole_.sm.smCount);
  EXPECT_RESULT(cuCtxGetExecAffinity(&affinity, static_cast<CUexecAffinityType>(3)),
                CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  CUdevResourceDesc description = nullptr;
  CUdevResource none = {};
  EXPECT_RESULT(cuDevResourceGenerateDesc(&description, &none, 1),
                CUDA_ERROR_INVALID_RESOURCE_TYPE);
  ASSERT_CUDA(cuDevResourceGenerateDesc(&description, &whole_, 1));
  EXPECT_RESULT(cuGreenCtxCreate(&green, description, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGreenCtxCreate(&green, description, 3, CU_GREEN_CTX_DEFAULT_STREAM),
                CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuGreenCtxDestroy(green));
}

void neverCalled(CUasyncNotificationInfo *, void *, CUasyncCallbackHandle) {}

TEST_F(Resources, LinksAndNotifications) {
  const CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS};
  unsigned capabilities[2] = {};
  ASSERT_CUDA(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
  EXPECT_TRUE(capabilities[0] & CU_ATOMIC_CAPABILITY_SCALAR_64);
  EXPECT_TRUE(capabilities[1] & CU_ATOMIC_CAPABILITY_SCALAR_128);
  EXPECT_RESULT(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 0, 0),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 1, 0, 0),
                CUDA_ERROR_INVALID_DEVICE);
  CUasyncCallbackHandle callback = nullptr;
  ASSERT_CUDA(cuDeviceRegisterAsyncNotification(0, neverCalled, nullptr, &callback));
  EXPECT_CUDA(cuDeviceUnregisterAsyncNotification(0, callback));
  EXPECT_RESULT(cuDeviceUnregisterAsyncNotification(0, callback), CUDA_ERROR_INVALID_VALUE);
}

/// Sizes and errors as an H100's driver has them.
TEST_F(Resources, CoreDumpSettingsAreRemembered) {
  size_t bytes = 0;
  ASSERT_CUDA(cuCoredumpGetAttribute(CU_COREDUMP_FILE, nullptr, &bytes));
  EXPECT_EQ(bytes, 1024u);
  ASSERT_CUDA(cuCoredumpGetAttribute(CU_COREDUMP_GENERATION_FLAGS, nullptr, &bytes));
  EXPECT_EQ(bytes, 4u);
  char name[] = "my.core", back[64] = {};
  bytes = sizeof name;
  ASSERT_CUDA(cuCoredumpSetAttribute(CU_COREDUMP_FILE, name, &bytes));
  bytes = sizeof back;
  ASSERT_CUDA(cuCoredumpGetAttribute(CU_COREDUMP_FILE, back, &bytes));
  EXPECT_STREQ(back, "my.core");
  bytes = 3;
  EXPECT_RESULT(cuCoredumpGetAttribute(CU_COREDUMP_FILE, back, &bytes), CUDA_ERROR_INVALID_VALUE);
  bytes = sizeof back;
  ASSERT_CUDA(cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, back, &bytes));
  EXPECT_STREQ(back, "");
  bool isOn = true;
  bytes = 1;
  testing::internal::CaptureStderr();
  ASSERT_CUDA(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &isOn, &bytes));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ptxrun: core dumps of kernels are not written\n");
  isOn = false;
  ASSERT_CUDA(cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &isOn, &bytes));
  EXPECT_TRUE(isOn);
  EXPECT_RESULT(cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_USER_TRIGGER, &isOn, &bytes),
                CUDA_ERROR_INVALID_VALUE); // the process's
  EXPECT_CUDA(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_USER_TRIGGER, &isOn, &bytes));
  bytes = 4;
  EXPECT_RESULT(cuCoredumpSetAttribute(CU_COREDUMP_TRIGGER_HOST, &isOn, &bytes),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuCoredumpSetAttribute(CU_COREDUMP_MAX, &isOn, &bytes), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace ptxrun::tests
