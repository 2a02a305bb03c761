// Kernels that run while the host does: flags in mapped memory, a persistent kernel that is fed work, two kernels in two streams that wait for
// each other, a host function that waits for the host.
#include "check.h"
#include <atomic>
#include <chrono>
#include <thread>

__global__ void waits(volatile int *flag, volatile int *answer) {
  while (*flag == 0)
    ;
  __threadfence_system();
  *answer = *flag * 2;
}
__global__ void server(volatile int *mailbox, int *sum) { // one block, fed until it gets -1
  __shared__ int work;
  for (int last = 0;;) {
    if (threadIdx.x == 0) {
      while (mailbox[0] == last)
        __nanosleep(100);
      __threadfence_system();
      work = mailbox[1];
    }
    __syncthreads();
    last = last + 1;
    if (work < 0)
      return;
    atomicAdd(sum, work * (threadIdx.x + 1));
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence_system();
      mailbox[2] = last;
    }
  }
}
__global__ void ping(volatile int *turn, int mine, int rounds, int *log) {
  for (int i = 0; i < rounds; ++i) {
    while (*turn % 2 != mine)
      ;
    log[*turn] = mine + 1;
    __threadfence();
    *turn = *turn + 1;
  }
}
static std::atomic<bool> isOpen{false};
static void CUDART_CB gate(void *) {
  while (!isOpen)
    std::this_thread::yield();
}

int main() {
  volatile int *flags;
  CHECK(cudaHostAlloc((void **)&flags, 4096, cudaHostAllocMapped));
  for (int i = 0; i < 16; ++i)
    flags[i] = 0;
  waits<<<1, 1>>>(flags, flags + 1);
  CHECK(cudaGetLastError());
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT(cudaStreamQuery(0) == cudaErrorNotReady && flags[1] == 0);
  flags[0] = 21;
  CHECK(cudaDeviceSynchronize());
  EXPECT(flags[1] == 42);

  int *sum;
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  CHECK(cudaMallocManaged(&sum, 1024 * 4));
  CHECK(cudaMemset(sum, 0, 4096));
  CHECK(cudaDeviceSynchronize());
  volatile int *mailbox = flags + 8;
  server<<<1, 64, 0, s>>>(mailbox, sum);
  int want = 0;
  for (int i = 1; i <= 20; ++i) {
    mailbox[1] = i;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    mailbox[0] = i;
    while (mailbox[2] != i)
      std::this_thread::yield();
    want += i * 64 * 65 / 2;
  }
  mailbox[1] = -1;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  mailbox[0] = 21;
  CHECK(cudaStreamSynchronize(s));
  EXPECT(*sum == want);

  int *turn, *log;
  CHECK(cudaMalloc(&turn, 4));
  CHECK(cudaMalloc(&log, 400));
  CHECK(cudaMemset(turn, 0, 4));
  ping<<<1, 1, 0, s>>>(turn, 1, 10, log);
  ping<<<1, 1, 0, t>>>(turn, 0, 10, log);
  CHECK(cudaDeviceSynchronize());
  std::vector<int> got = toHost(log, 20);
  for (int i = 0; i < 20; ++i)
    EXPECT(got[i] == i % 2 + 1);

  CHECK(cudaLaunchHostFunc(s, gate, nullptr));
  waits<<<1, 1, 0, s>>>(flags, flags + 2);
  EXPECT(cudaStreamQuery(s) == cudaErrorNotReady && flags[2] == 0);
  waits<<<1, 1, 0, t>>>(flags, flags + 3); // another stream goes on meanwhile
  CHECK(cudaStreamSynchronize(t));
  EXPECT(flags[3] == 42 && flags[2] == 0);
  isOpen = true;
  CHECK(cudaStreamSynchronize(s));
  EXPECT(flags[2] == 42);
  return done();
}
