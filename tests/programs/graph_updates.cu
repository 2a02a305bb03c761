// Graphs that change: parameters of nodes set before and after they are instantiated, whole graphs updated and why not, clones, children, nodes switched
// off, memory of graphs.
#include "check.h"
// nvcc: -arch=compute_90
__global__ void axpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}
__global__ void square(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] *= y[i];
}
static void CUDART_CB count(void *p) { ++*(int *)p; }

int main() {
  int n = 1000;
  std::vector<float> ones(n, 1), twos(n, 2), back(n);
  float *x = toDevice(ones), *x2 = toDevice(twos), *y;
  CHECK(cudaMalloc(&y, n * 4));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t clear, first, second, copy, host;
  cudaMemsetParams fill = {};
  fill.dst = y, fill.elementSize = 4, fill.width = n, fill.height = 1, fill.value = 0x40400000; // 3.0f
  CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
  float a = 10;
  void *arguments[] = {&y, &x, &a, &n};
  cudaKernelNodeParams k = {};
  k.func = (void *)axpy, k.gridDim = dim3(4), k.blockDim = dim3(256), k.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&first, graph, &clear, 1, &k));
  void *arguments2[] = {&y, &n};
  cudaKernelNodeParams k2 = {};
  k2.func = (void *)square, k2.gridDim = dim3(4), k2.blockDim = dim3(256), k2.kernelParams = arguments2;
  CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &k2));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, back.data(), y, n * 4, cudaMemcpyDeviceToHost));
  int calls = 0, others = 0;
  cudaHostNodeParams h = {count, &calls};
  CHECK(cudaGraphAddHostNode(&host, graph, &copy, 1, &h));
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  auto launch = [&] {
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    return back[n - 1];
  };
  EXPECT(launch() == 169 && calls == 1); // (3 + 10)^2
  a = 20;
  EXPECT(launch() == 169); // arguments were copied
  CHECK(cudaGraphExecKernelNodeSetParams(run, first, &k));
  EXPECT(launch() == 529);
  EXPECT(back[0] == 529);
  fill.value = 0;
  CHECK(cudaGraphExecMemsetNodeSetParams(run, clear, &fill));
  EXPECT(launch() == 400);
  h.userData = &others;
  CHECK(cudaGraphExecHostNodeSetParams(run, host, &h));
  EXPECT(launch() == 400 && others == 1);
  unsigned enabled = 2;
  CHECK(cudaGraphNodeSetEnabled(run, second, 0));
  CHECK(cudaGraphNodeGetEnabled(run, second, &enabled));
  EXPECT(enabled == 0 && launch() == 20);
  CHECK(cudaGraphNodeSetEnabled(run, second, 1));
  EXPECT(launch() == 400);
  // the graph itself still has the first parameters; what reads them gets them back
  cudaKernelNodeParams got = {};
  CHECK(cudaGraphKernelNodeGetParams(first, &got));
  EXPECT(*(float *)got.kernelParams[2] == 10 && got.gridDim.x == 4 && got.func == (void *)axpy);
  cudaMemsetParams filled;
  CHECK(cudaGraphMemsetNodeGetParams(clear, &filled));
  EXPECT(filled.value == 0x40400000 && filled.width == size_t(n));

  // the whole graph anew
  k.kernelParams = arguments;
  void *arguments3[] = {&y, &x2, &a, &n};
  k.kernelParams = arguments3;
  CHECK(cudaGraphKernelNodeSetParams(first, &k));
  cudaGraphExecUpdateResultInfo info = {};
  CHECK(cudaGraphExecUpdate(run, graph, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess && launch() == 43 * 43);
  // by capture with the same shape
  cudaGraph_t captured;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(y, 0, n * 4, stream));
  axpy<<<8, 128, 0, stream>>>(y, x, 7, n);
  square<<<8, 128, 0, stream>>>(y, n);
  CHECK(cudaMemcpyAsync(back.data(), y, n * 4, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(stream, count, &calls));
  CHECK(cudaStreamEndCapture(stream, &captured));
  CHECK(cudaGraphExecUpdate(run, captured, &info));
  EXPECT(launch() == 49);
  // with another shape
  cudaGraph_t shorter;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(y, 0, n * 4, stream));
  axpy<<<8, 128, 0, stream>>>(y, x, 7, n);
  CHECK(cudaStreamEndCapture(stream, &shorter));
  EXPECT(cudaGraphExecUpdate(run, shorter, &info) == cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  cudaGetLastError();
  EXPECT(launch() == 49);

  // clones and children
  cudaGraph_t clone, parent;
  CHECK(cudaGraphClone(&clone, graph));
  cudaGraphNode_t inClone;
  CHECK(cudaGraphNodeFindInClone(&inClone, second, clone));
  CHECK(cudaGraphDestroyNode(inClone));
  size_t nodes = 0, original = 0;
  CHECK(cudaGraphGetNodes(clone, nullptr, &nodes));
  CHECK(cudaGraphGetNodes(graph, nullptr, &original));
  EXPECT(nodes == 4 && original == 5);
  CHECK(cudaGraphCreate(&parent, 0));
  cudaGraphNode_t one, two;
  CHECK(cudaGraphAddChildGraphNode(&one, parent, nullptr, 0, clone));
  CHECK(cudaGraphAddChildGraphNode(&two, parent, &one, 1, graph));
  cudaGraphExec_t both;
  CHECK(cudaGraphInstantiate(&both, parent, 0));
  calls = 0;
  CHECK(cudaGraphLaunch(both, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(calls == 2 && back[5] == 43 * 43);
  // a cycle is refused
  cudaGraph_t ring;
  CHECK(cudaGraphCreate(&ring, 0));
  cudaGraphNode_t e1, e2;
  CHECK(cudaGraphAddEmptyNode(&e1, ring, nullptr, 0));
  CHECK(cudaGraphAddEmptyNode(&e2, ring, &e1, 1));
  cudaGraphExec_t never;
  bool refused = cudaGraphAddDependencies(ring, &e2, &e1, nullptr, 1) != cudaSuccess || cudaGraphInstantiate(&never, ring, 0) != cudaSuccess;
  EXPECT(refused);
  cudaGetLastError();
  // memory that a graph allocates and frees
  cudaGraph_t memory;
  CHECK(cudaGraphCreate(&memory, 0));
  cudaMemAllocNodeParams alloc = {};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  alloc.bytesize = n * 4;
  cudaGraphNode_t take, use, give, out;
  CHECK(cudaGraphAddMemAllocNode(&take, memory, nullptr, 0, &alloc));
  float *temporary = (float *)alloc.dptr;
  fill.dst = temporary, fill.value = 0x40a00000; // 5.0f
  cudaGraphNode_t set;
  CHECK(cudaGraphAddMemsetNode(&set, memory, &take, 1, &fill));
  void *arguments4[] = {&temporary, &n};
  k2.kernelParams = arguments4;
  CHECK(cudaGraphAddKernelNode(&use, memory, &set, 1, &k2));
  CHECK(cudaGraphAddMemcpyNode1D(&out, memory, &use, 1, back.data(), temporary, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphAddMemFreeNode(&give, memory, &out, 1, temporary));
  cudaGraphExec_t with;
  CHECK(cudaGraphInstantiate(&with, memory, 0));
  for (int i = 0; i < 3; ++i) {
    back[0] = 0;
    CHECK(cudaGraphLaunch(with, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(back[0] == 25);
  }
  size_t reserved = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &reserved));
  EXPECT(reserved >= n * 4);
  CHECK(cudaDeviceGraphMemTrim(0));
  return done();
}
