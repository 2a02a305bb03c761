// Graphs as programs build or capture them: nodes with parameters, edges, what a graph keeps alive.
// As in CUDA, a graph is used by one thread at a time.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "loader/libcuda/device_node.h"
#include "loader/libcuda/event.h"
#include "loader/libcuda/graph_memory.h"
#include "loader/libcuda/launch.h"

namespace ptxrun::driver {

class Graph;
class GraphNode;

/// What a kernel's launch attributes (cuLaunchKernelEx) ask for beyond its shape.
using LaunchAttributes = std::map<int, CUlaunchAttributeValue>;

struct KernelNode {
  std::shared_ptr<const LaunchOperation> launch; ///< shape, arguments; executables copy it
  LaunchAttributes attributes;
  CUcontext context = nullptr;
  std::shared_ptr<DeviceNode> device; ///< null: kernels cannot change the node
};
struct CopyNode {
  std::shared_ptr<Operation> operation;
  CUDA_MEMCPY3D description{};
  bool isDescribed = true; ///< not: a range of an array, whose rows no one box covers
  CUcontext context = nullptr;
};
struct FillNode {
  std::shared_ptr<Operation> operation;
  CUDA_MEMSET_NODE_PARAMS description{};
  CUcontext context = nullptr;
};
struct HostNode {
  CUDA_HOST_NODE_PARAMS function{};
};
struct ChildNode {
  std::shared_ptr<Graph> graph; ///< the node's own copy
};
struct EmptyNode {};
struct EventWaitNode {
  std::shared_ptr<Event> event;
};
struct EventRecordNode {
  std::shared_ptr<Event> event;
};
struct AllocationNode {
  CUDA_MEM_ALLOC_NODE_PARAMS description{};
  std::vector<CUmemAccessDesc> access;
  std::shared_ptr<GraphAllocation> allocation;
};
struct FreeNode {
  std::shared_ptr<GraphAllocation> allocation;
};
struct MemoryOperationsNode {
  std::vector<CUstreamBatchMemOpParams> operations;
  unsigned flags = 0;
  CUcontext context = nullptr;
};

/// What a conditional handle stands for. The handle is the address of the value, in device memory,
/// so that kernels set it by a store.
class Condition {
 public:
  /// Null where memory is exhausted.
  static std::shared_ptr<Condition> make(unsigned defaultValue, unsigned flags);
  ~Condition();
  Condition(const Condition &) = delete;
  Condition &operator=(const Condition &) = delete;
  CUgraphConditionalHandle handle() const { return address_; }
  unsigned value() const;
  /// Puts the default value there if launches are to begin with it.
  void begin(Context &) const;
  bool isUsed = false; ///< by a conditional node

 private:
  Condition(CUdeviceptr address, unsigned defaultValue, unsigned flags)
      : address_(address), defaultValue_(defaultValue), flags_(flags) {}
  const CUdeviceptr address_;
  const unsigned defaultValue_, flags_;
};

struct ConditionalNode {
  std::shared_ptr<Condition> condition;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<CUgraph> handles; ///< of the bodies; the program is given this very array
  CUcontext context = nullptr;
};

using NodeContent =
    std::variant<KernelNode, CopyNode, FillNode, HostNode, ChildNode, EmptyNode, EventWaitNode,
                 EventRecordNode, AllocationNode, FreeNode, MemoryOperationsNode, ConditionalNode>;
CUgraphNodeType typeOf(const NodeContent &);

/// An edge as the node at its end has it.
struct Dependency {
  GraphNode *from = nullptr;
  CUgraphEdgeData data{};
  bool operator==(const Dependency &) const;
};

class GraphNode : public Object, public std::enable_shared_from_this<GraphNode> {
 public:
  static constexpr Kind kKind = Kind::graphNode;
  GraphNode(Graph &graph, uint64_t id, NodeContent content)
      : Object(kKind), graph(&graph), id(id), content(std::move(content)) {}

  Graph *graph;            ///< null once the node is destroyed
  const uint64_t id;       ///< never used again
  uint64_t originalId = 0; ///< of the node that this one is a copy of; 0: of none
  NodeContent content;
  std::vector<Dependency> dependencies;
  std::vector<Dependency> dependents;   ///< `from` is the node at the other end
  std::vector<void *> argumentPointers; ///< what cuGraphKernelNodeGetParams answered

  CUgraphNodeType type() const { return typeOf(content); }
  template <class T> T *as() { return std::get_if<T>(&content); }
  template <class T> const T *as() const { return std::get_if<T>(&content); }
  /// Of a kernel node that kernels can change; else null.
  DeviceNode *device() const {
    const auto *kernel = as<KernelNode>();
    return kernel ? kernel->device.get() : nullptr;
  }
};

/// A program's object that graphs keep alive; `destroy` is called when the last reference goes.
class UserObject : public Object {
 public:
  static constexpr Kind kKind = Kind::userObject;
  UserObject(void *data, CUhostFn destroy, unsigned count)
      : Object(kKind), references(count), data_(data), destroy_(destroy) {}
  std::atomic<int64_t> references;
  /// Gives references back. False if there are not so many.
  bool release(int64_t count);

 private:
  void *data_;
  CUhostFn destroy_;
};

/// References to user objects, given back when it goes.
class HeldObjects {
 public:
  HeldObjects() = default;
  ~HeldObjects();
  HeldObjects(const HeldObjects &) = delete;
  HeldObjects &operator=(const HeldObjects &) = delete;
  void addAll(const HeldObjects &);                              ///< with references of its own
  void add(const std::shared_ptr<UserObject> &, unsigned count); ///< references that exist already
  bool remove(const std::shared_ptr<UserObject> &, unsigned count);

 private:
  std::map<std::shared_ptr<UserObject>, int64_t> counts_;
};

class Graph : public Object, public std::enable_shared_from_this<Graph> {
 public:
  static constexpr Kind kKind = Kind::graph;
  Graph() : Object(kKind) {}
  ~Graph() override;

  /// A registered graph. `isOwned`: part of a node of another one, which destroys it.
  static std::shared_ptr<Graph> make(bool isOwned);

  const std::vector<std::shared_ptr<GraphNode>> &nodes() const { return nodes_; }
  bool isOwned = false;
  const GraphNode *owner = nullptr; ///< the node that an owned graph is part of
  HeldObjects userObjects;
  std::vector<std::shared_ptr<Condition>> conditions; ///< those whose handles were created here

  /// Adds a node and registers it unless this graph is a hidden copy.
  GraphNode &add(NodeContent, std::span<const Dependency> after);
  /// Whether the edge may be added: both ends in this graph, its data understood, not there yet.
  CUresult checkEdge(const GraphNode &from, const GraphNode &to, const CUgraphEdgeData &) const;
  void connect(GraphNode &from, GraphNode &to, const CUgraphEdgeData &);
  /// False if there is no such edge.
  bool disconnect(GraphNode &from, GraphNode &to, const CUgraphEdgeData &);
  void remove(GraphNode &);
  /// Withdraws the handles of the graph, its nodes and their graphs.
  void withdrawHandles();

  /// The nodes in an order in which every one comes after those it depends on: among those that may
  /// be next, the one that was added first. Shorter than nodes() if there is a cycle.
  std::vector<GraphNode *> inOrder() const;
  bool isBefore(const GraphNode &earlier, const GraphNode &later) const; ///< by any path, or equal
  bool hasMemoryNodes() const;
  bool hasConditionals() const;
  bool hasDeviceNodes() const; ///< kernel nodes that kernels can change
  unsigned instances = 0;      ///< executables of a graph that has no more than one, 0 or 1

  /// A copy, graphs inside nodes included; its nodes know the originals. `isHidden`: no handles.
  std::shared_ptr<Graph> copy(bool isHidden, bool isOwnedCopy) const;

 private:
  /// Here or in a graph inside a node.
  bool hasAny(bool (*isOne)(const GraphNode &)) const;

  std::vector<std::shared_ptr<GraphNode>> nodes_;
  bool isHidden_ = false;
};

/// Every node of a graph and of the graphs inside its nodes.
void forEachNode(Graph &, const std::function<void(GraphNode &)> &);
/// Searches a graph and the graphs of its nodes.
GraphNode *findCopyOf(Graph &, uint64_t originalId);
/// The condition behind a handle, among those of the process; null for any other number.
std::shared_ptr<Condition> findCondition(CUgraphConditionalHandle);

} // namespace ptxrun::driver
