// nvcc: -arch=compute_80
// Graphs: built by hand, captured over several streams, updated, cloned, with child graphs, host nodes, events, memory nodes, and conditions.
#include "check.h"

__global__ void add(float *x, float a) { x[threadIdx.x] += a; }
__global__ void scale(float *x, float a) { x[threadIdx.x] *= a; }
__global__ void count(int *left, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, --*left > 0); }
static void CUDART_CB hostNode(void *p) { ++*(int *)p; }

int main() {
  float *x, host[32];
  CHECK(cudaMalloc(&x, sizeof host));
  cudaGraph_t graph, child, copy;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams set = {};
  set.dst = x, set.value = 0, set.elementSize = 4, set.width = 32, set.height = 1;
  cudaGraphNode_t setNode, addNode, scaleNode, hostCallNode, copyNode, childNode;
  CHECK(cudaGraphAddMemsetNode(&setNode, graph, nullptr, 0, &set));
  float a = 3;
  void *arguments[] = {&x, &a};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)add, kernel.gridDim = dim3(1), kernel.blockDim = dim3(32), kernel.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&addNode, graph, &setNode, 1, &kernel));
  a = 100; // copied at the call
  int calls = 0;
  cudaHostNodeParams hostParams = {hostNode, &calls};
  CHECK(cudaGraphAddHostNode(&hostCallNode, graph, &addNode, 1, &hostParams));
  CHECK(cudaGraphCreate(&child, 0));
  float two = 2;
  void *scaleArguments[] = {&x, &two};
  kernel.func = (void *)scale, kernel.kernelParams = scaleArguments;
  CHECK(cudaGraphAddKernelNode(&scaleNode, child, nullptr, 0, &kernel));
  CHECK(cudaGraphAddChildGraphNode(&childNode, graph, &hostCallNode, 1, child));
  CHECK(cudaGraphAddMemcpyNode1D(&copyNode, graph, &childNode, 1, host, x, sizeof host, cudaMemcpyDeviceToHost));
  size_t nodes = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT(nodes == 5 && edges == 4);
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(childNode, &type));
  EXPECT(type == cudaGraphNodeTypeGraph);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t stream, other;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&other));
  for (int i = 0; i < 3; ++i)
    CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(host[31] == 6 && calls == 3);
  a = 10;
  kernel.func = (void *)add, kernel.kernelParams = arguments;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, addNode, &kernel));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(host[0] == 20);
  CHECK(cudaGraphClone(&copy, graph));
  cudaGraphNode_t inCopy;
  CHECK(cudaGraphNodeFindInClone(&inCopy, addNode, copy));
  a = 1;
  CHECK(cudaGraphKernelNodeSetParams(inCopy, &kernel));
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(exec, copy, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess);
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(host[5] == 2);

  // Captured, with a fork and a join, and an allocation of the pool's.
  cudaEvent_t fork, join;
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  float *temporary, *y;
  CHECK(cudaMalloc(&y, 128));
  const auto capture = [&](cudaStreamCaptureMode mode) {
    CHECK(cudaStreamBeginCapture(stream, mode));
    CHECK(cudaMemsetAsync(x, 0, 128, stream));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(other, fork, 0));
    CHECK(cudaMallocAsync(&temporary, 128, other));
    CHECK(cudaMemsetAsync(temporary, 0, 128, other));
    add<<<1, 32, 0, other>>>(temporary, 7);
    CHECK(cudaMemcpyAsync(y, temporary, 128, cudaMemcpyDeviceToDevice, other));
    CHECK(cudaFreeAsync(temporary, other));
    CHECK(cudaEventRecord(join, other));
    add<<<1, 32, 0, stream>>>(x, 1);
    CHECK(cudaStreamWaitEvent(stream, join));
  };
  cudaGraph_t captured;
  capture(cudaStreamCaptureModeGlobal);
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  EXPECT(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  cudaGetLastError();
  cudaError_t end = cudaStreamEndCapture(stream, &captured);
  EXPECT(end == cudaErrorStreamCaptureInvalidated); // synchronising it ended it
  cudaGetLastError();
  capture(cudaStreamCaptureModeThreadLocal);
  scale<<<1, 32, 0, stream>>>(y, 3);
  CHECK(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t second;
  CHECK(cudaGraphInstantiateWithFlags(&second, captured, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CHECK(cudaGraphUpload(second, stream));
  for (int i = 0; i < 2; ++i)
    CHECK(cudaGraphLaunch(second, stream));
  CHECK(cudaMemcpyAsync(host, y, 128, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(host[3] == 21);
  CHECK(cudaMemcpy(host, x, 128, cudaMemcpyDeviceToHost));
  EXPECT(host[3] == 1);

  // While a counter is above nought.
  int *left;
  CHECK(cudaMallocManaged(&left, 4));
  *left = 5;
  cudaGraph_t loop;
  CHECK(cudaGraphCreate(&loop, 0));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, loop, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams condition = {cudaGraphNodeTypeConditional};
  condition.conditional.handle = handle, condition.conditional.type = cudaGraphCondTypeWhile, condition.conditional.size = 1;
  cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphAddNode(&node, loop, nullptr, nullptr, 0, &condition));
#else
  CHECK(cudaGraphAddNode(&node, loop, nullptr, 0, &condition));
#endif
  cudaGraph_t body = condition.conditional.phGraph_out[0];
  CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  add<<<1, 32, 0, stream>>>(x, 1);
  count<<<1, 1, 0, stream>>>(left, handle);
  CHECK(cudaStreamEndCapture(stream, nullptr));
  CHECK(cudaGraphInstantiate(&second, loop, 0));
  CHECK(cudaGraphLaunch(second, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(host, x, 128, cudaMemcpyDeviceToHost));
  EXPECT(host[9] == 6 && *left == 0);
  CHECK(cudaGraphDebugDotPrint(loop, "/dev/null", 0));
  CHECK(cudaGraphExecDestroy(second));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(captured));
  return done();
}
