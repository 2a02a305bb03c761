// Nodes by type: made, asked for their parameters, given new ones.
#include "loader/libcudart/copy.h"
#include "loader/libcudart/graph.h"
#include "loader/libcudart/registration.h"
#include "loader/libcudart/runtime.h"

namespace ptxrun::runtime {

CUcontext currentContext() {
  CUcontext context = nullptr;
  return cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : nullptr;
}

CUresult toDriver(const cudaKernelNodeParams &p, CUDA_KERNEL_NODE_PARAMS &driver) {
  CUkernel kernel = nullptr;
  if (const cudaError_t found = findKernel(p.func, kernel); found != cudaSuccess)
    return static_cast<CUresult>(found);
  driver = {};
  driver.kern = kernel;
  driver.gridDimX = p.gridDim.x;
  driver.gridDimY = p.gridDim.y;
  driver.gridDimZ = p.gridDim.z;
  driver.blockDimX = p.blockDim.x;
  driver.blockDimY = p.blockDim.y;
  driver.blockDimZ = p.blockDim.z;
  driver.sharedMemBytes = p.sharedMemBytes;
  driver.kernelParams = p.kernelParams;
  driver.extra = p.extra;
  driver.ctx = currentContext();
  return CUDA_SUCCESS;
}

CUresult toDriver(const cudaGraphNodeParams &p, CUgraphNodeParams &driver) {
  driver = {};
  driver.type = p.type;
  switch (p.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return toDriver(p.kernel, driver.kernel);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    driver.memcpy.copyCtx = currentContext();
    return toDriver(p.memcpy.copyParams, driver.memcpy.copyParams);
  case CU_GRAPH_NODE_TYPE_MEMSET:
    driver.memset = {p.memset.dst,   p.memset.pitch,  p.memset.value,  p.memset.elementSize,
                     p.memset.width, p.memset.height, currentContext()};
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_HOST:
    driver.host = p.host;
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_GRAPH:
    driver.graph = p.graph;
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    driver.eventWait = p.eventWait;
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    driver.eventRecord = p.eventRecord;
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    driver.alloc = p.alloc;
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    driver.free = p.free;
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    driver.conditional.handle = p.conditional.handle;
    driver.conditional.type = p.conditional.type;
    driver.conditional.size = p.conditional.size;
    driver.conditional.ctx = currentContext();
    return CUDA_SUCCESS;
  default: // those without parameters, and those that the driver names
    return CUDA_SUCCESS;
  }
}

} // namespace ptxrun::runtime

using namespace ptxrun::runtime;

namespace {

/// Calls with the driver's description of a kernel.
template <class Call> cudaError_t withKernel(const cudaKernelNodeParams *p, Call call) {
  return perform([&] {
    CUDA_KERNEL_NODE_PARAMS driver;
    const CUresult result = p ? toDriver(*p, driver) : CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? call(driver) : result;
  });
}

/// Calls with the driver's description of a copy.
template <class Call> cudaError_t withCopy(const cudaMemcpy3DParms *p, Call call) {
  return perform([&] {
    CUDA_MEMCPY3D driver;
    const CUresult result = p ? toDriver(*p, driver) : CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? call(driver) : result;
  });
}
template <class Call>
cudaError_t withCopy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, Call call) {
  return perform([&] {
    CUDA_MEMCPY3D driver;
    const CUresult result = toDriver(to, from, bytes, kind, driver);
    return result == CUDA_SUCCESS ? call(driver) : result;
  });
}
template <class Call>
cudaError_t withCopyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, Call call) {
  return perform([&] {
    void *to = nullptr;
    CUDA_MEMCPY3D driver;
    CUresult result = symbolRange(symbol, bytes, offset, to);
    if (result == CUDA_SUCCESS)
      result = toDriver(to, from, bytes, kind, driver);
    return result == CUDA_SUCCESS ? call(driver) : result;
  });
}
template <class Call>
cudaError_t withCopyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                               cudaMemcpyKind kind, Call call) {
  return perform([&] {
    void *from = nullptr;
    CUDA_MEMCPY3D driver;
    CUresult result = symbolRange(symbol, bytes, offset, from);
    if (result == CUDA_SUCCESS)
      result = toDriver(to, from, bytes, kind, driver);
    return result == CUDA_SUCCESS ? call(driver) : result;
  });
}

/// What to do with a copy: add a node, give one new parameters, give an executable's new ones.
auto adding(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
            size_t count) {
  return [=](const CUDA_MEMCPY3D &copy) {
    return cuGraphAddMemcpyNode(out, graph, dependencies, count, &copy, currentContext());
  };
}
auto setting(cudaGraphNode_t node) {
  return [=](const CUDA_MEMCPY3D &copy) { return cuGraphMemcpyNodeSetParams(node, &copy); };
}
auto settingIn(cudaGraphExec_t exec, cudaGraphNode_t node) {
  return [=](const CUDA_MEMCPY3D &copy) {
    return cuGraphExecMemcpyNodeSetParams(exec, node, &copy, currentContext());
  };
}

} // namespace

// Kernels.

PTXRUN_RUNTIME_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                      const cudaGraphNode_t *dependencies,
                                                      size_t count, const cudaKernelNodeParams *p) {
  return withKernel(p, [&](const CUDA_KERNEL_NODE_PARAMS &driver) {
    return cuGraphAddKernelNode(out, graph, dependencies, count, &driver);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                            cudaKernelNodeParams *p) {
  return perform([&] {
    CUDA_KERNEL_NODE_PARAMS driver;
    const CUresult result =
        p ? cuGraphKernelNodeGetParams(node, &driver) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
      return result;
    // programs compare it with the function that they launch
    const void *stub = stubOf(driver.func);
    *p = {stub ? const_cast<void *>(stub) : driver.func,
          {driver.gridDimX, driver.gridDimY, driver.gridDimZ},
          {driver.blockDimX, driver.blockDimY, driver.blockDimZ},
          driver.sharedMemBytes,
          driver.kernelParams,
          driver.extra};
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                            const cudaKernelNodeParams *p) {
  return withKernel(p, [&](const CUDA_KERNEL_NODE_PARAMS &driver) {
    return cuGraphKernelNodeSetParams(node, &driver);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec,
                                                                cudaGraphNode_t node,
                                                                const cudaKernelNodeParams *p) {
  return withKernel(p, [&](const CUDA_KERNEL_NODE_PARAMS &driver) {
    return cuGraphExecKernelNodeSetParams(exec, node, &driver);
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to,
                                                                 cudaGraphNode_t from) {
  return perform([&] { return cuGraphKernelNodeCopyAttributes(to, from); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node,
                                                               CUkernelNodeAttrID which,
                                                               CUkernelNodeAttrValue *value) {
  return perform([&] { return cuGraphKernelNodeGetAttribute(node, which, value); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node,
                                                               CUkernelNodeAttrID which,
                                                               const CUkernelNodeAttrValue *value) {
  return perform([&] { return cuGraphKernelNodeSetAttribute(node, which, value); });
}

// Copies.

PTXRUN_RUNTIME_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                      const cudaGraphNode_t *dependencies,
                                                      size_t count, const cudaMemcpy3DParms *p) {
  return withCopy(p, adding(out, graph, dependencies, count));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                                        const cudaGraphNode_t *dependencies,
                                                        size_t count, void *to, const void *from,
                                                        size_t bytes, cudaMemcpyKind kind) {
  return withCopy(to, from, bytes, kind, adding(out, graph, dependencies, count));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(
    cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
    const void *symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return withCopyToSymbol(symbol, from, bytes, offset, kind,
                          adding(out, graph, dependencies, count));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(
    cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
    void *to, const void *symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return withCopyFromSymbol(to, symbol, bytes, offset, kind,
                            adding(out, graph, dependencies, count));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                            cudaMemcpy3DParms *p) {
  return perform([&] {
    CUDA_MEMCPY3D driver;
    const CUresult result =
        p ? cuGraphMemcpyNodeGetParams(node, &driver) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
      *p = fromDriver(driver);
    return result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                            const cudaMemcpy3DParms *p) {
  return withCopy(p, setting(node));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to,
                                                              const void *from, size_t bytes,
                                                              cudaMemcpyKind kind) {
  return withCopy(to, from, bytes, kind, setting(node));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                                                    const void *symbol,
                                                                    const void *from, size_t bytes,
                                                                    size_t offset,
                                                                    cudaMemcpyKind kind) {
  return withCopyToSymbol(symbol, from, bytes, offset, kind, setting(node));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node,
                                                                      void *to, const void *symbol,
                                                                      size_t bytes, size_t offset,
                                                                      cudaMemcpyKind kind) {
  return withCopyFromSymbol(to, symbol, bytes, offset, kind, setting(node));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec,
                                                                cudaGraphNode_t node,
                                                                const cudaMemcpy3DParms *p) {
  return withCopy(p, settingIn(exec, node));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec,
                                                                  cudaGraphNode_t node, void *to,
                                                                  const void *from, size_t bytes,
                                                                  cudaMemcpyKind kind) {
  return withCopy(to, from, bytes, kind, settingIn(exec, node));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol, const void *from, size_t bytes,
    size_t offset, cudaMemcpyKind kind) {
  return withCopyToSymbol(symbol, from, bytes, offset, kind, settingIn(exec, node));
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
    size_t offset, cudaMemcpyKind kind) {
  return withCopyFromSymbol(to, symbol, bytes, offset, kind, settingIn(exec, node));
}

// Fills, host functions, child graphs, empty nodes: described as by the driver.

PTXRUN_RUNTIME_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                      const cudaGraphNode_t *dependencies,
                                                      size_t count,
                                                      const CUDA_MEMSET_NODE_PARAMS *p) {
  return perform(
      [&] { return cuGraphAddMemsetNode(out, graph, dependencies, count, p, currentContext()); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                            CUDA_MEMSET_NODE_PARAMS *p) {
  return perform([&] { return cuGraphMemsetNodeGetParams(node, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                            const CUDA_MEMSET_NODE_PARAMS *p) {
  return perform([&] { return cuGraphMemsetNodeSetParams(node, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec,
                                                                cudaGraphNode_t node,
                                                                const CUDA_MEMSET_NODE_PARAMS *p) {
  return perform([&] { return cuGraphExecMemsetNodeSetParams(exec, node, p, currentContext()); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                    const cudaGraphNode_t *dependencies,
                                                    size_t count, const CUDA_HOST_NODE_PARAMS *p) {
  return perform([&] { return cuGraphAddHostNode(out, graph, dependencies, count, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                          CUDA_HOST_NODE_PARAMS *p) {
  return perform([&] { return cuGraphHostNodeGetParams(node, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                          const CUDA_HOST_NODE_PARAMS *p) {
  return perform([&] { return cuGraphHostNodeSetParams(node, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec,
                                                              cudaGraphNode_t node,
                                                              const CUDA_HOST_NODE_PARAMS *p) {
  return perform([&] { return cuGraphExecHostNodeSetParams(exec, node, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                          const cudaGraphNode_t *dependencies,
                                                          size_t count, cudaGraph_t child) {
  return perform([&] { return cuGraphAddChildGraphNode(out, graph, dependencies, count, child); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                                               cudaGraph_t *graph) {
  return perform([&] { return cuGraphChildGraphNodeGetGraph(node, graph); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                                    cudaGraphNode_t node,
                                                                    cudaGraph_t child) {
  return perform([&] { return cuGraphExecChildGraphNodeSetParams(exec, node, child); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                     const cudaGraphNode_t *dependencies,
                                                     size_t count) {
  return perform([&] { return cuGraphAddEmptyNode(out, graph, dependencies, count); });
}

// Events.

PTXRUN_RUNTIME_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                           const cudaGraphNode_t *dependencies,
                                                           size_t count, cudaEvent_t event) {
  return perform([&] { return cuGraphAddEventRecordNode(out, graph, dependencies, count, event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node,
                                                                cudaEvent_t *event) {
  return perform([&] { return cuGraphEventRecordNodeGetEvent(node, event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node,
                                                                cudaEvent_t event) {
  return perform([&] { return cuGraphEventRecordNodeSetEvent(node, event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec,
                                                                    cudaGraphNode_t node,
                                                                    cudaEvent_t event) {
  return perform([&] { return cuGraphExecEventRecordNodeSetEvent(exec, node, event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                         const cudaGraphNode_t *dependencies,
                                                         size_t count, cudaEvent_t event) {
  return perform([&] { return cuGraphAddEventWaitNode(out, graph, dependencies, count, event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node,
                                                              cudaEvent_t *event) {
  return perform([&] { return cuGraphEventWaitNodeGetEvent(node, event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node,
                                                              cudaEvent_t event) {
  return perform([&] { return cuGraphEventWaitNodeSetEvent(node, event); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec,
                                                                  cudaGraphNode_t node,
                                                                  cudaEvent_t event) {
  return perform([&] { return cuGraphExecEventWaitNodeSetEvent(exec, node, event); });
}

// Memory.

PTXRUN_RUNTIME_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                        const cudaGraphNode_t *dependencies,
                                                        size_t count,
                                                        CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  return perform([&] { return cuGraphAddMemAllocNode(out, graph, dependencies, count, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                              CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  return perform([&] { return cuGraphMemAllocNodeGetParams(node, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                       const cudaGraphNode_t *dependencies,
                                                       size_t count, void *pointer) {
  return perform(
      [&] { return cuGraphAddMemFreeNode(out, graph, dependencies, count, toDevice(pointer)); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
  return perform(
      [&] { return cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr *>(pointer)); });
}
