// Graphs and stream capture by the runtime API, as nvcc builds programs. Prints what is wrong; exit code 0 if nothing is.
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures = 0;

#define CHECK(expression)                                                                            \
  do {                                                                                               \
    if (cudaError_t error = (expression); error != cudaSuccess) {                                    \
      printf("line %d: %s: %s\n", __LINE__, #expression, cudaGetErrorName(error));                   \
      exit(1);                                                                                       \
    }                                                                                                \
  } while (0)

template <class A, class B> static void expect(const A &is, const B &should, const char *what) {
  if (!(is == should)) {
    printf("%s: wrong\n", what);
    ++failures;
  }
}

constexpr int kCount = 1 << 14, kBlock = 256;
__device__ int deviceTotal;

__global__ void scale(int *values, int factor) { values[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }
__global__ void add(int *out, const int *a, const int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i];
}
__global__ void total(const int *values, int *out) {
  __shared__ int partial[kBlock];
  int sum = 0;
  for (int i = threadIdx.x; i < kCount; i += blockDim.x)
    sum += values[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int width = kBlock / 2; width > 0; width /= 2) {
    if (threadIdx.x < width)
      partial[threadIdx.x] += partial[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *out = partial[0];
    deviceTotal = partial[0];
  }
}
// One step of the Collatz sequence; the loop goes on until it arrives at 1.
__global__ void collatz(cudaGraphConditionalHandle handle, unsigned *n, unsigned *steps) {
  *n = *n % 2 ? 3 * *n + 1 : *n / 2;
  ++*steps;
  cudaGraphSetConditional(handle, *n != 1);
}
__global__ void choose(cudaGraphConditionalHandle handle, unsigned value) { cudaGraphSetConditional(handle, value); }
__global__ void put(int *out, int value) { *out = value; }

static std::vector<int> firstNumbers() {
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i)
    values[i] = i % 100;
  return values;
}
static long sumOf(const std::vector<int> &values) {
  long sum = 0;
  for (int value : values)
    sum += value;
  return sum;
}

static void captureForkAndJoin(cudaStream_t first) {
  const std::vector<int> values = firstNumbers();
  int *a, *b, *sum, *out;
  CHECK(cudaMalloc(&a, kCount * 4));
  CHECK(cudaMalloc(&b, kCount * 4));
  CHECK(cudaMalloc(&sum, kCount * 4));
  CHECK(cudaMalloc(&out, 4));
  cudaStream_t second;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  static int calls, result;
  calls = 0;

  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(a, values.data(), kCount * 4, cudaMemcpyHostToDevice, first));
  CHECK(cudaEventRecord(fork, first));
  CHECK(cudaStreamWaitEvent(second, fork, 0));
  CHECK(cudaMemcpyAsync(b, a, kCount * 4, cudaMemcpyDeviceToDevice, second));
  scale<<<kCount / kBlock, kBlock, 0, second>>>(b, 3);
  scale<<<kCount / kBlock, kBlock, 0, first>>>(a, 2);
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(second, &status));
  expect(status, cudaStreamCaptureStatusActive, "the forked stream captures");
  CHECK(cudaEventRecord(join, second));
  CHECK(cudaStreamWaitEvent(first, join, 0));
  add<<<kCount / kBlock, kBlock, 0, first>>>(sum, a, b);
  total<<<1, kBlock, 0, first>>>(sum, out);
  CHECK(cudaMemcpyAsync(&result, out, 4, cudaMemcpyDeviceToHost, first));
  CHECK(cudaLaunchHostFunc(first, [](void *) { ++calls; }, nullptr));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(first, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  expect(nodes, 8u, "captured nodes");
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 3; ++round) {
    result = 0;
    CHECK(cudaGraphLaunch(exec, first));
    CHECK(cudaStreamSynchronize(first));
    expect(result, 5 * sumOf(values), "the captured graph's sum");
  }
  expect(calls, 3, "calls of the host function");
  int shown = 0;
  CHECK(cudaMemcpyFromSymbol(&shown, deviceTotal, 4));
  expect(shown, 5 * sumOf(values), "the variable that the graph wrote");

  // Captured anew with other factors, the executable takes it over.
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemcpyAsync(a, values.data(), kCount * 4, cudaMemcpyHostToDevice, first));
  CHECK(cudaEventRecord(fork, first));
  CHECK(cudaStreamWaitEvent(second, fork, 0));
  CHECK(cudaMemcpyAsync(b, a, kCount * 4, cudaMemcpyDeviceToDevice, second));
  scale<<<kCount / kBlock, kBlock, 0, second>>>(b, 7);
  scale<<<kCount / kBlock, kBlock, 0, first>>>(a, 4);
  CHECK(cudaEventRecord(join, second));
  CHECK(cudaStreamWaitEvent(first, join, 0));
  add<<<kCount / kBlock, kBlock, 0, first>>>(sum, a, b);
  total<<<1, kBlock, 0, first>>>(sum, out);
  CHECK(cudaMemcpyAsync(&result, out, 4, cudaMemcpyDeviceToHost, first));
  CHECK(cudaLaunchHostFunc(first, [](void *) { ++calls; }, nullptr));
  cudaGraph_t again;
  CHECK(cudaStreamEndCapture(first, &again));
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(exec, again, &info));
  CHECK(cudaGraphLaunch(exec, first));
  CHECK(cudaStreamSynchronize(first));
  expect(result, 11 * sumOf(values), "the updated graph's sum");
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(again));
  CHECK(cudaStreamDestroy(second));
}

static void buildByNodes(cudaStream_t stream) {
  const std::vector<int> values = firstNumbers();
  int *a, *out;
  CHECK(cudaMalloc(&a, kCount * 4));
  CHECK(cudaMalloc(&out, 4));
  int result = 0;
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t up, scaled, summed, down, cleared;
  CHECK(cudaGraphAddMemcpyNode1D(&up, graph, nullptr, 0, a, values.data(), kCount * 4, cudaMemcpyHostToDevice));
  cudaMemsetParams zero = {};
  zero.dst = out;
  zero.elementSize = 4;
  zero.width = zero.height = 1;
  CHECK(cudaGraphAddMemsetNode(&cleared, graph, nullptr, 0, &zero));
  int factor = 6;
  void *scaleArguments[] = {&a, &factor};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)scale;
  kernel.gridDim = dim3(kCount / kBlock);
  kernel.blockDim = dim3(kBlock);
  kernel.kernelParams = scaleArguments;
  CHECK(cudaGraphAddKernelNode(&scaled, graph, &up, 1, &kernel));
  void *totalArguments[] = {&a, &out};
  cudaKernelNodeParams totalKernel = kernel;
  totalKernel.func = (void *)total;
  totalKernel.gridDim = dim3(1);
  totalKernel.kernelParams = totalArguments;
  const cudaGraphNode_t before[] = {scaled, cleared};
  CHECK(cudaGraphAddKernelNode(&summed, graph, before, 2, &totalKernel));
  CHECK(cudaGraphAddMemcpyNodeFromSymbol(&down, graph, &summed, 1, &result, deviceTotal, 4, 0, cudaMemcpyDeviceToHost));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect(result, 6 * sumOf(values), "the sum of a graph built by nodes");

  factor = 9;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, scaled, &kernel));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect(result, 9 * sumOf(values), "the sum with another argument");
  cudaKernelNodeParams answered;
  CHECK(cudaGraphKernelNodeGetParams(scaled, &answered));
  expect(answered.gridDim.x, unsigned(kCount / kBlock), "the grid that a node answers");
  expect(*(int *)answered.kernelParams[1], 6, "the argument that a node answers");
  CHECK(cudaGraphKernelNodeSetParams(scaled, &answered)); // what it answers, it takes
  CHECK(cudaGraphNodeSetEnabled(exec, scaled, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect(result, sumOf(values), "the sum with a node disabled");
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

static void loopOnTheDevice(cudaStream_t stream) {
  unsigned *n, *steps;
  CHECK(cudaMallocManaged(&n, 4));
  CHECK(cudaMallocManaged(&steps, 4));
  *n = 27; // which takes 111 steps
  *steps = 0;
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};
  loop.conditional.handle = handle;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));
  cudaGraph_t body = loop.conditional.phGraph_out[0];
  CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  collatz<<<1, 1, 0, stream>>>(handle, n, steps);
  CHECK(cudaStreamEndCapture(stream, &body));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect(*n, 1u, "the end of the loop");
  expect(*steps, 111u, "the rounds of the loop");
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));

  int *picked;
  CHECK(cudaMallocManaged(&picked, 4));
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  cudaGraphNode_t chooser;
  unsigned value = 2;
  void *arguments[] = {&handle, &value};
  cudaGraphNodeParams kernel = {cudaGraphNodeTypeKernel};
  kernel.kernel.func = (void *)choose;
  kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1);
  kernel.kernel.kernelParams = arguments;
  CHECK(cudaGraphAddNode(&chooser, graph, nullptr, nullptr, 0, &kernel));
  cudaGraphNodeParams pick = {cudaGraphNodeTypeConditional};
  pick.conditional.handle = handle;
  pick.conditional.type = cudaGraphCondTypeSwitch;
  pick.conditional.size = 4;
  CHECK(cudaGraphAddNode(&node, graph, &chooser, nullptr, 1, &pick));
  for (int i = 0; i < 4; ++i) {
    int number = 10 + i;
    void *putArguments[] = {&picked, &number};
    kernel.kernel.func = (void *)put;
    kernel.kernel.kernelParams = putArguments;
    cudaGraphNode_t inner;
    CHECK(cudaGraphAddNode(&inner, pick.conditional.phGraph_out[i], nullptr, nullptr, 0, &kernel));
  }
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect(*picked, 12, "the body that was picked");
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

static void allocateInGraphs(cudaStream_t stream) {
  int result = 0, *memory;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&memory, kCount * 4, stream));
  CHECK(cudaMemsetAsync(memory, 1, kCount * 4, stream));
  total<<<1, kBlock, 0, stream>>>(memory, memory);
  CHECK(cudaMemcpyAsync(&result, memory, 4, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(memory, stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 2; ++round) {
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect(unsigned(result), 0x01010101u * kCount, "the sum in memory of the graph");
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));

  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.bytesize = 1 << 16;
  cudaGraphNode_t allocated;
  CHECK(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &p));
  CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  size_t used = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  expect(used, size_t(1 << 16), "memory in use by graphs");
  CHECK(cudaFreeAsync(p.dptr, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

static void endCapturesByForbiddenCalls(cudaStream_t stream) {
  cudaGraph_t graph;
  int *memory = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  expect(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported, "allocation during a capture");
  put<<<1, 1, 0, stream>>>(memory, 1);
  expect(cudaGetLastError(), cudaErrorStreamCaptureInvalidated, "a launch behind it");
  expect(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated, "the end of such a capture");
  cudaStream_t blocking;
  CHECK(cudaStreamCreate(&blocking));
  CHECK(cudaMalloc(&memory, 4));
  CHECK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
  put<<<1, 1>>>(memory, 1);
  expect(cudaGetLastError(), cudaErrorStreamCaptureImplicit, "a launch into the legacy stream");
  expect(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated, "the end of this one");
  cudaGetLastError();
  CHECK(cudaStreamDestroy(blocking));
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  captureForkAndJoin(stream);
  buildByNodes(stream);
  loopOnTheDevice(stream);
  allocateInGraphs(stream);
  endCapturesByForbiddenCalls(stream);
  CHECK(cudaDeviceSynchronize());
  if (failures == 0)
    printf("ok\n");
  return failures != 0;
}
