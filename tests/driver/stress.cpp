// Many host threads launch, allocate, copy, capture, load and destroy at the same time; every
// result is compared with what the host computes.
//   driver_stress [SECONDS [THREADS [SEED]]]     3 seconds, 16 threads, a seed that is printed
// Exit status 1 with the thread, the round and the seed where something is wrong. Made for builds
// with sanitizers.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "loader/libcuda/cuda_api.h"
#include "tests/driver/kernels.h"

namespace {

using Clock = std::chrono::steady_clock;

unsigned seed = 0;
std::atomic<uint64_t> rounds{0};

#define CHECK(expression)                                                                          \
  do {                                                                                             \
    if (const CUresult result = (expression); result != CUDA_SUCCESS)                              \
      fail(__LINE__, #expression, result);                                                         \
  } while (0)

[[noreturn]] void fail(int line, const char *what, long got) {
  std::fprintf(stderr, "stress.cpp:%d: %s: %ld (seed %u)\n", line, what, got, seed);
  std::_Exit(1);
}

/// What all threads share.
struct Shared {
  CUcontext context = nullptr;
  CUfunction add = nullptr, store = nullptr, churn = nullptr;
  CUdeviceptr words = 0; ///< one for each thread; threads do not touch each other's
};

uint32_t churned(uint32_t value, unsigned times) {
  while (times--)
    value = value * 1664525u + 1013904223u;
  return value;
}

/// One host thread: streams and memory of its own, in the context of all.
class Worker {
 public:
  Worker(const Shared &shared, unsigned number)
      : shared_(shared), word_(shared.words + 4 * number), random_(seed * 1000003u + number) {}

  void workUntil(Clock::time_point end) {
    CHECK(cuCtxSetCurrent(shared_.context));
    CHECK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    using Step = void (Worker::*)();
    constexpr Step kSteps[] = {
        &Worker::addVectors, &Worker::usePoolMemory, &Worker::captureFork,     &Worker::queueStores,
        &Worker::loadModule, &Worker::callHost,      &Worker::useManagedMemory};
    while (Clock::now() < end) {
      (this->*kSteps[random_() % std::size(kSteps)])();
      rounds.fetch_add(1, std::memory_order_relaxed);
    }
    CHECK(cuEventDestroy(event_));
    CHECK(cuStreamDestroy(other_));
    CHECK(cuStreamDestroy(stream_));
  }

 private:
  static void launch(CUfunction function, CUstream stream, unsigned blocks, unsigned threads,
                     void **arguments) {
    CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr));
  }
  void store(CUdeviceptr at, uint32_t value, CUstream stream) {
    void *arguments[] = {&at, &value};
    launch(shared_.store, stream, 1, 1, arguments);
  }
  void churn(CUdeviceptr at, unsigned times, CUstream stream) {
    void *arguments[] = {&at, &times};
    launch(shared_.churn, stream, 1, 1, arguments);
  }
  static uint32_t read(CUdeviceptr at) {
    uint32_t value = 0;
    CHECK(cuMemcpyDtoH(&value, at, 4));
    return value;
  }
  static void expect(int line, uint32_t got, uint32_t expected) {
    if (got != expected)
      fail(line, "wrong value", got);
  }

  /// out = a + b in fresh memory, copied there and back on the stream.
  void addVectors() {
    unsigned count = 1 + random_() % 5000;
    std::vector<float> a(count), b(count), out(count);
    for (unsigned i = 0; i < count; ++i)
      a[i] = float(random_() % 4096), b[i] = float(i); // sums are exact
    CUdeviceptr memory[3];
    for (CUdeviceptr &one : memory)
      CHECK(cuMemAlloc(&one, count * 4));
    CHECK(cuMemcpyHtoDAsync(memory[1], a.data(), count * 4, stream_));
    CHECK(cuMemcpyHtoDAsync(memory[2], b.data(), count * 4, stream_));
    void *arguments[] = {&memory[0], &memory[1], &memory[2], &count};
    launch(shared_.add, stream_, (count + 127) / 128, 128, arguments);
    CHECK(cuMemcpyDtoHAsync(out.data(), memory[0], count * 4, stream_));
    CHECK(cuStreamSynchronize(stream_));
    for (unsigned i = 0; i < count; ++i)
      expect(__LINE__, uint32_t(out[i]), uint32_t(a[i] + b[i]));
    for (CUdeviceptr one : memory)
      CHECK(cuMemFree(one));
  }

  void usePoolMemory() {
    const uint32_t value = random_();
    CUdeviceptr memory = 0;
    uint32_t got = 0;
    CHECK(cuMemAllocAsync(&memory, 4096, stream_));
    CHECK(cuMemsetD32Async(memory, value, 1024, stream_));
    churn(memory + 4092, 3, stream_);
    CHECK(cuMemcpyDtoHAsync(&got, memory + 4092, 4, stream_));
    CHECK(cuMemFreeAsync(memory, stream_));
    CHECK(cuStreamSynchronize(stream_));
    expect(__LINE__, got, churned(value, 3));
  }

  /// A graph of a fork to the other stream and back; launched twice.
  void captureFork() {
    const uint32_t value = random_();
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CHECK(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    store(word_, value, stream_);
    CHECK(cuEventRecord(event_, stream_));
    CHECK(cuStreamWaitEvent(other_, event_, 0));
    churn(word_, 5, other_);
    CHECK(cuEventRecord(event_, other_));
    CHECK(cuStreamWaitEvent(stream_, event_, 0));
    churn(word_, 2, stream_);
    CHECK(cuStreamEndCapture(stream_, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream_));
    CHECK(cuGraphLaunch(exec, other_));
    CHECK(cuStreamSynchronize(stream_));
    CHECK(cuStreamSynchronize(other_));
    expect(__LINE__, read(word_), churned(value, 7));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
  }

  /// More than a queue holds at once, with an event between two streams.
  void queueStores() {
    const uint32_t value = random_();
    const unsigned count = 1 + random_() % 300;
    for (unsigned i = 0; i < count; ++i)
      store(word_, value + i, stream_);
    CHECK(cuEventRecord(event_, stream_));
    CHECK(cuStreamWaitEvent(other_, event_, 0));
    churn(word_, 1, other_);
    CHECK(cuStreamSynchronize(other_));
    expect(__LINE__, read(word_), churned(value + count - 1, 1));
  }

  /// The first launches of a module's code, compiled while others compile and run.
  void loadModule() {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    uint32_t value = random_();
    CHECK(cuModuleLoadData(&module, ptxrun::tests::kSmall));
    CHECK(cuModuleGetFunction(&function, module, "store"));
    void *arguments[] = {&word_, &value};
    launch(function, stream_, 1, 1, arguments);
    CHECK(cuStreamSynchronize(stream_));
    expect(__LINE__, read(word_), value);
    CHECK(cuModuleUnload(module));
  }

  void callHost() {
    const uint32_t value = random_();
    uint32_t seen = 0;
    struct Call {
      uint32_t *seen, value;
    } call{&seen, value};
    store(word_, value, stream_);
    CHECK(cuLaunchHostFunc(
        stream_,
        [](void *raw) { *static_cast<Call *>(raw)->seen = static_cast<Call *>(raw)->value; },
        &call));
    store(word_, value + 1, stream_);
    CHECK(cuStreamSynchronize(stream_));
    expect(__LINE__, seen, value);
    expect(__LINE__, read(word_), value + 1);
  }

  void useManagedMemory() {
    const uint32_t value = random_();
    CUdeviceptr memory = 0;
    CHECK(cuMemAllocManaged(&memory, 4, CU_MEM_ATTACH_GLOBAL));
    auto *onHost = reinterpret_cast<uint32_t *>(memory);
    *onHost = value;
    churn(memory, 4, stream_);
    CHECK(cuStreamSynchronize(stream_));
    expect(__LINE__, *onHost, churned(value, 4));
    CHECK(cuMemFree(memory));
  }

  const Shared &shared_;
  CUdeviceptr word_;
  std::mt19937 random_;
  CUstream stream_ = nullptr, other_ = nullptr;
  CUevent event_ = nullptr;
};

} // namespace

int main(int count, char **words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 3;
  const unsigned threads = count > 2 ? unsigned(std::atoi(words[2])) : 16;
  const char *given = count > 3 ? words[3] : std::getenv("PTXRUN_TEST_SEED");
  seed = given ? unsigned(std::strtoul(given, nullptr, 0)) : std::random_device()();
  std::printf("seed %u\n", seed);
  std::fflush(stdout);

  Shared shared;
  CUmodule small = nullptr, add = nullptr;
  CHECK(cuInit(0));
  CHECK(cuCtxCreate(&shared.context, nullptr, 0, 0));
  CHECK(cuModuleLoadData(&small, ptxrun::tests::kSmall));
  CHECK(cuModuleLoadData(&add, ptxrun::tests::kAdd));
  CHECK(cuModuleGetFunction(&shared.add, add, "add"));
  CHECK(cuModuleGetFunction(&shared.store, small, "store"));
  CHECK(cuModuleGetFunction(&shared.churn, small, "churn"));
  CHECK(cuMemAlloc(&shared.words, 4 * threads));

  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  std::vector<std::thread> workers;
  for (unsigned number = 0; number < threads; ++number)
    workers.emplace_back([&, number] { Worker(shared, number).workUntil(end); });
  for (std::thread &worker : workers)
    worker.join();
  CHECK(cuMemFree(shared.words));
  CHECK(cuCtxDestroy(shared.context));
  std::printf("%llu rounds by %u threads\n", static_cast<unsigned long long>(rounds.load()),
              threads);
}
