// Processes that share device memory and events by IPC handles: a parent allocates, children write their parts, events order them, the parent checks.
#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
// nvcc: -arch=compute_90
__global__ void fill(int *p, int n, int by, int add) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = p[i] + i * by + add;
}
struct Shared {
  volatile int stage, done[2];
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t ready, finished[2];
};
static const int kCount = 4096;

static int child(Shared *s, int id) {
  while (s->stage < 1)
    usleep(100);
  int *p;
  cudaEvent_t ready, own;
  CHECK(cudaIpcOpenMemHandle((void **)&p, s->memory, cudaIpcMemLazyEnablePeerAccess));
  CHECK(cudaIpcOpenEventHandle(&ready, s->ready));
  CHECK(cudaEventCreateWithFlags(&own, cudaEventInterprocess | cudaEventDisableTiming));
  CHECK(cudaIpcGetEventHandle(&s->finished[id], own));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamWaitEvent(stream, ready, 0));
  fill<<<kCount / 2 / 128, 128, 0, stream>>>(p + id * kCount / 2, kCount / 2, id + 1, 5);
  CHECK(cudaEventRecord(own, stream));
  CHECK(cudaGetLastError());
  s->done[id] = 1;
  CHECK(cudaStreamSynchronize(stream));
  while (s->stage < 2) // the event must live until the parent has waited for it
    usleep(100);
  CHECK(cudaIpcCloseMemHandle(p));
  CHECK(cudaEventDestroy(own));
  return failures;
}

int main() {
  // no CUDA before the fork
  Shared *s = (Shared *)mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t pids[2];
  for (int id = 0; id < 2; ++id)
    if ((pids[id] = fork()) == 0)
      _exit(child(s, id));
  int *p;
  CHECK(cudaMalloc(&p, kCount * 4));
  CHECK(cudaMemset(p, 0, kCount * 4));
  cudaEvent_t ready;
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventInterprocess | cudaEventDisableTiming));
  CHECK(cudaIpcGetMemHandle(&s->memory, p));
  CHECK(cudaIpcGetEventHandle(&s->ready, ready));
  fill<<<kCount / 128, 128>>>(p, kCount, 0, 100);
  CHECK(cudaEventRecord(ready));
  s->stage = 1;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int id = 0; id < 2; ++id) {
    while (!s->done[id])
      usleep(100);
    cudaEvent_t finished;
    CHECK(cudaIpcOpenEventHandle(&finished, s->finished[id]));
    CHECK(cudaStreamWaitEvent(stream, finished, 0));
  }
  fill<<<kCount / 128, 128, 0, stream>>>(p, kCount, 0, 1000);
  CHECK(cudaStreamSynchronize(stream));
  s->stage = 2;
  std::vector<int> got = toHost(p, kCount);
  for (int i = 0; i < kCount; ++i) {
    int id = i / (kCount / 2), at = i % (kCount / 2);
    EXPECT(got[i] == 1105 + at * (id + 1));
  }
  for (pid_t pid : pids) {
    int status = -1;
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
  }
  // what cannot be shared
  cudaEvent_t plain;
  CHECK(cudaEventCreate(&plain));
  cudaIpcEventHandle_t handle;
  EXPECT(cudaIpcGetEventHandle(&handle, plain) != cudaSuccess);
  cudaIpcMemHandle_t memory;
  int onStack;
  EXPECT(cudaIpcGetMemHandle(&memory, &onStack) == cudaErrorInvalidValue);
  CHECK(cudaFree(p));
  return done();
}
