// What a kernel's directives say about the shape of its launches (PTX ISA 11.4.2, 11.4.4).
#include <algorithm>

#include "loader/device/device.h"

namespace ptxrun::device {

namespace {

std::string text(abi::Dim3 d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

uint64_t volume(abi::Dim3 d) { return uint64_t{d.x} * d.y * d.z; }

bool areEqual(abi::Dim3 a, abi::Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

abi::Dim3 dim3(const std::array<uint32_t, 3> &shape) {
  return {shape[0], std::max(shape[1], 1u), std::max(shape[2], 1u)};
}

std::string findProblem(const KernelInfo &kernel, abi::Dim3 own, abi::Dim3 asked) {
  const auto name = [&] { return "kernel '" + kernel.name + "' "; };
  if (asked.x != 0 && own.x != 0 && !areEqual(asked, own))
    return name() + "has .reqnctapercluster " + text(own) + " and is launched in clusters of " +
           text(asked);
  if (asked.x == 0 && own.x == 0 && kernel.isExplicitCluster)
    return name() + "has .explicitcluster and is launched without clusters";
  if (kernel.maxClusterRank != 0 && volume(asked) > kernel.maxClusterRank)
    return name() + "has .maxclusterrank " + std::to_string(kernel.maxClusterRank) +
           " and is launched in clusters of " + text(asked);
  return {};
}

std::string findGridExcess(abi::Dim3 grid) {
  if (volume(grid) == 0)
    return "a grid of " + text(grid) + " blocks: each extent must be at least 1";
  if (grid.x > kMaxGridX || grid.y > kMaxGridYz || grid.z > kMaxGridYz)
    return "a grid of " + text(grid) +
           " blocks: at most 2147483647 in x and 65535 in y and z are " +
           "possible; put the large extent into x, or have each thread do more";
  return {};
}

std::string findBlockExcess(const KernelInfo &kernel, abi::Dim3 block) {
  if (volume(block) == 0)
    return "a block of " + text(block) + " threads: each extent must be at least 1";
  if (block.x > kMaxBlockXy || block.y > kMaxBlockXy || block.z > kMaxBlockZ ||
      volume(block) > kMaxBlockThreads)
    return "a block of " + text(block) +
           " threads: at most 1024 together, 1024 in x and y and 64 " +
           "in z, are possible; launch more blocks (--grid) of fewer threads";
  const std::string has = "kernel '" + kernel.name + "' has ";
  if (kernel.reqntid[0] != 0 && !areEqual(block, dim3(kernel.reqntid)))
    return has + ".reqntid " + text(dim3(kernel.reqntid)) + " and is launched with blocks of " +
           text(block) + " threads";
  if (kernel.maxntid[0] != 0 && volume(block) > volume(dim3(kernel.maxntid)))
    return has + ".maxntid " + text(dim3(kernel.maxntid)) + " and is launched with blocks of " +
           text(block) + " threads";
  return {};
}

std::string findClusterExcess(abi::Dim3 grid, abi::Dim3 cluster) {
  if (cluster.x == 0 && cluster.y == 0 && cluster.z == 0)
    return {};
  if (volume(cluster) == 0 || volume(cluster) > kMaxCluster)
    return "a cluster of " + text(cluster) + " blocks: 1 to 16 blocks are possible (8 on every " +
           "GPU that has clusters)";
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return "a grid of " + text(grid) + " blocks in clusters of " + text(cluster) +
           ": the grid must be a multiple of the cluster in every dimension";
  return {};
}

} // namespace

std::string findExcess(const KernelInfo &kernel, const LaunchOptions &options,
                       uint64_t staticSharedBytes, uint64_t maxSharedBytes) {
  for (std::string problem : {findGridExcess(options.grid), findBlockExcess(kernel, options.block),
                              findClusterExcess(options.grid, options.cluster)})
    if (!problem.empty())
      return problem;
  if (staticSharedBytes + options.dynamicSharedBytes > maxSharedBytes)
    return "kernel '" + kernel.name + "' has " + std::to_string(staticSharedBytes) +
           " bytes of shared memory of its own and is launched with " +
           std::to_string(options.dynamicSharedBytes) + " more: a block has at most " +
           std::to_string(maxSharedBytes) + " (programs ask for more than 49152 by " +
           "cudaFuncSetAttribute)";
  return {};
}

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
