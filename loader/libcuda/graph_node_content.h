// Between the parameters of nodes as the API has them and what nodes hold.
#pragma once
#include "loader/libcuda/graph.h"

namespace ptxrun::driver {

CUresult toContent(const CUDA_KERNEL_NODE_PARAMS &, const LaunchAttributes &, NodeContent &);
CUresult toContent(const CUDA_MEMCPY3D &, CUcontext, NodeContent &);
CUresult toContent(const CUDA_MEMSET_NODE_PARAMS &, CUcontext, NodeContent &);
CUresult toContent(const CUDA_HOST_NODE_PARAMS &, NodeContent &);
CUresult toContent(const CUDA_BATCH_MEM_OP_NODE_PARAMS &, NodeContent &);
/// A node of the graph's own; it copies `child` unless `isMoved`.
CUresult toChildContent(CUgraph child, bool isMoved, NodeContent &);
CUresult toEventRecord(CUevent, NodeContent &);
CUresult toEventWait(CUevent, NodeContent &);
/// The address comes from what earlier nodes of the graph freed on the way to the new one, or is
/// new; it is written into the parameters.
CUresult toAllocation(const Graph &, std::span<const Dependency> after,
                      CUDA_MEM_ALLOC_NODE_PARAMS &, NodeContent &);
CUresult toFree(const Graph &, CUdeviceptr, NodeContent &);
/// Makes the bodies and tells the program of them.
CUresult toConditional(CUDA_CONDITIONAL_NODE_PARAMS &, NodeContent &);
/// Any type, for the calls that take a union.
CUresult toContent(const Graph &, std::span<const Dependency> after, CUgraphNodeParams &,
                   NodeContent &);
/// New parameters for a node of the same type: what cannot change is CUDA_ERROR_INVALID_VALUE.
CUresult toNewContent(const GraphNode &, CUgraphNodeParams &, NodeContent &);

CUDA_KERNEL_NODE_PARAMS describeKernel(GraphNode &);

} // namespace ptxrun::driver
