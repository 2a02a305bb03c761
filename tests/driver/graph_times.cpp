// What graph launches, captured calls and queued launches cost. Prints the times beside the bars;
// exit code 1 if one is missed. Medians, since machines are shared.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "loader/libcuda/cuda_api.h"
#include "tests/driver/kernels.h"

namespace {

#define CHECK(expression)                                                                          \
  do {                                                                                             \
    if (CUresult result = (expression); result != CUDA_SUCCESS) {                                  \
      printf("line %d: %s: %d\n", __LINE__, #expression, result);                                  \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

constexpr int kNodes = 100, kRounds = 501;

/// The median of what `work` takes, in us; `after` is not counted.
double median(const std::function<void()> &work, const std::function<void()> &after) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
    after();
  }
  std::sort(times.begin(), times.end());
  return times[kRounds / 2];
}

int missed = 0;
void report(const char *what, double time, double bar) {
  printf("%-60s %8.3f us  bar %g us%s\n", what, time, bar, time > bar ? "  MISSED" : "");
  missed += time > bar;
}

} // namespace

int main() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction empty = nullptr;
  CUstream stream = nullptr;
  CHECK(cuInit(0));
  CHECK(cuCtxCreate(&context, nullptr, 0, 0));
  CHECK(cuModuleLoadData(&module, ptxrun::tests::kSmall));
  CHECK(cuModuleGetFunction(&empty, module, "empty"));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const auto launch = [&] {
    for (int i = 0; i < kNodes; ++i)
      CHECK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  };
  const auto synchronise = [&] { CHECK(cuStreamSynchronize(stream)); };
  for (int round = 0; round < 100; ++round)
    launch();
  synchronise();

  // Behind a stream that waits for the host, so that only the calls are measured.
  std::atomic<bool> isOpen{false};
  const auto close = [&] {
    isOpen = false;
    CHECK(cuLaunchHostFunc(
        stream,
        [](void *open) {
          while (!*static_cast<std::atomic<bool> *>(open))
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        },
        &isOpen));
  };
  close();
  const double queued = median(launch,
                               [&] {
                                 isOpen = true;
                                 synchronise();
                                 close();
                               }) /
                        kNodes;
  isOpen = true;
  synchronise();
  report("a queued launch", queued, 0.5);

  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  const double captured =
      median(launch,
             [&] {
               CHECK(cuStreamEndCapture(stream, &graph));
               CHECK(cuGraphDestroy(graph));
               CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
             }) /
      kNodes;
  report("what capture adds to a launch", captured - queued, 1);
  launch();
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  const auto launchGraph = [&] { CHECK(cuGraphLaunch(exec, stream)); };
  report("the call that launches a graph of 100 empty kernels", median(launchGraph, synchronise),
         30);
  report("the same until it has run",
         median(
             [&] {
               launchGraph();
               synchronise();
             },
             [] {}),
         30);
  return missed != 0;
}
