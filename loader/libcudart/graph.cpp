// Graphs as structures: creation, nodes and edges of any type. 12's plain names take no edge data;
// its _v2 are 13's plain names.
#include "loader/libcudart/graph.h"
#include "loader/libcudart/cudart_graph_abi.h"
#include "loader/libcudart/runtime.h"

using namespace ptxrun::runtime;

PTXRUN_RUNTIME_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
  return perform([&] { return cuGraphCreate(graph, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return perform([&] { return cuGraphDestroy(graph); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphClone(cudaGraph_t *copy, cudaGraph_t original) {
  return perform([&] { return cuGraphClone(copy, original); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *copy,
                                                        cudaGraphNode_t original,
                                                        cudaGraph_t clone) {
  return perform([&] { return cuGraphNodeFindInClone(copy, original, clone); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                                 size_t *count) {
  return perform([&] { return cuGraphGetNodes(graph, nodes, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                                     size_t *count) {
  return perform([&] { return cuGraphGetRootNodes(graph, nodes, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return perform([&] { return cuGraphDestroyNode(node); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, CUgraphNodeType *type) {
  return perform([&] { return cuGraphNodeGetType(node, type); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path,
                                                      unsigned flags) {
  return perform([&] { return cuGraphDebugDotPrint(graph, path, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphConditionalHandleCreate(CUgraphConditionalHandle *handle,
                                                                cudaGraph_t graph,
                                                                unsigned defaultValue,
                                                                unsigned flags) {
  return perform([&] {
    return cuGraphConditionalHandleCreate(handle, graph, currentContext(), defaultValue, flags);
  });
}

// Edges.

#if PTXRUN_CUDART_MAJOR == 12
#define WITH_EDGE_DATA(name) name##_v2
PTXRUN_RUNTIME_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                                 cudaGraphNode_t *to, size_t *count) {
  return perform([&] { return cuGraphGetEdges(graph, from, to, nullptr, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                            cudaGraphNode_t *nodes, size_t *count) {
  return perform([&] { return cuGraphNodeGetDependencies(node, nodes, nullptr, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                              cudaGraphNode_t *nodes,
                                                              size_t *count) {
  return perform([&] { return cuGraphNodeGetDependentNodes(node, nodes, nullptr, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph,
                                                        const cudaGraphNode_t *from,
                                                        const cudaGraphNode_t *to, size_t count) {
  return perform([&] { return cuGraphAddDependencies(graph, from, to, nullptr, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                           const cudaGraphNode_t *from,
                                                           const cudaGraphNode_t *to,
                                                           size_t count) {
  return perform([&] { return cuGraphRemoveDependencies(graph, from, to, nullptr, count); });
}
#else
#define WITH_EDGE_DATA(name) name
#endif
PTXRUN_RUNTIME_API cudaError_t WITH_EDGE_DATA(cudaGraphGetEdges)(cudaGraph_t graph,
                                                                 cudaGraphNode_t *from,
                                                                 cudaGraphNode_t *to,
                                                                 CUgraphEdgeData *data,
                                                                 size_t *count) {
  return perform([&] { return cuGraphGetEdges(graph, from, to, data, count); });
}
PTXRUN_RUNTIME_API cudaError_t WITH_EDGE_DATA(cudaGraphNodeGetDependencies)(cudaGraphNode_t node,
                                                                            cudaGraphNode_t *nodes,
                                                                            CUgraphEdgeData *data,
                                                                            size_t *count) {
  return perform([&] { return cuGraphNodeGetDependencies(node, nodes, data, count); });
}
PTXRUN_RUNTIME_API cudaError_t WITH_EDGE_DATA(cudaGraphNodeGetDependentNodes)(
    cudaGraphNode_t node, cudaGraphNode_t *nodes, CUgraphEdgeData *data, size_t *count) {
  return perform([&] { return cuGraphNodeGetDependentNodes(node, nodes, data, count); });
}
PTXRUN_RUNTIME_API cudaError_t WITH_EDGE_DATA(cudaGraphAddDependencies)(cudaGraph_t graph,
                                                                        const cudaGraphNode_t *from,
                                                                        const cudaGraphNode_t *to,
                                                                        const CUgraphEdgeData *data,
                                                                        size_t count) {
  return perform([&] { return cuGraphAddDependencies(graph, from, to, data, count); });
}
PTXRUN_RUNTIME_API cudaError_t WITH_EDGE_DATA(cudaGraphRemoveDependencies)(
    cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
    const CUgraphEdgeData *data, size_t count) {
  return perform([&] { return cuGraphRemoveDependencies(graph, from, to, data, count); });
}

// Nodes of any type.

namespace {

CUresult addNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                 const CUgraphEdgeData *data, size_t count, cudaGraphNodeParams *p) {
  CUgraphNodeParams driver;
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = toDriver(*p, driver);
  if (result == CUDA_SUCCESS)
    result = cuGraphAddNode(out, graph, dependencies, data, count, &driver);
  if (result == CUDA_SUCCESS && p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
    p->alloc.dptr = driver.alloc.dptr;
  if (result == CUDA_SUCCESS && p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
    p->conditional.phGraph_out = driver.conditional.phGraph_out;
  return result;
}

} // namespace

#if PTXRUN_CUDART_MAJOR == 12
PTXRUN_RUNTIME_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                                const cudaGraphNode_t *dependencies, size_t count,
                                                cudaGraphNodeParams *p) {
  return perform([&] { return addNode(out, graph, dependencies, nullptr, count, p); });
}
#endif
PTXRUN_RUNTIME_API cudaError_t WITH_EDGE_DATA(cudaGraphAddNode)(
    cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
    const CUgraphEdgeData *data, size_t count, cudaGraphNodeParams *p) {
  return perform([&] { return addNode(out, graph, dependencies, data, count, p); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node,
                                                      cudaGraphNodeParams *p) {
  return perform([&] {
    CUgraphNodeParams driver;
    const CUresult result = p ? toDriver(*p, driver) : CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? cuGraphNodeSetParams(node, &driver) : result;
  });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec,
                                                          cudaGraphNode_t node,
                                                          cudaGraphNodeParams *p) {
  return perform([&] {
    CUgraphNodeParams driver;
    const CUresult result = p ? toDriver(*p, driver) : CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? cuGraphExecNodeSetParams(exec, node, &driver) : result;
  });
}

// What graphs keep alive, and what they allocate.

PTXRUN_RUNTIME_API cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data,
                                                    cudaHostFn_t destroy, unsigned count,
                                                    unsigned flags) {
  return perform([&] { return cuUserObjectCreate(object, data, destroy, count, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return perform([&] { return cuUserObjectRetain(object, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return perform([&] { return cuUserObjectRelease(object, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                         unsigned count, unsigned flags) {
  return perform([&] { return cuGraphRetainUserObject(graph, object, count, flags); });
}
PTXRUN_RUNTIME_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph,
                                                          cudaUserObject_t object, unsigned count) {
  return perform([&] { return cuGraphReleaseUserObject(graph, object, count); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return perform([&] { return cuDeviceGraphMemTrim(device); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                              CUgraphMem_attribute which,
                                                              void *value) {
  return perform([&] { return cuDeviceGetGraphMemAttribute(device, which, value); });
}
PTXRUN_RUNTIME_API cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                                              CUgraphMem_attribute which,
                                                              void *value) {
  return perform([&] { return cuDeviceSetGraphMemAttribute(device, which, value); });
}
