// A graph as text for Graphviz (cuGraphDebugDotPrint).
#include <fstream>
#include <iomanip>
#include <sstream>

#include "loader/libcuda/graph.h"

namespace ptxrun::driver {

namespace {

class DotPrinter {
 public:
  DotPrinter(std::ostream &out, unsigned flags) : out_(out), flags_(flags) {}

  void print(const Graph &graph) {
    out_ << "digraph dot {\n";
    printGraph(graph, "graph_1");
    for (const auto &line : edges_)
      out_ << line << "\n";
    out_ << "}\n";
  }

 private:
  bool shows(unsigned flag) const { return flags_ & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE); }
  static std::string name(const GraphNode &node) { return "node_" + std::to_string(node.id); }

  void printGraph(const Graph &graph, const std::string &title) {
    out_ << "subgraph \"cluster_" << title << "\" {\nlabel=\"" << title << "\"\n";
    for (const auto &node : graph.nodes())
      printNode(*node);
    out_ << "}\n";
  }

  void printNode(const GraphNode &node) {
    std::ostringstream label;
    std::visit([&](const auto &content) { describe(label, content); }, node.content);
    if (shows(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
      label << "\\nhandle " << static_cast<const void *>(&node);
    out_ << "\"" << name(node) << "\" [shape=\"record\" label=\"" << label.str() << "\"];\n";
    for (const Dependency &edge : node.dependencies) {
      std::string line = "\"" + name(*edge.from) + "\" -> \"" + name(node) + "\"";
      if (edge.data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
        line += " [style=\"dashed\" label=\"programmatic, port " +
                std::to_string(edge.data.from_port) + "\"]";
      edges_.push_back(line + ";");
    }
    if (const auto *child = node.as<ChildNode>())
      printGraph(*child->graph, "graph of " + name(node));
    if (const auto *conditional = node.as<ConditionalNode>())
      for (size_t i = 0; i < conditional->bodies.size(); ++i)
        printGraph(*conditional->bodies[i], "body " + std::to_string(i) + " of " + name(node));
  }

  void describe(std::ostream &label, const KernelNode &node) const {
    const LaunchOperation &launch = *node.launch;
    const LaunchShape &shape = launch.shape();
    label << "KERNEL\\n" << launch.function().info.name;
    if (!shows(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
      return;
    label << "\\ngrid " << shape.grid.x << "," << shape.grid.y << "," << shape.grid.z << " block "
          << shape.block.x << "," << shape.block.y << "," << shape.block.z << " shared "
          << shape.dynamicSharedBytes;
    const auto *bytes = static_cast<const unsigned char *>(launch.arguments.data());
    for (const device::Parameter &parameter : launch.function().info.parameters) {
      label << "\\n0x";
      for (uint64_t i = parameter.bytes; i-- != 0;)
        label << std::hex << std::setw(2) << std::setfill('0')
              << unsigned{bytes[parameter.offset + i]};
      label << std::dec;
    }
  }
  void describe(std::ostream &label, const CopyNode &node) const {
    label << "MEMCPY";
    const CUDA_MEMCPY3D &c = node.description;
    if (node.isDescribed && shows(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
      label << "\\n"
            << c.WidthInBytes << " x " << c.Height << " x " << c.Depth << "\\nto 0x" << std::hex
            << (c.dstDevice ? c.dstDevice : reinterpret_cast<uintptr_t>(c.dstHost)) << "\\nfrom 0x"
            << (c.srcDevice ? c.srcDevice : reinterpret_cast<uintptr_t>(c.srcHost)) << std::dec;
  }
  void describe(std::ostream &label, const FillNode &node) const {
    label << "MEMSET";
    const CUDA_MEMSET_NODE_PARAMS &f = node.description;
    if (shows(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
      label << "\\n0x" << std::hex << f.dst << " = 0x" << f.value << std::dec << "\\n"
            << f.width << " x " << f.height << " elements of " << f.elementSize;
  }
  void describe(std::ostream &label, const HostNode &node) const {
    label << "HOST";
    if (shows(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
      label << "\\n"
            << reinterpret_cast<const void *>(node.function.fn) << "(" << node.function.userData
            << ")";
  }
  void describe(std::ostream &label, const ChildNode &) const { label << "GRAPH"; }
  void describe(std::ostream &label, const EmptyNode &) const { label << "EMPTY"; }
  void describe(std::ostream &label, const EventWaitNode &node) const {
    label << "EVENT_WAIT";
    describeEvent(label, *node.event);
  }
  void describe(std::ostream &label, const EventRecordNode &node) const {
    label << "EVENT_RECORD";
    describeEvent(label, *node.event);
  }
  void describeEvent(std::ostream &label, const Event &event) const {
    if (shows(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
      label << "\\n" << static_cast<const void *>(&event);
  }
  void describe(std::ostream &label, const AllocationNode &node) const {
    label << "MEM_ALLOC";
    if (shows(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS))
      label << "\\n0x" << std::hex << node.allocation->address << std::dec << ", "
            << node.allocation->bytes << " bytes";
  }
  void describe(std::ostream &label, const FreeNode &node) const {
    label << "MEM_FREE";
    if (shows(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS))
      label << "\\n0x" << std::hex << node.allocation->address << std::dec;
  }
  void describe(std::ostream &label, const MemoryOperationsNode &node) const {
    label << "BATCH_MEM_OP";
    if (shows(CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS))
      label << "\\n" << node.operations.size() << " operations";
  }
  void describe(std::ostream &label, const ConditionalNode &node) const {
    static constexpr const char *kTypes[] = {"IF", "WHILE", "SWITCH"};
    label << "CONDITIONAL\\n" << kTypes[node.type];
    if (shows(CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS))
      label << ", " << node.bodies.size() << " bodies, handle 0x" << std::hex
            << node.condition->handle() << std::dec;
  }

  std::ostream &out_;
  unsigned flags_;
  std::vector<std::string> edges_;
};

} // namespace
} // namespace ptxrun::driver

using namespace ptxrun::driver;

PTXRUN_API CUresult cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned flags) {
  PTXRUN_TRY(checkInitialised());
  const auto graph = resolve<Graph>(handle);
  if (!graph || !path)
    return CUDA_ERROR_INVALID_VALUE;
  std::ofstream file(path);
  DotPrinter(file, flags).print(*graph);
  file.close();
  return file ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
