// A pipeline captured over several streams: forks and joins by events, copies, fills, host functions, libraries' streams; the graph's shape; the graph
// launched again with other inputs.
#include "check.h"

__global__ void scale(float *x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= by;
}
__global__ void add(float *out, const float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a[i] + b[i];
}
__global__ void sum(const float *x, float *out, int n) {
  __shared__ float part[256];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += x[i];
  part[threadIdx.x] = s;
  for (int step = 128; step > 0; step /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < step)
      part[threadIdx.x] += part[threadIdx.x + step];
  }
  if (threadIdx.x == 0)
    *out = part[0];
}

struct Seen {
  const float *value;
  std::vector<float> values;
};
static void CUDART_CB remember(void *p) {
  Seen *seen = (Seen *)p;
  seen->values.push_back(*seen->value);
}

int main() {
  const int n = 10000;
  float *a, *b, *c, *total, *in, *result;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&c, n * 4));
  CHECK(cudaMalloc(&total, 4));
  CHECK(cudaMallocHost(&in, n * 4));
  CHECK(cudaMallocHost(&result, 4));
  cudaStream_t main, side, third;
  CHECK(cudaStreamCreateWithFlags(&main, cudaStreamNonBlocking));
  CHECK(cudaStreamCreate(&side));
  CHECK(cudaStreamCreate(&third));
  cudaEvent_t fork, join, join3;
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join3, cudaEventDisableTiming));
  Seen seen = {result, {}};

  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(a, in, n * 4, cudaMemcpyHostToDevice, main));
  CHECK(cudaEventRecord(fork, main));
  CHECK(cudaStreamWaitEvent(side, fork, 0));
  CHECK(cudaStreamWaitEvent(third, fork, 0));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(side, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  CHECK(cudaMemsetAsync(b, 0, n * 4, side));
  CHECK(cudaMemcpyAsync(c, a, n * 4, cudaMemcpyDeviceToDevice, third));
  scale<<<(n + 255) / 256, 256, 0, third>>>(c, 3, n);
  CHECK(cudaEventRecord(join, side));
  CHECK(cudaEventRecord(join3, third));
  scale<<<(n + 255) / 256, 256, 0, main>>>(a, 2, n);
  CHECK(cudaStreamWaitEvent(main, join, 0));
  add<<<(n + 255) / 256, 256, 0, main>>>(b, a, b, n);
  CHECK(cudaStreamWaitEvent(main, join3, 0));
  add<<<(n + 255) / 256, 256, 0, main>>>(b, b, c, n);
  sum<<<1, 256, 0, main>>>(b, total, n);
  CHECK(cudaMemcpyAsync(result, total, 4, cudaMemcpyDeviceToHost, main));
  CHECK(cudaLaunchHostFunc(main, remember, &seen));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(main, &graph));

  size_t nodes = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT(nodes == 10 && edges == 11);
  std::vector<cudaGraphNode_t> list(nodes);
  CHECK(cudaGraphGetNodes(graph, list.data(), &nodes));
  int kinds[20] = {};
  for (cudaGraphNode_t node : list) {
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(node, &type));
    ++kinds[type];
  }
  EXPECT(kinds[cudaGraphNodeTypeKernel] == 5 && kinds[cudaGraphNodeTypeMemcpy] == 3 && kinds[cudaGraphNodeTypeMemset] == 1 && kinds[cudaGraphNodeTypeHost] == 1);
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  CHECK(cudaGraphUpload(run, main));
  for (int round = 0; round < 3; ++round) {
    double want = 0;
    for (int i = 0; i < n; ++i) {
      in[i] = float((i + round * 7) % 10);
      want += 5 * in[i];
    }
    CHECK(cudaGraphLaunch(run, main));
    CHECK(cudaStreamSynchronize(main));
    EXPECT(*result == want && int(seen.values.size()) == round + 1 && seen.values.back() == want);
  }

  // a question that only a running stream can answer spoils a capture
  cudaGraph_t none;
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamQuery(main) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(main, &none) == cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  // a fork that never comes back
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaEventRecord(fork, main));
  CHECK(cudaStreamWaitEvent(side, fork, 0));
  scale<<<1, 32, 0, side>>>(a, 1, 32);
  EXPECT(cudaStreamEndCapture(main, &none) == cudaErrorStreamCaptureUnjoined);
  cudaGetLastError();
  // streams that were not forked may not wait for captured events' work, and end where it began
  CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeRelaxed));
  CHECK(cudaEventRecord(fork, main));
  CHECK(cudaStreamWaitEvent(side, fork, 0));
  EXPECT(cudaStreamEndCapture(side, &none) == cudaErrorStreamCaptureUnmatched);
  cudaGetLastError();
  EXPECT(cudaEventSynchronize(fork) == cudaErrorCapturedEvent);
  cudaStreamEndCapture(main, &none);
  cudaGetLastError();
  EXPECT(cudaStreamEndCapture(main, &none) == cudaErrorIllegalState);
  cudaGetLastError();
  scale<<<1, 32, 0, main>>>(a, 1, 32);
  CHECK(cudaStreamSynchronize(main));
  CHECK(cudaGraphExecDestroy(run));
  CHECK(cudaGraphDestroy(graph));
  return done();
}
