// What graph launches, captured calls, queued launches and launches by kernels cost. Prints the
// times beside the bars; exit code 1 if one is missed. Medians, since machines are shared.
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

/// launches(n): launches n kernels of one thread that do nothing.
constexpr const char *kLaunches = R"(.version 8.3
.target sm_80
.address_size 64
.extern .func (.param .b64 func_retval0) __cudaCDP2GetParameterBufferV2
(.param .b64 p0, .param .align 4 .b8 p1[12], .param .align 4 .b8 p2[12], .param .b32 p3)
;
.extern .func (.param .b32 func_retval0) __cudaCDP2LaunchDeviceV2
(.param .b64 p0, .param .b64 p1)
;
.visible .entry child() { ret; }
.visible .entry launches(.param .u32 n)
{
  .reg .pred %p1;
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u32 %r1, [n];
  mov.u64 %rd1, child;
$next:
  {
  .param .b64 a0;
  st.param.b64 [a0], %rd1;
  .param .align 4 .b8 a1[12];
  st.param.b32 [a1+0], 1;
  st.param.b32 [a1+4], 1;
  st.param.b32 [a1+8], 1;
  .param .align 4 .b8 a2[12];
  st.param.b32 [a2+0], 1;
  st.param.b32 [a2+4], 1;
  st.param.b32 [a2+8], 1;
  .param .b32 a3;
  st.param.b32 [a3], 0;
  .param .b64 r0;
  call.uni (r0), __cudaCDP2GetParameterBufferV2, (a0, a1, a2, a3);
  ld.param.b64 %rd2, [r0];
  }
  {
  .param .b64 a0;
  st.param.b64 [a0], %rd2;
  .param .b64 a1;
  st.param.b64 [a1], 0;
  .param .b32 r0;
  call.uni (r0), __cudaCDP2LaunchDeviceV2, (a0, a1);
  ld.param.b32 %r2, [r0];
  }
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $next;
  ret;
}
)";

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

  CUfunction launches = nullptr;
  CHECK(cuModuleLoadData(&module, kLaunches));
  CHECK(cuModuleGetFunction(&launches, module, "launches"));
  const auto timeChildren = [&](unsigned n) {
    void *arguments[] = {&n};
    return median(
        [&] {
          CHECK(cuLaunchKernel(launches, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
          synchronise();
        },
        [] {});
  };
  const double one = timeChildren(1);
  report("a kernel launched by a kernel", (timeChildren(kNodes + 1) - one) / kNodes, 1);
  return missed != 0;
}
