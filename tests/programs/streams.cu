// Streams with priorities and flags, events across them, host functions and callbacks in order, many threads with streams of their own,
// the default stream's rules, queries.
#include "check.h"
#include <atomic>
#include <string>
#include <thread>

__global__ void step(int *x, int a, int b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = x[i] * a + b;
}
__global__ void spin(long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles)
    ;
}
static std::atomic<int> calls{0};
static std::string order;
static void CUDART_CB onHost(void *data) { order += *(char *)data, ++calls; }
static void CUDART_CB onStream(cudaStream_t, cudaError_t status, void *data) {
  EXPECT(status == cudaSuccess);
  onHost(data);
}

int main() {
  int least, greatest, priority;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t high, low, loose;
  CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamCreateWithPriority(&low, cudaStreamDefault, least));
  CHECK(cudaStreamCreateWithFlags(&loose, cudaStreamNonBlocking));
  CHECK(cudaStreamGetPriority(high, &priority));
  EXPECT(priority == greatest);
  unsigned flags;
  CHECK(cudaStreamGetFlags(high, &flags));
  EXPECT(flags == cudaStreamNonBlocking);
  unsigned long long id1, id2;
  CHECK(cudaStreamGetId(high, &id1));
  CHECK(cudaStreamGetId(low, &id2));
  EXPECT(id1 != id2);

  const int n = 256;
  int *x, *pinned;
  CHECK(cudaMalloc(&x, n * 4));
  CHECK(cudaMallocHost(&pinned, n * 4));
  CHECK(cudaMemsetAsync(x, 0, n * 4, high));
  cudaEvent_t e1, e2;
  CHECK(cudaEventCreateWithFlags(&e1, cudaEventDisableTiming));
  CHECK(cudaEventCreate(&e2));
  char letters[] = "abc";
  step<<<2, 128, 0, high>>>(x, 1, 5); // 5
  CHECK(cudaLaunchHostFunc(high, onHost, &letters[0]));
  CHECK(cudaEventRecord(e1, high));
  CHECK(cudaStreamWaitEvent(low, e1, 0));
  step<<<2, 128, 0, low>>>(x, 3, 1); // 16
  CHECK(cudaStreamAddCallback(low, onStream, &letters[1], 0));
  CHECK(cudaEventRecord(e2, low));
  CHECK(cudaStreamWaitEvent(loose, e2));
  step<<<2, 128, 0, loose>>>(x, 2, -2); // 30
  CHECK(cudaMemcpyAsync(pinned, x, n * 4, cudaMemcpyDeviceToHost, loose));
  CHECK(cudaLaunchHostFunc(loose, onHost, &letters[2]));
  CHECK(cudaStreamSynchronize(loose));
  for (int i = 0; i < n; ++i)
    EXPECT(pinned[i] == 30);
  EXPECT(order == "abc" && calls == 3);
  CHECK(cudaStreamQuery(high));

  spin<<<1, 1, 0, low>>>(50000000);
  cudaError_t query = cudaStreamQuery(low);
  EXPECT(query == cudaErrorNotReady || query == cudaSuccess);
  step<<<2, 128>>>(x, 1, 1); // the default stream waits for low
  CHECK(cudaMemcpy(pinned, x, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaStreamQuery(low));
  EXPECT(pinned[9] == 31 && cudaGetLastError() != cudaErrorUnknown);

  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      cudaStream_t mine;
      int *d, *h;
      CHECK(cudaSetDevice(0));
      CHECK(cudaStreamCreate(&mine));
      CHECK(cudaMallocAsync((void **)&d, n * 4, mine));
      CHECK(cudaHostAlloc(&h, n * 4, cudaHostAllocDefault));
      CHECK(cudaMemsetAsync(d, 0, n * 4, mine));
      for (int i = 0; i < 50; ++i)
        step<<<1, n, 0, mine>>>(d, 1, t);
      CHECK(cudaMemcpyAsync(h, d, n * 4, cudaMemcpyDeviceToHost, mine));
      CHECK(cudaFreeAsync(d, mine));
      CHECK(cudaStreamSynchronize(mine));
      for (int i = 0; i < n; ++i)
        wrong += h[i] != 50 * t;
      CHECK(cudaStreamDestroy(mine));
      CHECK(cudaFreeHost(h));
    });
  for (auto &t : threads)
    t.join();
  EXPECT(wrong == 0);
  step<<<1, n, 0, cudaStreamPerThread>>>(x, 0, 9);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  CHECK(cudaMemcpy(pinned, x, n * 4, cudaMemcpyDefault));
  EXPECT(pinned[255] == 9);
  CHECK(cudaStreamDestroy(high));
  CHECK(cudaStreamDestroy(low));
  EXPECT(cudaStreamWaitEvent(0, nullptr, 0) != cudaSuccess);
  step<<<1, 2000>>>(x, 1, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaDeviceSynchronize());
  return done();
}
