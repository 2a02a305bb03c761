// nvcc: -arch=compute_90
// Programmatic dependent launch: by attributes in streams, captured into graphs with their edges, events of programs, priorities, access policies.
#include "check.h"

__global__ void first(int *x) {
  cudaTriggerProgrammaticLaunchCompletion();
  x[threadIdx.x] += 1;
}
__global__ void second(int *x) {
  int before = threadIdx.x;
  cudaGridDependencySynchronize();
  x[threadIdx.x] = x[threadIdx.x] * 2 + (before - (int)threadIdx.x);
}

int main() {
  int *x;
  CHECK(cudaMallocManaged(&x, 256 * 4));
  CHECK(cudaMemset(x, 0, 1024));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  cudaLaunchAttribute a[3] = {};
  a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization, a[0].val.programmaticStreamSerializationAllowed = 1;
  a[1].id = cudaLaunchAttributePriority, a[1].val.priority = 0;
  a[2].id = cudaLaunchAttributeAccessPolicyWindow;
  a[2].val.accessPolicyWindow.base_ptr = x, a[2].val.accessPolicyWindow.num_bytes = 1024, a[2].val.accessPolicyWindow.hitRatio = 0.5f;
  a[2].val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting, a[2].val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaLaunchConfig_t c = {};
  c.gridDim = 1, c.blockDim = 256, c.stream = s, c.attrs = a, c.numAttrs = 3;
  int want = 0;
  auto both = [&] {
    for (int i = 0; i < 5; ++i) {
      first<<<1, 256, 0, s>>>(x);
      CHECK(cudaLaunchKernelEx(&c, second, x));
    }
  };
  auto expect = [&] {
    for (int i = 0; i < 5; ++i)
      want = (want + 1) * 2;
    CHECK(cudaStreamSynchronize(s));
    for (int i = 0; i < 256; ++i)
      EXPECT(x[i] == want);
  };
  both();
  expect();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  both();
  CHECK(cudaStreamEndCapture(s, &graph));
  size_t edges = 0;
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  std::vector<cudaGraphNode_t> from(edges), to(edges);
  std::vector<cudaGraphEdgeData> data(edges);
  CHECK(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &edges));
  int programmatic = 0;
  for (auto &d : data)
    programmatic += d.type == cudaGraphDependencyTypeProgrammatic;
  EXPECT(edges == 9 && programmatic == 5);
#endif
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, s));
  expect();
  cudaStreamAttrValue v = {};
  v.accessPolicyWindow = a[2].val.accessPolicyWindow;
  CHECK(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
  CHECK(cudaCtxResetPersistingL2Cache());
  cudaFuncAttributes f;
  CHECK(cudaFuncSetAttribute(second, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  CHECK(cudaFuncSetAttribute(second, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  CHECK(cudaFuncGetAttributes(&f, second));
  EXPECT(f.maxDynamicSharedSizeBytes == 100000);
  second<<<1, 256, 100000, s>>>(x);
  CHECK(cudaGetLastError());
  want *= 2;
  CHECK(cudaStreamSynchronize(s));
  EXPECT(x[3] == want);
  first<<<1, 256, 60000, s>>>(x);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  return done();
}
