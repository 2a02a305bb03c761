// Nodes: made, asked for their parameters, given new ones.
#include <cstring>

#include "loader/libcuda/graph_node_content.h"

using namespace ptxrun::driver;

namespace {

/// A graph and the nodes that a new one is to come after.
struct Place {
  std::shared_ptr<Graph> graph;
  std::vector<Dependency> after;
};

CUresult findPlace(CUgraphNode *out, CUgraph graphHandle, const CUgraphNode *dependencies,
                   const CUgraphEdgeData *data, size_t count, Place &place) {
  PTXRUN_TRY(checkInitialised());
  place.graph = resolve<Graph>(graphHandle);
  if (!out || !place.graph || (count != 0 && !dependencies))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const auto node = resolve<GraphNode>(dependencies[i]);
    if (!node || node->graph != place.graph.get())
      return CUDA_ERROR_INVALID_VALUE;
    const Dependency edge{node.get(), data ? data[i] : CUgraphEdgeData{}};
    for (const Dependency &known : place.after)
      if (known == edge)
        return CUDA_ERROR_INVALID_VALUE;
    place.after.push_back(edge);
  }
  return CUDA_SUCCESS;
}

/// Adds the node that `toContent(place, content)` describes.
template <class ToContent>
CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
             ToContent toContent, const CUgraphEdgeData *data = nullptr) {
  Place place;
  PTXRUN_TRY(findPlace(out, graph, dependencies, data, count, place));
  NodeContent content;
  PTXRUN_TRY(toContent(place, content));
  // An edge's data must suit the node's type, so edges with data are checked against the node.
  GraphNode &node = place.graph->add(std::move(content), {});
  for (const Dependency &edge : place.after)
    if (const CUresult result = place.graph->checkEdge(*edge.from, node, edge.data);
        result != CUDA_SUCCESS) {
      place.graph->remove(node);
      return result;
    } else {
      place.graph->connect(*edge.from, node, edge.data);
    }
  *out = handleOf<CUgraphNode>(&node);
  return CUDA_SUCCESS;
}

template <class T> CUresult enterNode(CUgraphNode handle, std::shared_ptr<GraphNode> &node) {
  PTXRUN_TRY(checkInitialised());
  node = resolve<GraphNode>(handle);
  return node && node->graph && node->as<T>() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Gives a node of type T what `toContent(node, content)` describes.
template <class T, class ToContent> CUresult set(CUgraphNode handle, ToContent toContent) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode<T>(handle, node));
  NodeContent content;
  PTXRUN_TRY(toContent(*node, content));
  if (auto *kernel = std::get_if<KernelNode>(&content))
    if (const auto &device = node->as<KernelNode>()->device; device && !kernel->device) {
      kernel->device = device;
      PTXRUN_TRY(device->write(*kernel->launch));
    }
  node->content = std::move(content);
  return CUDA_SUCCESS;
}

/// Answers out of a node of type T.
template <class T, class Out, class Answer>
CUresult get(CUgraphNode handle, Out *out, Answer answer) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode<T>(handle, node));
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = answer(*node->as<T>());
  return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1 &p) {
  CUDA_KERNEL_NODE_PARAMS wide = {};
  memcpy(&wide, &p, sizeof p); // the newer one begins like the older
  return wide;
}

bool isDeviceUpdatable(CUgraphNode handle) {
  std::shared_ptr<GraphNode> node;
  return enterNode<KernelNode>(handle, node) == CUDA_SUCCESS && node->device();
}

/// Once a node is one that kernels can change, it stays so. The handle is answered in the value
/// that was given.
CUresult setDeviceUpdatable(CUgraphNode handle, const CUkernelNodeAttrValue &value) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode<KernelNode>(handle, node));
  KernelNode &kernel = *node->as<KernelNode>();
  const int asked = value.deviceUpdatableKernelNode.deviceUpdatable;
  if (asked != 0 && asked != 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (asked == 0)
    return kernel.device ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  if (!kernel.device && !(kernel.device = DeviceNode::make(*kernel.launch)))
    return CUDA_ERROR_OUT_OF_MEMORY;
  const_cast<CUkernelNodeAttrValue &>(value).deviceUpdatableKernelNode.devNode =
      kernel.device->handle();
  return CUDA_SUCCESS;
}

} // namespace

// Kernels.

PTXRUN_API CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph,
                                            const CUgraphNode *dependencies, size_t count,
                                            const CUDA_KERNEL_NODE_PARAMS *p) {
  return p ? add(out, graph, dependencies, count,
                 [&](Place &, NodeContent &content) { return toContent(*p, {}, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS wide = widen(*p);
  return cuGraphAddKernelNode_v2(out, graph, dependencies, count, &wide);
}
PTXRUN_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *p) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode<KernelNode>(handle, node));
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  *p = describeKernel(*node);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  CUDA_KERNEL_NODE_PARAMS wide;
  PTXRUN_TRY(cuGraphKernelNodeGetParams_v2(handle, &wide));
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(p, &wide, sizeof *p);
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle,
                                                  const CUDA_KERNEL_NODE_PARAMS *p) {
  return p ? set<KernelNode>(handle,
                             [&](GraphNode &node, NodeContent &content) {
                               return toContent(*p, node.as<KernelNode>()->attributes, content);
                             })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphKernelNodeSetParams(CUgraphNode handle,
                                               const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS wide = widen(*p);
  return cuGraphKernelNodeSetParams_v2(handle, &wide);
}

PTXRUN_API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                                  CUkernelNodeAttrValue *value) {
  return get<KernelNode>(handle, value, [&](const KernelNode &kernel) {
    CUkernelNodeAttrValue answer = {};
    const LaunchShape &shape = kernel.launch->shape();
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      answer.deviceUpdatableKernelNode = {kernel.device != nullptr,
                                          kernel.device ? kernel.device->handle() : nullptr};
    else if (const auto known = kernel.attributes.find(id); known != kernel.attributes.end())
      answer = known->second;
    else if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      answer.cooperative = shape.isCooperative;
    else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      answer.clusterDim = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
    return answer;
  });
}
PTXRUN_API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                                  const CUkernelNodeAttrValue *value) {
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
    return setDeviceUpdatable(handle, *value);
  return set<KernelNode>(handle, [&](GraphNode &node, NodeContent &content) {
    LaunchAttributes attributes = node.as<KernelNode>()->attributes;
    attributes[id] = *value;
    return toContent(describeKernel(node), attributes, content);
  });
}
PTXRUN_API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  std::shared_ptr<GraphNode> source;
  PTXRUN_TRY(enterNode<KernelNode>(from, source));
  if (source->device() || isDeviceUpdatable(to))
    return CUDA_ERROR_INVALID_VALUE;
  return set<KernelNode>(to, [&](GraphNode &node, NodeContent &content) {
    return toContent(describeKernel(node), source->as<KernelNode>()->attributes, content);
  });
}

// Copies and fills.

PTXRUN_API CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         const CUDA_MEMCPY3D *p, CUcontext context) {
  return p ? add(out, graph, dependencies, count,
                 [&](Place &, NodeContent &content) { return toContent(*p, context, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *p) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode<CopyNode>(handle, node));
  if (!node->as<CopyNode>()->isDescribed)
    return notSupported("describing a captured copy of a range of an array");
  return get<CopyNode>(handle, p, [](const CopyNode &copy) { return copy.description; });
}
PTXRUN_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D *p) {
  return p ? set<CopyNode>(handle,
                           [&](GraphNode &node, NodeContent &content) {
                             return toContent(*p, node.as<CopyNode>()->context, content);
                           })
           : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context) {
  return p ? add(out, graph, dependencies, count,
                 [&](Place &, NodeContent &content) { return toContent(*p, context, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *p) {
  return get<FillNode>(handle, p, [](const FillNode &fill) { return fill.description; });
}
PTXRUN_API CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle,
                                               const CUDA_MEMSET_NODE_PARAMS *p) {
  return p ? set<FillNode>(handle,
                           [&](GraphNode &node, NodeContent &content) {
                             return toContent(*p, node.as<FillNode>()->context, content);
                           })
           : CUDA_ERROR_INVALID_VALUE;
}

// Host functions, child graphs, empty nodes.

PTXRUN_API CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       const CUDA_HOST_NODE_PARAMS *p) {
  return p ? add(out, graph, dependencies, count,
                 [&](Place &, NodeContent &content) { return toContent(*p, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *p) {
  return get<HostNode>(handle, p, [](const HostNode &host) { return host.function; });
}
PTXRUN_API CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *p) {
  return p ? set<HostNode>(
                 handle, [&](GraphNode &, NodeContent &content) { return toContent(*p, content); })
           : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph,
                                             const CUgraphNode *dependencies, size_t count,
                                             CUgraph child) {
  return add(out, graph, dependencies, count,
             [&](Place &, NodeContent &content) { return toChildContent(child, false, content); });
}
PTXRUN_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *graph) {
  return get<ChildNode>(
      handle, graph, [](const ChildNode &child) { return handleOf<CUgraph>(child.graph.get()); });
}

PTXRUN_API CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph,
                                        const CUgraphNode *dependencies, size_t count) {
  return add(out, graph, dependencies, count, [](Place &, NodeContent &content) {
    content = EmptyNode{};
    return CUDA_SUCCESS;
  });
}

// Events.

PTXRUN_API CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph,
                                              const CUgraphNode *dependencies, size_t count,
                                              CUevent event) {
  return add(out, graph, dependencies, count,
             [&](Place &, NodeContent &content) { return toEventRecord(event, content); });
}
PTXRUN_API CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent *event) {
  return get<EventRecordNode>(handle, event, [](const EventRecordNode &node) {
    return handleOf<CUevent>(node.event.get());
  });
}
PTXRUN_API CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event) {
  return set<EventRecordNode>(
      handle, [&](GraphNode &, NodeContent &content) { return toEventRecord(event, content); });
}
PTXRUN_API CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph,
                                            const CUgraphNode *dependencies, size_t count,
                                            CUevent event) {
  return add(out, graph, dependencies, count,
             [&](Place &, NodeContent &content) { return toEventWait(event, content); });
}
PTXRUN_API CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent *event) {
  return get<EventWaitNode>(
      handle, event, [](const EventWaitNode &node) { return handleOf<CUevent>(node.event.get()); });
}
PTXRUN_API CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event) {
  return set<EventWaitNode>(
      handle, [&](GraphNode &, NodeContent &content) { return toEventWait(event, content); });
}

// Memory: allocation, freeing, operations on words.

PTXRUN_API CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph graph,
                                           const CUgraphNode *dependencies, size_t count,
                                           CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  return p ? add(out, graph, dependencies, count,
                 [&](Place &place, NodeContent &content) {
                   return toAllocation(*place.graph, place.after, *p, content);
                 })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle,
                                                 CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  return get<AllocationNode>(handle, p, [](const AllocationNode &node) {
    CUDA_MEM_ALLOC_NODE_PARAMS answer = node.description;
    answer.accessDescs = node.access.empty() ? nullptr : node.access.data();
    return answer;
  });
}
PTXRUN_API CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph graph,
                                          const CUgraphNode *dependencies, size_t count,
                                          CUdeviceptr address) {
  return add(out, graph, dependencies, count, [&](Place &place, NodeContent &content) {
    return toFree(*place.graph, address, content);
  });
}
PTXRUN_API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *address) {
  return get<FreeNode>(handle, address,
                       [](const FreeNode &node) { return node.allocation->address; });
}

PTXRUN_API CUresult cuGraphAddBatchMemOpNode(CUgraphNode *out, CUgraph graph,
                                             const CUgraphNode *dependencies, size_t count,
                                             const CUDA_BATCH_MEM_OP_NODE_PARAMS *p) {
  return p ? add(out, graph, dependencies, count,
                 [&](Place &, NodeContent &content) { return toContent(*p, content); })
           : CUDA_ERROR_INVALID_VALUE;
}
PTXRUN_API CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle,
                                                   CUDA_BATCH_MEM_OP_NODE_PARAMS *p) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode<MemoryOperationsNode>(handle, node));
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  auto &known = *node->as<MemoryOperationsNode>();
  *p = {known.context, static_cast<unsigned>(known.operations.size()), known.operations.data(),
        known.flags};
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode handle,
                                                   const CUDA_BATCH_MEM_OP_NODE_PARAMS *p) {
  return p ? set<MemoryOperationsNode>(
                 handle, [&](GraphNode &, NodeContent &content) { return toContent(*p, content); })
           : CUDA_ERROR_INVALID_VALUE;
}

// Any type.

PTXRUN_API CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph,
                                      const CUgraphNode *dependencies, const CUgraphEdgeData *data,
                                      size_t count, CUgraphNodeParams *p) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  PTXRUN_TRY(add(
      out, graph, dependencies, count,
      [&](Place &place, NodeContent &content) {
        return toContent(*place.graph, place.after, *p, content);
      },
      data));
  if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
    p->conditional.phGraph_out = resolve<GraphNode>(*out)->as<ConditionalNode>()->handles.data();
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                   size_t count, CUgraphNodeParams *p) {
  return cuGraphAddNode_v2(out, graph, dependencies, nullptr, count, p);
}

PTXRUN_API CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *p) {
  PTXRUN_TRY(checkInitialised());
  const auto node = resolve<GraphNode>(handle);
  if (!p || !node || !node->graph || node->type() != p->type)
    return CUDA_ERROR_INVALID_VALUE;
  NodeContent content;
  PTXRUN_TRY(toNewContent(*node, *p, content));
  node->content = std::move(content);
  return CUDA_SUCCESS;
}
