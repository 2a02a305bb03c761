// Executable graphs. A launch runs the nodes one after the other, in an order that the edges allow:
// each kernel has all cores to itself. It is one operation of its stream, or several where events
// are recorded or waited for in between, so that others who wait for such an event wait no longer
// than that.
#pragma once
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "loader/libcuda/graph.h"

namespace ptxrun::driver {

/// One node, ready to run.
struct GraphStep {
  std::shared_ptr<Operation> operation;
  LaunchOperation *launch = nullptr; ///< the operation, where it is one
  bool isConditional = false;
  std::shared_ptr<DeviceNode> device; ///< says what the launch is to be, and whether; or null
};

/// Steps up to the next event.
struct GraphSegment {
  std::vector<GraphStep> steps;
  std::shared_ptr<Event> recorded; ///< after the steps
  std::shared_ptr<Event> awaited;  ///< before the steps
  /// Runs the steps; the first error ends it.
  CUresult run(Context &, uint64_t stream) const;
  bool isLarge() const;
};

/// What a launch runs. Does not change while a launch that uses it is queued.
struct GraphProgram {
  std::shared_ptr<Graph> graph; ///< the executable's own, kept while a launch is queued
  std::vector<GraphSegment> segments;
  struct Place {
    size_t segment, step;
  };
  std::unordered_map<const GraphNode *, Place> places; ///< of steps that are not inside bodies
  std::vector<std::shared_ptr<Condition>> conditions;  ///< given their defaults first
  std::vector<std::shared_ptr<GraphAllocation>> allocations;          ///< those allocated by nodes
  std::vector<std::shared_ptr<GraphAllocation>> leftAllocated, freed; ///< of others: freed
};

class GraphExec : public Object, public std::enable_shared_from_this<GraphExec> {
 public:
  static constexpr Kind kKind = Kind::graphExec;
  /// What went wrong while an executable was made.
  struct Problem {
    CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    uint64_t nodeId = 0; ///< of the program's graph; 0: none in particular
  };
  static std::shared_ptr<GraphExec> make(const std::shared_ptr<Graph> &, uint64_t flags, Problem &,
                                         CUresult &);
  GraphExec() : Object(kKind) {}
  ~GraphExec() override;

  uint64_t flags() const { return flags_; }
  /// Hands a launch to the stream, behind earlier launches of this executable.
  CUresult launch(Context &, Stream &);
  /// Runs it on the calling thread, now.
  CUresult runHere(Context &, uint64_t stream);
  /// A copy of what it runs, for launches into a stream that captures.
  std::shared_ptr<Graph> copyGraph();

  /// The executable's copy of a node of the graph it was made from, with what it does replaced;
  /// what is queued already is not affected. CUDA_ERROR_INVALID_VALUE for a node of another graph
  /// or type.
  CUresult replace(const GraphNode &, NodeContent);
  /// What a child graph node runs; the new graph must have the structure of the old one.
  CUresult replaceChild(const GraphNode &, const Graph &child);
  CUresult setEnabled(const GraphNode &, bool);
  CUresult isEnabled(const GraphNode &, bool &);
  CUresult update(const Graph &, CUgraphExecUpdateResultInfo &);

 private:
  void adopt(std::shared_ptr<Graph>);
  GraphNode *copyOf(const GraphNode &) const;
  CUresult rebuild(Problem &);
  void keepDisabled(const std::set<const GraphNode *> &before);
  CUresult takeMemory();

  std::mutex mutex_; // launches and updates may come from several threads
  uint64_t flags_ = 0;
  std::shared_ptr<Graph> source_; ///< counts its executables where it may have but one
  std::shared_ptr<Graph> graph_;  ///< a hidden copy; nodes know the originals
  std::unordered_map<uint64_t, GraphNode *> copies_; ///< by the original's id
  std::set<const GraphNode *> disabled_;
  std::shared_ptr<GraphProgram> program_;
  Ticket last_;
};

/// A launch of a graph by a kernel: at once, or, by the stream named for that, when the graph that
/// the kernel is part of has ended.
CUresult launchFromDevice(Context &, uint64_t execHandle, uint64_t how, uint64_t stream);
/// The handle of the executable that the calling thread runs; 0 outside of graphs.
uint64_t runningGraph();

/// The operation of a node that stands for one; null for an empty one. Executables have kernels of
/// their own.
CUresult makeOperation(const NodeContent &, std::shared_ptr<Operation> &);

} // namespace ptxrun::driver
