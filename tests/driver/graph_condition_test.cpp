// Conditional nodes, decided by kernels; memory that graphs allocate.
#include "tests/driver/graph_fixture.h"

namespace ptxrun::tests {

namespace {

class GraphCondition : public GraphTest {
 protected:
  CUgraphConditionalHandle condition(unsigned value,
                                     unsigned flags = CU_GRAPH_COND_ASSIGN_DEFAULT) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_CUDA(cuGraphConditionalHandleCreate(&handle, graph_, context_, value, flags));
    return handle;
  }
  /// The node and its bodies.
  CUgraphNode addConditional(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                             unsigned size, std::vector<CUgraph> &bodies,
                             std::vector<CUgraphNode> after = {}) {
    CUgraphNodeParams p = {};
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    p.conditional.ctx = context_;
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddNode(&node, graph_, after.data(), nullptr, after.size(), &p));
    bodies.assign(p.conditional.phGraph_out, p.conditional.phGraph_out + size);
    return node;
  }
  CUgraphNode addChoose(CUgraph graph, CUgraphConditionalHandle handle, uint32_t value) {
    Arguments arguments{handle, value};
    const CUDA_KERNEL_NODE_PARAMS p = kernel(choose_, arguments);
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
    return node;
  }
  CUgraphNode addCountdown(CUgraph graph, std::vector<CUgraphNode> after,
                           CUgraphConditionalHandle handle, size_t i) {
    uint64_t address = digits(i);
    void *pointers[] = {&handle, &address};
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.func = countdown_;
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = pointers;
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &p));
    return node;
  }
};

} // namespace

TEST_F(GraphCondition, PicksABranchByWhatAKernelSets) {
  const CUgraphConditionalHandle handle = condition(0);
  CUgraphNode chooser = addChoose(graph_, handle, 1);
  std::vector<CUgraph> bodies;
  CUgraphNode node = addConditional(handle, CU_GRAPH_COND_TYPE_IF, 2, bodies, {chooser});
  addAppend(bodies[0], {}, 1);
  addAppend(bodies[1], {}, 2);
  addAppend(graph_, {node}, 9);
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  EXPECT_EQ(read(), 19u);
  Arguments arguments{handle, 0};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(choose_, arguments);
  ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, chooser, &p));
  run(exec);
  EXPECT_EQ(read(), 1929u);
}

TEST_F(GraphCondition, BeginsEveryLaunchWithItsDefault) {
  const CUgraphConditionalHandle handle = condition(1);
  std::vector<CUgraph> bodies;
  CUgraphNode node = addConditional(handle, CU_GRAPH_COND_TYPE_IF, 1, bodies);
  CUgraphNode first = addAppend(bodies[0], {}, 1);
  Arguments arguments{handle, 0};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(choose_, arguments);
  CUgraphNode reset = nullptr;
  ASSERT_CUDA(cuGraphAddKernelNode(&reset, bodies[0], &first, 1, &p));
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  run(exec);
  EXPECT_EQ(read(), 11u);
  (void)node;
}

TEST_F(GraphCondition, KeepsItsValueWithoutADefault) {
  const CUgraphConditionalHandle handle = condition(0, 0);
  std::vector<CUgraph> bodies;
  CUgraphNode node = addConditional(handle, CU_GRAPH_COND_TYPE_IF, 1, bodies);
  addAppend(bodies[0], {}, 1);
  Arguments arguments{handle, 1};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(choose_, arguments);
  CUgraphNode set = nullptr;
  ASSERT_CUDA(cuGraphAddKernelNode(&set, graph_, &node, 1, &p));
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  EXPECT_EQ(read(), 0u); // set behind the node
  run(exec);
  EXPECT_EQ(read(), 1u);
}

TEST_F(GraphCondition, RepeatsABodyWhileAKernelSaysSo) {
  const CUgraphConditionalHandle handle = condition(1);
  std::vector<CUgraph> bodies;
  addConditional(handle, CU_GRAPH_COND_TYPE_WHILE, 1, bodies);
  CUgraphNode first = addAppend(bodies[0], {}, 7);
  addCountdown(bodies[0], {first}, handle, 1);
  CUgraphExec exec = instantiate(graph_);
  ASSERT_CUDA(cuMemsetD32(digits(1), 5, 1));
  run(exec);
  EXPECT_EQ(read(), 77777u);
  EXPECT_EQ(read(1), 0u);
}

TEST_F(GraphCondition, SwitchesAmongBodies) {
  const CUgraphConditionalHandle handle = condition(0);
  CUgraphNode chooser = addChoose(graph_, handle, 0);
  std::vector<CUgraph> bodies;
  addConditional(handle, CU_GRAPH_COND_TYPE_SWITCH, 3, bodies, {chooser});
  for (uint32_t i = 0; i < 3; ++i)
    addAppend(bodies[i], {}, i + 1);
  CUgraphExec exec = instantiate(graph_);
  for (const uint32_t value : {2u, 0u, 3u, 1u}) { // 3 picks none
    Arguments arguments{handle, value};
    const CUDA_KERNEL_NODE_PARAMS p = kernel(choose_, arguments);
    ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, chooser, &p));
    run(exec);
  }
  EXPECT_EQ(read(), 312u);
}

TEST_F(GraphCondition, NestsAndIsCapturedInto) {
  // while (digits[1]-- ...) { append 1; if (always) append 2 }, the bodies captured from a stream.
  const CUgraphConditionalHandle loop = condition(1);
  std::vector<CUgraph> bodies, inner;
  addConditional(loop, CU_GRAPH_COND_TYPE_WHILE, 1, bodies);
  CUgraphConditionalHandle branch = 0;
  ASSERT_CUDA(cuGraphConditionalHandleCreate(&branch, bodies[0], context_, 1,
                                             CU_GRAPH_COND_ASSIGN_DEFAULT));
  ASSERT_CUDA(cuStreamBeginCaptureToGraph(stream_, bodies[0], nullptr, nullptr, 0,
                                          CU_STREAM_CAPTURE_MODE_GLOBAL));
  ASSERT_CUDA(append(stream_, 1));
  ASSERT_CUDA(launch(countdown_, 1, 1, stream_, loop, digits(1)));
  CUgraph captured = nullptr;
  ASSERT_CUDA(cuStreamEndCapture(stream_, &captured));
  EXPECT_EQ(captured, bodies[0]);
  CUgraphNode nodes[2];
  size_t count = 2;
  ASSERT_CUDA(cuGraphGetNodes(bodies[0], nodes, &count));
  CUgraphNodeParams p = {};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = branch;
  p.conditional.size = 1;
  p.conditional.ctx = context_;
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&node, bodies[0], &nodes[1], nullptr, 1, &p));
  addAppend(p.conditional.phGraph_out[0], {}, 2);
  ASSERT_CUDA(cuMemsetD32(digits(1), 3, 1));
  run(instantiate(graph_));
  EXPECT_EQ(read(), 121212u);
}

TEST_F(GraphCondition, ChecksHandlesAndBodies) {
  const CUgraphConditionalHandle handle = condition(0);
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS how = {};
  EXPECT_RESULT(cuGraphInstantiateWithParams(&exec, graph_, &how), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
  CUgraphNodeParams p = {};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = handle;
  p.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
  p.conditional.size = 2;
  CUgraphNode node = nullptr;
  EXPECT_RESULT(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &p), CUDA_ERROR_INVALID_VALUE);
  p.conditional.handle = 12345;
  p.conditional.size = 1;
  EXPECT_RESULT(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &p), CUDA_ERROR_INVALID_VALUE);
  std::vector<CUgraph> bodies;
  addConditional(handle, CU_GRAPH_COND_TYPE_IF, 1, bodies);
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, 0));
  ASSERT_CUDA(cuGraphAddEventRecordNode(&node, bodies[0], nullptr, 0, event));
  EXPECT_RESULT(cuGraphInstantiate(&exec, graph_, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_RESULT(cuGraphDestroy(bodies[0]), CUDA_ERROR_INVALID_VALUE);
  CUgraph copy = nullptr;
  EXPECT_RESULT(cuGraphClone(&copy, graph_), CUDA_ERROR_NOT_SUPPORTED);
}

namespace {

class GraphMemory : public GraphTest {
 protected:
  static CUDA_MEM_ALLOC_NODE_PARAMS allocation(size_t bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS p = {};
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    p.bytesize = bytes;
    return p;
  }
  CUgraphNode allocate(size_t bytes, std::vector<CUgraphNode> after, CUdeviceptr &address) {
    CUDA_MEM_ALLOC_NODE_PARAMS p = allocation(bytes);
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddMemAllocNode(&node, graph_, after.data(), after.size(), &p));
    address = p.dptr;
    return node;
  }
  uint64_t attribute(CUgraphMem_attribute which) {
    uint64_t value = 0;
    EXPECT_CUDA(cuDeviceGetGraphMemAttribute(0, which, &value));
    return value;
  }
};

} // namespace

TEST_F(GraphMemory, IsThereFromItsNodeToItsFree) {
  CUdeviceptr memory = 0;
  CUgraphNode node = allocate(64, {}, memory);
  const CUDA_MEMSET_NODE_PARAMS fill = {memory, 0, 0x01020304, 4, 16, 1};
  CUgraphNode filled = nullptr, copied = nullptr, freed = nullptr;
  ASSERT_CUDA(cuGraphAddMemsetNode(&filled, graph_, &node, 1, &fill, context_));
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory;
  copy.dstDevice = digits();
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  ASSERT_CUDA(cuGraphAddMemcpyNode(&copied, graph_, &filled, 1, &copy, context_));
  ASSERT_CUDA(cuGraphAddMemFreeNode(&freed, graph_, &copied, 1, memory));
  CUgraphNode again = nullptr;
  EXPECT_RESULT(cuGraphAddMemFreeNode(&again, graph_, &copied, 1, memory),
                CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphAddMemFreeNode(&again, graph_, &copied, 1, digits()),
                CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr answered = 0;
  ASSERT_CUDA(cuGraphMemFreeNodeGetParams(freed, &answered));
  EXPECT_EQ(answered, memory);
  CUDA_MEM_ALLOC_NODE_PARAMS p = {};
  ASSERT_CUDA(cuGraphMemAllocNodeGetParams(node, &p));
  EXPECT_EQ(p.dptr, memory);
  EXPECT_EQ(p.bytesize, 64u);
  const uint64_t before = attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  run(exec); // what is freed inside can be allocated again
  EXPECT_EQ(read(), 0x01020304u);
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), before);
  CUgraphExec second = nullptr;
  EXPECT_NE(cuGraphInstantiate(&second, graph_, 0), CUDA_SUCCESS); // one at a time
  ASSERT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphInstantiate(&second, graph_, 0));
  CUgraph clone = nullptr;
  EXPECT_RESULT(cuGraphClone(&clone, graph_), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_RESULT(cuGraphDestroyNode(copied), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphMemory, StaysUntilSomebodyFreesIt) {
  CUdeviceptr memory = 0;
  CUgraphNode node = allocate(256, {}, memory);
  const CUDA_MEMSET_NODE_PARAMS fill = {memory, 0, 9, 4, 1, 1};
  CUgraphNode filled = nullptr;
  ASSERT_CUDA(cuGraphAddMemsetNode(&filled, graph_, &node, 1, &fill, context_));
  CUgraphExec exec = instantiate(graph_);
  const uint64_t before = attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  run(exec);
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), before + 256);
  EXPECT_EQ(download<uint32_t>(memory, 1)[0], 9u);
  EXPECT_RESULT(cuGraphLaunch(exec, stream_), CUDA_ERROR_INVALID_VALUE); // still allocated
  ASSERT_CUDA(cuMemFreeAsync(memory, stream_));
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  ASSERT_CUDA(cuGraphExecDestroy(exec));
  ASSERT_CUDA(cuGraphDestroy(graph_));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(download<uint32_t>(memory, 1)[0], 9u); // the program's, whatever becomes of the graph
  ASSERT_CUDA(cuMemFree(memory));
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), before);
  EXPECT_RESULT(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphMemory, IsFreedOnLaunchIfTheExecutableMay) {
  CUdeviceptr memory = 0;
  allocate(64, {}, memory);
  CUgraphExec exec = instantiate(graph_, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  const uint64_t before = attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  run(exec);
  run(exec);
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), before + 64);
  EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(GraphMemory, IsFreedByAnotherGraph) {
  CUdeviceptr memory = 0;
  allocate(64, {}, memory);
  CUgraphExec exec = instantiate(graph_);
  CUgraph other = nullptr;
  ASSERT_CUDA(cuGraphCreate(&other, 0));
  CUgraphNode freed = nullptr;
  ASSERT_CUDA(cuGraphAddMemFreeNode(&freed, other, nullptr, 0, memory));
  CUgraphExec freeing = instantiate(other);
  EXPECT_RESULT(cuGraphLaunch(freeing, stream_), CUDA_ERROR_INVALID_VALUE); // nothing there yet
  for (int i = 0; i < 2; ++i) {
    run(exec);
    run(freeing);
  }
  EXPECT_RESULT(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphMemory, IsUsedAgainBehindAFree) {
  CUdeviceptr first = 0, beside = 0, second = 0;
  CUgraphNode a = allocate(4096, {}, first), freed = nullptr;
  ASSERT_CUDA(cuGraphAddMemFreeNode(&freed, graph_, &a, 1, first));
  allocate(4096, {}, beside); // not ordered behind the free
  CUgraphNode b = allocate(4096, {freed}, second);
  EXPECT_EQ(second, first);
  EXPECT_NE(beside, first);
  ASSERT_CUDA(cuGraphAddMemFreeNode(&freed, graph_, &b, 1, second));
}

TEST_F(GraphMemory, CountsWhatGraphsHold) {
  ASSERT_CUDA(cuDeviceGraphMemTrim(0));
  uint64_t zero = 0;
  ASSERT_CUDA(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
  ASSERT_CUDA(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  const uint64_t reserved = attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
  const uint64_t used = attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  CUdeviceptr memory = 0;
  CUgraphNode node = allocate(1 << 20, {}, memory), freed = nullptr;
  ASSERT_CUDA(cuGraphAddMemFreeNode(&freed, graph_, &node, 1, memory));
  run(instantiate(graph_));
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), reserved + (1 << 20));
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), used + (1 << 20));
  ASSERT_CUDA(cuDeviceGraphMemTrim(0));
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), reserved);
  EXPECT_RESULT(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
                CUDA_ERROR_INVALID_VALUE);
}

} // namespace ptxrun::tests
