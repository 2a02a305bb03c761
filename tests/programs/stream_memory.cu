// Streams that wait for values in memory and write them; kernels, hosts and other streams set them. Batches. Priorities, callbacks, events and what they
// measure.
#include "check.h"
#include <cuda.h>
#include <atomic>
#include <chrono>
#include <thread>
// nvcc: -arch=compute_90
#define DRIVER(call)                                                                               \
  do {                                                                                             \
    CUresult result_ = (call);                                                                     \
    const char *name_ = "?";                                                                       \
    if (result_ != CUDA_SUCCESS)                                                                   \
      cuGetErrorName(result_, &name_), printf("%d: %s: %s\n", __LINE__, #call, name_), exit(1);    \
  } while (0)

__global__ void set(unsigned *flag, unsigned v) {
  __threadfence_system();
  *(volatile unsigned *)flag = v;
}
__global__ void increment(int *p) { ++*p; }
__global__ void spin(long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
}

int main() {
  cudaStream_t a, b;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  unsigned *flags, *host;
  int *counter;
  CHECK(cudaMalloc(&flags, 64));
  CHECK(cudaMemset(flags, 0, 64));
  CHECK(cudaHostAlloc(&host, 64, cudaHostAllocMapped));
  memset(host, 0, 64);
  CHECK(cudaMallocManaged(&counter, 4));
  *counter = 0;
  CUdeviceptr f = (CUdeviceptr)flags, h;
  DRIVER(cuMemHostGetDevicePointer(&h, host, 0));
  CHECK(cudaDeviceSynchronize());

  DRIVER(cuStreamWaitValue32(a, f, 7, CU_STREAM_WAIT_VALUE_EQ));
  increment<<<1, 1, 0, a>>>(counter);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
  DRIVER(cuStreamWriteValue32(b, f, 7, 0));
  CHECK(cudaStreamSynchronize(a));
  EXPECT(*counter == 1);
  DRIVER(cuStreamWaitValue32(a, f, 9, CU_STREAM_WAIT_VALUE_GEQ));
  increment<<<1, 1, 0, a>>>(counter);
  set<<<1, 1, 0, b>>>(flags, 12);
  CHECK(cudaStreamSynchronize(a));
  EXPECT(*counter == 2);
  DRIVER(cuStreamWaitValue32(a, f + 4, 0x10, CU_STREAM_WAIT_VALUE_AND));
  increment<<<1, 1, 0, a>>>(counter);
  set<<<1, 1, 0, b>>>(flags + 1, 0x31);
  CHECK(cudaStreamSynchronize(a));
  DRIVER(cuStreamWaitValue32(a, f + 8, ~0u - 4, CU_STREAM_WAIT_VALUE_NOR));
  increment<<<1, 1, 0, a>>>(counter);
  DRIVER(cuStreamWriteValue32(b, f + 8, 4, 0));
  CHECK(cudaStreamSynchronize(a));
  EXPECT(*counter == 4);
  // the host sets what a stream waits for
  DRIVER(cuStreamWaitValue64(a, h + 8, 1ull << 40, CU_STREAM_WAIT_VALUE_GEQ));
  increment<<<1, 1, 0, a>>>(counter);
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    ((std::atomic<unsigned long long> *)(host + 2))->store((1ull << 40) + 5);
  });
  CHECK(cudaStreamSynchronize(a));
  setter.join();
  EXPECT(*counter == 5);
  // a batch
  CUstreamBatchMemOpParams ops[4] = {};
  ops[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, f + 16, {5}, 0, 0};
  ops[1].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, f + 16, {5}, CU_STREAM_WAIT_VALUE_EQ, 0};
  ops[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  ops[2].writeValue.address = f + 24, ops[2].writeValue.value64 = 0x1122334455667788ull;
  ops[3].operation = CU_STREAM_MEM_OP_BARRIER;
  DRIVER(cuStreamBatchMemOp(a, 3, ops, 0));
  CHECK(cudaStreamSynchronize(a));
  unsigned back[16];
  CHECK(cudaMemcpy(back, flags, 64, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 12 && back[4] == 5 && back[6] == 0x55667788 && back[7] == 0x11223344);
  int can = 0;
  DRIVER(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
  EXPECT(can == 1);

  // times between events
  cudaEvent_t begin, end, never;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  CHECK(cudaEventCreateWithFlags(&never, cudaEventDisableTiming));
  CHECK(cudaEventRecord(begin, a));
  spin<<<1, 1, 0, a>>>(20000000);
  CHECK(cudaEventRecord(end, a));
  EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
  float ms = 0;
  EXPECT(cudaEventElapsedTime(&ms, begin, end) == cudaErrorNotReady);
  cudaGetLastError();
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms >= 19.9f && ms < 2000);
  CHECK(cudaEventRecord(never, a));
  CHECK(cudaEventSynchronize(never));
  EXPECT(cudaEventElapsedTime(&ms, begin, never) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  // callbacks get the stream's state and come in order
  struct Order {
    std::vector<int> seen;
    cudaStream_t stream;
  } order = {{}, a};
  for (int i = 0; i < 5; ++i) {
    increment<<<1, 1, 0, a>>>(counter);
    if (i % 2)
      CHECK(cudaStreamAddCallback(
          a,
          [](cudaStream_t s, cudaError_t status, void *p) {
            Order *o = (Order *)p;
            o->seen.push_back(status == cudaSuccess && s == o->stream ? 1 : 0);
          },
          &order, 0));
    else
      CHECK(cudaLaunchHostFunc(
          a, [](void *p) { ((Order *)p)->seen.push_back(2); }, &order));
  }
  CHECK(cudaStreamSynchronize(a));
  EXPECT(order.seen == std::vector<int>({2, 1, 2, 1, 2}) && *counter == 10);
  int low = 1, high = 1, got = 9;
  CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
  EXPECT(low == 0 && high < 0);
  cudaStream_t urgent;
  CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, high - 50)); // clamped
  CHECK(cudaStreamGetPriority(urgent, &got));
  EXPECT(got == high);
  CHECK(cudaStreamDestroy(urgent));
  return done();
}
