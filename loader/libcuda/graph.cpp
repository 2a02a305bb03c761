#include "loader/libcuda/graph.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "loader/libcuda/copy.h"
#include "loader/libcuda/memory.h"
#include "rt/launch/floating_environment.h"

namespace ptxrun::driver {

namespace {

std::atomic<uint64_t> nextNodeId{1};

/// Conditions by handle. Never destroyed.
struct Conditions {
  std::mutex mutex;
  std::map<CUgraphConditionalHandle, std::weak_ptr<Condition>> byHandle;
  static Conditions &instance() {
    static auto *all = new Conditions;
    return *all;
  }
};

/// The graphs that are part of a node.
std::vector<std::shared_ptr<Graph>> graphsOf(const GraphNode &node) {
  if (const auto *child = node.as<ChildNode>())
    return {child->graph};
  if (const auto *conditional = node.as<ConditionalNode>())
    return conditional->bodies;
  return {};
}

} // namespace

CUgraphNodeType typeOf(const NodeContent &content) {
  // In the variant's order.
  static constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_KERNEL,       CU_GRAPH_NODE_TYPE_MEMCPY,
      CU_GRAPH_NODE_TYPE_MEMSET,       CU_GRAPH_NODE_TYPE_HOST,
      CU_GRAPH_NODE_TYPE_GRAPH,        CU_GRAPH_NODE_TYPE_EMPTY,
      CU_GRAPH_NODE_TYPE_WAIT_EVENT,   CU_GRAPH_NODE_TYPE_EVENT_RECORD,
      CU_GRAPH_NODE_TYPE_MEM_ALLOC,    CU_GRAPH_NODE_TYPE_MEM_FREE,
      CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CU_GRAPH_NODE_TYPE_CONDITIONAL};
  static_assert(std::size(kTypes) == std::variant_size_v<NodeContent>);
  return kTypes[content.index()];
}

std::shared_ptr<Condition> Condition::make(unsigned defaultValue, unsigned flags) {
  CUdeviceptr address = 0;
  if (allocate(&address, sizeof(unsigned), {MemoryUse::device, 0, nullptr}) != CUDA_SUCCESS)
    return nullptr;
  std::shared_ptr<Condition> made(new Condition(address, defaultValue, flags));
  *reinterpret_cast<unsigned *>(address) = defaultValue;
  Conditions &all = Conditions::instance();
  std::lock_guard lock(all.mutex);
  all.byHandle[made->handle()] = made;
  return made;
}

Condition::~Condition() {
  Conditions &all = Conditions::instance();
  {
    std::lock_guard lock(all.mutex);
    all.byHandle.erase(address_);
  }
  release(address_);
}

unsigned Condition::value() const {
  return std::atomic_ref<unsigned>(*reinterpret_cast<unsigned *>(address_))
      .load(std::memory_order_acquire);
}

void Condition::begin(Context &context) const {
  if (flags_ & CU_GRAPH_COND_ASSIGN_DEFAULT)
    FillOperation(reinterpret_cast<char *>(address_), 0, defaultValue_, sizeof(unsigned), 1, 1)
        .run(context);
}

std::shared_ptr<Condition> findCondition(CUgraphConditionalHandle handle) {
  Conditions &all = Conditions::instance();
  std::lock_guard lock(all.mutex);
  const auto found = all.byHandle.find(handle);
  return found == all.byHandle.end() ? nullptr : found->second.lock();
}

bool Dependency::operator==(const Dependency &other) const {
  return from == other.from && data.from_port == other.data.from_port &&
         data.to_port == other.data.to_port && data.type == other.data.type;
}

bool UserObject::release(int64_t count) {
  int64_t now = references;
  do {
    if (now < count)
      return false;
  } while (!references.compare_exchange_weak(now, now - count));
  if (now == count) {
    withdraw<UserObject>(handleOf<CUuserObject>(this));
    InsideCallback scope;
    rt::ProgramEnvironment environment;
    destroy_(data_);
  }
  return true;
}

void HeldObjects::addAll(const HeldObjects &other) {
  for (const auto &[object, count] : other.counts_) {
    object->references += count;
    counts_[object] += count;
  }
}

HeldObjects::~HeldObjects() {
  for (const auto &[object, count] : counts_)
    object->release(count);
}

void HeldObjects::add(const std::shared_ptr<UserObject> &object, unsigned count) {
  counts_[object] += count;
}

bool HeldObjects::remove(const std::shared_ptr<UserObject> &object, unsigned count) {
  const auto found = counts_.find(object);
  if (found == counts_.end() || found->second < count)
    return false;
  found->second -= count;
  if (found->second == 0)
    counts_.erase(found);
  return object->release(count);
}

std::shared_ptr<Graph> Graph::make(bool isOwned) {
  auto graph = std::make_shared<Graph>();
  graph->isOwned = isOwned;
  publish<CUgraph>(graph);
  return graph;
}

Graph::~Graph() {
  for (const auto &node : nodes_)
    node->graph = nullptr; // a capture or an event may still hold it
}

GraphNode &Graph::add(NodeContent content, std::span<const Dependency> after) {
  nodes_.push_back(std::make_shared<GraphNode>(*this, nextNodeId++, std::move(content)));
  GraphNode &node = *nodes_.back();
  for (const Dependency &dependency : after)
    connect(*dependency.from, node, dependency.data);
  for (const auto &graph : graphsOf(node))
    graph->owner = &node;
  if (!isHidden_)
    publish<CUgraphNode>(nodes_.back());
  return node;
}

CUresult Graph::checkEdge(const GraphNode &from, const GraphNode &to,
                          const CUgraphEdgeData &data) const {
  if (from.graph != this || to.graph != this || &from == &to)
    return CUDA_ERROR_INVALID_VALUE;
  for (const unsigned char byte : data.reserved)
    if (byte != 0)
      return CUDA_ERROR_INVALID_VALUE;
  const bool isKernel = from.type() == CU_GRAPH_NODE_TYPE_KERNEL;
  if (data.to_port != 0 || data.type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ||
      data.from_port > (isKernel ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER : 0))
    return CUDA_ERROR_INVALID_VALUE;
  // Programmatic edges lead from a kernel's port for them to a kernel.
  const bool isProgrammatic = data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  if (isProgrammatic && (!isKernel || to.type() != CU_GRAPH_NODE_TYPE_KERNEL))
    return CUDA_ERROR_INVALID_VALUE;
  if (isProgrammatic != (data.from_port != CU_GRAPH_KERNEL_NODE_PORT_DEFAULT))
    return CUDA_ERROR_INVALID_VALUE;
  const Dependency edge{const_cast<GraphNode *>(&from), data};
  return std::ranges::find(to.dependencies, edge) == to.dependencies.end()
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

void Graph::connect(GraphNode &from, GraphNode &to, const CUgraphEdgeData &data) {
  to.dependencies.push_back({&from, data});
  from.dependents.push_back({&to, data});
}

bool Graph::disconnect(GraphNode &from, GraphNode &to, const CUgraphEdgeData &data) {
  const auto edge = std::ranges::find(to.dependencies, Dependency{&from, data});
  if (edge == to.dependencies.end())
    return false;
  to.dependencies.erase(edge);
  from.dependents.erase(std::ranges::find(from.dependents, Dependency{&to, data}));
  return true;
}

void Graph::remove(GraphNode &node) {
  while (!node.dependencies.empty()) {
    const Dependency edge = node.dependencies.back();
    disconnect(*edge.from, node, edge.data);
  }
  while (!node.dependents.empty()) {
    const Dependency edge = node.dependents.back();
    disconnect(node, *edge.from, edge.data);
  }
  withdraw<GraphNode>(handleOf<CUgraphNode>(&node));
  for (const auto &graph : graphsOf(node))
    graph->withdrawHandles();
  node.graph = nullptr;
  std::erase_if(nodes_, [&](const auto &other) { return other.get() == &node; });
}

void Graph::withdrawHandles() {
  for (const auto &node : nodes_) {
    withdraw<GraphNode>(handleOf<CUgraphNode>(node.get()));
    for (const auto &graph : graphsOf(*node))
      graph->withdrawHandles();
  }
  withdraw<Graph>(handleOf<CUgraph>(this));
}

std::vector<GraphNode *> Graph::inOrder() const {
  std::unordered_map<const GraphNode *, size_t> position, missing;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    position[nodes_[i].get()] = i;
    missing[nodes_[i].get()] = nodes_[i]->dependencies.size();
    if (nodes_[i]->dependencies.empty())
      ready.push(i);
  }
  std::vector<GraphNode *> order;
  for (; !ready.empty();) {
    GraphNode *node = nodes_[ready.top()].get();
    ready.pop();
    order.push_back(node);
    for (const Dependency &edge : node->dependents)
      if (--missing[edge.from] == 0)
        ready.push(position[edge.from]);
  }
  return order;
}

bool Graph::isBefore(const GraphNode &earlier, const GraphNode &later) const {
  std::unordered_set<const GraphNode *> seen{&later};
  std::vector<const GraphNode *> open{&later};
  while (!open.empty()) {
    const GraphNode *node = open.back();
    open.pop_back();
    if (node == &earlier)
      return true;
    for (const Dependency &edge : node->dependencies)
      if (seen.insert(edge.from).second)
        open.push_back(edge.from);
  }
  return false;
}

bool Graph::hasAny(bool (*isOne)(const GraphNode &)) const {
  return std::ranges::any_of(nodes_, [&](const auto &node) {
    return isOne(*node) ||
           std::ranges::any_of(graphsOf(*node), [&](const auto &g) { return g->hasAny(isOne); });
  });
}

bool Graph::hasMemoryNodes() const {
  return hasAny([](const GraphNode &n) { return n.as<AllocationNode>() || n.as<FreeNode>(); });
}

bool Graph::hasConditionals() const {
  return hasAny([](const GraphNode &n) { return n.as<ConditionalNode>() != nullptr; });
}

bool Graph::hasDeviceNodes() const {
  return hasAny([](const GraphNode &n) { return n.device() != nullptr; });
}

std::shared_ptr<Graph> Graph::copy(bool isHidden, bool isOwnedCopy) const {
  auto made = std::make_shared<Graph>();
  made->isHidden_ = isHidden;
  made->isOwned = isOwnedCopy;
  if (!isHidden)
    publish<CUgraph>(made);
  made->conditions = conditions;
  made->userObjects.addAll(userObjects);
  std::unordered_map<const GraphNode *, GraphNode *> copies;
  for (const auto &node : nodes_) {
    NodeContent content = node->content;
    if (auto *child = std::get_if<ChildNode>(&content))
      child->graph = child->graph->copy(isHidden, true);
    if (auto *conditional = std::get_if<ConditionalNode>(&content))
      for (size_t i = 0; i < conditional->bodies.size(); ++i) {
        conditional->bodies[i] = conditional->bodies[i]->copy(isHidden, true);
        conditional->handles[i] = handleOf<CUgraph>(conditional->bodies[i].get());
      }
    GraphNode &copied = made->add(std::move(content), {});
    copied.originalId = node->id;
    copies[node.get()] = &copied;
  }
  for (const auto &node : nodes_)
    for (const Dependency &edge : node->dependencies)
      made->connect(*copies[edge.from], *copies[node.get()], edge.data);
  return made;
}

void forEachNode(Graph &graph, const std::function<void(GraphNode &)> &visit) {
  for (const auto &node : graph.nodes()) {
    visit(*node);
    for (const auto &inner : graphsOf(*node))
      forEachNode(*inner, visit);
  }
}

GraphNode *findCopyOf(Graph &graph, uint64_t originalId) {
  GraphNode *found = nullptr;
  forEachNode(graph, [&](GraphNode &node) {
    if (node.originalId == originalId)
      found = &node;
  });
  return found;
}

} // namespace ptxrun::driver
