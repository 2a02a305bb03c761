#include "loader/libcuda/graph_exec.h"

#include <algorithm>
#include <set>
#include <utility>

#include "loader/libcuda/host_function.h"
#include "loader/libcuda/ipc.h"
#include "loader/libcuda/memory_operation.h"
#include "loader/libcuda/stream_capture.h"

namespace ptxrun::driver {

namespace {

/// Runs the body that the condition's value picks.
class ConditionalOperation final : public Operation {
 public:
  ConditionalOperation(std::shared_ptr<Condition> condition, CUgraphConditionalNodeType type,
                       std::vector<GraphSegment> bodies)
      : condition_(std::move(condition)), type_(type), bodies_(std::move(bodies)) {}

  CUresult run(Context &context) override {
    switch (type_) {
    case CU_GRAPH_COND_TYPE_IF:
      return runBody(context, condition_->value() != 0 ? 0 : 1);
    case CU_GRAPH_COND_TYPE_SWITCH:
      return runBody(context, condition_->value());
    case CU_GRAPH_COND_TYPE_WHILE:
      while (condition_->value() != 0 && !shutdownFlag())
        if (const CUresult result = runBody(context, 0); result != CUDA_SUCCESS)
          return result;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  }
  bool isLarge() const override {
    return type_ == CU_GRAPH_COND_TYPE_WHILE ||
           std::ranges::any_of(bodies_, [](const GraphSegment &body) { return body.isLarge(); });
  }
  /// The stream that the next run's launches are said to belong to.
  uint64_t stream = 0;

 private:
  CUresult runBody(Context &context, size_t number) const {
    return number < bodies_.size() ? bodies_[number].run(context, stream) : CUDA_SUCCESS;
  }
  std::shared_ptr<Condition> condition_;
  CUgraphConditionalNodeType type_;
  std::vector<GraphSegment> bodies_;
};

constexpr uint64_t kGraphTailStream = uint64_t{1} << 56; // cudaStreamGraphTailLaunch

/// What the calling thread runs, for kernels that launch graphs.
struct RunningGraph {
  uint64_t handle = 0;
  std::vector<std::shared_ptr<GraphExec>> tails; ///< to run when it has ended
};
thread_local RunningGraph *running = nullptr;

/// While one lives, the calling thread runs a graph.
class RunningScope {
 public:
  explicit RunningScope(RunningGraph &graph) : before_(std::exchange(running, &graph)) {}
  ~RunningScope() { running = before_; }
  RunningScope(const RunningScope &) = delete;
  RunningScope &operator=(const RunningScope &) = delete;

 private:
  RunningGraph *before_;
};

/// Graphs that were launched to follow the one that has ended; they may ask for more.
CUresult runTails(Context &context, RunningGraph &graph, uint64_t stream) {
  while (!graph.tails.empty() && !shutdownFlag()) {
    const auto tails = std::exchange(graph.tails, {});
    for (const auto &exec : tails)
      PTXRUN_TRY(exec->runHere(context, stream));
  }
  return CUDA_SUCCESS;
}

/// A segment of a launch, as its stream has it.
class SegmentOperation final : public Operation {
 public:
  SegmentOperation(std::shared_ptr<GraphProgram> program, std::shared_ptr<RunningGraph> graph,
                   size_t segment, uint64_t stream)
      : program_(std::move(program)), graph_(std::move(graph)), segment_(segment), stream_(stream) {
  }

  CUresult run(Context &context) override {
    if (segment_ == 0)
      for (const auto &condition : program_->conditions)
        condition->begin(context);
    const RunningScope scope(*graph_);
    PTXRUN_TRY(program_->segments[segment_].run(context, stream_));
    return segment_ + 1 == program_->segments.size() ? runTails(context, *graph_, stream_)
                                                     : CUDA_SUCCESS;
  }
  bool isLarge() const override { return program_->segments[segment_].isLarge(); }

 private:
  std::shared_ptr<GraphProgram> program_;
  std::shared_ptr<RunningGraph> graph_;
  size_t segment_;
  uint64_t stream_;
};

/// Turns a graph and the graphs inside it into segments.
class Builder {
 public:
  Builder(GraphProgram &program, const std::set<const GraphNode *> &disabled,
          GraphExec::Problem &problem)
      : program_(program), disabled_(disabled), problem_(problem) {}

  CUresult build(Graph &graph) {
    program_.segments.emplace_back();
    PTXRUN_TRY(addGraph(graph, false));
    finishMemory();
    return CUDA_SUCCESS;
  }

 private:
  CUresult fail(const GraphNode *node, CUgraphInstantiateResult why, CUresult result) {
    if (problem_.result == CUDA_GRAPH_INSTANTIATE_SUCCESS)
      problem_ = {why, node ? node->originalId : 0};
    return result;
  }

  CUresult addGraph(Graph &graph, bool isBody) {
    const std::vector<GraphNode *> order = graph.inOrder();
    if (order.size() != graph.nodes().size())
      return fail(firstOnCycle(graph, order), CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
                  CUDA_ERROR_INVALID_VALUE);
    for (GraphNode *node : order)
      PTXRUN_TRY(addNode(*node, isBody));
    return CUDA_SUCCESS;
  }

  static const GraphNode *firstOnCycle(const Graph &graph, const std::vector<GraphNode *> &order) {
    for (const auto &node : graph.nodes())
      if (std::ranges::find(order, node.get()) == order.end())
        return node.get();
    return nullptr;
  }

  CUresult addNode(GraphNode &node, bool isBody) {
    if (const auto *child = node.as<ChildNode>())
      return addGraph(*child->graph, isBody);
    if (auto *conditional = node.as<ConditionalNode>())
      return addConditional(*conditional);
    if (node.as<EmptyNode>())
      return CUDA_SUCCESS;
    if (disabled_.contains(&node))
      return CUDA_SUCCESS;
    const auto *allocation = node.as<AllocationNode>();
    const auto *freed = node.as<FreeNode>();
    const auto *record = node.as<EventRecordNode>();
    const auto *wait = node.as<EventWaitNode>();
    if (isBody && (allocation || freed || record || wait))
      return fail(&node, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
                  CUDA_ERROR_NOT_SUPPORTED);
    if (allocation)
      allocated_.push_back(allocation->allocation);
    else if (freed)
      freed_.push_back(freed->allocation);
    else if (record)
      return addRecord(record->event);
    else if (wait)
      return addWait(wait->event);
    else
      return addStep(node);
    return CUDA_SUCCESS;
  }

  CUresult addStep(GraphNode &node) {
    GraphStep step;
    if (const CUresult result = makeOperation(node.content, step.operation); result != CUDA_SUCCESS)
      return fail(&node, CUDA_GRAPH_INSTANTIATE_ERROR, result);
    if (const auto *kernel = node.as<KernelNode>()) {
      step.launch = static_cast<LaunchOperation *>(step.operation.get());
      step.device = kernel->device;
    }
    auto &steps = program_.segments.back().steps;
    program_.places[&node] = {program_.segments.size() - 1, steps.size()};
    steps.push_back(std::move(step));
    return CUDA_SUCCESS;
  }

  CUresult addRecord(const std::shared_ptr<Event> &event) {
    program_.segments.back().recorded = event;
    program_.segments.emplace_back();
    return CUDA_SUCCESS;
  }
  CUresult addWait(const std::shared_ptr<Event> &event) {
    GraphSegment &last = program_.segments.back();
    if (last.awaited || !last.steps.empty())
      program_.segments.emplace_back();
    program_.segments.back().awaited = event;
    return CUDA_SUCCESS;
  }

  CUresult addConditional(const ConditionalNode &conditional) {
    std::vector<GraphSegment> bodies;
    for (const auto &body : conditional.bodies) {
      GraphProgram inner;
      inner.segments.emplace_back();
      Builder builder(inner, disabled_, problem_);
      PTXRUN_TRY(builder.addGraph(*body, true));
      bodies.push_back(std::move(inner.segments.front()));
      for (auto &condition : inner.conditions)
        program_.conditions.push_back(std::move(condition));
    }
    program_.conditions.push_back(conditional.condition);
    GraphStep step;
    step.isConditional = true;
    step.operation = std::make_shared<ConditionalOperation>(conditional.condition, conditional.type,
                                                            std::move(bodies));
    program_.segments.back().steps.push_back(std::move(step));
    return CUDA_SUCCESS;
  }

  /// Which allocations a launch leaves behind, and which of others' it frees.
  void finishMemory() {
    for (const auto &allocation : allocated_) {
      if (std::ranges::find(program_.allocations, allocation) != program_.allocations.end())
        continue;
      program_.allocations.push_back(allocation);
      if (std::ranges::count(allocated_, allocation) > std::ranges::count(freed_, allocation))
        program_.leftAllocated.push_back(allocation);
    }
    for (const auto &allocation : freed_)
      if (std::ranges::find(allocated_, allocation) == allocated_.end())
        program_.freed.push_back(allocation);
  }

  GraphProgram &program_;
  const std::set<const GraphNode *> &disabled_;
  GraphExec::Problem &problem_;
  std::vector<std::shared_ptr<GraphAllocation>> allocated_, freed_;
};

/// Whether two nodes' edges say the same, their ends taken for one another by place.
bool haveSameEdges(const GraphNode &a, const GraphNode &b,
                   const std::map<const GraphNode *, size_t> &placeInA,
                   const std::map<const GraphNode *, size_t> &placeInB) {
  if (a.dependencies.size() != b.dependencies.size())
    return false;
  std::multiset<std::pair<size_t, int>> edgesA, edgesB;
  for (const Dependency &edge : a.dependencies)
    edgesA.insert({placeInA.at(edge.from), edge.data.from_port << 8 | edge.data.type});
  for (const Dependency &edge : b.dependencies)
    edgesB.insert({placeInB.at(edge.from), edge.data.from_port << 8 | edge.data.type});
  return edgesA == edgesB;
}

/// Compares an executable's graph (`old`) with one that is to take its place.
class Comparison {
 public:
  explicit Comparison(CUgraphExecUpdateResultInfo &info) : info_(info) {}

  bool compare(const Graph &old, const Graph &now) {
    const size_t common = std::min(old.nodes().size(), now.nodes().size());
    if (old.nodes().size() != now.nodes().size())
      return differ(common < now.nodes().size() ? now.nodes()[common].get() : nullptr, nullptr,
                    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    std::map<const GraphNode *, size_t> placeOld, placeNow;
    for (size_t i = 0; i < common; ++i) {
      placeOld[old.nodes()[i].get()] = i;
      placeNow[now.nodes()[i].get()] = i;
    }
    for (size_t i = 0; i < common; ++i) {
      const GraphNode &a = *old.nodes()[i], &b = *now.nodes()[i];
      if (a.type() != b.type())
        return differ(&b, nullptr, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
      if (!haveSameEdges(a, b, placeOld, placeNow))
        return differ(&b, b.dependencies.empty() ? nullptr : b.dependencies.front().from,
                      CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
      if (!compareContent(a, b))
        return false;
    }
    return true;
  }

 private:
  bool differ(const GraphNode *node, const GraphNode *from, CUgraphExecUpdateResult why) {
    info_.result = why;
    info_.errorNode = node ? handleOf<CUgraphNode>(const_cast<GraphNode *>(node)) : nullptr;
    info_.errorFromNode = from ? handleOf<CUgraphNode>(const_cast<GraphNode *>(from)) : nullptr;
    return false;
  }

  bool compareContent(const GraphNode &a, const GraphNode &b) {
    if (const auto *child = a.as<ChildNode>())
      return compare(*child->graph, *b.as<ChildNode>()->graph);
    if (const auto *conditional = a.as<ConditionalNode>()) {
      const auto *now = b.as<ConditionalNode>();
      if (conditional->type != now->type || conditional->bodies.size() != now->bodies.size())
        return differ(&b, nullptr, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
      for (size_t i = 0; i < now->bodies.size(); ++i)
        if (!compare(*conditional->bodies[i], *now->bodies[i]))
          return false;
    }
    // Memory stays where it is: what was allocated is known by its address.
    if (const auto *allocation = a.as<AllocationNode>();
        allocation && allocation->allocation->bytes != b.as<AllocationNode>()->allocation->bytes)
      return differ(&b, nullptr, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    if (const auto *kernel = a.as<KernelNode>();
        kernel &&
        kernel->launch->shape().isCooperative != b.as<KernelNode>()->launch->shape().isCooperative)
      return differ(&b, nullptr, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
    return true;
  }

  CUgraphExecUpdateResultInfo &info_;
};

/// Lets the copy's nodes pass for copies of those that the old executable's nodes are copies of.
void adoptOriginals(const Graph &old, Graph &now) {
  for (size_t i = 0; i < now.nodes().size(); ++i) {
    GraphNode &node = *now.nodes()[i];
    const GraphNode &before = *old.nodes()[i];
    node.originalId = before.originalId;
    if (auto *child = node.as<ChildNode>())
      adoptOriginals(*before.as<ChildNode>()->graph, *child->graph);
    if (auto *conditional = node.as<ConditionalNode>())
      for (size_t body = 0; body < conditional->bodies.size(); ++body)
        adoptOriginals(*before.as<ConditionalNode>()->bodies[body], *conditional->bodies[body]);
  }
}

bool canBeDisabled(const GraphNode &node) {
  return node.as<KernelNode>() || node.as<CopyNode>() || node.as<FillNode>();
}

} // namespace

CUresult makeOperation(const NodeContent &content, std::shared_ptr<Operation> &operation) {
  if (const auto *kernel = std::get_if<KernelNode>(&content))
    operation = std::make_shared<LaunchOperation>(*kernel->launch);
  else if (const auto *copy = std::get_if<CopyNode>(&content))
    operation = copy->operation;
  else if (const auto *fill = std::get_if<FillNode>(&content))
    operation = fill->operation;
  else if (const auto *host = std::get_if<HostNode>(&content))
    operation = std::make_shared<HostOperation>(host->function.fn, host->function.userData);
  else if (const auto *memory = std::get_if<MemoryOperationsNode>(&content))
    return makeMemoryOperation(memory->operations, operation);
  return CUDA_SUCCESS;
}

CUresult GraphSegment::run(Context &context, uint64_t stream) const {
  for (const GraphStep &step : steps) {
    if (step.launch)
      step.launch->stream = stream;
    else if (step.isConditional)
      static_cast<ConditionalOperation &>(*step.operation).stream = stream;
    if (!step.operation || (step.device && !step.device->isEnabled()))
      continue;
    if (step.device)
      if (const CUresult result = step.device->apply(*step.launch); result != CUDA_SUCCESS) {
        context.fail(result, "a kernel gave a kernel node a grid that cannot be launched");
        return result;
      }
    if (const CUresult result = step.operation->run(context); result != CUDA_SUCCESS)
      return result;
  }
  return CUDA_SUCCESS;
}

bool GraphSegment::isLarge() const {
  return std::ranges::any_of(
      steps, [](const GraphStep &step) { return step.operation && step.operation->isLarge(); });
}

std::shared_ptr<GraphExec> GraphExec::make(const std::shared_ptr<Graph> &graph, uint64_t flags,
                                           Problem &problem, CUresult &result) {
  auto exec = std::make_shared<GraphExec>();
  result = CUDA_ERROR_INVALID_VALUE;
  const bool isOnly = graph->hasMemoryNodes() || graph->hasDeviceNodes();
  if (isOnly && graph->instances != 0) {
    problem.result = CUDA_GRAPH_INSTANTIATE_ERROR;
    return nullptr;
  }
  for (const auto &condition : graph->conditions)
    if (!condition->isUsed) {
      problem.result = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
      return nullptr;
    }
  exec->flags_ = flags;
  exec->adopt(graph->copy(true, true));
  result = exec->rebuild(problem);
  if (result != CUDA_SUCCESS)
    return nullptr;
  if (isOnly) {
    exec->source_ = graph;
    ++graph->instances;
  }
  return exec;
}

GraphExec::~GraphExec() {
  if (source_)
    --source_->instances;
}

void GraphExec::adopt(std::shared_ptr<Graph> graph) {
  graph_ = std::move(graph);
  copies_.clear();
  forEachNode(*graph_, [&](GraphNode &node) { copies_[node.originalId] = &node; });
}

GraphNode *GraphExec::copyOf(const GraphNode &original) const {
  const auto found = copies_.find(original.id);
  return found == copies_.end() ? nullptr : found->second;
}

CUresult GraphExec::rebuild(Problem &problem) {
  auto program = std::make_shared<GraphProgram>();
  program->graph = graph_;
  PTXRUN_TRY(Builder(*program, disabled_, problem).build(*graph_));
  program_ = std::move(program);
  return CUDA_SUCCESS;
}

std::shared_ptr<Graph> GraphExec::copyGraph() {
  std::lock_guard lock(mutex_);
  return graph_->copy(false, true);
}

/// The memory that a launch allocates and frees, as later calls are to see it.
CUresult GraphExec::takeMemory() {
  GraphProgram &program = *program_;
  if (program.allocations.empty() && program.freed.empty())
    return CUDA_SUCCESS;
  for (const auto &allocation : program.allocations)
    if (allocation->isAllocated()) {
      if (!(flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
        return CUDA_ERROR_INVALID_VALUE;
      allocation->free();
    }
  for (const auto &allocation : program.freed)
    if (!allocation->free())
      return CUDA_ERROR_INVALID_VALUE;
  size_t bytes = 0;
  for (const auto &allocation : program.allocations) {
    allocation->reserve();
    bytes += allocation->bytes;
  }
  noteGraphPeak(bytes);
  for (const auto &allocation : program.leftAllocated)
    allocation->allocate();
  return CUDA_SUCCESS;
}

CUresult GraphExec::launch(Context &, Stream &stream) {
  std::lock_guard lock(mutex_);
  PTXRUN_TRY(takeMemory());
  const auto graph = std::make_shared<RunningGraph>();
  graph->handle = reinterpret_cast<uint64_t>(handleOf<CUgraphExec>(this));
  std::vector<Stream::Work> work;
  std::vector<std::shared_ptr<Event>> recorded; // by this launch, so far
  std::vector<std::pair<size_t, Event::Pending>> records;
  for (size_t i = 0; i < program_->segments.size(); ++i) {
    const GraphSegment &segment = program_->segments[i];
    Stream::Work now{std::make_shared<SegmentOperation>(program_, graph, i, stream.id()), {}};
    if (i == 0 && last_.stream.get() != &stream && !last_.isDone())
      now.after.push_back(last_);
    if (segment.awaited && std::ranges::find(recorded, segment.awaited) == recorded.end()) {
      if (Ticket place = segment.awaited->place(); !place.isDone())
        now.after.push_back(std::move(place));
      if (const auto &shared = segment.awaited->shared; shared && !shared->isDone(shared->last()))
        work.push_back({makeSharedWait(shared, shared->last()), {}});
    }
    work.push_back(std::move(now));
    if (segment.recorded) {
      Event::Pending pending = segment.recorded->beginRecord();
      work.push_back({pending.operation, {}});
      records.emplace_back(work.size() - 1, std::move(pending));
      recorded.push_back(segment.recorded);
    }
  }
  const size_t count = work.size();
  const Ticket ticket = stream.submitTogether(std::move(work));
  for (size_t i = 0; i < records.size(); ++i)
    recorded[i]->endRecord(records[i].second,
                           {ticket.stream, ticket.sequence - (count - 1 - records[i].first)});
  last_ = ticket;
  return CUDA_SUCCESS;
}

CUresult GraphExec::runHere(Context &context, uint64_t stream) {
  std::shared_ptr<GraphProgram> program;
  {
    std::lock_guard lock(mutex_);
    program = program_;
  }
  for (const auto &condition : program->conditions)
    condition->begin(context);
  RunningGraph graph;
  graph.handle = reinterpret_cast<uint64_t>(handleOf<CUgraphExec>(this));
  const RunningScope scope(graph);
  for (const GraphSegment &segment : program->segments)
    PTXRUN_TRY(segment.run(context, stream));
  return runTails(context, graph, stream);
}

uint64_t runningGraph() { return running ? running->handle : 0; }

CUresult launchFromDevice(Context &context, uint64_t execHandle, uint64_t how, uint64_t stream) {
  auto exec = resolve<GraphExec>(reinterpret_cast<CUgraphExec>(execHandle));
  if (!exec || !(exec->flags() & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)) {
    context.fail(CUDA_ERROR_LAUNCH_FAILED,
                 "a kernel launched a graph that was not instantiated for that");
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  if (how == kGraphTailStream && running) {
    running->tails.push_back(std::move(exec));
    return CUDA_SUCCESS;
  }
  return exec->runHere(context, stream);
}

CUresult GraphExec::replace(const GraphNode &original, NodeContent content) {
  std::lock_guard lock(mutex_);
  GraphNode *node = copyOf(original);
  if (!node || node->content.index() != content.index())
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(node->content, content);
  if (auto *kernel = node->as<KernelNode>()) {
    kernel->device = std::get<KernelNode>(content).device;
    if (kernel->device)
      PTXRUN_TRY(kernel->device->write(*kernel->launch));
  }
  Problem problem;
  const auto place = program_->places.find(node);
  if (place == program_->places.end() || !last_.isDone())
    return rebuild(problem);
  GraphStep &step = program_->segments[place->second.segment].steps[place->second.step];
  PTXRUN_TRY(makeOperation(node->content, step.operation));
  if (step.launch)
    step.launch = static_cast<LaunchOperation *>(step.operation.get());
  return CUDA_SUCCESS;
}

CUresult GraphExec::setEnabled(const GraphNode &original, bool isEnabled) {
  std::lock_guard lock(mutex_);
  GraphNode *node = copyOf(original);
  if (!node || !canBeDisabled(*node))
    return CUDA_ERROR_INVALID_VALUE;
  if (DeviceNode *device = node->device()) {
    device->setEnabled(isEnabled);
    return CUDA_SUCCESS;
  }
  if (isEnabled == !disabled_.contains(node))
    return CUDA_SUCCESS;
  if (isEnabled)
    disabled_.erase(node);
  else
    disabled_.insert(node);
  Problem problem;
  return rebuild(problem);
}

CUresult GraphExec::isEnabled(const GraphNode &original, bool &isEnabled) {
  std::lock_guard lock(mutex_);
  const GraphNode *node = copyOf(original);
  if (!node || !canBeDisabled(*node))
    return CUDA_ERROR_INVALID_VALUE;
  const DeviceNode *device = node->device();
  isEnabled = device ? device->isEnabled() : !disabled_.contains(node);
  return CUDA_SUCCESS;
}

/// Nodes of the graph before stay disabled in the one that took its place.
void GraphExec::keepDisabled(const std::set<const GraphNode *> &before) {
  std::set<const GraphNode *> now;
  for (const GraphNode *node : before)
    if (const auto copy = copies_.find(node->originalId); copy != copies_.end())
      now.insert(copy->second);
  disabled_ = std::move(now);
}

CUresult GraphExec::update(const Graph &graph, CUgraphExecUpdateResultInfo &info) {
  std::lock_guard lock(mutex_);
  info = {};
  if (graph_->hasDeviceNodes() || graph.hasDeviceNodes()) {
    info.result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED; // as documented
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  if (!Comparison(info).compare(*graph_, graph))
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  const std::shared_ptr<Graph> before = graph_;
  const std::set<const GraphNode *> disabledBefore = disabled_;
  auto now = graph.copy(true, true);
  adoptOriginals(*before, *now);
  adopt(std::move(now));
  keepDisabled(disabledBefore);
  Problem problem;
  if (const CUresult result = rebuild(problem); result != CUDA_SUCCESS) {
    adopt(before);
    disabled_ = disabledBefore;
    info.result = CU_GRAPH_EXEC_UPDATE_ERROR;
    return result;
  }
  return CUDA_SUCCESS;
}

CUresult GraphExec::replaceChild(const GraphNode &original, const Graph &child) {
  std::lock_guard lock(mutex_);
  GraphNode *node = copyOf(original);
  ChildNode *place = node ? node->as<ChildNode>() : nullptr;
  CUgraphExecUpdateResultInfo info = {};
  if (!place || !Comparison(info).compare(*place->graph, child))
    return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<Graph> before = std::exchange(place->graph, child.copy(true, true));
  adoptOriginals(*before, *place->graph);
  const std::set<const GraphNode *> disabledBefore = disabled_;
  adopt(graph_);
  keepDisabled(disabledBefore);
  Problem problem;
  return rebuild(problem);
}

} // namespace ptxrun::driver
