// Executable graphs: made, launched, changed.
#include <algorithm>
#include <cstring>

#include "loader/libcuda/graph_exec.h"
#include "loader/libcuda/graph_node_content.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

constexpr uint64_t kInstantiateFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUgraphNode findNode(Graph &graph, uint64_t id) {
  CUgraphNode found = nullptr;
  forEachNode(graph, [&](GraphNode &node) {
    if (node.id == id)
      found = handleOf<CUgraphNode>(&node);
  });
  return found;
}

CUresult instantiate(CUgraphExec *out, CUgraph graphHandle, uint64_t flags, CUgraphNode *errorNode,
                     CUgraphInstantiateResult *why) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  auto graph = resolve<Graph>(graphHandle);
  if (!out || !graph || (flags & ~kInstantiateFlags))
    return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) &&
      (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
    return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  GraphExec::Problem problem;
  CUresult result = CUDA_SUCCESS;
  auto exec = GraphExec::make(graph, flags, problem, result);
  if (why)
    *why = problem.result;
  if (errorNode)
    *errorNode = problem.nodeId ? findNode(*graph, problem.nodeId) : nullptr;
  if (exec)
    *out = publish<CUgraphExec>(exec);
  return result;
}

CUresult enterExec(CUgraphExec handle, std::shared_ptr<GraphExec> &exec) {
  PTXRUN_TRY(checkInitialised());
  exec = resolve<GraphExec>(handle);
  return exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult enterExec(CUgraphExec handle, CUgraphNode nodeHandle, std::shared_ptr<GraphExec> &exec,
                   std::shared_ptr<GraphNode> &node) {
  PTXRUN_TRY(enterExec(handle, exec));
  node = resolve<GraphNode>(nodeHandle);
  return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Replaces what the executable's node does by what `toContent(node, content)` describes.
template <class ToContent>
CUresult replace(CUgraphExec handle, CUgraphNode nodeHandle, ToContent toContent) {
  std::shared_ptr<GraphExec> exec;
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterExec(handle, nodeHandle, exec, node));
  NodeContent content;
  PTXRUN_TRY(toContent(*node, content));
  return exec->replace(*node, std::move(content));
}

} // namespace

PTXRUN_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                                unsigned long long flags) {
  return instantiate(exec, graph, flags, nullptr, nullptr);
}
PTXRUN_API CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode,
                                          char *log, size_t logBytes) {
  if (log && logBytes != 0)
    *log = 0;
  return instantiate(exec, graph, 0, errorNode, nullptr);
}
PTXRUN_API CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode,
                                       char *log, size_t logBytes) {
  return cuGraphInstantiate_v2(exec, graph, errorNode, log, logBytes);
}
PTXRUN_STREAM_API(cuGraphInstantiateWithParams, _ptsz,
                  (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p),
                  (exec, graph, p)) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  p->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  return instantiate(exec, graph, p->flags, &p->hErrNode_out, &p->result_out);
}

PTXRUN_API CUresult cuGraphExecGetFlags(CUgraphExec handle, uint64_t *flags) {
  std::shared_ptr<GraphExec> exec;
  PTXRUN_TRY(enterExec(handle, exec));
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphExecDestroy(CUgraphExec handle) {
  PTXRUN_TRY(checkInitialised());
  return withdraw<GraphExec>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// There is nothing to be brought to the device.
PTXRUN_STREAM_API(cuGraphUpload, _ptsz, (CUgraphExec handle, CUstream streamHandle),
                  (handle, streamHandle)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<GraphExec> exec;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  PTXRUN_TRY(enterExec(handle, exec));
  return forbidCapture(*stream);
}

PTXRUN_STREAM_API(cuGraphLaunch, _ptsz, (CUgraphExec handle, CUstream streamHandle),
                  (handle, streamHandle)) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<GraphExec> exec;
  PTXRUN_TRY(enter(streamHandle, context, stream));
  PTXRUN_TRY(enterExec(handle, exec));
  bool isCaptured = false;
  PTXRUN_TRY(routeWork(*stream, isCaptured));
  if (isCaptured)
    return captureNode(*stream, ChildNode{exec->copyGraph()});
  PTXRUN_TRY(exec->launch(*context, *stream));
  if (!isLaunchBlocking())
    return CUDA_SUCCESS;
  stream->synchronise();
  return context->error();
}

// Changes of single nodes.

PTXRUN_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                      const CUDA_KERNEL_NODE_PARAMS *p) {
  return p ? replace(exec, node,
                     [&](GraphNode &original, NodeContent &content) {
                       const auto *kernel = original.as<KernelNode>();
                       return kernel ? toContent(*p, kernel->attributes, content)
                                     : CUDA_ERROR_INVALID_VALUE;
                     })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS wide = {};
  memcpy(&wide, p, sizeof *p); // the newer one begins like the older
  return cuGraphExecKernelNodeSetParams_v2(exec, node, &wide);
}
PTXRUN_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_MEMCPY3D *p, CUcontext context) {
  return p ? replace(
                 exec, node,
                 [&](GraphNode &, NodeContent &content) { return toContent(*p, context, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_MEMSET_NODE_PARAMS *p,
                                                   CUcontext context) {
  return p ? replace(
                 exec, node,
                 [&](GraphNode &, NodeContent &content) { return toContent(*p, context, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                 const CUDA_HOST_NODE_PARAMS *p) {
  return p ? replace(exec, node,
                     [&](GraphNode &, NodeContent &content) { return toContent(*p, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode nodeHandle,
                                                       CUgraph childHandle) {
  std::shared_ptr<GraphExec> exec;
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterExec(handle, nodeHandle, exec, node));
  auto child = resolve<Graph>(childHandle);
  if (!child || !node->as<ChildNode>())
    return CUDA_ERROR_INVALID_VALUE;
  return exec->replaceChild(*node, *child);
}
PTXRUN_API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                       CUevent event) {
  return replace(exec, node,
                 [&](GraphNode &, NodeContent &content) { return toEventRecord(event, content); });
}
PTXRUN_API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                     CUevent event) {
  return replace(exec, node,
                 [&](GraphNode &, NodeContent &content) { return toEventWait(event, content); });
}
PTXRUN_API CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                       const CUDA_BATCH_MEM_OP_NODE_PARAMS *p) {
  return p ? replace(exec, node,
                     [&](GraphNode &, NodeContent &content) { return toContent(*p, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                             CUgraphNodeParams *p) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return cuGraphExecChildGraphNodeSetParams(exec, node, p->graph.graph);
  return replace(exec, node, [&](GraphNode &original, NodeContent &content) {
    return toNewContent(original, *p, content);
  });
}

PTXRUN_API CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode nodeHandle,
                                          unsigned isEnabled) {
  std::shared_ptr<GraphExec> exec;
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterExec(handle, nodeHandle, exec, node));
  return exec->setEnabled(*node, isEnabled != 0);
}
PTXRUN_API CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode nodeHandle,
                                          unsigned *isEnabled) {
  std::shared_ptr<GraphExec> exec;
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterExec(handle, nodeHandle, exec, node));
  bool answer = false;
  if (!isEnabled)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(exec->isEnabled(*node, answer));
  *isEnabled = answer;
  return CUDA_SUCCESS;
}

// Changes of the whole.

PTXRUN_API CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graphHandle,
                                         CUgraphExecUpdateResultInfo *info) {
  std::shared_ptr<GraphExec> exec;
  PTXRUN_TRY(enterExec(handle, exec));
  auto graph = resolve<Graph>(graphHandle);
  if (!graph || !info)
    return CUDA_ERROR_INVALID_VALUE;
  return exec->update(*graph, *info);
}
PTXRUN_API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *errorNode,
                                      CUgraphExecUpdateResult *why) {
  CUgraphExecUpdateResultInfo info = {};
  const CUresult result = cuGraphExecUpdate_v2(exec, graph, &info);
  if (errorNode)
    *errorNode = info.errorNode;
  if (why)
    *why = info.result;
  return result;
}
