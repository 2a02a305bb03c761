#include <atomic>
#include <chrono>
#include <thread>

#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {

namespace {

/// Rounds of the churning kernel that take some milliseconds: long against a call, short for a
/// test.
constexpr uint32_t kRounds = 5'000'000;
const uint32_t kChurned = churned(0, kRounds);

class Stream : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    churn_ = function(kSmall, "churn");
    store_ = function(kSmall, "store");
    wait_ = function(kSmall, "wait");
    ASSERT_CUDA(cuMemHostAlloc(&memory_, 4096, 0));
    memset(memory_, 0, 4096);
  }
  /// A word that host and kernels share.
  std::atomic<uint32_t> &word(size_t i) {
    return static_cast<std::atomic<uint32_t> *>(memory_)[i * 16];
  }
  CUdeviceptr address(size_t i) { return reinterpret_cast<CUdeviceptr>(&word(i)); }
  CUstream makeStream(unsigned flags) {
    CUstream stream = nullptr;
    EXPECT_CUDA(cuStreamCreate(&stream, flags));
    return stream;
  }
  /// Waits without any call to the driver.
  bool becomes(std::atomic<uint32_t> &word, uint32_t value) {
    for (int i = 0; i < 5000; ++i) {
      if (word == value)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  CUfunction churn_ = nullptr, store_ = nullptr, wait_ = nullptr;
  void *memory_ = nullptr;
};

} // namespace

TEST_F(Stream, RunsAheadOfTheHost) {
  // The kernel waits for a word that the host sets after the launch has returned.
  ASSERT_CUDA(launch(wait_, 1, 1, nullptr, address(0), address(1)));
  EXPECT_EQ(word(1).load(), 0u);
  EXPECT_RESULT(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  word(0) = 1;
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  EXPECT_EQ(word(1).load(), 1u);
  EXPECT_CUDA(cuStreamQuery(nullptr));
}

TEST_F(Stream, MakesProgressWithoutBeingAsked) {
  ASSERT_CUDA(launch(store_, 1, 1, nullptr, address(0), 4u));
  EXPECT_TRUE(becomes(word(0), 4));
}

TEST_F(Stream, KeepsItsOrder) {
  CUstream stream = makeStream(CU_STREAM_NON_BLOCKING);
  for (uint32_t i = 1; i <= 200; ++i)
    ASSERT_CUDA(launch(store_, 1, 1, stream, address(0), i));
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(word(0).load(), 200u);
}

TEST_F(Stream, LaunchesWaitWhereMuchIsQueued) {
  // Else who launches without end is ever further ahead, and who waits for the context, waits on.
  constexpr uint32_t kLaunches = 3000;
  CUstream stream = makeStream(CU_STREAM_NON_BLOCKING);
  uint32_t furthest = 0;
  for (uint32_t i = 1; i <= kLaunches; ++i) {
    ASSERT_CUDA(launch(churn_, 1, 1, stream, address(1), 50'000u));
    ASSERT_CUDA(launch(store_, 1, 1, stream, address(0), i));
    furthest = std::max(furthest, i - word(0));
  }
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(word(0).load(), kLaunches);
  EXPECT_GT(furthest, 16u);
  EXPECT_LT(furthest, 1100u);
}

TEST_F(Stream, OthersRunBesideIt) {
  CUstream waiting = makeStream(CU_STREAM_NON_BLOCKING), other = makeStream(CU_STREAM_NON_BLOCKING);
  ASSERT_CUDA(launch(wait_, 1, 1, waiting, address(0), address(1)));
  ASSERT_CUDA(launch(store_, 1, 1, other, address(0), 1u)); // releases the first
  EXPECT_CUDA(cuStreamSynchronize(waiting));
  EXPECT_EQ(word(1).load(), 1u);
}

TEST_F(Stream, WaitsForEventsOfOtherStreams) {
  CUstream first = makeStream(CU_STREAM_NON_BLOCKING), second = makeStream(CU_STREAM_NON_BLOCKING);
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(launch(churn_, 1, 1, first, address(0), kRounds));
  ASSERT_CUDA(cuEventRecord(event, first));
  ASSERT_CUDA(cuStreamWaitEvent(second, event, 0));
  ASSERT_CUDA(cuMemcpyDtoDAsync(address(1), address(0), 4, second));
  EXPECT_CUDA(cuStreamSynchronize(second));
  EXPECT_EQ(word(1).load(), kChurned);
  EXPECT_CUDA(cuEventQuery(event));
}

TEST_F(Stream, LegacyDefaultStreamComesAfterBlockingStreams) {
  CUstream blocking = makeStream(CU_STREAM_DEFAULT);
  ASSERT_CUDA(launch(churn_, 1, 1, blocking, address(0), kRounds));
  ASSERT_CUDA(cuMemcpyDtoDAsync(address(1), address(0), 4, nullptr));
  ASSERT_CUDA(launch(store_, 1, 1, blocking, address(0), 1u));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(word(1).load(), kChurned); // not before the churning, not after the store
  EXPECT_EQ(word(0).load(), 1u);
}

TEST_F(Stream, NonBlockingStreamsIgnoreTheLegacyDefaultStream) {
  CUstream stream = makeStream(CU_STREAM_NON_BLOCKING);
  ASSERT_CUDA(launch(wait_, 1, 1, nullptr, address(0), address(1)));
  ASSERT_CUDA(launch(store_, 1, 1, stream, address(0), 1u));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(word(1).load(), 1u);
}

TEST_F(Stream, SynchronousCopiesWaitForTheDefaultStream) {
  ASSERT_CUDA(launch(churn_, 1, 1, nullptr, address(0), kRounds));
  uint32_t value = 0;
  EXPECT_CUDA(cuMemcpyDtoH(&value, address(0), 4));
  EXPECT_EQ(value, kChurned);
}

TEST_F(Stream, PerThreadDefaultStreamsAreApart) {
  std::thread thread([&] {
    ASSERT_CUDA(cuCtxSetCurrent(context_));
    CUdeviceptr flag = address(0), out = address(1);
    void *pointers[] = {&flag, &out};
    ASSERT_CUDA(cuLaunchKernel_ptsz(wait_, 1, 1, 1, 1, 1, 1, 0, nullptr, pointers, nullptr));
    EXPECT_CUDA(cuStreamSynchronize_ptsz(nullptr));
  });
  // This thread's own stream is not held up by the other one's.
  ASSERT_CUDA(launch(store_, 1, 1, CU_STREAM_PER_THREAD, address(2), 7u));
  EXPECT_CUDA(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  EXPECT_EQ(word(2).load(), 7u);
  word(0) = 1;
  thread.join();
  EXPECT_EQ(word(1).load(), 1u);
}

TEST_F(Stream, CallsHostFunctionsInOrder) {
  struct Seen {
    std::atomic<uint32_t> *word;
    uint32_t value = 0;
  } seen{&word(0)};
  CUstream stream = makeStream(0);
  ASSERT_CUDA(launch(churn_, 1, 1, stream, address(0), kRounds));
  ASSERT_CUDA(cuLaunchHostFunc(
      stream,
      [](void *data) { static_cast<Seen *>(data)->value = *static_cast<Seen *>(data)->word; },
      &seen));
  ASSERT_CUDA(launch(store_, 1, 1, stream, address(0), 1u));
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(seen.value, kChurned);
}

TEST_F(Stream, HostFunctionsMayNotCallTheDriver) {
  CUresult result = CUDA_SUCCESS;
  ASSERT_CUDA(cuLaunchHostFunc(
      nullptr,
      [](void *data) {
        CUdeviceptr address = 0;
        *static_cast<CUresult *>(data) = cuMemAlloc(&address, 16);
      },
      &result));
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  EXPECT_RESULT(result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(Stream, WorkOutlivesItsDestruction) {
  CUstream stream = makeStream(0);
  ASSERT_CUDA(launch(churn_, 1, 1, stream, address(0), kRounds));
  ASSERT_CUDA(launch(store_, 1, 1, stream, address(0), 8u));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_RESULT(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(word(0).load(), 8u);
}

TEST_F(Stream, RemembersItsAttributes) {
  constexpr int kAutomatic = 1, kBlocking = 4;
  CUstream stream = makeStream(0), other = makeStream(0);
  CUstreamAttrValue value{}, answer{};
  EXPECT_CUDA(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &answer));
  EXPECT_EQ(answer.priority, kAutomatic);
  value.priority = kBlocking;
  EXPECT_CUDA(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT_CUDA(cuStreamCopyAttributes(other, stream));
  EXPECT_CUDA(cuStreamCopyAttributes(other, other));
  EXPECT_CUDA(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &answer));
  EXPECT_EQ(answer.priority, kBlocking);
  EXPECT_RESULT(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
                CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Stream, DefaultOnesAreNotDestroyed) {
  for (const CUstream stream : {CUstream{}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD})
    EXPECT_RESULT(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Stream, WaitsForAndWritesValues) {
  CUstream stream = makeStream(CU_STREAM_NON_BLOCKING);
  ASSERT_CUDA(cuStreamWaitValue32_v2(stream, address(0), 5, CU_STREAM_WAIT_VALUE_GEQ));
  ASSERT_CUDA(cuStreamWriteValue32_v2(stream, address(1), 6, 0));
  word(0) = 4;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(word(1).load(), 0u);
  word(0) = 5;
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(word(1).load(), 6u);
}

TEST_F(Stream, ManyThreadsShareAContext) {
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      ASSERT_CUDA(cuCtxSetCurrent(context_));
      CUstream stream = nullptr;
      ASSERT_CUDA(cuStreamCreate(&stream, t % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
      for (uint32_t i = 1; i <= 50; ++i) {
        ASSERT_CUDA(launch(store_, 1, 1, stream, address(t), i));
        uint32_t value = 0;
        ASSERT_CUDA(cuMemcpyDtoHAsync(&value, address(t), 4, stream));
        ASSERT_CUDA(cuStreamSynchronize(stream));
        ASSERT_EQ(value, i);
      }
      ASSERT_CUDA(cuStreamDestroy(stream));
    });
  for (auto &thread : threads)
    thread.join();
}

TEST_F(Stream, PrioritiesAreKeptWithinTheRange) {
  int least = -1, greatest = 1, priority = 9;
  EXPECT_CUDA(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, 0);
  CUstream stream = nullptr;
  EXPECT_CUDA(cuStreamCreateWithPriority(&stream, 0, -1000));
  EXPECT_CUDA(cuStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, greatest);
}

using Event = Stream;

TEST_F(Event, MeasuresWhatRanBetween) {
  CUevent start = nullptr, end = nullptr;
  ASSERT_CUDA(cuEventCreate(&start, 0));
  ASSERT_CUDA(cuEventCreate(&end, 0));
  float milliseconds = -1;
  EXPECT_RESULT(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_CUDA(cuEventRecord(start, nullptr));
  ASSERT_CUDA(launch(churn_, 1, 1, nullptr, address(0), kRounds));
  ASSERT_CUDA(cuEventRecord(end, nullptr));
  EXPECT_CUDA(cuEventSynchronize(end));
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GT(milliseconds, 0.3f); // 5 million rounds of multiply and add
  EXPECT_LT(milliseconds, 5000.f);
  EXPECT_EQ(word(0).load(), kChurned);
}

TEST_F(Event, WithoutRecordIsDone) {
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, 0));
  EXPECT_CUDA(cuEventQuery(event));
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_CUDA(cuStreamWaitEvent(nullptr, event, 0));
  EXPECT_CUDA(cuEventDestroy(event));
  EXPECT_RESULT(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

using Context = DriverTest;

TEST_F(Context, StackBelongsToTheThread) {
  CUcontext current = nullptr, second = nullptr;
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context_);
  ASSERT_CUDA(cuCtxCreate(&second, nullptr, 0, 0));
  EXPECT_CUDA(cuCtxPopCurrent(&current));
  EXPECT_EQ(current, second);
  EXPECT_CUDA(cuCtxPushCurrent(second));
  EXPECT_CUDA(cuCtxDestroy(second));
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context_);
  std::thread([&] {
    CUcontext there = context_;
    EXPECT_CUDA(cuCtxGetCurrent(&there));
    EXPECT_EQ(there, nullptr);
    CUdeviceptr address = 0;
    EXPECT_RESULT(cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  EXPECT_RESULT(cuCtxSetCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Context, PrimaryIsOneAndCounted) {
  CUcontext a = nullptr, b = nullptr;
  unsigned flags = 0;
  int isActive = 0;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&a, 0));
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&b, 0));
  EXPECT_EQ(a, b);
  EXPECT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &isActive));
  EXPECT_EQ(isActive, 1);
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
  EXPECT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &isActive));
  EXPECT_EQ(isActive, 0);
  EXPECT_RESULT(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Context, KeepsLimits) {
  size_t value = 0;
  EXPECT_CUDA(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  EXPECT_CUDA(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 4096u);
  EXPECT_RESULT(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_UNSUPPORTED_LIMIT);
}

} // namespace ptxrun::tests
