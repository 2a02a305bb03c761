// Graphs that kernels launch: fire and forget, tail launches, a graph that launches itself again until the work is done.
// nvcc: -arch=compute_90 -rdc=true
#include "check.h"

__device__ cudaGraphExec_t childGraph, selfGraph;
__device__ int rounds;

__global__ void work(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] += 1;
}
__global__ void starter(int times) {
  for (int i = 0; i < times; ++i)
    if (cudaGraphLaunch(childGraph, cudaStreamGraphFireAndForget) != cudaSuccess)
      printf("the child cannot be launched\n");
}
__global__ void tail(int *log) {
  log[0] = 1;
  if (cudaGraphLaunch(childGraph, cudaStreamGraphTailLaunch) != cudaSuccess)
    printf("no tail launch\n");
}
__global__ void again(int limit, int *data) {
  data[rounds] = rounds * rounds;
  if (++rounds < limit)
    cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

int main() {
  const int n = 512;
  int *data, *log;
  CHECK(cudaMalloc(&data, n * 4));
  CHECK(cudaMemset(data, 0, n * 4));
  CHECK(cudaMallocManaged(&log, 400));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t child, parent;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  work<<<4, 128, 0, stream>>>(data, n);
  CHECK(cudaStreamEndCapture(stream, &child));
  cudaGraphExec_t childRun, run;
  CHECK(cudaGraphInstantiate(&childRun, child, cudaGraphInstantiateFlagDeviceLaunch));
  unsigned long long flags = 0;
  CHECK(cudaGraphExecGetFlags(childRun, &flags));
  EXPECT(flags & cudaGraphInstantiateFlagDeviceLaunch);
  CHECK(cudaGraphUpload(childRun, stream));
  CHECK(cudaMemcpyToSymbol(childGraph, &childRun, sizeof childRun));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  starter<<<1, 1, 0, stream>>>(5);
  CHECK(cudaStreamEndCapture(stream, &parent));
  CHECK(cudaGraphInstantiate(&run, parent, 0));
  CHECK(cudaGraphLaunch(run, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<int> back = toHost(data, n);
  for (int v : back)
    EXPECT(v == 5);

  cudaGraph_t tailParent;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  tail<<<1, 1, 0, stream>>>(log);
  CHECK(cudaStreamEndCapture(stream, &tailParent));
  cudaGraphExec_t tailRun;
  CHECK(cudaGraphInstantiate(&tailRun, tailParent, 0));
  for (int i = 0; i < 3; ++i)
    CHECK(cudaGraphLaunch(tailRun, stream));
  CHECK(cudaStreamSynchronize(stream));
  back = toHost(data, n);
  EXPECT(back[0] == 8 && back[n - 1] == 8 && log[0] == 1);

  cudaGraph_t self;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  again<<<1, 1, 0, stream>>>(40, log);
  CHECK(cudaStreamEndCapture(stream, &self));
  cudaGraphExec_t selfRun;
  CHECK(cudaGraphInstantiate(&selfRun, self, cudaGraphInstantiateFlagDeviceLaunch));
  CHECK(cudaGraphUpload(selfRun, stream));
  CHECK(cudaGraphLaunch(selfRun, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 40; ++i)
    EXPECT(log[i] == i * i);
  return done();
}
