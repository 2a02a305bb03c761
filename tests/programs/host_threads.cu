// A host with many threads: each with a default stream of its own, launching, copying, allocating, capturing, recording events and meeting at them; results
// of all of them.
// nvcc: -arch=compute_75 --default-stream per-thread
#include "check.h"
#include <atomic>
#include <thread>

__global__ void step(float *x, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] * a + 1;
}
__global__ void total(const float *x, int n, float *out) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32)
    s += x[i];
  for (int k = 16; k; k /= 2)
    s += __shfl_down_sync(~0u, s, k);
  if (threadIdx.x == 0)
    *out = s;
}
static std::atomic<int> callbacks(0);

static void work(int id, cudaEvent_t *events, std::atomic<int> *ready, int count) {
  const int n = 1000 + 100 * id;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = float((i + id) % 5);
  float *x, *sum, result = 0;
  CHECK(cudaMallocAsync(&x, n * 4, cudaStreamPerThread));
  CHECK(cudaMalloc(&sum, 4));
  for (int round = 0; round < 10; ++round) {
    CHECK(cudaMemcpyAsync(x, host.data(), n * 4, cudaMemcpyHostToDevice));
    for (int k = 0; k < 5; ++k)
      step<<<(n + 127) / 128, 128>>>(x, n, 2);
    total<<<1, 32>>>(x, n, sum);
    CHECK(cudaLaunchHostFunc(cudaStreamPerThread, [](void *) { ++callbacks; }, nullptr));
    CHECK(cudaMemcpyAsync(&result, sum, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    float want = 0;
    for (float v : host)
      want += v * 32 + 31;
    EXPECT(result == want);
  }
  // a graph by capture in each thread
  cudaGraph_t graph;
  cudaGraphExec_t run;
  cudaStream_t own;
  CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemsetAsync(x, 0, n * 4, own));
  for (int k = 0; k < 4; ++k)
    step<<<(n + 127) / 128, 128, 0, own>>>(x, n, 3);
  total<<<1, 32, 0, own>>>(x, n, sum);
  CHECK(cudaStreamEndCapture(own, &graph));
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  for (int k = 0; k < 5; ++k)
    CHECK(cudaGraphLaunch(run, own));
  CHECK(cudaMemcpyAsync(&result, sum, 4, cudaMemcpyDeviceToHost, own));
  CHECK(cudaStreamSynchronize(own));
  EXPECT(result == 40.0f * n);
  CHECK(cudaGraphExecDestroy(run));
  CHECK(cudaGraphDestroy(graph));
  // all record, all wait for all
  CHECK(cudaEventRecord(events[id], own));
  ++*ready;
  while (*ready < count)
    std::this_thread::yield();
  for (int i = 0; i < count; ++i)
    CHECK(cudaStreamWaitEvent(own, events[i], 0));
  CHECK(cudaFreeAsync(x, own));
  CHECK(cudaStreamSynchronize(own));
  CHECK(cudaStreamDestroy(own));
  CHECK(cudaFree(sum));
  EXPECT(cudaFree((void *)64) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue); // each thread has its own last error
}

int main() {
  const int count = 8;
  std::vector<cudaEvent_t> events(count);
  for (cudaEvent_t &e : events)
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  std::atomic<int> ready(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i, events.data(), &ready, count);
  for (std::thread &t : threads)
    t.join();
  CHECK(cudaGetLastError());
  EXPECT(callbacks == 10 * count);
  CHECK(cudaDeviceSynchronize());
  return done();
}
