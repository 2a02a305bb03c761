// Graphs built node by node: structure, parameters, launches, changes of executables.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/driver/graph_fixture.h"

namespace ptxrun::tests {

namespace {
using Graph = GraphTest;
}

TEST_F(Graph, RunsNodesInTheOrderOfItsEdges) {
  // Added in another order than they run in: 3 after 2 after 1.
  CUgraphNode third = addAppend(graph_, {}, 3), second = addAppend(graph_, {}, 2),
              first = addAppend(graph_, {}, 1);
  const CUgraphNode from[] = {first, second}, to[] = {second, third};
  ASSERT_CUDA(cuGraphAddDependencies(graph_, from, to, nullptr, 2));
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  EXPECT_EQ(read(), 123u);
  run(exec);
  EXPECT_EQ(read(), 123123u);
}

TEST_F(Graph, KeepsTheArgumentsOfTheCallThatAddedANode) {
  Arguments arguments{digits(), 4};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &p));
  arguments.number = 9;
  run(instantiate(graph_));
  EXPECT_EQ(read(), 4u);

  CUDA_KERNEL_NODE_PARAMS answered;
  ASSERT_CUDA(cuGraphKernelNodeGetParams(node, &answered));
  EXPECT_EQ(answered.func, append_);
  EXPECT_EQ(answered.gridDimX, 1u);
  EXPECT_EQ(*static_cast<uint64_t *>(answered.kernelParams[0]), digits());
  EXPECT_EQ(*static_cast<uint32_t *>(answered.kernelParams[1]), 4u);
}

TEST_F(Graph, TakesArgumentsAsABufferToo) {
  struct {
    uint64_t pointer;
    uint32_t digit;
  } buffer{digits(), 7};
  size_t bytes = 12;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = append_;
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  p.extra = extra;
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &p));
  run(instantiate(graph_));
  EXPECT_EQ(read(), 7u);
}

TEST_F(Graph, SetsWhatLaterExecutablesRun) {
  CUgraphNode node = addAppend(graph_, {}, 1);
  CUgraphExec before = instantiate(graph_);
  Arguments arguments{digits(), 2};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
  ASSERT_CUDA(cuGraphKernelNodeSetParams(node, &p));
  run(instantiate(graph_));
  EXPECT_EQ(read(), 2u);
  run(before);
  EXPECT_EQ(read(), 21u);
}

TEST_F(Graph, CopiesAndFills) {
  std::vector<uint32_t> host = {11, 12, 13, 14, 15, 16};
  std::vector<uint32_t> back(6);
  CUdeviceptr memory = upload(std::vector<uint32_t>(6, 0));
  CUDA_MEMCPY3D up = {};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = host.data();
  up.srcPitch = up.dstPitch = 12;
  up.srcHeight = up.dstHeight = 2;
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = memory;
  up.WidthInBytes = 12;
  up.Height = 2;
  up.Depth = 1;
  CUDA_MEMCPY3D down = {};
  down.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  down.srcDevice = memory;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = back.data();
  down.WidthInBytes = 24;
  down.Height = down.Depth = 1;
  const CUDA_MEMSET_NODE_PARAMS fill = {memory + 4, 12, 0x77777777, 4, 1, 2};
  CUgraphNode a = nullptr, b = nullptr, c = nullptr;
  ASSERT_CUDA(cuGraphAddMemcpyNode(&a, graph_, nullptr, 0, &up, context_));
  ASSERT_CUDA(cuGraphAddMemsetNode(&b, graph_, &a, 1, &fill, context_));
  ASSERT_CUDA(cuGraphAddMemcpyNode(&c, graph_, &b, 1, &down, context_));
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  EXPECT_EQ(back, (std::vector<uint32_t>{11, 0x77777777, 13, 14, 0x77777777, 16}));

  // Host memory is read when the graph runs, not when it was built.
  host[0] = 99;
  run(exec);
  EXPECT_EQ(back[0], 99u);

  CUDA_MEMSET_NODE_PARAMS answered = {};
  ASSERT_CUDA(cuGraphMemsetNodeGetParams(b, &answered));
  EXPECT_EQ(answered.dst, memory + 4);
  EXPECT_EQ(answered.height, 2u);
  CUDA_MEMCPY3D copy = {};
  ASSERT_CUDA(cuGraphMemcpyNodeGetParams(c, &copy));
  EXPECT_EQ(copy.dstHost, back.data());
  EXPECT_EQ(copy.WidthInBytes, 24u);

  CUDA_MEMSET_NODE_PARAMS other = fill;
  other.value = 5;
  ASSERT_CUDA(cuGraphExecMemsetNodeSetParams(exec, b, &other, context_));
  std::vector<uint32_t> elsewhere(6);
  down.dstHost = elsewhere.data();
  ASSERT_CUDA(cuGraphExecMemcpyNodeSetParams(exec, c, &down, context_));
  run(exec);
  EXPECT_EQ(elsewhere, (std::vector<uint32_t>{99, 5, 13, 14, 5, 16}));
  other.elementSize = 3;
  EXPECT_RESULT(cuGraphMemsetNodeSetParams(b, &other), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, CallsHostFunctionsInOrder) {
  struct Seen {
    GraphTest *test;
    std::atomic<int> calls{0};
    CUresult inside = CUDA_SUCCESS;
  } seen{this, 0, CUDA_SUCCESS};
  CUgraphNode first = addAppend(graph_, {}, 1);
  const CUDA_HOST_NODE_PARAMS p = {[](void *data) {
                                     auto &s = *static_cast<Seen *>(data);
                                     ++s.calls;
                                     CUdeviceptr memory = 0;
                                     s.inside = cuMemAlloc(&memory, 4);
                                   },
                                   &seen};
  CUgraphNode host = nullptr;
  ASSERT_CUDA(cuGraphAddHostNode(&host, graph_, &first, 1, &p));
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_RESULT(seen.inside, CUDA_ERROR_NOT_PERMITTED);
  CUDA_HOST_NODE_PARAMS answered = {};
  ASSERT_CUDA(cuGraphHostNodeGetParams(host, &answered));
  EXPECT_EQ(answered.userData, &seen);
  static std::atomic<int> others{0};
  others = 0;
  const CUDA_HOST_NODE_PARAMS other = {[](void *) { ++others; }, nullptr};
  ASSERT_CUDA(cuGraphExecHostNodeSetParams(exec, host, &other));
  run(exec);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(others, 1);
}

TEST_F(Graph, RunsAChildWhereItsNodeStands) {
  CUgraph child = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  CUgraphNode inner = addAppend(child, {}, 2);
  CUgraphNode first = addAppend(graph_, {}, 1), middle = nullptr;
  ASSERT_CUDA(cuGraphAddChildGraphNode(&middle, graph_, &first, 1, child));
  addAppend(graph_, {middle}, 3);
  addAppend(child, {inner}, 9); // too late: the node has a copy
  ASSERT_CUDA(cuGraphDestroy(child));
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  EXPECT_EQ(read(), 123u);

  CUgraph copy = nullptr;
  ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(middle, &copy));
  EXPECT_EQ(countNodes(copy), 1u);
  EXPECT_RESULT(cuGraphDestroy(copy), CUDA_ERROR_INVALID_VALUE); // it goes with the node
  CUgraph other = nullptr;
  ASSERT_CUDA(cuGraphCreate(&other, 0));
  addAppend(other, {}, 7);
  clear();
  ASSERT_CUDA(cuGraphExecChildGraphNodeSetParams(exec, middle, other));
  run(exec);
  EXPECT_EQ(read(), 173u);
  addAppend(other, {}, 8);
  EXPECT_RESULT(cuGraphExecChildGraphNodeSetParams(exec, middle, other), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, AnswersItsStructure) {
  CUgraphNode a = addAppend(graph_, {}, 1), b = nullptr;
  ASSERT_CUDA(cuGraphAddEmptyNode(&b, graph_, &a, 1));
  CUgraphNode c = addAppend(graph_, {a, b}, 3);
  CUgraphNode nodes[4] = {};
  size_t count = 4;
  ASSERT_CUDA(cuGraphGetNodes(graph_, nodes, &count));
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(nodes[3], nullptr); // room that is left is cleared
  EXPECT_TRUE(std::is_permutation(nodes, nodes + 3, std::vector{a, b, c}.begin()));
  count = 1;
  ASSERT_CUDA(cuGraphGetRootNodes(graph_, nodes, &count));
  EXPECT_EQ(nodes[0], a);
  count = 0;
  ASSERT_CUDA(cuGraphGetEdges(graph_, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 3u);
  ASSERT_CUDA(cuGraphNodeGetDependencies(c, nullptr, nullptr, &count));
  EXPECT_EQ(count, 2u);
  ASSERT_CUDA(cuGraphNodeGetDependentNodes(a, nullptr, nullptr, &count));
  EXPECT_EQ(count, 2u);
  CUgraphNodeType type{};
  ASSERT_CUDA(cuGraphNodeGetType(b, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EMPTY);

  ASSERT_CUDA(cuGraphRemoveDependencies(graph_, &a, &c, nullptr, 1));
  EXPECT_RESULT(cuGraphRemoveDependencies(graph_, &a, &c, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphAddDependencies(graph_, &b, &c, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuGraphDestroyNode(b));
  EXPECT_EQ(countNodes(graph_), 2u);
  ASSERT_CUDA(cuGraphNodeGetDependencies(c, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_RESULT(cuGraphNodeGetType(b, &type), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuGraphDestroy(graph_));
  EXPECT_RESULT(cuGraphNodeGetType(a, &type), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphDestroy(graph_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, RefusesCycles) {
  CUgraphNode a = addAppend(graph_, {}, 1), b = addAppend(graph_, {a}, 2);
  ASSERT_CUDA(cuGraphAddDependencies(graph_, &b, &a, nullptr, 1));
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS p = {};
  EXPECT_RESULT(cuGraphInstantiateWithParams(&exec, graph_, &p), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(p.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  EXPECT_TRUE(p.hErrNode_out == a || p.hErrNode_out == b);
  EXPECT_RESULT(cuGraphAddDependencies(graph_, &a, &a, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, RefusesWhatIsNotItsOwn) {
  CUgraph other = nullptr;
  ASSERT_CUDA(cuGraphCreate(&other, 0));
  CUgraphNode stranger = addAppend(other, {}, 1), own = addAppend(graph_, {}, 2), node = nullptr;
  EXPECT_RESULT(cuGraphAddEmptyNode(&node, graph_, &stranger, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphAddDependencies(graph_, &stranger, &own, nullptr, 1),
                CUDA_ERROR_INVALID_VALUE);
  CUgraphExec exec = instantiate(graph_);
  Arguments arguments{digits(), 2};
  CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
  EXPECT_RESULT(cuGraphExecKernelNodeSetParams(exec, stranger, &p), CUDA_ERROR_INVALID_VALUE);
  p.blockDimX = 2000;
  EXPECT_RESULT(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &p), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(countNodes(graph_), 1u);
  EXPECT_RESULT(cuGraphCreate(&other, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuGraphLaunch(reinterpret_cast<CUgraphExec>(graph_), stream_),
                CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, OutlivesItselfInExecutables) {
  addAppend(graph_, {addAppend(graph_, {}, 1)}, 2);
  CUgraphExec exec = instantiate(graph_);
  ASSERT_CUDA(cuGraphDestroy(graph_));
  run(exec);
  EXPECT_EQ(read(), 12u);
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  ASSERT_CUDA(cuGraphExecDestroy(exec)); // what is queued still runs
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 1212u);
  EXPECT_RESULT(cuGraphLaunch(exec, stream_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, IsCopiedWithItsNodes) {
  CUgraphNode a = addAppend(graph_, {}, 1), b = addAppend(graph_, {a}, 2), copied = nullptr;
  CUgraph copy = nullptr;
  ASSERT_CUDA(cuGraphClone(&copy, graph_));
  addAppend(graph_, {b}, 3);
  EXPECT_EQ(countNodes(copy), 2u);
  ASSERT_CUDA(cuGraphNodeFindInClone(&copied, b, copy));
  EXPECT_NE(copied, b);
  Arguments arguments{digits(), 5};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
  ASSERT_CUDA(cuGraphKernelNodeSetParams(copied, &p));
  run(instantiate(copy));
  EXPECT_EQ(read(), 15u);
  clear();
  run(instantiate(graph_));
  EXPECT_EQ(read(), 123u);
  EXPECT_RESULT(cuGraphNodeFindInClone(&copied, copied, copy), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, ChangesNodesOfExecutables) {
  CUgraphNode a = addAppend(graph_, {}, 1), b = addAppend(graph_, {a}, 2);
  CUgraphExec exec = instantiate(graph_);
  Arguments arguments{digits(), 8};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
  ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, b, &p));
  run(exec);
  EXPECT_EQ(read(), 18u);
  run(instantiate(graph_)); // the graph is what it was
  EXPECT_EQ(read(), 1812u);
}

TEST_F(Graph, ChangesDoNotReachWhatIsQueued) {
  std::atomic<uint32_t> *flag = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(reinterpret_cast<void **>(&flag), 4, 0));
  *flag = 0;
  ASSERT_CUDA(cuStreamWaitValue32(stream_, reinterpret_cast<CUdeviceptr>(flag), 1, 1));
  CUgraphNode a = addAppend(graph_, {}, 1);
  CUgraphExec exec = instantiate(graph_);
  for (uint32_t digit = 2; digit < 6; ++digit) {
    ASSERT_CUDA(cuGraphLaunch(exec, stream_));
    Arguments arguments{digits(), digit};
    const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
    ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, a, &p));
  }
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  *flag = 1;
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 12345u);
  EXPECT_CUDA(cuMemFreeHost(flag));
}

TEST_F(Graph, DisablesNodes) {
  CUgraphNode a = addAppend(graph_, {}, 1), b = addAppend(graph_, {a}, 2),
              c = addAppend(graph_, {b}, 3), empty = nullptr;
  ASSERT_CUDA(cuGraphAddEmptyNode(&empty, graph_, nullptr, 0));
  CUgraphExec exec = instantiate(graph_);
  unsigned isEnabled = 0;
  ASSERT_CUDA(cuGraphNodeGetEnabled(exec, b, &isEnabled));
  EXPECT_EQ(isEnabled, 1u);
  ASSERT_CUDA(cuGraphNodeSetEnabled(exec, b, 0));
  ASSERT_CUDA(cuGraphNodeGetEnabled(exec, b, &isEnabled));
  EXPECT_EQ(isEnabled, 0u);
  run(exec);
  EXPECT_EQ(read(), 13u);
  Arguments arguments{digits(), 7};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
  ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, b, &p)); // stays disabled
  run(exec);
  EXPECT_EQ(read(), 1313u);
  ASSERT_CUDA(cuGraphNodeSetEnabled(exec, b, 1));
  clear();
  run(exec);
  EXPECT_EQ(read(), 173u);
  EXPECT_RESULT(cuGraphNodeSetEnabled(exec, empty, 0), CUDA_ERROR_INVALID_VALUE);
  (void)c;
}

TEST_F(Graph, UpdatesExecutablesAsAWhole) {
  CUgraphNode a = addAppend(graph_, {}, 1);
  addAppend(graph_, {a}, 2);
  CUgraphExec exec = instantiate(graph_);
  CUgraph other = nullptr;
  ASSERT_CUDA(cuGraphCreate(&other, 0));
  CUgraphNode first = addAppend(other, {}, 3);
  CUgraphNode second = addAppend(other, {first}, 4);
  CUgraphExecUpdateResultInfo info = {};
  ASSERT_CUDA(cuGraphExecUpdate(exec, other, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  run(exec);
  EXPECT_EQ(read(), 34u);
  // Nodes of the first graph still name the executable's.
  Arguments arguments{digits(), 6};
  const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
  ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, a, &p));
  run(exec);
  EXPECT_EQ(read(), 3464u);

  ASSERT_CUDA(cuGraphRemoveDependencies(other, &first, &second, nullptr, 1));
  EXPECT_RESULT(cuGraphExecUpdate(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(info.errorNode, second);
  CUgraph third = nullptr;
  ASSERT_CUDA(cuGraphCreate(&third, 0));
  first = addAppend(third, {}, 3);
  ASSERT_CUDA(cuGraphAddEmptyNode(&second, third, &first, 1));
  EXPECT_RESULT(cuGraphExecUpdate(exec, third, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(info.errorNode, second);
  clear();
  run(exec); // unchanged by what failed
  EXPECT_EQ(read(), 64u);
}

TEST_F(Graph, ChecksWhatEdgesSay) {
  CUgraphNode a = addAppend(graph_, {}, 1), b = addAppend(graph_, {}, 2), empty = nullptr;
  ASSERT_CUDA(cuGraphAddEmptyNode(&empty, graph_, nullptr, 0));
  CUgraphEdgeData edge = {};
  edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  EXPECT_RESULT(cuGraphAddDependencies(graph_, &a, &b, &edge, 1), CUDA_ERROR_INVALID_VALUE);
  edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  EXPECT_RESULT(cuGraphAddDependencies(graph_, &a, &empty, &edge, 1), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuGraphAddDependencies(graph_, &a, &b, &edge, 1));
  CUgraphNode from = nullptr, to = nullptr;
  CUgraphEdgeData answered = {};
  size_t count = 1;
  ASSERT_CUDA(cuGraphGetEdges(graph_, &from, &to, &answered, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from, a);
  EXPECT_EQ(to, b);
  EXPECT_EQ(answered.type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
  EXPECT_RESULT(cuGraphGetEdges(graph_, &from, &to, nullptr, &count), CUDA_ERROR_LOSSY_QUERY);
  run(instantiate(graph_));
  EXPECT_EQ(read(), 12u);
}

TEST_F(Graph, RecordsAndAwaitsEvents) {
  CUevent recorded = nullptr, awaited = nullptr;
  ASSERT_CUDA(cuEventCreate(&recorded, 0));
  ASSERT_CUDA(cuEventCreate(&awaited, 0));
  std::atomic<uint32_t> *flag = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(reinterpret_cast<void **>(&flag), 64, 0));
  *flag = 0;
  // Another stream reaches `awaited` only when the host sets the flag.
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(cuStreamWaitValue32(other, reinterpret_cast<CUdeviceptr>(flag), 1, 1));
  ASSERT_CUDA(append(other, 2));
  ASSERT_CUDA(cuEventRecord(awaited, other));
  CUgraphNode first = addAppend(graph_, {}, 1), record = nullptr, wait = nullptr;
  ASSERT_CUDA(cuGraphAddEventRecordNode(&record, graph_, &first, 1, recorded));
  ASSERT_CUDA(cuGraphAddEventWaitNode(&wait, graph_, &record, 1, awaited));
  addAppend(graph_, {wait}, 3);
  CUevent answered = nullptr;
  ASSERT_CUDA(cuGraphEventRecordNodeGetEvent(record, &answered));
  EXPECT_EQ(answered, recorded);
  ASSERT_CUDA(cuGraphEventWaitNodeGetEvent(wait, &answered));
  EXPECT_EQ(answered, awaited);
  CUgraphExec exec = instantiate(graph_);
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  // The event in the graph's middle is reached while its end waits.
  EXPECT_CUDA(cuEventSynchronize(recorded));
  EXPECT_RESULT(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  *flag = 1;
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 123u);
  EXPECT_CUDA(cuStreamSynchronize(other));
  EXPECT_CUDA(cuMemFreeHost(flag));
}

TEST_F(Graph, DoesMemoryOperations) {
  CUdeviceptr words = upload(std::vector<uint32_t>{0, 0, 0, 0});
  CUstreamBatchMemOpParams operations[3] = {};
  operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = words + 4;
  operations[0].writeValue.value = 41;
  operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.address = words + 4;
  operations[1].waitValue.value = 40; // at least
  operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  operations[2].writeValue.address = words + 8;
  operations[2].writeValue.value64 = 0x100000002;
  CUDA_BATCH_MEM_OP_NODE_PARAMS p = {context_, 3, operations, 0};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphAddBatchMemOpNode(&node, graph_, nullptr, 0, &p));
  run(instantiate(graph_));
  EXPECT_EQ(download<uint32_t>(words, 4), (std::vector<uint32_t>{0, 41, 2, 1}));
  operations[0].writeValue.value = 7;
  ASSERT_CUDA(cuStreamBatchMemOp(stream_, 1, operations, 0));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(download<uint32_t>(words, 2)[1], 7u);
  operations[0].writeValue.address += 1;
  EXPECT_RESULT(cuStreamBatchMemOp(stream_, 1, operations, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, TakesNodesOfAnyTypeByOneCall) {
  Arguments arguments{digits(), 1};
  CUgraphNodeParams p = {};
  p.type = CU_GRAPH_NODE_TYPE_KERNEL;
  p.kernel = kernel(append_, arguments);
  CUgraphNode a = nullptr, b = nullptr;
  ASSERT_CUDA(cuGraphAddNode(&a, graph_, nullptr, nullptr, 0, &p));
  arguments.number = 2;
  const CUgraphEdgeData edge = {
      CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};
  ASSERT_CUDA(cuGraphAddNode(&b, graph_, &a, &edge, 1, &p));
  CUgraphExec exec = instantiate(graph_);
  run(exec);
  EXPECT_EQ(read(), 12u);
  arguments.number = 3;
  ASSERT_CUDA(cuGraphNodeSetParams(a, &p));
  ASSERT_CUDA(cuGraphExecNodeSetParams(exec, b, &p));
  clear();
  run(exec);
  EXPECT_EQ(read(), 13u);
  clear();
  run(instantiate(graph_));
  EXPECT_EQ(read(), 32u);
  p.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
  EXPECT_RESULT(cuGraphAddNode(&b, graph_, nullptr, nullptr, 0, &p), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Graph, KeepsAttributesOfKernels) {
  CUgraphNode a = addAppend(graph_, {}, 1), b = addAppend(graph_, {}, 2);
  CUkernelNodeAttrValue value = {};
  value.priority = -3;
  ASSERT_CUDA(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  ASSERT_CUDA(cuGraphKernelNodeCopyAttributes(b, a));
  value = {};
  ASSERT_CUDA(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_EQ(value.priority, -3);
  value.cooperative = 1;
  ASSERT_CUDA(cuGraphKernelNodeSetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  ASSERT_CUDA(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  EXPECT_EQ(value.cooperative, 1);
}

TEST_F(Graph, KeepsUserObjectsWhileAnyoneNeedsThem) {
  std::atomic<int> destroyed{0};
  CUuserObject object = nullptr;
  ASSERT_CUDA(cuUserObjectCreate(
      &object, &destroyed, [](void *data) { ++*static_cast<std::atomic<int> *>(data); }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  ASSERT_CUDA(cuGraphRetainUserObject(graph_, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  addAppend(graph_, {}, 1);
  CUgraphExec exec = instantiate(graph_);
  ASSERT_CUDA(cuGraphDestroy(graph_));
  EXPECT_EQ(destroyed, 0);
  ASSERT_CUDA(cuUserObjectRetain(object, 2));
  ASSERT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_EQ(destroyed, 0);
  ASSERT_CUDA(cuUserObjectRelease(object, 1));
  EXPECT_EQ(destroyed, 0);
  ASSERT_CUDA(cuUserObjectRelease(object, 1));
  EXPECT_EQ(destroyed, 1);
  EXPECT_RESULT(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuUserObjectCreate(&object, nullptr, nullptr, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graph, PrintsItselfForGraphviz) {
  CUgraphNode a = addAppend(graph_, {}, 1), b = nullptr;
  ASSERT_CUDA(cuGraphAddEmptyNode(&b, graph_, &a, 1));
  const auto path =
      std::filesystem::temp_directory_path() /
      ("graph" + std::to_string(std::hash<std::thread::id>{}(std::this_thread::get_id())) + ".dot");
  ASSERT_CUDA(cuGraphDebugDotPrint(graph_, path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("digraph"), std::string::npos);
  EXPECT_NE(text.str().find("append"), std::string::npos);
  EXPECT_NE(text.str().find("EMPTY"), std::string::npos);
  EXPECT_NE(text.str().find("->"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_RESULT(cuGraphDebugDotPrint(graph_, "/no/such/folder/x.dot", 0),
                CUDA_ERROR_OPERATING_SYSTEM);
}

TEST_F(Graph, LaunchesOfOneExecutableFollowEachOther) {
  // From several threads into several streams: no digit of one launch lands inside another.
  CUgraphNode last = addAppend(graph_, {}, 1);
  for (uint32_t digit = 2; digit <= 3; ++digit)
    last = addAppend(graph_, {last}, digit);
  CUgraphExec exec = instantiate(graph_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      cuCtxSetCurrent(context_);
      CUstream stream = nullptr;
      EXPECT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      EXPECT_CUDA(cuGraphLaunch(exec, stream));
      EXPECT_CUDA(cuStreamSynchronize(stream));
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(read(), 123123123u);
}

TEST_F(Graph, StopsAtAKernelThatFails) {
  CUgraphNode a = addAppend(graph_, {}, 1);
  Arguments arguments{16, 0}; // no memory there
  const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
  CUgraphNode bad = nullptr;
  ASSERT_CUDA(cuGraphAddKernelNode(&bad, graph_, &a, 1, &p));
  static std::atomic<int> calls{0};
  calls = 0;
  const CUDA_HOST_NODE_PARAMS host = {[](void *) { ++calls; }, nullptr};
  CUgraphNode after = nullptr;
  ASSERT_CUDA(cuGraphAddHostNode(&after, graph_, &bad, 1, &host));
  CUgraphExec exec = instantiate(graph_);
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_RESULT(cuStreamSynchronize(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(calls, 0);
}

TEST_F(Graph, AnswersItsFlags) {
  addAppend(graph_, {}, 1);
  uint64_t flags = 0;
  CUgraphExec exec = instantiate(graph_, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  ASSERT_CUDA(cuGraphExecGetFlags(exec, &flags));
  EXPECT_EQ(flags, uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY});
  EXPECT_RESULT(cuGraphInstantiate(&exec, graph_, 0x1000), CUDA_ERROR_INVALID_VALUE);
  exec = instantiate(graph_);
  EXPECT_CUDA(cuGraphUpload(exec, stream_));
}

} // namespace ptxrun::tests
