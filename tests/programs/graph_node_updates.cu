// Kernel nodes that kernels change: their grid, their arguments, whether they run; one by one and in batches, in bodies of conditional nodes; what the host may still do with such nodes.
// nvcc: -arch=compute_90
#include "check.h"
#include <cstring>

struct Pair {
  int factor;
  double scale;
};
/// Counts the threads that run and says with which arguments.
__global__ void count(int *out, int number, Pair pair) {
  atomicAdd(out, 1);
  out[1] = number;
  out[2] = pair.factor;
  out[3] = (int)(pair.scale * 8);
}

/// What the planner is to do, and what it was answered.
struct Plan {
  int what, blocks, number, factor, offset, bytes;
  int answers[8];
};
__global__ void planner(cudaGraphDeviceNode_t node, Plan *plan) {
  const Pair pair{plan->factor, plan->factor * 0.5};
  int *answer = plan->answers;
  if (plan->what == 1)
    *answer++ = cudaGraphKernelNodeSetGridDim(node, dim3(plan->blocks, 2, 1));
  if (plan->what == 2) {
    *answer++ = cudaGraphKernelNodeSetParam(node, 8, plan->number);
    *answer++ = cudaGraphKernelNodeSetParam(node, 16, pair);
  }
  if (plan->what == 3)
    *answer++ = cudaGraphKernelNodeSetEnabled(node, plan->number != 0);
  if (plan->what == 4) {
    __align__(8) char bytes[4 * sizeof(cudaGraphKernelNodeUpdate)]; // C++ makes no such union by itself
    memset(bytes, 0, sizeof bytes);
    auto *updates = reinterpret_cast<cudaGraphKernelNodeUpdate *>(bytes);
    for (int k = 0; k < 4; ++k)
      updates[k].node = node;
    updates[0].field = cudaGraphKernelNodeFieldGridDim, updates[0].updateData.gridDim = dim3(plan->blocks, 1, 3);
    updates[1].field = cudaGraphKernelNodeFieldParam, updates[1].updateData.param.pValue = &plan->number, updates[1].updateData.param.offset = 8, updates[1].updateData.param.size = sizeof(int);
    updates[2].field = cudaGraphKernelNodeFieldParam, updates[2].updateData.param.pValue = &pair, updates[2].updateData.param.offset = 16, updates[2].updateData.param.size = sizeof pair;
    updates[3].field = cudaGraphKernelNodeFieldEnabled, updates[3].updateData.isEnabled = 1;
    *answer++ = cudaGraphKernelNodeUpdatesApply(updates, 4);
    *answer++ = cudaGraphKernelNodeUpdatesApply(nullptr, 0);
    updates[1].field = cudaGraphKernelNodeFieldInvalid;
    *answer++ = cudaGraphKernelNodeUpdatesApply(updates + 1, 1);
  }
  if (plan->what == 5) { // none of these is allowed, and none changes anything
    *answer++ = cudaGraphKernelNodeSetGridDim(node, dim3(plan->blocks, 0, 1));
    *answer++ = cudaGraphKernelNodeSetGridDim(node, dim3(1, 65536, 1));
    *answer++ = cudaGraphKernelNodeSetParam(node, plan->offset, &pair, plan->bytes);
    *answer++ = cudaGraphKernelNodeSetParam(node, ~size_t(0), &pair, 8);
    *answer++ = cudaGraphKernelNodeSetGridDim(nullptr, dim3(1));
    *answer++ = cudaGraphKernelNodeSetParam(nullptr, 0, 1);
    *answer++ = cudaGraphKernelNodeSetEnabled(nullptr, true);
  }
}

/// The node's next run, as the graph's launch leaves it: threads, number, factor, eighths of the scale.
struct Fixture {
  int *out;
  Plan *plan;
  cudaStream_t stream;
  cudaGraphExec_t exec;
  void launch(Plan now) {
    CHECK(cudaMemset(out, 0, 16));
    CHECK(cudaMemcpy(plan, &now, sizeof now, cudaMemcpyHostToDevice));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  bool saw(int threads, int number, int factor, int eighths) {
    const auto seen = toHost(out, 4);
    return seen == std::vector<int>{threads, number, factor, eighths};
  }
  bool answered(std::vector<int> expected) {
    const Plan now = toHost(plan, 1)[0];
    return std::vector<int>(now.answers, now.answers + expected.size()) == expected;
  }
};

static cudaKernelNodeAttrValue updatable(int value) {
  cudaKernelNodeAttrValue v = {};
  v.deviceUpdatableKernelNode.deviceUpdatable = value;
  return v;
}

int main() {
  Fixture f = {};
  CHECK(cudaMalloc(&f.out, 64));
  CHECK(cudaMalloc(&f.plan, sizeof(Plan)));
  CHECK(cudaStreamCreate(&f.stream));
  const Pair start{7, 0.25};

  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  attribute.val = updatable(1);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(3), config.blockDim = dim3(32), config.stream = f.stream, config.attrs = &attribute, config.numAttrs = 1;
  EXPECT(cudaLaunchKernelEx(&config, count, f.out, 5, start) != cudaSuccess); // of graphs alone
  (void)cudaGetLastError();

  // By hand, so that the planner knows the handle when it becomes a node.
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  int number = 5;
  void *arguments[] = {&f.out, &number, (void *)&start};
  cudaKernelNodeParams p = {};
  p.func = (void *)count, p.gridDim = dim3(3), p.blockDim = dim3(32), p.kernelParams = arguments;
  cudaGraphNode_t node, plannerNode;
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  const auto id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  cudaKernelNodeAttrValue value = updatable(0);
  CHECK(cudaGraphKernelNodeGetAttribute(node, id, &value));
  EXPECT(value.deviceUpdatableKernelNode.deviceUpdatable == 0);
  value = updatable(1);
  CHECK(cudaGraphKernelNodeSetAttribute(node, id, &value));
  CHECK(cudaGraphKernelNodeGetAttribute(node, id, &value));
  EXPECT(value.deviceUpdatableKernelNode.deviceUpdatable == 1);
  cudaGraphDeviceNode_t handle = value.deviceUpdatableKernelNode.devNode;
  EXPECT(handle != nullptr);
  void *plannerArguments[] = {&handle, &f.plan};
  cudaKernelNodeParams q = {};
  q.func = (void *)planner, q.gridDim = dim3(1), q.blockDim = dim3(1), q.kernelParams = plannerArguments;
  CHECK(cudaGraphAddKernelNode(&plannerNode, graph, nullptr, 0, &q));
  CHECK(cudaGraphAddDependencies(graph, &plannerNode, &node, nullptr, 1));
  size_t offset = 0, bytes = 0;
  CHECK(cudaFuncGetParamInfo((const void *)count, 2, &offset, &bytes));
  EXPECT(offset == 16 && bytes == sizeof(Pair));

  // What the host may no longer do.
  value = updatable(0);
  EXPECT(cudaGraphKernelNodeSetAttribute(node, id, &value) == cudaErrorInvalidValue);
  EXPECT(cudaGraphKernelNodeCopyAttributes(plannerNode, node) == cudaErrorInvalidValue);
  EXPECT(cudaGraphDestroyNode(node) == cudaErrorInvalidValue);
  CHECK(cudaGraphInstantiate(&f.exec, graph, 0));
  cudaGraphExec_t second = nullptr;
  EXPECT(cudaGraphInstantiate(&second, graph, 0) != cudaSuccess);
  cudaGraphExecUpdateResultInfo info;
  EXPECT(cudaGraphExecUpdate(f.exec, graph, &info) == cudaErrorGraphExecUpdateFailure);
  (void)cudaGetLastError();
  CHECK(cudaGraphUpload(f.exec, f.stream));

  f.launch({0});
  EXPECT(f.saw(3 * 32, 5, 7, 2));
  f.launch({1, 4});
  EXPECT(f.answered({0}) && f.saw(4 * 2 * 32, 5, 7, 2));
  f.launch({0}); // what a kernel wrote stays
  EXPECT(f.saw(4 * 2 * 32, 5, 7, 2));
  f.launch({2, 0, 19, 6});
  EXPECT(f.answered({0, 0}) && f.saw(4 * 2 * 32, 19, 6, 24));
  f.launch({3, 0, 0});
  EXPECT(f.answered({0}) && f.saw(0, 0, 0, 0));
  unsigned enabled = 7;
  CHECK(cudaGraphNodeGetEnabled(f.exec, node, &enabled));
  EXPECT(enabled == 0);
  f.launch({4, 5, 23, 10});
  EXPECT(f.answered({0, 0, 1}) && f.saw(5 * 3 * 32, 23, 10, 40));
  f.launch({5, 9, 0, 1, 20, 16}); // the parameters have 32 bytes
  EXPECT(f.answered({1, 1, 1, 1, 1, 1, 1}) && f.saw(5 * 3 * 32, 23, 10, 40));

  // The host's word replaces what kernels said, and theirs the host's.
  number = 31, p.gridDim = dim3(2);
  CHECK(cudaGraphExecKernelNodeSetParams(f.exec, node, &p));
  f.launch({0});
  EXPECT(f.saw(2 * 32, 31, 7, 2));
  f.launch({1, 1});
  EXPECT(f.saw(2 * 32, 31, 7, 2));
  CHECK(cudaGraphNodeSetEnabled(f.exec, node, 0));
  f.launch({0});
  EXPECT(f.saw(0, 0, 0, 0));
  f.launch({3, 0, 1});
  EXPECT(f.saw(2 * 32, 31, 7, 2));
  CHECK(cudaGraphExecDestroy(f.exec));
  CHECK(cudaGraphDestroy(graph));

  { // captured: the handles come with the launches
    CHECK(cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
    config.gridDim = dim3(1);
    cudaGraphDeviceNode_t handles[3];
    for (int k = 0; k < 3; ++k) {
      attribute.val = updatable(1);
      CHECK(cudaLaunchKernelEx(&config, count, f.out, k, start));
      handles[k] = attribute.val.deviceUpdatableKernelNode.devNode;
    }
    EXPECT(handles[0] && handles[1] && handles[2] && handles[0] != handles[1] && handles[1] != handles[2]);
    planner<<<1, 1, 0, f.stream>>>(handles[1], f.plan); // for the launch that follows
    CHECK(cudaStreamEndCapture(f.stream, &graph));
    CHECK(cudaGraphInstantiate(&f.exec, graph, 0));
    f.launch({1, 5});
    EXPECT(f.saw(3 * 32, 2, 7, 2));
    f.launch({3, 0, 0});
    EXPECT(f.saw(12 * 32, 2, 7, 2));
    f.launch({0});
    EXPECT(f.saw(2 * 32, 2, 7, 2));
    CHECK(cudaGraphExecDestroy(f.exec));
    CHECK(cudaGraphDestroy(graph));
  }
  return done();
}
