// Stream capture: what becomes of calls on capturing streams, and which calls end a capture.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/driver/graph_fixture.h"

namespace ptxrun::tests {

namespace {

class Capture : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    ASSERT_CUDA(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuStreamCreate(&blocking_, CU_STREAM_DEFAULT));
    ASSERT_CUDA(cuEventCreate(&fork_, CU_EVENT_DISABLE_TIMING));
    ASSERT_CUDA(cuEventCreate(&join_, CU_EVENT_DISABLE_TIMING));
  }
  void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_CUDA(cuStreamBeginCapture(stream, mode));
  }
  CUgraph end(CUstream stream) {
    CUgraph graph = nullptr;
    EXPECT_CUDA(cuStreamEndCapture(stream, &graph));
    return graph;
  }
  void endsInvalidated(CUstream stream) {
    EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CUgraph graph = graph_;
    EXPECT_RESULT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  }
  CUstreamCaptureStatus status(CUstream stream) {
    CUstreamCaptureStatus status{};
    EXPECT_CUDA(cuStreamIsCapturing(stream, &status));
    return status;
  }
  size_t countEdges(CUgraph graph) {
    size_t count = 0;
    EXPECT_CUDA(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
  }

  CUstream other_ = nullptr, blocking_ = nullptr;
  CUevent fork_ = nullptr, join_ = nullptr;
};

} // namespace

TEST_F(Capture, RecordsInsteadOfRunning) {
  begin(stream_);
  for (uint32_t digit = 1; digit <= 4; ++digit)
    ASSERT_CUDA(append(stream_, digit));
  CUgraph graph = end(stream_);
  EXPECT_EQ(read(), 0u);
  EXPECT_EQ(countNodes(graph), 4u);
  EXPECT_EQ(countEdges(graph), 3u);
  CUgraphExec exec = instantiate(graph);
  run(exec);
  EXPECT_EQ(read(), 1234u);
  ASSERT_CUDA(append(stream_, 5)); // runs again
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 12345u);
}

TEST_F(Capture, RecordsEveryKindOfWork) {
  static std::atomic<int> calls{0};
  calls = 0;
  CUevent external = nullptr;
  ASSERT_CUDA(cuEventCreate(&external, 0));
  std::vector<uint32_t> host(4, 3), back(4);
  CUdeviceptr memory = upload(std::vector<uint32_t>(4, 0));
  begin(stream_);
  ASSERT_CUDA(cuMemcpyHtoDAsync(memory, host.data(), 16, stream_));
  ASSERT_CUDA(cuMemsetD32Async(memory + 4, 8, 2, stream_));
  ASSERT_CUDA(cuLaunchHostFunc(
      stream_, [](void *) { ++calls; }, nullptr));
  ASSERT_CUDA(cuStreamWriteValue32(stream_, memory, 5, 0));
  ASSERT_CUDA(cuEventRecordWithFlags(external, stream_, CU_EVENT_RECORD_EXTERNAL));
  ASSERT_CUDA(cuStreamWaitEvent(stream_, external, CU_EVENT_WAIT_EXTERNAL));
  ASSERT_CUDA(cuMemcpyDtoHAsync(back.data(), memory, 16, stream_));
  CUgraph graph = end(stream_);
  CUgraphNode nodes[8];
  size_t count = 8;
  ASSERT_CUDA(cuGraphGetNodes(graph, nodes, &count));
  std::vector<CUgraphNodeType> types(count);
  for (size_t i = 0; i < count; ++i)
    ASSERT_CUDA(cuGraphNodeGetType(nodes[i], &types[i]));
  EXPECT_EQ(types,
            (std::vector<CUgraphNodeType>{
                CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_HOST,
                CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_MEMCPY}));
  run(instantiate(graph));
  EXPECT_EQ(back, (std::vector<uint32_t>{5, 8, 8, 3}));
  EXPECT_EQ(calls, 1);
  EXPECT_CUDA(cuEventQuery(external));
}

TEST_F(Capture, ForksAndJoinsByEvents) {
  begin(stream_);
  ASSERT_CUDA(append(stream_, 1));
  ASSERT_CUDA(cuEventRecord(fork_, stream_));
  ASSERT_CUDA(cuStreamWaitEvent(other_, fork_, 0));
  EXPECT_EQ(status(other_), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_CUDA(append(other_, 2, 1));
  ASSERT_CUDA(append(stream_, 3));
  ASSERT_CUDA(cuEventRecord(join_, other_));
  ASSERT_CUDA(cuStreamWaitEvent(stream_, join_, 0));
  ASSERT_CUDA(append(stream_, 4));
  CUgraph graph = end(stream_);
  EXPECT_EQ(status(other_), CU_STREAM_CAPTURE_STATUS_NONE);
  // 1 leads to 2 and 3, both to 4.
  EXPECT_EQ(countNodes(graph), 4u);
  EXPECT_EQ(countEdges(graph), 4u);
  size_t roots = 0;
  ASSERT_CUDA(cuGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(roots, 1u);
  run(instantiate(graph));
  EXPECT_EQ(read(), 134u);
  EXPECT_EQ(read(1), 2u);
}

TEST_F(Capture, MustBeJoined) {
  begin(stream_);
  ASSERT_CUDA(cuEventRecord(fork_, stream_));
  ASSERT_CUDA(cuStreamWaitEvent(other_, fork_, 0));
  ASSERT_CUDA(append(other_, 2));
  CUgraph graph = graph_;
  EXPECT_RESULT(cuStreamEndCapture(stream_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status(other_), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Capture, EndsWhereItBegan) {
  CUgraph graph = nullptr;
  EXPECT_RESULT(cuStreamEndCapture(stream_, &graph), CUDA_ERROR_ILLEGAL_STATE);
  begin(stream_);
  EXPECT_RESULT(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL),
                CUDA_ERROR_ILLEGAL_STATE);
  CUresult elsewhere = CUDA_SUCCESS;
  std::thread([&] {
    cuCtxSetCurrent(context_);
    elsewhere = cuStreamEndCapture(stream_, &graph);
  }).join();
  EXPECT_RESULT(elsewhere, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  ASSERT_CUDA(cuEventRecord(fork_, stream_));
  ASSERT_CUDA(cuStreamWaitEvent(other_, fork_, 0));
  EXPECT_RESULT(cuStreamEndCapture(other_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  endsInvalidated(stream_);

  begin(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
  std::thread([&] {
    cuCtxSetCurrent(context_);
    elsewhere = cuStreamEndCapture(stream_, &graph);
  }).join();
  EXPECT_CUDA(elsewhere);
}

TEST_F(Capture, TellsWhereAStreamStands) {
  CUstreamCaptureStatus now{};
  uint64_t id = 0, otherId = 0;
  CUgraph graph = nullptr;
  const CUgraphNode *dependencies = nullptr;
  const CUgraphEdgeData *edges = nullptr;
  size_t count = 9;
  begin(stream_);
  ASSERT_CUDA(append(stream_, 1));
  ASSERT_CUDA(cuStreamGetCaptureInfo_v2(stream_, &now, &id, &graph, &dependencies, &count));
  EXPECT_EQ(now, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(count, 1u);
  const CUgraphNode first = dependencies[0];
  // A node of one's own, which what follows depends on.
  CUgraphNode own = addAppend(graph, {first}, 2);
  ASSERT_CUDA(cuStreamUpdateCaptureDependencies(stream_, &own, nullptr, 1,
                                                CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  ASSERT_CUDA(append(stream_, 3));
  begin(other_);
  ASSERT_CUDA(
      cuStreamGetCaptureInfo(other_, &now, &otherId, nullptr, &dependencies, &edges, &count));
  EXPECT_NE(id, otherId);
  EXPECT_EQ(count, 0u);
  end(other_);
  CUgraph captured = end(stream_);
  EXPECT_EQ(captured, graph);
  run(instantiate(captured));
  EXPECT_EQ(read(), 123u);
  ASSERT_CUDA(cuStreamGetCaptureInfo(stream_, &now, &id, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(now, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_RESULT(cuStreamUpdateCaptureDependencies(stream_, &own, nullptr, 1, 0),
                CUDA_ERROR_ILLEGAL_STATE);
}

TEST_F(Capture, GoesIntoAGraphThatIsThere) {
  CUgraphNode first = addAppend(graph_, {}, 1);
  ASSERT_CUDA(cuStreamBeginCaptureToGraph(stream_, graph_, &first, nullptr, 1,
                                          CU_STREAM_CAPTURE_MODE_GLOBAL));
  ASSERT_CUDA(append(stream_, 2));
  EXPECT_EQ(end(stream_), graph_);
  EXPECT_EQ(countEdges(graph_), 1u);
  run(instantiate(graph_));
  EXPECT_EQ(read(), 12u);
  // Who has the graph need not be given it.
  ASSERT_CUDA(cuStreamBeginCaptureToGraph(stream_, graph_, nullptr, nullptr, 0,
                                          CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CUDA(cuStreamEndCapture(stream_, nullptr));
  begin(stream_);
  EXPECT_RESULT(cuStreamEndCapture(stream_, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUgraph captured = end(stream_);
  EXPECT_CUDA(cuGraphDestroy(captured));
}

TEST_F(Capture, IsInvalidatedByWaitingForItsStream) {
  begin(stream_);
  EXPECT_RESULT(cuStreamSynchronize(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_RESULT(append(stream_, 1), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  endsInvalidated(stream_);
  begin(stream_);
  EXPECT_RESULT(cuStreamQuery(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  endsInvalidated(stream_);
  begin(stream_);
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  endsInvalidated(stream_);
  begin(stream_);
  EXPECT_RESULT(cuStreamAddCallback(
                    stream_, [](CUstream, CUresult, void *) {}, nullptr, 0),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  endsInvalidated(stream_);
}

TEST_F(Capture, IsInvalidatedByQuestionsAboutItsEvents) {
  begin(stream_);
  ASSERT_CUDA(cuEventRecord(fork_, stream_));
  EXPECT_RESULT(cuEventQuery(fork_), CUDA_ERROR_CAPTURED_EVENT);
  endsInvalidated(stream_);
  EXPECT_RESULT(cuEventSynchronize(fork_), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_RESULT(cuStreamWaitEvent(stream_, fork_, 0), CUDA_ERROR_CAPTURED_EVENT);
  ASSERT_CUDA(cuEventRecord(fork_, stream_)); // outside: an ordinary event again
  EXPECT_CUDA(cuEventSynchronize(fork_));
}

TEST_F(Capture, StaysApartFromOtherWork) {
  ASSERT_CUDA(cuEventRecord(join_, other_));
  begin(stream_);
  EXPECT_RESULT(cuStreamWaitEvent(stream_, join_, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  endsInvalidated(stream_);
  begin(stream_);
  begin(other_);
  ASSERT_CUDA(cuEventRecord(fork_, other_));
  EXPECT_RESULT(cuStreamWaitEvent(stream_, fork_, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  endsInvalidated(stream_);
  endsInvalidated(other_);
}

TEST_F(Capture, KeepsTheLegacyStreamAway) {
  begin(blocking_);
  EXPECT_RESULT(append(nullptr, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  endsInvalidated(blocking_);
  begin(blocking_);
  uint32_t word = 0;
  EXPECT_RESULT(cuMemcpyDtoH(&word, digits(), 4), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  endsInvalidated(blocking_);
  begin(blocking_);
  CUstreamCaptureStatus now{};
  EXPECT_RESULT(cuStreamIsCapturing(nullptr, &now), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(status(blocking_), CU_STREAM_CAPTURE_STATUS_ACTIVE); // a question changes nothing
  end(blocking_);
  begin(stream_); // which the legacy stream does not depend on
  EXPECT_CUDA(append(nullptr, 1));
  end(stream_);
  EXPECT_RESULT(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  begin(stream_);
  ASSERT_CUDA(cuEventRecord(fork_, stream_));
  EXPECT_RESULT(cuStreamWaitEvent(nullptr, fork_, 0), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  endsInvalidated(stream_);
}

TEST_F(Capture, ForbidsUnsafeCallsByItsMode) {
  CUdeviceptr memory = 0;
  const auto elsewhere = [&](CUstreamCaptureMode mode) {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      cuCtxSetCurrent(context_);
      cuThreadExchangeStreamCaptureMode(&mode);
      CUdeviceptr memory = 0;
      result = cuMemAlloc(&memory, 64);
    }).join();
    return result;
  };
  constexpr auto kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
  constexpr auto kThreadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  constexpr auto kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  begin(stream_, kGlobal);
  EXPECT_RESULT(cuMemAlloc(&memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  endsInvalidated(stream_);
  begin(stream_, kGlobal);
  EXPECT_RESULT(elsewhere(kGlobal), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  endsInvalidated(stream_);
  begin(stream_, kGlobal);
  EXPECT_CUDA(elsewhere(kThreadLocal));
  EXPECT_CUDA(elsewhere(kRelaxed));
  end(stream_);
  begin(stream_, kThreadLocal);
  EXPECT_CUDA(elsewhere(kGlobal));
  EXPECT_RESULT(cuMemAlloc(&memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  endsInvalidated(stream_);
  begin(stream_, kRelaxed);
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
  EXPECT_CUDA(elsewhere(kGlobal));
  EXPECT_CUDA(cuEventQuery(join_));
  end(stream_);
  begin(stream_, kGlobal);
  auto mode = kRelaxed; // this thread says that it knows what it does
  ASSERT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, kGlobal);
  EXPECT_CUDA(cuMemFree(memory));
  ASSERT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_RESULT(cuEventQuery(join_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  endsInvalidated(stream_);
}

TEST_F(Capture, AllocatesFromThePool) {
  CUdeviceptr memory = 0;
  begin(stream_);
  ASSERT_CUDA(cuMemAllocAsync(&memory, 64, stream_));
  ASSERT_CUDA(cuMemsetD32Async(memory, 6, 16, stream_));
  ASSERT_CUDA(cuMemcpyDtoDAsync(digits(), memory, 4, stream_));
  EXPECT_RESULT(cuMemFreeAsync(digits(), stream_), CUDA_ERROR_INVALID_VALUE); // not a graph's
  ASSERT_CUDA(cuMemFreeAsync(memory, stream_));
  CUgraph graph = end(stream_);
  CUgraphNode nodes[4];
  size_t count = 4;
  ASSERT_CUDA(cuGraphGetNodes(graph, nodes, &count));
  ASSERT_EQ(count, 4u);
  CUgraphNodeType type{};
  ASSERT_CUDA(cuGraphNodeGetType(nodes[0], &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  ASSERT_CUDA(cuGraphNodeGetType(nodes[3], &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEM_FREE);
  CUgraphExec exec = instantiate(graph);
  run(exec);
  run(exec);
  EXPECT_EQ(read(), 6u);
}

TEST_F(Capture, TakesLaunchesOfGraphsAsChildren) {
  addAppend(graph_, {addAppend(graph_, {}, 2)}, 3);
  CUgraphExec inner = instantiate(graph_);
  begin(stream_);
  ASSERT_CUDA(append(stream_, 1));
  ASSERT_CUDA(cuGraphLaunch(inner, stream_));
  ASSERT_CUDA(append(stream_, 4));
  CUgraph graph = end(stream_);
  EXPECT_EQ(countNodes(graph), 3u);
  run(instantiate(graph));
  EXPECT_EQ(read(), 1234u);
}

TEST_F(Capture, MakesProgrammaticEdges) {
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream_, &attribute, 1};
  Arguments arguments{digits(), 2};
  begin(stream_);
  ASSERT_CUDA(append(stream_, 1));
  ASSERT_CUDA(cuLaunchKernelEx(&config, append_, arguments.pointers, nullptr));
  ASSERT_CUDA(cuMemsetD32Async(digits(1), 1, 1, stream_));
  ASSERT_CUDA(cuLaunchKernelEx(&config, append_, arguments.pointers, nullptr));
  CUgraph graph = end(stream_);
  CUgraphNode from[3], to[3];
  CUgraphEdgeData data[3];
  size_t count = 3;
  ASSERT_CUDA(cuGraphGetEdges(graph, from, to, data, &count));
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(data[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC); // kernel to kernel
  EXPECT_EQ(data[0].from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
  EXPECT_EQ(data[1].type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  EXPECT_EQ(data[2].type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  run(instantiate(graph));
  EXPECT_EQ(read(), 122u);
}

TEST_F(Capture, EndsWithItsStream) {
  begin(stream_);
  ASSERT_CUDA(append(stream_, 1));
  ASSERT_CUDA(cuStreamDestroy(stream_));
  CUdeviceptr memory = 0;
  EXPECT_CUDA(cuMemAlloc(&memory, 64)); // nothing captures any more
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(Capture, KeepsWhatADestroyedForkRecorded) {
  for (const bool isJoined : {true, false}) {
    CUstream fork = nullptr;
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuStreamCreate(&fork, CU_STREAM_NON_BLOCKING));
    begin(stream_);
    ASSERT_CUDA(append(stream_, 1));
    CUevent forked = nullptr, joined = nullptr;
    ASSERT_CUDA(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    ASSERT_CUDA(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
    ASSERT_CUDA(cuEventRecord(forked, stream_));
    ASSERT_CUDA(cuStreamWaitEvent(fork, forked, 0));
    ASSERT_CUDA(append(fork, 2));
    ASSERT_CUDA(cuEventRecord(joined, fork));
    if (isJoined)
      ASSERT_CUDA(cuStreamWaitEvent(stream_, joined, 0));
    ASSERT_CUDA(cuStreamDestroy(fork));
    const CUresult result = cuStreamEndCapture(stream_, &graph);
    EXPECT_EQ(result, isJoined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    size_t nodes = 0;
    if (isJoined)
      EXPECT_CUDA(cuGraphGetNodes(graph, nullptr, &nodes));
    EXPECT_EQ(nodes, isJoined ? 2u : 0u);
  }
}

TEST_F(Capture, EndsWithItsContext) {
  CUcontext other = nullptr;
  CUstream stream = nullptr;
  ASSERT_CUDA(cuCtxCreate(&other, nullptr, 0, 0));
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  begin(stream);
  ASSERT_CUDA(cuCtxDestroy(other));
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  CUdeviceptr memory = 0;
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
}

TEST_F(Capture, WorksOnPerThreadStreams) {
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  ASSERT_CUDA(append(CU_STREAM_PER_THREAD, 7));
  ASSERT_CUDA(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
  run(instantiate(graph));
  EXPECT_EQ(read(), 7u);
}

TEST_F(Capture, GoesOnInManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      cuCtxSetCurrent(context_);
      CUstream stream = nullptr;
      EXPECT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      for (int round = 0; round < 50; ++round) {
        EXPECT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        for (int i = 0; i < 4; ++i)
          EXPECT_CUDA(append(stream, 0, t));
        EXPECT_CUDA(append(stream, static_cast<uint32_t>(t) + 1, t));
        CUgraph graph = nullptr;
        EXPECT_CUDA(cuStreamEndCapture(stream, &graph));
        CUgraphExec exec = nullptr;
        EXPECT_CUDA(cuGraphInstantiate(&exec, graph, 0));
        EXPECT_CUDA(cuGraphLaunch(exec, stream));
        EXPECT_CUDA(cuStreamSynchronize(stream));
        EXPECT_CUDA(cuGraphExecDestroy(exec));
        EXPECT_CUDA(cuGraphDestroy(graph));
      }
    });
  for (auto &thread : threads)
    thread.join();
  // 50 rounds of *10 five times: only the last digits' place is left of 32 bits; count modulo 2^32.
  for (uint32_t t = 0; t < 4; ++t) {
    uint32_t expected = 0;
    for (int round = 0; round < 50; ++round)
      expected = expected * 100000 + t + 1;
    EXPECT_EQ(read(t), expected);
  }
}

} // namespace ptxrun::tests
