// Graphs as structures: creation, copies, nodes and edges, what a graph keeps alive.
#include <algorithm>

#include "loader/libcuda/graph.h"

using namespace ptxrun::driver;

namespace {

constexpr CUgraphEdgeData kOrdinary{};

CUresult enterGraph(CUgraph handle, std::shared_ptr<Graph> &graph) {
  PTXRUN_TRY(checkInitialised());
  graph = resolve<Graph>(handle);
  return graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult enterNode(CUgraphNode handle, std::shared_ptr<GraphNode> &node) {
  PTXRUN_TRY(checkInitialised());
  node = resolve<GraphNode>(handle);
  return node && node->graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Lists as the API answers them: without an array their length; else as many as there is room for,
/// the rest of the room filled with zeros, and how many there were.
template <class Item, class Put>
void answerList(const std::vector<Item> &items, size_t *count, bool hasRoom, Put put) {
  if (!hasRoom) {
    *count = items.size();
    return;
  }
  for (size_t i = 0; i < *count; ++i)
    put(i, i < items.size() ? &items[i] : nullptr);
  *count = std::min(*count, items.size());
}

CUgraphNode handle(const GraphNode *node) {
  return handleOf<CUgraphNode>(const_cast<GraphNode *>(node));
}

CUresult answerNodes(const std::vector<const GraphNode *> &nodes, CUgraphNode *out, size_t *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  answerList(nodes, count, out != nullptr, [&](size_t i, const GraphNode *const *node) {
    out[i] = node ? handle(*node) : nullptr;
  });
  return CUDA_SUCCESS;
}

bool isPlain(const Dependency &edge) {
  return Dependency{nullptr, edge.data} == Dependency{nullptr, kOrdinary};
}

struct Edge {
  const GraphNode *from, *to;
  CUgraphEdgeData data;
};

/// `edges` null: data may not be lost, as the older signatures would lose it.
CUresult answerEdges(const std::vector<Edge> &edges, CUgraphNode *from, CUgraphNode *to,
                     CUgraphEdgeData *data, size_t *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if ((from || to) && !data)
    for (const Edge &edge : edges)
      if (!isPlain({nullptr, edge.data}))
        return CUDA_ERROR_LOSSY_QUERY;
  answerList(edges, count, from || to, [&](size_t i, const Edge *edge) {
    if (from)
      from[i] = edge ? handle(edge->from) : nullptr;
    if (to)
      to[i] = edge ? handle(edge->to) : nullptr;
    if (data)
      data[i] = edge ? edge->data : kOrdinary;
  });
  return CUDA_SUCCESS;
}

/// Both ends of each edge that a call names.
template <class Do>
CUresult forEachEdge(CUgraph graphHandle, const CUgraphNode *from, const CUgraphNode *to,
                     const CUgraphEdgeData *data, size_t count, Do act) {
  std::shared_ptr<Graph> graph;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  if (count != 0 && (!from || !to))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    auto first = resolve<GraphNode>(from[i]), second = resolve<GraphNode>(to[i]);
    if (!first || !second || first->graph != graph.get() || second->graph != graph.get())
      return CUDA_ERROR_INVALID_VALUE;
    PTXRUN_TRY(act(*graph, *first, *second, data ? data[i] : kOrdinary));
  }
  return CUDA_SUCCESS;
}

} // namespace

PTXRUN_API CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  PTXRUN_TRY(checkInitialised());
  if (!graph || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *graph = handleOf<CUgraph>(Graph::make(false).get());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphDestroy(CUgraph graphHandle) {
  std::shared_ptr<Graph> graph;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  if (graph->isOwned)
    return CUDA_ERROR_INVALID_VALUE; // goes with the node that it is part of
  graph->withdrawHandles();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphClone(CUgraph *copy, CUgraph originalHandle) {
  std::shared_ptr<Graph> original;
  PTXRUN_TRY(enterGraph(originalHandle, original));
  if (!copy)
    return CUDA_ERROR_INVALID_VALUE;
  if (original->hasMemoryNodes() || original->hasConditionals() || original->hasDeviceNodes())
    return CUDA_ERROR_NOT_SUPPORTED; // as documented; a handle stands for one node
  *copy = handleOf<CUgraph>(original->copy(false, false).get());
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphNodeFindInClone(CUgraphNode *copy, CUgraphNode originalHandle,
                                           CUgraph graphHandle) {
  std::shared_ptr<Graph> graph;
  std::shared_ptr<GraphNode> original;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  PTXRUN_TRY(enterNode(originalHandle, original));
  GraphNode *found = copy ? findCopyOf(*graph, original->id) : nullptr;
  if (!found)
    return CUDA_ERROR_INVALID_VALUE;
  *copy = handle(found);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphGetNodes(CUgraph graphHandle, CUgraphNode *nodes, size_t *count) {
  std::shared_ptr<Graph> graph;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  std::vector<const GraphNode *> all;
  for (const auto &node : graph->nodes())
    all.push_back(node.get());
  return answerNodes(all, nodes, count);
}

PTXRUN_API CUresult cuGraphGetRootNodes(CUgraph graphHandle, CUgraphNode *nodes, size_t *count) {
  std::shared_ptr<Graph> graph;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  std::vector<const GraphNode *> roots;
  for (const auto &node : graph->nodes())
    if (node->dependencies.empty())
      roots.push_back(node.get());
  return answerNodes(roots, nodes, count);
}

PTXRUN_API CUresult cuGraphGetEdges_v2(CUgraph graphHandle, CUgraphNode *from, CUgraphNode *to,
                                       CUgraphEdgeData *data, size_t *count) {
  std::shared_ptr<Graph> graph;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  if (!from != !to)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<Edge> edges;
  for (const auto &node : graph->nodes())
    for (const Dependency &edge : node->dependencies)
      edges.push_back({edge.from, node.get(), edge.data});
  return answerEdges(edges, from, to, data, count);
}
PTXRUN_API CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                    size_t *count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

PTXRUN_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode nodeHandle, CUgraphNode *dependencies,
                                                  CUgraphEdgeData *data, size_t *count) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode(nodeHandle, node));
  std::vector<Edge> edges;
  for (const Dependency &edge : node->dependencies)
    edges.push_back({edge.from, node.get(), edge.data});
  return answerEdges(edges, dependencies, nullptr, data, count);
}
PTXRUN_API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies,
                                               size_t *count) {
  return cuGraphNodeGetDependencies_v2(node, dependencies, nullptr, count);
}

PTXRUN_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode nodeHandle, CUgraphNode *dependents,
                                                    CUgraphEdgeData *data, size_t *count) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode(nodeHandle, node));
  std::vector<Edge> edges;
  for (const Dependency &edge : node->dependents)
    edges.push_back({node.get(), edge.from, edge.data});
  return answerEdges(edges, nullptr, dependents, data, count);
}
PTXRUN_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *dependents,
                                                 size_t *count) {
  return cuGraphNodeGetDependentNodes_v2(node, dependents, nullptr, count);
}

PTXRUN_API CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                              const CUgraphNode *to, const CUgraphEdgeData *data,
                                              size_t count) {
  return forEachEdge(graph, from, to, data, count,
                     [](Graph &g, GraphNode &a, GraphNode &b, const CUgraphEdgeData &edge) {
                       PTXRUN_TRY(g.checkEdge(a, b, edge));
                       g.connect(a, b, edge);
                       return CUDA_SUCCESS;
                     });
}
PTXRUN_API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                           const CUgraphNode *to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

PTXRUN_API CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                                 const CUgraphNode *to, const CUgraphEdgeData *data,
                                                 size_t count) {
  return forEachEdge(graph, from, to, data, count,
                     [](Graph &g, GraphNode &a, GraphNode &b, const CUgraphEdgeData &edge) {
                       if (g.hasMemoryNodes() || !g.disconnect(a, b, edge))
                         return CUDA_ERROR_INVALID_VALUE;
                       return CUDA_SUCCESS;
                     });
}
PTXRUN_API CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                              const CUgraphNode *to, size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

PTXRUN_API CUresult cuGraphDestroyNode(CUgraphNode nodeHandle) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode(nodeHandle, node));
  if (node->graph->hasMemoryNodes() || node->device())
    return CUDA_ERROR_INVALID_VALUE;
  node->graph->remove(*node);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphNodeGetType(CUgraphNode nodeHandle, CUgraphNodeType *type) {
  std::shared_ptr<GraphNode> node;
  PTXRUN_TRY(enterNode(nodeHandle, node));
  if (!type)
    return CUDA_ERROR_INVALID_VALUE;
  *type = node->type();
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handleOut,
                                                   CUgraph graphHandle, CUcontext context,
                                                   unsigned defaultValue, unsigned flags) {
  std::shared_ptr<Graph> graph;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  if (!handleOut || (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) ||
      (context && !resolve<Context>(context)))
    return CUDA_ERROR_INVALID_VALUE;
  auto condition = Condition::make(defaultValue, flags);
  if (!condition)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *handleOut = condition->handle();
  graph->conditions.push_back(std::move(condition));
  return CUDA_SUCCESS;
}

// User objects.

PTXRUN_API CUresult cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy,
                                       unsigned count, unsigned flags) {
  PTXRUN_TRY(checkInitialised());
  if (!object || !destroy || count == 0 || count > INT32_MAX ||
      flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  *object = publish<CUuserObject>(std::make_shared<UserObject>(data, destroy, count));
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  PTXRUN_TRY(checkInitialised());
  auto object = resolve<UserObject>(handle);
  if (!object || count == 0 || count > INT32_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  object->references += count;
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  PTXRUN_TRY(checkInitialised());
  auto object = resolve<UserObject>(handle);
  if (!object || count == 0 || count > INT32_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  return object->release(count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

PTXRUN_API CUresult cuGraphRetainUserObject(CUgraph graphHandle, CUuserObject handle,
                                            unsigned count, unsigned flags) {
  std::shared_ptr<Graph> graph;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  auto object = resolve<UserObject>(handle);
  if (!object || count == 0 || count > INT32_MAX || flags > CU_GRAPH_USER_OBJECT_MOVE)
    return CUDA_ERROR_INVALID_VALUE;
  if (flags != CU_GRAPH_USER_OBJECT_MOVE)
    object->references += count;
  graph->userObjects.add(object, count);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuGraphReleaseUserObject(CUgraph graphHandle, CUuserObject handle,
                                             unsigned count) {
  std::shared_ptr<Graph> graph;
  PTXRUN_TRY(enterGraph(graphHandle, graph));
  auto object = resolve<UserObject>(handle);
  if (!object || !graph->userObjects.remove(object, count))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
