// What a kernel's directives say about the shape of its launches (PTX ISA 11.4.2, 11.4.4).
#include <algorithm>

#include "loader/device/device.h"

namespace ptxrun::device {

namespace {

std::string text(abi::Dim3 d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

bool areEqual(abi::Dim3 a, abi::Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

abi::Dim3 dim3(const std::array<uint32_t, 3> &shape) {
  return {shape[0], std::max(shape[1], 1u), std::max(shape[2], 1u)};
}

std::string findProblem(const KernelInfo &kernel, abi::Dim3 own, abi::Dim3 asked) {
  const std::string name = "kernel '" + kernel.name + "' ";
  if (asked.x != 0 && own.x != 0 && !areEqual(asked, own))
    return name + "has .reqnctapercluster " + text(own) + " and is launched in clusters of " +
           text(asked);
  if (asked.x == 0 && own.x == 0 && kernel.isExplicitCluster)
    return name + "has .explicitcluster and is launched without clusters";
  if (kernel.maxClusterRank != 0 && uint64_t{asked.x} * asked.y * asked.z > kernel.maxClusterRank)
    return name + "has .maxclusterrank " + std::to_string(kernel.maxClusterRank) +
           " and is launched in clusters of " + text(asked);
  return {};
}

} // namespace

std::string shapeLaunch(const KernelInfo &kernel, LaunchOptions &options) {
  const abi::Dim3 own =
      kernel.clusterShape[0] != 0 ? dim3(kernel.clusterShape) : abi::Dim3{0, 0, 0};
  std::string problem = findProblem(kernel, own, options.cluster);
  if (options.cluster.x == 0)
    options.cluster = own;
  if (kernel.areBlocksClusters) {
    options.grid = {options.grid.x * own.x, options.grid.y * own.y, options.grid.z * own.z};
    options.block = dim3(kernel.reqntid);
  }
  return problem;
}

} // namespace ptxrun::device
