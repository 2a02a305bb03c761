// Kernels and helpers of the tests of graphs and captures.
#pragma once
#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {

/// append(p, d): *p = *p * 10 + d, so that *p tells which digits came and in which order.
/// countdown(handle, p): sets the condition to whether --*p is not 0.
/// choose(handle, v): sets the condition to v.
inline constexpr const char *kGraphKernels = R"(.version 8.3
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional
(
  .param .b64 cudaGraphSetConditional_param_0,
  .param .b32 cudaGraphSetConditional_param_1
)
;
.visible .entry empty() { ret; }
.visible .entry append(.param .u64 p, .param .u32 d)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [d];
  ld.global.u32 %r2, [%rd1];
  mad.lo.u32 %r3, %r2, 10, %r1;
  st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry choose(.param .u64 handle, .param .u32 v)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [v];
  { // callseq 0, 0
  .param .b64 param0;
  st.param.b64 [param0+0], %rd1;
  .param .b32 param1;
  st.param.b32 [param1+0], %r1;
  call.uni
  cudaGraphSetConditional,
  (
  param0,
  param1
  );
  } // callseq 0
  ret;
}
.visible .entry countdown(.param .u64 handle, .param .u64 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [p];
  ld.global.u32 %r1, [%rd2];
  sub.u32 %r2, %r1, 1;
  st.global.u32 [%rd2], %r2;
  setp.ne.u32 %p1, %r2, 0;
  selp.u32 %r3, 1, 0, %p1;
  { // callseq 1, 0
  .param .b64 param0;
  st.param.b64 [param0+0], %rd1;
  .param .b32 param1;
  st.param.b32 [param1+0], %r3;
  call.uni
  cudaGraphSetConditional,
  (
  param0,
  param1
  );
  } // callseq 1
  ret;
}
)";

class GraphTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    module_ = load(kGraphKernels);
    ASSERT_CUDA(cuModuleGetFunction(&append_, module_, "append"));
    ASSERT_CUDA(cuModuleGetFunction(&empty_, module_, "empty"));
    ASSERT_CUDA(cuModuleGetFunction(&choose_, module_, "choose"));
    ASSERT_CUDA(cuModuleGetFunction(&countdown_, module_, "countdown"));
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuMemAlloc(&digits_, 64));
    ASSERT_CUDA(cuMemsetD8(digits_, 0, 64));
    ASSERT_CUDA(cuGraphCreate(&graph_, 0));
  }

  CUdeviceptr digits(size_t i = 0) const { return digits_ + 4 * i; }
  uint32_t read(size_t i = 0) { return download<uint32_t>(digits(i), 1)[0]; }
  void clear() { EXPECT_CUDA(cuMemsetD8(digits_, 0, 64)); }
  CUresult append(CUstream stream, uint32_t digit, size_t i = 0) {
    return launch(append_, 1, 1, stream, digits(i), digit);
  }

  /// Parameters of a kernel node; the arguments live here.
  struct Arguments {
    uint64_t pointer;
    uint32_t number;
    void *pointers[2] = {&pointer, &number};
  };
  CUDA_KERNEL_NODE_PARAMS kernel(CUfunction function, Arguments &arguments) const {
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.func = function;
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = arguments.pointers;
    return p;
  }
  CUgraphNode addAppend(CUgraph graph, std::vector<CUgraphNode> after, uint32_t digit,
                        size_t i = 0) {
    Arguments arguments{digits(i), digit};
    const CUDA_KERNEL_NODE_PARAMS p = kernel(append_, arguments);
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &p));
    return node;
  }
  CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0) {
    CUgraphExec exec = nullptr;
    EXPECT_CUDA(cuGraphInstantiate(&exec, graph, flags));
    return exec;
  }
  void run(CUgraphExec exec) {
    EXPECT_CUDA(cuGraphLaunch(exec, stream_));
    EXPECT_CUDA(cuStreamSynchronize(stream_));
  }
  size_t countNodes(CUgraph graph) {
    size_t count = 0;
    EXPECT_CUDA(cuGraphGetNodes(graph, nullptr, &count));
    return count;
  }

  CUmodule module_ = nullptr;
  CUfunction append_ = nullptr, empty_ = nullptr, choose_ = nullptr, countdown_ = nullptr;
  CUstream stream_ = nullptr;
  CUdeviceptr digits_ = 0;
  CUgraph graph_ = nullptr;
};

} // namespace ptxrun::tests
