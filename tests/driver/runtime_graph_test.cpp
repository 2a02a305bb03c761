// Graphs by the runtime API, without nvcc: the layouts of CUDA 13 written out, kernels behind
// stubs.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/driver/fat_binary_writer.h"
#include "tests/driver/kernels.h"

namespace {

struct Dim3 {
  unsigned x, y, z;
};
struct KernelNodeParams {
  const void *func;
  Dim3 grid, block;
  unsigned shared;
  void **params, **extra;
};
struct Pitched {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct Copy3D {
  void *srcArray;
  size_t srcPos[3];
  Pitched src;
  void *dstArray;
  size_t dstPos[3];
  Pitched dst;
  size_t extent[3];
  int kind;
};
struct NodeParams {
  int type, reserved[3];
  union {
    long long words[29];
    KernelNodeParams kernel;
    struct {
      int flags, reserved[3];
      Copy3D copy;
    } memcpy;
  };
  long long reserved2;
};
static_assert(sizeof(NodeParams) == 256);

} // namespace

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaStreamCreate(void **);
int cudaStreamSynchronize(void *);
int cudaGraphCreate(void **, unsigned);
int cudaGraphAddNode(void **, void *, void *const *, const void *, size_t, NodeParams *);
int cudaGraphAddKernelNode(void **, void *, void *const *, size_t, const KernelNodeParams *);
int cudaGraphAddMemcpyNode(void **, void *, void *const *, size_t, const Copy3D *);
int cudaGraphAddMemcpyNodeToSymbol(void **, void *, void *const *, size_t, const void *,
                                   const void *, size_t, size_t, int);
int cudaGraphMemcpyNodeGetParams(void *, Copy3D *);
int cudaGraphMemcpyNodeSetParams1D(void *, void *, const void *, size_t, int);
int cudaGraphGetEdges(void *, void **, void **, void *, size_t *);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaGraphExecDestroy(void *);
int cudaGraphDestroy(void *);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaStreamGetCaptureInfo(void *, int *, unsigned long long *, void **, void *const **,
                             const void **, size_t *);
int cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, void *);
int cudaGetLastError();
}

namespace ptxrun::tests {

namespace {

constexpr int kToDevice = 1, kToHost = 2, kInvalidDeviceFunction = 98, kCaptureUnsupported = 900;

class RuntimeGraph : public testing::Test {
 protected:
  void SetUp() override {
    binary_.add(1, 70, kVariables, kZstd);
    wrapper_.data = binary_.data();
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFunction(handle_, &stub, &stub, "read", -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    __cudaRegisterVar(handle_, &scale, &scale, "scale", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(handle_);
    ASSERT_EQ(cudaMalloc(&out, 12), 0);
    ASSERT_EQ(cudaStreamCreate(&stream), 0);
    ASSERT_EQ(cudaGraphCreate(&graph, 0), 0);
  }
  void TearDown() override {
    EXPECT_EQ(cudaGraphDestroy(graph), 0);
    __cudaUnregisterFatBinary(handle_);
    cudaGetLastError();
  }
  KernelNodeParams kernel(void **arguments) {
    return {&stub, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  }
  void run(void *which) {
    void *exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, which, 0), 0);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), 0);
    ASSERT_EQ(cudaStreamSynchronize(stream), 0);
    EXPECT_EQ(cudaGraphExecDestroy(exec), 0);
  }
  char stub = 0, scale = 0;
  void *out = nullptr, *stream = nullptr, *graph = nullptr;

 private:
  FatBinary binary_;
  Wrapper wrapper_;
  void **handle_ = nullptr;
};

} // namespace

TEST_F(RuntimeGraph, RunsKernelsAndCopies) {
  const uint32_t factor = 55;
  uint32_t values[3] = {}, elsewhere[3] = {};
  void *arguments[] = {&out};
  void *set = nullptr, *read = nullptr, *down = nullptr;
  ASSERT_EQ(
      cudaGraphAddMemcpyNodeToSymbol(&set, graph, nullptr, 0, &scale, &factor, 4, 0, kToDevice), 0);
  const KernelNodeParams p = kernel(arguments);
  ASSERT_EQ(cudaGraphAddKernelNode(&read, graph, &set, 1, &p), 0);
  Copy3D copy = {};
  copy.src = {out, 12, 12, 1};
  copy.dst = {values, 12, 12, 1};
  copy.extent[0] = 12;
  copy.extent[1] = copy.extent[2] = 1;
  copy.kind = kToHost;
  ASSERT_EQ(cudaGraphAddMemcpyNode(&down, graph, &read, 1, &copy), 0);
  run(graph);
  EXPECT_EQ(values[0], 30u);
  EXPECT_EQ(values[2], 55u);
  Copy3D answered = {};
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(down, &answered), 0);
  EXPECT_EQ(answered.src.ptr, out);
  EXPECT_EQ(answered.dst.ptr, values);
  EXPECT_EQ(answered.extent[0], 12u);
  EXPECT_EQ(answered.kind, kToHost);
  ASSERT_EQ(cudaGraphMemcpyNodeSetParams1D(down, elsewhere, out, 8, kToHost), 0);
  run(graph);
  EXPECT_EQ(elsewhere[1], 20u);
  EXPECT_EQ(elsewhere[2], 0u);
  size_t edges = 0;
  ASSERT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), 0);
  EXPECT_EQ(edges, 2u);
}

TEST_F(RuntimeGraph, TakesNodesOfAnyTypeByOneCall) {
  uint32_t values[3] = {};
  void *arguments[] = {&out};
  NodeParams p = {};
  p.type = 0;
  p.kernel = kernel(arguments);
  void *read = nullptr, *down = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&read, graph, nullptr, nullptr, 0, &p), 0);
  p = {};
  p.type = 1;
  p.memcpy.copy.src = {out, 12, 12, 1};
  p.memcpy.copy.dst = {values, 12, 12, 1};
  p.memcpy.copy.extent[0] = 12;
  p.memcpy.copy.extent[1] = p.memcpy.copy.extent[2] = 1;
  p.memcpy.copy.kind = kToHost;
  ASSERT_EQ(cudaGraphAddNode(&down, graph, &read, nullptr, 1, &p), 0);
  run(graph);
  EXPECT_EQ(values[1], 20u);
  p = {};
  p.kernel = kernel(arguments);
  p.kernel.func = &values;
  EXPECT_EQ(cudaGraphAddNode(&read, graph, nullptr, nullptr, 0, &p), kInvalidDeviceFunction);
}

TEST_F(RuntimeGraph, CapturesLaunches) {
  void *arguments[] = {&out};
  uint32_t values[3] = {};
  ASSERT_EQ(cudaMemcpy(out, values, 12, kToDevice), 0);
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  ASSERT_EQ(cudaLaunchKernel(&stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream), 0);
  int status = 0;
  unsigned long long id = 0;
  size_t count = 0;
  void *const *nodes = nullptr;
  const void *edges = nullptr;
  void *capturing = nullptr;
  ASSERT_EQ(cudaStreamGetCaptureInfo(stream, &status, &id, &capturing, &nodes, &edges, &count), 0);
  EXPECT_EQ(status, 1);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(count, 1u);
  void *captured = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), 0);
  EXPECT_EQ(captured, capturing);
  ASSERT_EQ(cudaMemcpy(values, out, 12, kToHost), 0);
  EXPECT_EQ(values[0], 0u); // not run yet
  run(captured);
  ASSERT_EQ(cudaMemcpy(values, out, 12, kToHost), 0);
  EXPECT_EQ(values[0], 30u);
  EXPECT_EQ(cudaGraphDestroy(captured), 0);
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), kCaptureUnsupported);
  EXPECT_NE(cudaStreamEndCapture(stream, &captured), 0);
}

} // namespace ptxrun::tests
