#include "loader/libcuda/graph_node_content.h"

#include <algorithm>

#include "loader/libcuda/copy.h"
#include "loader/libcuda/memory_operation.h"

namespace ptxrun::driver {

namespace {

/// The node whose completion allows memory to be used again: frees that come before the new node,
/// of allocations that no other node has taken over since.
std::shared_ptr<GraphAllocation> findFreed(const Graph &graph, std::span<const Dependency> after,
                                           size_t bytes) {
  for (const auto &node : graph.nodes()) {
    const auto *freed = node->as<FreeNode>();
    if (!freed || freed->allocation->bytes != bytes)
      continue;
    const auto uses = [&](auto *type) {
      using Type = std::remove_pointer_t<decltype(type)>;
      return std::ranges::count_if(graph.nodes(), [&](const auto &other) {
        const auto *content = other->template as<Type>();
        return content && content->allocation == freed->allocation;
      });
    };
    if (uses(static_cast<AllocationNode *>(nullptr)) != uses(static_cast<FreeNode *>(nullptr)))
      continue;
    if (std::ranges::any_of(
            after, [&](const Dependency &edge) { return graph.isBefore(*node, *edge.from); }))
      return freed->allocation;
  }
  return nullptr;
}

} // namespace

CUresult toContent(const CUDA_KERNEL_NODE_PARAMS &p, const LaunchAttributes &attributes,
                   NodeContent &content) {
  auto function = resolveFunction(p.func ? static_cast<void *>(p.func) : p.kern);
  if (!function)
    return p.func || p.kern ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
  LaunchShape shape;
  shape.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  shape.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  shape.dynamicSharedBytes = p.sharedMemBytes;
  for (const auto &[id, value] : attributes)
    PTXRUN_TRY(applyAttribute(static_cast<CUlaunchAttributeID>(id), value, shape));
  CUresult result = CUDA_SUCCESS;
  auto launch = LaunchOperation::make(std::move(function), shape, result);
  PTXRUN_TRY(result);
  PTXRUN_TRY(readArguments(*launch, p.kernelParams, p.extra));
  content = KernelNode{std::move(launch), attributes,
                       p.ctx ? p.ctx : handleOf<CUcontext>(currentContext()), nullptr};
  return CUDA_SUCCESS;
}

CUresult toContent(const CUDA_MEMCPY3D &p, CUcontext context, NodeContent &content) {
  CopyNode node{nullptr, p, true, context};
  bool isPageable = false;
  PTXRUN_TRY(makeCopy(p, node.operation, isPageable));
  content = std::move(node);
  return CUDA_SUCCESS;
}

CUresult toContent(const CUDA_MEMSET_NODE_PARAMS &p, CUcontext context, NodeContent &content) {
  FillNode node{nullptr, p, context};
  PTXRUN_TRY(makeFill(p, node.operation));
  content = std::move(node);
  return CUDA_SUCCESS;
}

CUresult toContent(const CUDA_HOST_NODE_PARAMS &p, NodeContent &content) {
  if (!p.fn)
    return CUDA_ERROR_INVALID_VALUE;
  content = HostNode{p};
  return CUDA_SUCCESS;
}

CUresult toContent(const CUDA_BATCH_MEM_OP_NODE_PARAMS &p, NodeContent &content) {
  if (!p.paramArray || p.count == 0 || p.flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  MemoryOperationsNode node{{p.paramArray, p.paramArray + p.count}, p.flags, p.ctx};
  std::shared_ptr<Operation> checked;
  PTXRUN_TRY(makeMemoryOperation(node.operations, checked));
  content = std::move(node);
  return CUDA_SUCCESS;
}

CUresult toChildContent(CUgraph handle, bool isMoved, NodeContent &content) {
  auto child = resolve<Graph>(handle);
  if (!child || (isMoved && child->isOwned))
    return CUDA_ERROR_INVALID_VALUE;
  if (!isMoved && (child->hasMemoryNodes() || child->hasConditionals() || child->hasDeviceNodes()))
    return CUDA_ERROR_NOT_SUPPORTED; // CUDA copies none of these
  if (isMoved)
    child->isOwned = true;
  content = ChildNode{isMoved ? std::move(child) : child->copy(false, true)};
  return CUDA_SUCCESS;
}

CUresult toEventRecord(CUevent handle, NodeContent &content) {
  auto event = resolve<Event>(handle);
  content = EventRecordNode{event};
  return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult toEventWait(CUevent handle, NodeContent &content) {
  auto event = resolve<Event>(handle);
  content = EventWaitNode{event};
  return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult toAllocation(const Graph &graph, std::span<const Dependency> after,
                      CUDA_MEM_ALLOC_NODE_PARAMS &p, NodeContent &content) {
  if (p.bytesize == 0 || p.poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      p.poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE || p.poolProps.location.id != 0 ||
      p.poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE || (p.accessDescCount && !p.accessDescs))
    return CUDA_ERROR_INVALID_VALUE;
  AllocationNode node;
  node.allocation = findFreed(graph, after, p.bytesize);
  if (!node.allocation)
    PTXRUN_TRY(GraphAllocation::make(currentContext(), p.bytesize, node.allocation));
  p.dptr = node.allocation->address;
  node.description = p;
  node.access.assign(p.accessDescs, p.accessDescs + p.accessDescCount);
  content = std::move(node);
  return CUDA_SUCCESS;
}

CUresult toFree(const Graph &graph, CUdeviceptr address, NodeContent &content) {
  auto allocation = findGraphAllocation(address);
  if (!allocation)
    return CUDA_ERROR_INVALID_VALUE;
  size_t allocated = 0, freed = 0;
  for (const auto &node : graph.nodes()) {
    const auto *a = node->as<AllocationNode>();
    const auto *f = node->as<FreeNode>();
    allocated += a && a->allocation == allocation;
    freed += f && f->allocation == allocation;
  }
  if (freed >= std::max<size_t>(allocated, 1))
    return CUDA_ERROR_INVALID_VALUE;
  content = FreeNode{std::move(allocation)};
  return CUDA_SUCCESS;
}

CUresult toConditional(CUDA_CONDITIONAL_NODE_PARAMS &p, NodeContent &content) {
  auto condition = findCondition(p.handle);
  if (!condition || condition->isUsed || p.size == 0 ||
      (p.type == CU_GRAPH_COND_TYPE_WHILE && p.size != 1) ||
      (p.type == CU_GRAPH_COND_TYPE_IF && p.size > 2) || p.type > CU_GRAPH_COND_TYPE_SWITCH)
    return CUDA_ERROR_INVALID_VALUE;
  condition->isUsed = true;
  ConditionalNode node{std::move(condition), p.type, {}, {}, p.ctx};
  for (unsigned i = 0; i < p.size; ++i) {
    node.bodies.push_back(Graph::make(true));
    node.handles.push_back(handleOf<CUgraph>(node.bodies.back().get()));
  }
  content = std::move(node);
  return CUDA_SUCCESS;
}

CUresult toContent(const Graph &graph, std::span<const Dependency> after, CUgraphNodeParams &p,
                   NodeContent &content) {
  switch (p.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return toContent(p.kernel, {}, content);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return toContent(p.memcpy.copyParams, p.memcpy.copyCtx, content);
  case CU_GRAPH_NODE_TYPE_MEMSET:
    return toContent({p.memset.dst, p.memset.pitch, p.memset.value, p.memset.elementSize,
                      p.memset.width, p.memset.height},
                     p.memset.ctx, content);
  case CU_GRAPH_NODE_TYPE_HOST:
    return toContent(p.host, content);
  case CU_GRAPH_NODE_TYPE_GRAPH:
    return toChildContent(p.graph.graph, p.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE,
                          content);
  case CU_GRAPH_NODE_TYPE_EMPTY:
    content = EmptyNode{};
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return toEventWait(p.eventWait.event, content);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return toEventRecord(p.eventRecord.event, content);
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    return toAllocation(graph, after, p.alloc, content);
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    return toFree(graph, p.free.dptr, content);
  case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    return toContent(p.memOp, content);
  case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    return toConditional(p.conditional, content);
  case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
  case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    return notSupported("a graph node of an external semaphore");
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult toNewContent(const GraphNode &node, CUgraphNodeParams &p, NodeContent &content) {
  if (p.type != node.type())
    return CUDA_ERROR_INVALID_VALUE;
  switch (p.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return toContent(p.kernel, node.as<KernelNode>()->attributes, content);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
  case CU_GRAPH_NODE_TYPE_MEMSET:
  case CU_GRAPH_NODE_TYPE_HOST:
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
  case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    return toContent(Graph(), {}, p, content);
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUDA_KERNEL_NODE_PARAMS describeKernel(GraphNode &node) {
  const auto &kernel = *node.as<KernelNode>();
  const LaunchOperation &launch = *kernel.launch;
  const LaunchShape &shape = launch.shape();
  node.argumentPointers.clear();
  const auto *base = static_cast<const std::byte *>(launch.arguments.data());
  for (const device::Parameter &parameter : launch.function().info.parameters)
    node.argumentPointers.push_back(const_cast<std::byte *>(base) + parameter.offset);
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = handleOf<CUfunction>(&launch.function());
  p.gridDimX = shape.grid.x;
  p.gridDimY = shape.grid.y;
  p.gridDimZ = shape.grid.z;
  p.blockDimX = shape.block.x;
  p.blockDimY = shape.block.y;
  p.blockDimZ = shape.block.z;
  p.sharedMemBytes = shape.dynamicSharedBytes;
  p.kernelParams = node.argumentPointers.empty() ? nullptr : node.argumentPointers.data();
  p.ctx = kernel.context;
  return p;
}

} // namespace ptxrun::driver
